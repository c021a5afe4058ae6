"""A session of the archive as the rows a team gets of it: chosen, masked, analysed.

Everything comes through `Archive`, whose one mask has passed over it. What a choice leaves out is
left out here: there is no other way from a session to a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.digests import digests
from minutebook.archive.masking import hidden
from minutebook.archive.refreshing import entries_of
from minutebook.archive.round_work import RoundWork
from minutebook.archive.turns import words_only
from minutebook.derive.turn_pairs import turn_pairs
from minutebook.errors import NotFound
from minutebook.index.database import storable
from minutebook.index.entry import (
    Entry,
    Prepared,
    Touch,
    engagement_entries,
    prepare,
    session_entry,
    title_entry,
    turn_entry,
)
from minutebook.model import NameEvidence, SessionInfo
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.lineage import Edge
from minutebook.model.session import project_of
from minutebook.record.rounds import round_file
from minutebook.team.choice import NO_PROJECT, Level


class RoundRow(msgspec.Struct, frozen=True):
    number: int
    signal: str
    body: str


class SessionRows(msgspec.Struct, frozen=True, kw_only=True):
    """All a team gets of a session."""

    info: SessionInfo
    record: SessionRecord
    project: str
    digest: str
    edges: tuple[Edge, ...]
    agents: dict[str, str] = {}
    """What its subagents were started for, where words are shared."""
    rounds: list[RoundRow]
    entries: list[Prepared]
    files: list[Touch]

    @property
    def size(self) -> int:
        """Characters, about."""
        texts = sum(len(p.entry.asked) + len(p.entry.full) for p in self.entries)
        return texts + sum(len(row.body) for row in self.rounds) + len(self.digest)


def gathered(
    archive: Archive,
    session_id: str,
    level: Level,
    edges: Iterable[Edge] = (),
    purposes: Mapping[str, str] | None = None,
) -> SessionRows:
    """A session as a team gets it. `purposes` says what subagents were started for."""
    record = _shared_record(archive, session_id)
    info = _shared_info(archive.summary(session_id).info)
    if level == "engagements" and info.title_is_prompt:
        # The beginning of a prompt is what somebody said, not what it was about.
        info = msgspec.structs.replace(info, title=None)
        if record.given_title is None:
            record = msgspec.structs.replace(record, title=None)
    rounds, turns, files = _rounds(archive, info, record, level)
    entries = list(turns)
    if any(item.entry.kind == "turn" for item in turns):
        entries.append(session_entry(session_id, turns))
    elif record.title:
        entries.append(prepare(title_entry(session_id, record.title, ())))
    entries += [prepare(_own(entry, session_id)) for entry in engagement_entries(record)]
    return SessionRows(
        info=info,
        record=record,
        project=project_of(record.cwd) if record.cwd else NO_PROJECT,
        digest=_digest(archive, session_id),
        edges=tuple(_edge(archive, edge, level) for edge in edges),
        agents=_told(archive, edges, purposes or {}) if level != "engagements" else {},
        rounds=rounds,
        entries=_once(entries),
        files=files,
    )


def _own(entry: Entry, session_id: str) -> Entry:
    return msgspec.structs.replace(entry, session_id=session_id)


def _once(entries: list[Prepared]) -> list[Prepared]:
    """Two of one name, in a file somebody edited: the first."""
    return list({item.entry.key: item for item in reversed(entries)}.values())[::-1]


def _shared_record(archive: Archive, session_id: str) -> SessionRecord:
    """The minutes without what a person hid or noted for themselves, and where their files are."""
    record = archive.record(session_id)
    shown = (engagement for engagement in record.engagements if not engagement.hidden)
    engagements = tuple(msgspec.structs.replace(e, note="") for e in shown)
    return msgspec.structs.replace(record, note="", origin=None, engagements=engagements)


def _shared_info(info: SessionInfo) -> SessionInfo:
    return msgspec.structs.replace(info, names=NameEvidence(), origin=None)


def _rounds(
    archive: Archive, info: SessionInfo, record: SessionRecord, level: Level
) -> tuple[list[RoundRow], list[Prepared], list[Touch]]:
    if level == "engagements":
        return [], [], []
    session = archive.open(info.id)
    work = RoundWork()
    rows: list[RoundRow] = []
    found: dict[int, Entry] = {}
    for whole in session.rounds():
        round = whole if level == "tools" else words_only(whole)
        for kept in work.noting([round]):
            body = text_of(round_file(info.id, kept))
            rows.append(RoundRow(kept.number, fingerprint(body), body))
        for pair in turn_pairs(info, [whole]):
            found[pair.metadata.round] = turn_entry(pair)
    if level == "tools":
        for agent_id in work.callers:
            try:
                work.note_agent(session.subagent(agent_id))
            except (NotFound, OSError):
                continue
    return rows, entries_of(info, found, work, record, record.title), work.files


def _digest(archive: Archive, session_id: str) -> str:
    """What `usage` counts from, without the names that could hold a secret."""
    found = digests(archive, (session_id,)).get(session_id)
    if found is None:
        return ""
    hide = archive.hide
    return encoded(
        msgspec.structs.replace(
            found,
            info=None,
            models=[hide(name) for name in found.models],
            tools=[hide(name) for name in found.tools],
            paths=[hide(path) for path in found.paths],
            branches=[hide(name) for name in found.branches],
            commits=[(row, hide(hash)) for row, hash in found.commits],
            pulls=[(row, hide(url)) for row, url in found.pulls],
        )
    )


def _edge(archive: Archive, edge: Edge, level: Level) -> Edge:
    """A tie; without the words it quotes, where words are not shared."""
    if level == "engagements":
        quiet = tuple(msgspec.structs.replace(e, text="") for e in edge.evidence)
        edge = msgspec.structs.replace(edge, evidence=quiet)
    return hidden(edge, archive.hide)


def _told(archive: Archive, edges: Iterable[Edge], known: Mapping[str, str]) -> dict[str, str]:
    ids = (edge.newer for edge in edges if edge.newer in known)
    return {id: storable(archive.hide(known[id])) for id in ids}


def encoded(value: Any) -> str:
    """A value of ours as JSON that PostgreSQL can keep."""
    return text_of(msgspec.json.encode(value))


def text_of(content: bytes) -> str:
    return storable(content.decode("utf-8", "replace"))


def fingerprint(text: str) -> str:
    import hashlib

    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def engagement_row(
    position: int, engagement: Engagement, at: int
) -> tuple[str, int, str, str, str, str, str, int, int, int, str]:
    """An engagement as the table has it, after its session."""
    first, last = engagement.turn_range
    texts = (engagement.project, engagement.method, engagement.phase, engagement.topic)
    project, method, phase, topic = map(storable, texts)
    return (
        storable(engagement.id),
        position,
        project,
        method,
        phase,
        topic,
        storable(engagement.outcome),
        first,
        last,
        at,
        encoded(engagement),
    )
