"""A team's archive: the `Archive` everybody knows, with the team's database behind it (TEAM-03).

Names, lists, minutes, rounds, searches, figures and lineage go through the same functions as of
one's own files; only what is read comes from here. Nothing is written, and nothing is kept.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TypeVar

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.hit import iso
from minutebook.archive.masking import Hide, hide
from minutebook.archive.session import OpenSession
from minutebook.archive.sessions import SessionSummary, linked
from minutebook.derive.identity import Identity, NameSource
from minutebook.derive.usage.digest import Digest
from minutebook.errors import NotFound
from minutebook.index.rows import Rows
from minutebook.model import Roster, SessionInfo
from minutebook.model.engagement import SessionRecord
from minutebook.model.lineage import Edge
from minutebook.record.facts import Written
from minutebook.record.layout import SessionFolder
from minutebook.record.ledger import Entry, Ledger
from minutebook.sources.base import Trouble
from minutebook.team.choice import LEVELS, Level
from minutebook.team.database import Database
from minutebook.team.engine import TeamEngine
from minutebook.team.lazily import Lazily
from minutebook.team.minutes import TeamMinutes
from minutebook.team.rows import TeamRows
from minutebook.team.session import TeamSession

_OPEN = 8  # sessions kept open
_serials = count(1)
T = TypeVar("T")


class Shared(msgspec.Struct, frozen=True):
    """A session as the team has it."""

    key: int
    session_id: str
    login: str
    person: str
    level: Level
    stamp: str
    rounds: int
    own: bool

    @property
    def rank(self) -> tuple[int, int, bool, int]:
        """Of one session that several people pushed, whose is read: the most of it."""
        return LEVELS.index(self.level), self.rounds, self.own, self.key


class TeamRemote:
    """What an archive is asked beside its sessions, from a team's database.

    Everything in here is of one state of the team; another one is another remote.
    """

    def __init__(self, database: Database, root: Path) -> None:
        self.database, self._root = database, root
        self.serial = next(_serials)
        found = database.ask(
            "SELECT s.key, s.session_id, p.login::text, p.name, s.level, s.stamp, s.rounds, "
            "s.person_id IS NOT DISTINCT FROM minutebook.me() "
            "FROM minutebook.shared_sessions s JOIN minutebook.people p ON p.id = s.person_id "
            "ORDER BY s.key"
        )
        self.sessions: dict[str, Shared] = {}
        self.size = 3 * len(found)
        for row in found:
            one = Shared(*row)
            self.size += one.rounds
            rival = self.sessions.get(one.session_id)
            if rival is None or rival.rank < one.rank:
                self.sessions[one.session_id] = one
        self._ids = {one.key: id for id, one in self.sessions.items()}
        self.records = Lazily(self.sessions, self._records)
        self.entries = Lazily(self.sessions, self._entries)
        self._rows = TeamRows(database, self)

    @property
    def name(self) -> str:
        return self.database.address.shown

    def opened(self, *, hide: Hide, patience: float | None) -> TeamArchive:
        return TeamArchive(self.database, self._root, hide=hide, patience=patience)

    # -- which session is meant

    def id_of(self, key: int) -> str | None:
        return self._ids.get(key)

    def key_of(self, session_id: str) -> int | None:
        one = self.sessions.get(session_id)
        return one.key if one is not None else None

    def ids(self) -> Collection[str]:
        return self.sessions

    def person(self, session_id: str) -> str | None:
        one = self.sessions.get(session_id)
        return one.person if one is not None else None

    def _keys(self, ids: Collection[str]) -> list[int]:
        return [self.sessions[id].key for id in ids if id in self.sessions]

    # -- what is read

    def _records(self, ids: Collection[str]) -> dict[str, SessionRecord]:
        found = self.database.ask(
            "SELECT session_id, record, source, title, started, ended, rounds, ghost "
            "FROM minutebook.shared_sessions WHERE key = ANY (%s)",
            self._keys(ids),
        )
        records = {}
        for id, body, source, title, started, ended, rounds, ghost in found:
            record = _decoded(body, SessionRecord)
            records[id] = (
                record
                if record is not None and record.session_id == id
                else SessionRecord(
                    session_id=id,
                    source=source,
                    title=title,
                    started=iso(started),
                    ended=iso(ended),
                    rounds=rounds,
                    ghost=ghost,
                )
            )
        return records

    def _entries(self, ids: Collection[str]) -> dict[str, Entry]:
        found = self.database.ask(
            "SELECT session_id, rounds, info, source, title, started, ended "
            "FROM minutebook.shared_sessions WHERE key = ANY (%s)",
            self._keys(ids),
        )
        entries = {}
        for id, rounds, body, source, title, started, ended in found:
            info = _decoded(body, SessionInfo)
            if info is None or info.id != id:
                info = SessionInfo(
                    id=id,
                    source=source,
                    title=title,
                    started=iso(started),
                    ended=iso(ended),
                    rounds=rounds,
                )
            entries[id] = Entry(self.sessions[id].login, info, written=Written(rounds=rounds))
        return entries

    def digests(self, only: Collection[str] | None) -> dict[str, Digest]:
        wanted = self.sessions if only is None else only
        found = self.database.ask(
            "SELECT session_key, digest FROM minutebook.shared_usage WHERE session_key = ANY (%s)",
            self._keys(wanted),
        )
        told = {self._ids[key]: _decoded(digest, Digest) for key, digest in found}
        return {id: digest for id, digest in sorted(told.items()) if digest and _is_whole(digest)}

    @cached_property
    def _ties(self) -> tuple[tuple[Edge, ...], dict[str, str]]:
        found = self.database.ask(
            "SELECT session_key, newer, body, purpose FROM minutebook.shared_lineage "
            "ORDER BY older, newer, kind, session_key"
        )
        edges: dict[tuple[str, str, str], Edge] = {}
        agents: dict[str, str] = {}
        for key, newer, body, purpose in found:
            edge = _decoded(body, Edge) if key in self._ids else None
            if edge is None or not edge.evidence:  # one of ours says why
                continue
            if self._ids[key] not in (edge.older, edge.newer):
                continue  # a tie between sessions of others is not for its person to say
            edges.setdefault((edge.older, edge.newer, edge.kind), edge)
            if edge.kind == "delegated" and edge.recorded and newer not in self.sessions:
                agents[newer] = purpose or ""
        return tuple(edges.values()), agents

    def edges(self) -> tuple[Edge, ...]:
        return self._ties[0]

    def agents(self) -> dict[str, str]:
        return self._ties[1]

    def said_by_agents(self, session_id: str, round: int) -> list[str]:
        return list(self._rows.work(session_id, round).get("subagents", ()))

    # -- searching

    @cached_property
    def _engine(self) -> TeamEngine:
        return TeamEngine(self.database, self, self.expect)

    def engine(self) -> TeamEngine:
        return self._engine

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        yield self._rows

    def expect(self, ids: Sequence[str]) -> None:
        """These sessions are asked for next: they come together."""
        self.records.expect(ids)
        self.entries.expect(ids)


def _decoded(body: str, kind: type[T]) -> T | None:
    """What a member pushed; None where it is of a newer minutebook, or of none: one session that
    cannot be read keeps nobody from reading the others."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeError):
        return None


def _is_whole(digest: Digest) -> bool:
    """Whether what it names by a number is there: what a member pushed by hand may have any."""
    rows, branches = range(len(digest.rows)), range(len(digest.branches))
    named = (*(row for row, _ in digest.commits), *(row for row, _ in digest.pulls))
    return (
        all(call.row in rows for call in digest.calls)
        and all(row in rows for row in named)
        and all(branch in branches for branch in digest.rounds.values())
    )


class TeamArchive(Archive):
    """A team's archive, as one person may see it. It is only read."""

    remote: TeamRemote

    def __init__(
        self,
        database: Database,
        root: Path,
        *,
        hide: Hide = hide,
        patience: float | None = None,
    ) -> None:
        # A folder that is not there: no transcripts, no settings, and nothing is written.
        nowhere = root / ".team"
        super().__init__(nowhere, (nowhere / "none",), hide=hide, patience=patience, lenient=True)
        self.database, self.own_root = database, root
        self._reading = threading.RLock()
        # Asked first, so that what is pushed in between is seen at the next look.
        self._state = (time.monotonic(), self._asked() if patience is not None else None)
        self.remote = TeamRemote(database, root)
        self.minutes = TeamMinutes(self.layout, lambda: self._now(), self._lock)

    def __enter__(self) -> TeamArchive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the connection go, of this archive and of those that were opened from it."""
        self.database.close()

    def _now(self) -> TeamRemote:
        """The team as it is now; looked at again after a while, where that is wanted."""
        with self._reading:
            if self.patience is None:
                return self.remote
            now = time.monotonic()
            asked, known = self._state
            if now - asked < self.patience:
                return self.remote
            found = self._asked()
            if known != found:
                self.remote = TeamRemote(self.database, self.own_root)
            self._state = (now, found)
            return self.remote

    def _asked(self) -> object:
        """What changes with whatever is pushed or taken back."""
        return self.database.ask(
            "SELECT count(*), max(pushed), sum(hashtext(session_id || stamp)::bigint) "
            "FROM minutebook.shared_sessions"
        )

    # -- what there is

    @property
    def exists(self) -> bool:
        return True

    @property
    def is_first_release(self) -> bool:
        return False

    @property
    def keeps_findings(self) -> bool:
        return False

    @property
    def roster(self) -> Roster:
        return Roster()

    def ledger(self) -> Ledger:
        return Ledger(sessions=self._now().entries)

    def ids(self) -> set[str]:
        return set(self._now().sessions)

    def known_ties(self) -> tuple[Edge, ...]:
        return self._now().edges()

    def _summaries(self) -> tuple[dict[str, SessionSummary], list[Trouble]]:
        remote = self._now()
        entries, records = dict(remote.entries.items()), dict(remote.records.items())
        there = [id for id in remote.sessions if id in entries and id in records]
        found = [self._told(entries[id].info, records[id]) for id in there]
        return {session.id: session for session in linked(found)}, []

    def _told(self, info: SessionInfo, record: SessionRecord) -> SessionSummary:
        source: NameSource | None = None
        with suppress(msgspec.ValidationError):  # of a newer minutebook, or of none
            source = msgspec.convert(record.agent_name_source, NameSource | None)
        return SessionSummary(
            info=msgspec.structs.replace(info, title=record.given_title or info.title),
            identity=Identity(record.agent_name, source, record.agent_role),
            ghost=record.ghost,
            title=record.title,
            given_title=record.given_title,
            archived=True,
            starred=record.starred,
            hidden=record.hidden,
            summary=record.session_summary,
        )

    def short(self, session_id: str) -> str:
        self._now()
        return super().short(session_id)

    def open(self, session_id: str) -> OpenSession:
        remote = self._now()
        one, entry = remote.sessions.get(session_id), remote.entries.get(session_id)
        if one is None or entry is None:
            raise NotFound(f"The team has no session {session_id} (any more).")
        with self._lock:
            known = self._open.get(session_id)
            if known is not None and known[0] == one:
                return known[1]
        short = self.short(session_id)
        opened = TeamSession(self.database, one.key, one.level, entry, self.hide, short)
        with self._lock:
            self._open[session_id] = (one, opened)
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
        return opened

    def folder(self, session_id: str) -> SessionFolder:
        raise NotFound(f"{self.short(session_id)} is in a team's archive, not in a folder.")
