"""From an extractor's answer to the record of a session."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

import msgspec

from minutebook.derive.activity import Activity, Commit
from minutebook.derive.record import bare_record
from minutebook.derive.references import references
from minutebook.derive.titles import session_title
from minutebook.extract.extractor import Extraction, Extractor
from minutebook.extract.material import Material
from minutebook.extract.reply import ReplyEngagement
from minutebook.model import PullRequest
from minutebook.model.engagement import Engagement, Origin, SessionRecord

_MOST_FILES = 200
_MOST_REFERENCES = 20
_SLUG_WORDS = 6
_SLUG_CHARS = 60


def base_record(material: Material, origin: Origin | None, agent_id: str | None) -> SessionRecord:
    """What is known of a session before anybody extracted anything (ING-03)."""
    return msgspec.structs.replace(
        bare_record(material.info, material.identity),
        rounds=len(material.rounds),
        agent_id=agent_id,
        truncated=material.truncated,
        digest=material.digest,
        origin=origin,
    )


def extracted_record(
    base: SessionRecord,
    material: Material,
    extraction: Extraction,
    extractor: Extractor,
    previous: SessionRecord | None,
) -> SessionRecord:
    """The record with its engagements; ids of an earlier record are kept where they fit."""
    reply = extraction.reply
    ids = _ids(reply.engagements, previous)
    title = session_title(material.info, reply.engagements)
    return msgspec.structs.replace(
        base,
        title=title,
        session_summary=reply.session_summary,
        agent_name_guess=reply.agent_name,
        agent_role=base.agent_role or reply.agent_role,
        engagements=tuple(
            _engagement(id, part, material) for id, part in zip(ids, reply.engagements, strict=True)
        ),
        extractor=extractor.name,
        extractor_model=extraction.model,
        prompt_version=extractor.version,
        usage=extraction.spent.usage if extraction.spent.usage.total else None,
        cost_usd=round(extraction.spent.cost_usd, 6),
        remarks=extraction.remarks,
    )


def _engagement(id: str, part: ReplyEngagement, material: Material) -> Engagement:
    first, last = part.turn_range
    engagement = Engagement(
        id=id,
        topic=part.topic,
        project=part.project or material.project,
        method=part.method,
        phase=part.phase,
        key_decisions=tuple(part.key_decisions),
        outcome=part.outcome,
        turn_range=(first, last),
    )
    return with_facts(engagement, material.rounds, material.info.pull_requests)


def with_facts(
    engagement: Engagement, rounds: Sequence[Activity], recorded: Sequence[PullRequest] = ()
) -> Engagement:
    """An engagement with when it was and what it left behind, from the rounds it covers."""
    first, last = engagement.turn_range
    part = [round for round in rounds if first <= round.number <= last]
    # Not that of the first round: clocks of a resumed session may go back.
    started = min((round.started for round in part if round.started), default=None)
    ended = max((round.ended for round in part if round.ended), default=None)
    pulls = [url for round in part for url in round.pull_requests]
    if started and ended:
        pulls += [pull.url for pull in recorded if pull.at and started <= pull.at <= ended]
    return msgspec.structs.replace(
        engagement,
        started=started,
        ended=ended,
        files=_unique(file for round in part for file in round.files)[:_MOST_FILES],
        commits=_unique(f"{c.hash} {c.subject}".strip() for c in _standing(part)),
        pull_requests=_unique(pulls),
        branches=_unique(round.branch for round in part if round.branch),
        references=_unique(
            (*(name for r in part for name in r.references), *_committed(part)),
        )[:_MOST_REFERENCES],
        needs=_unique(name for round in part for name in round.needs)[:_MOST_REFERENCES],
    )


def _standing(rounds: Sequence[Activity]) -> list[Commit]:
    """The commits of these rounds without those that another one took the place of."""
    made: list[Commit] = []
    for commit in (commit for round in rounds for commit in round.commits):
        if commit.amends and made:
            made.pop()
        made.append(commit)
    return made


def _committed(rounds: Sequence[Activity]) -> Iterable[str]:
    """Issues and pull requests that commits name."""
    for round in rounds:
        for commit in round.commits:
            yield from references(commit.subject)[0]


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _ids(parts: Sequence[ReplyEngagement], previous: SessionRecord | None) -> list[str]:
    """A slug each; an engagement that begins where one began before keeps its id."""
    known = {e.turn_range[0]: e.id for e in previous.engagements} if previous else {}
    kept = {known[p.turn_range[0]] for p in parts if p.turn_range[0] in known}
    ids: list[str] = []
    for part in parts:
        id = known.get(part.turn_range[0])
        if id is None or id in ids:
            id = free_id(slug(part.topic), {*ids, *kept})
        ids.append(id)
    return ids


def slug(topic: str) -> str:
    """A topic as an id: ``fix-login-redirect``; letters of any script stay."""
    plain = unicodedata.normalize("NFKC", topic).lower()
    words = re.findall(r"[^\W_]+", plain)[:_SLUG_WORDS]
    return "-".join(words)[:_SLUG_CHARS].strip("-") or "engagement"


def free_id(wanted: str, taken: set[str]) -> str:
    """An id nobody has yet: the wanted one, or with a number."""
    number, id = 1, wanted
    while id in taken:
        number += 1
        id = f"{wanted}-{number}"
    return id
