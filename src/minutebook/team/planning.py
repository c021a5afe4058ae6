"""What a push would send: the sessions of a choice that a team does not have as they are now."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.digests import state_of
from minutebook.archive.lineage import purposes, ties
from minutebook.derive.secrets import mask_rules
from minutebook.derive.times import instant
from minutebook.errors import Conflict
from minutebook.index.entry import seconds
from minutebook.model.engagement import SessionRecord
from minutebook.model.lineage import Edge
from minutebook.sources.registry import SOURCES
from minutebook.team.choice import (
    LEVELS,
    VISIBILITIES,
    Choice,
    Level,
    Team,
    Visibility,
    projects_of,
)
from minutebook.team.connection import Connection

_MADE = 2  # how rows are made; another number sends everything again
Why = Literal["new", "changed"]


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is to be sent."""

    session_id: str
    project: str
    title: str | None
    rounds: int
    engagements: int
    why: Why
    stamp: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a push does."""

    send: list[Planned]
    unchanged: int
    seen_by_others: list[str]
    """Sessions that are there, and whose visibility changes before anything is sent."""
    withdrawn: int
    """Sessions of the choice that were taken back, and stay so."""
    elsewhere: int
    """Sessions that another machine pushed: as long as they are here or longer, and no more of
    them than was chosen here."""
    outside: int
    """Sessions that are there and not in the choice any more: `withdraw` takes them back."""
    mixed: int
    """Sessions that also worked in a project that was not chosen: they stay here."""
    held: dict[str, int] = {}
    """Sessions of the choice, by program, that stay here until their program is allowed."""


class _There(msgspec.Struct, frozen=True):
    stamp: str
    visibility: Visibility
    level: Level
    machine_id: int
    rounds: int


class Member(msgspec.Struct, frozen=True):
    """Who pushes, from where."""

    person_id: int
    machine_id: int
    stops: int
    """How often they had taken everything back."""


def member(connection: Connection, team: Team | None) -> Member:
    """The person and the machine of a connection, as they joined."""
    row = connection.execute(
        "SELECT m.person_id, m.id, p.stops FROM minutebook.shared_machines m "
        "JOIN minutebook.people p ON p.id = m.person_id "
        "WHERE m.person_id = minutebook.me() AND m.name = %s",
        (team.machine if team is not None else "",),
    ).fetchone()
    if row is None:
        raise Conflict("You have not joined this team from this archive: `minutebook team join`.")
    return Member(*row)


def plan(archive: Archive, connection: Connection, choice: Choice, who: Member) -> Plan:
    """Compare what was chosen with what is there; nothing is read but lists."""
    there = _there(connection)
    marks = connection.execute("SELECT session_id FROM minutebook.own_withdrawn")
    withdrawn = {str(id) for (id,) in marks}
    edges = ties_of(archive).edges
    records = archive.cards()
    wanted, mixed = in_choice(records.values(), choice)
    wanted, held = may_leave(archive, wanted)
    send: list[Planned] = []
    seen: list[str] = []
    taken = elsewhere = unchanged = 0
    for record in wanted:
        id = record.session_id
        if id in withdrawn:
            taken += 1
            continue
        known = there.get(id)
        stamp = stamp_of(archive, record, choice, edges.get(id, ()))
        if known is not None and known.stamp == stamp:
            unchanged += 1
        elif known is not None and _is_elsewhere(known, record, choice, who):
            elsewhere += 1
        elif stamp:
            send.append(_planned(archive, record, stamp, "changed" if known else "new"))
        is_sent = bool(send) and send[-1].session_id == id
        if known is not None and _may_show(known, choice, is_sent=is_sent):
            seen.append(id)
    return Plan(
        send=sorted(send, key=lambda item: item.session_id),
        unchanged=unchanged,
        seen_by_others=seen,
        withdrawn=taken,
        elsewhere=elsewhere,
        outside=len(there.keys() - {record.session_id for record in wanted}),
        mixed=mixed,
        held=held,
    )


def _is_elsewhere(known: _There, record: SessionRecord, choice: Choice, who: Member) -> bool:
    """Whether another machine keeps it there. What shows more than was chosen here is replaced:
    of two choices the smaller one holds."""
    return (
        known.machine_id != who.machine_id
        and known.rounds >= record.rounds
        and LEVELS.index(known.level) <= LEVELS.index(choice.level)
    )


def _may_show(known: _There, choice: Choice, *, is_sent: bool) -> bool:
    """Whether its visibility changes before anything is sent. Fewer people see it at once; more
    people see it only with the rows that replace it, or where it has no more than was chosen."""
    places = VISIBILITIES.index(choice.visible), VISIBILITIES.index(known.visibility)
    if places[0] <= places[1]:
        return places[0] < places[1]
    return not is_sent and LEVELS.index(known.level) <= LEVELS.index(choice.level)


def may_leave(
    archive: Archive, records: Iterable[SessionRecord]
) -> tuple[list[SessionRecord], dict[str, int]]:
    """Sessions of programs that a person allowed; how many others there are, by program."""
    settings = archive.settings
    found: list[SessionRecord] = []
    held: Counter[str] = Counter()
    for record in records:
        program = SOURCES.program_of(record.source)
        if settings.may_send(program):
            found.append(record)
        else:
            held[program] += 1
    return found, dict(held)


def due_of(archive: Archive, choice: Choice, program: str) -> int:
    """How many sessions of a program belong to a choice: what allowing it means."""
    wanted, _ = in_choice(archive.cards().values(), choice)
    return sum(SOURCES.program_of(record.source) == program for record in wanted)


def in_choice(records: Iterable[SessionRecord], choice: Choice) -> tuple[list[SessionRecord], int]:
    """Sessions that were chosen; and how many were not because only a part of them was."""
    projects = set(choice.projects)
    earliest = instant(choice.since)
    found, mixed = [], 0
    for record in records:
        ended = instant(record.ended or record.started)
        if record.hidden or (earliest and (ended is None or ended < earliest)):
            continue
        own = projects_of(record)
        if own <= projects:
            found.append(record)
        elif own & projects:
            mixed += 1
    return found, mixed


class Ties(NamedTuple):
    """What ties sessions to others."""

    edges: dict[str, tuple[Edge, ...]]
    purposes: dict[str, str]
    """What subagents were started for."""


def ties_of(archive: Archive) -> Ties:
    """What each session comes from, and which subagents it started."""
    found: dict[str, list[Edge]] = {}
    agents = purposes(archive)
    for edge in ties(archive):
        whose = edge.older if edge.newer in agents else edge.newer
        found.setdefault(whose, []).append(edge)
    return Ties({id: tuple(edges) for id, edges in found.items()}, agents)


def stamp_of(archive: Archive, record: SessionRecord, choice: Choice, edges: Iterable[Edge]) -> str:
    """A session's state and minutes as one word; empty where the session itself is gone.

    What is masked better than before is sent again: a part of the word are the rules."""
    id = record.session_id
    entry, transcript = archive.ledger().sessions.get(id), archive.transcript(id)
    if entry is None and transcript is None:
        return ""
    state = state_of(entry, transcript)
    said = msgspec.json.encode((_MADE, mask_rules(), state, record, choice.level, tuple(edges)))
    return hashlib.blake2b(said, digest_size=12).hexdigest()


def _there(connection: Connection) -> dict[str, _There]:
    found = connection.execute(
        "SELECT session_id, stamp, visibility, level, machine_id, rounds "
        "FROM minutebook.own_sessions"
    )
    return {id: _There(*rest) for id, *rest in found}


def _planned(archive: Archive, record: SessionRecord, stamp: str, why: Why) -> Planned:
    return Planned(
        session_id=record.session_id,
        project=archive.hide(", ".join(sorted(projects_of(record)))),
        title=archive.hide(record.called) if record.called else None,
        rounds=record.rounds,
        engagements=len(record.engagements),
        why=why,
        stamp=stamp,
    )


def when(record: SessionRecord) -> tuple[int, int]:
    """Start and end of a session, in seconds."""
    return seconds(record.started), seconds(record.ended or record.started)
