"""A session in a few lines: goal, decisions, outcome, open ends, pull requests, files.

For an agent that goes on with the work: what it must know before it reads any round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from minutebook.archive.session import OpenSession
from minutebook.derive.activity import activity
from minutebook.derive.calls import paths_of
from minutebook.derive.messages import INTERRUPTION
from minutebook.derive.plain import one_line
from minutebook.model import Notice, Round
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.prospective import EngagementFile
from minutebook.verbs.digest import answer_of
from minutebook.verbs.round_text import cut

_GOAL = 300  # characters
_LINE = 200
_TOPIC = 80
_MOST = 5  # lines of a kind
_FILES = 10


def session_summary(
    session: OpenSession,
    record: SessionRecord,
    pull_requests: Iterable[str] = (),
    kept: Sequence[EngagementFile] = (),
) -> tuple[str, ...]:
    """Lines about a session, the most important first; nothing for what there is none of."""
    links = dict.fromkeys(pull_requests)
    shown = tuple(engagement for engagement in record.engagements if not engagement.hidden)
    for engagement in shown:
        links.update(dict.fromkeys(engagement.pull_requests))
    first, last = "", None
    changed: Counter[str] = Counter()
    for number in range(1, session.count + 1):  # one at a time: all of them may be gigabytes
        last = session.round(number)
        if not first.strip() and last.prompt is not None:
            first = last.prompt.said
        links.update(dict.fromkeys(activity(last).pull_requests))
        changed.update(_changed(last, record.cwd or ""))
    if last is None and not session.withheld:
        return ()
    if last is None:  # only its minutes are shared
        return (*_goal("", shown), *_decisions(shown), *_outcomes(shown), f"- {session.withheld}")
    return (
        *_goal(first, shown),
        *_kept(kept),
        *_notes(record, shown),
        *_decisions(shown),
        *_outcomes(shown),
        *_open_ends(last, shown),
        *(f"- Pull request: {cut(link, _LINE)}" for link in list(links)[-_MOST:]),
        *_files(changed),
    )


def _goal(first: str, engagements: Sequence[Engagement]) -> Iterator[str]:
    if first.strip():
        yield f"- Goal: {cut(first, _GOAL)}"
    if len(engagements) > 1:
        topics = [f"{cut(e.topic, _TOPIC)} ({_where(e)})" for e in engagements[:_MOST]]
        more = f"; {len(engagements) - _MOST} more" if len(engagements) > _MOST else ""
        yield f"- Topics: {'; '.join(topics)}{more}"


def _kept(files: Sequence[EngagementFile]) -> Iterator[str]:
    """Engagements that were kept while the session went on, and what is still owed."""
    now = datetime.now().astimezone()
    for file in files[-_MOST:]:
        late, owed = file.overdue(now), file.owed
        dues = f"; {len(owed)} owed, {len(late)} overdue" if owed else ""
        what = f"{file.method}, {file.phase}{dues}"
        yield f"- Engagement {cut(file.id, _TOPIC)} ({what}): {cut(file.topic, _LINE)}"
        for item in late[:_MOST]:
            yield f"- Overdue since {item.due}: {cut(item.what, _LINE)}"


def _notes(record: SessionRecord, engagements: Sequence[Engagement]) -> Iterator[str]:
    """What a person wrote about it."""
    if "summary" in record.corrected:
        yield f"- Summary: {cut(record.session_summary, _LINE)}"
    if record.note:
        yield f"- Note: {cut(record.note, _LINE)}"
    for engagement in engagements:
        if engagement.note:
            yield f"- Note ({_where(engagement)}): {cut(engagement.note, _LINE)}"


def _decisions(engagements: Sequence[Engagement]) -> Iterator[str]:
    """The latest ones: they say what holds now."""
    found = [
        f"- Decided ({_where(e)}): {cut(d, _LINE)}" for e in engagements for d in e.key_decisions
    ]
    yield from found[-_MOST:]


def _outcomes(engagements: Sequence[Engagement]) -> Iterator[str]:
    found = [f"- Outcome ({_where(e)}): {cut(e.outcome, _LINE)}" for e in engagements if e.outcome]
    yield from found[-_MOST:]


def _open_ends(last: Round, engagements: Sequence[Engagement]) -> Iterator[str]:
    """What was not completed, and what nobody answered."""
    unfinished = [e for e in engagements if e.phase != "completed"]
    for engagement in unfinished[-_MOST:]:
        where = f"{_where(engagement)}, {one_line(engagement.phase)}"
        yield f"- Open ({where}): {cut(engagement.topic, _LINE)}"
    answer = answer_of(last)
    lines = answer.splitlines()
    notices = {block.kind for block in last.blocks if isinstance(block, Notice)}
    if INTERRUPTION in notices:
        yield f"- Open: the last round (#{last.number}) was interrupted"
    elif not answer:
        yield f"- Open: the last prompt (#{last.number}) has no answer"
    elif lines[-1].rstrip(" *_`").endswith(("?", "？")):
        yield f"- Open: the last answer (#{last.number}) asks: {cut(lines[-1], _LINE)}"


def _changed(round: Round, cwd: str) -> Iterator[str]:
    """The files a round changed, each as often as it did."""
    for call in round.calls:
        if call.kind in ("edit", "write"):
            yield from (path.removeprefix(f"{cwd}/") for path in paths_of(call))


def _files(changed: Counter[str]) -> Iterator[str]:
    """The files that were changed, those changed most often first."""
    if changed:
        named = [f"{cut(path, _LINE)} ({n})" for path, n in changed.most_common(_FILES)]
        more = f", {len(changed) - _FILES} more" if len(changed) > _FILES else ""
        yield f"- Files changed (how often): {', '.join(named)}{more}"


def _where(engagement: Engagement) -> str:
    first, last = engagement.turn_range
    return f"#{first}" if first == last else f"#{first}-{last}"
