"""The minutes of every session: engagements as everybody above the archive sees them.

Read again whenever one of their files has changed (VIEW-02); a parse is kept until then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from minutebook.archive.coverage import SUMMARY, covered
from minutebook.archive.settings import Settings
from minutebook.derive.activity import Activity
from minutebook.derive.identity import identify
from minutebook.derive.record import bare_record
from minutebook.derive.titles import session_title
from minutebook.model import Roster, SessionInfo
from minutebook.model.engagement import Correction, SessionRecord
from minutebook.record.engagements import read_corrections, read_records
from minutebook.record.layout import Layout
from minutebook.record.ledger import Entry
from minutebook.record.tags import Tag, read_tags

T = TypeVar("T", Correction, Tag)
Version = tuple[int, int, int]
"""Inode, time and size: while they are the same, so is the file."""


def version_of(path: Path) -> Version:
    try:
        stat = path.stat()
    except OSError:
        return (0, 0, 0)
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


class Minutes:
    """The records of an archive, merged with what is known and said of their sessions."""

    def __init__(
        self,
        layout: Layout,
        entries: Callable[[], Mapping[str, Entry]],
        roster: Callable[[], Roster],
        settings: Callable[[], Settings],
        activities: Callable[[str], Sequence[Activity]],
        lock: threading.RLock,
    ) -> None:
        self._layout = layout
        self._entries, self._roster, self._settings = entries, roster, settings
        self._activities = activities
        self._version: tuple[Version, ...] = ()
        self._records: dict[str, SessionRecord] = {}
        self._stored: dict[str, SessionRecord] = {}
        self._corrections: dict[str, list[Correction]] = {}
        self._tags: dict[str, list[Tag]] = {}
        # The archive's own: each asks the other while it holds it.
        self._lock = lock
        self.problems: dict[str, str] = {}
        """Path of a file that cannot be read as a whole → why."""

    @property
    def version(self) -> tuple[Version, ...]:
        """Another one means that the minutes have changed."""
        layout = self._layout
        files = (layout.engagements, layout.corrections, layout.tags, layout.roster)
        return tuple(version_of(path) for path in (*files, layout.ledger, layout.settings))

    def read_again(self) -> None:
        self._version = ()

    def stored(self) -> dict[str, SessionRecord]:
        """The last record of each session, as it was written."""
        with self._lock:
            self._load()
            return self._stored

    def records(self) -> dict[str, SessionRecord]:
        """Every session's record, with everything a person said; secrets are still in it."""
        with self._lock:
            self._load()
            return self._records

    def said(self, session_id: str) -> tuple[list[Correction], list[Tag]]:
        """What a person said of a session."""
        with self._lock:
            self._load()
            return self._corrections.get(session_id, []), self._tags.get(session_id, [])

    def summary_said(self, session_id: str) -> str | None:
        """A person's own summary of a session."""
        corrections, _ = self.said(session_id)
        found = [c.value for c in corrections if c.field == SUMMARY and isinstance(c.value, str)]
        return found[-1] if found else None

    def _load(self) -> None:
        version = self.version
        if version == self._version:
            return
        layout = self._layout
        records, corrections, tags = (
            read_records(layout),
            read_corrections(layout),
            read_tags(layout),
        )
        told = zip(
            (layout.engagements, layout.corrections, layout.tags),
            (records.problem, corrections.problem, tags.problem),
            strict=True,
        )
        self.problems = {str(path): problem for path, problem in told if problem is not None}
        self._stored = {record.session_id: record for record in records.values}
        said = self._corrections = _grouped(corrections.values)
        tagged = self._tags = _grouped(tags.values)
        entries, roster, settings = self._entries(), self._roster(), self._settings()
        self._records = {}
        for id, record in self._stored.items():
            entry = entries.get(id)
            now = (
                with_session(record, entry.info, roster, settings, entry.agent_id)
                if entry is not None
                else named(record, roster)
            )
            self._records[id] = self._covered(now, said.get(id, []), tagged.get(id, []))
        # A person may tag a session nobody has taken the minutes of.
        for id in (tagged.keys() | said.keys()) - self._stored.keys():
            if (entry := entries.get(id)) is not None:
                bare = card(entry.info, roster, settings, entry.agent_id)
                self._records[id] = self._covered(bare, said.get(id, []), tagged.get(id, []))
        self._version = version

    def _covered(
        self, record: SessionRecord, corrections: list[Correction], tags: list[Tag]
    ) -> SessionRecord:
        if not corrections and not tags:
            return record
        return covered(record, corrections, tags, lambda: self._activities(record.session_id))


def card(
    info: SessionInfo, roster: Roster, settings: Settings, agent_id: str | None
) -> SessionRecord:
    """A session nobody has taken the minutes of yet, as a record without engagements."""
    record = bare_record(info, identify(info, roster))
    return msgspec.structs.replace(record, ghost=settings.is_ghost(info), agent_id=agent_id)


_SESSION = (
    *("source", "slug", "title", "cwd", "project", "git_branch", "model", "version"),
    *("started", "ended", "rounds", "user_messages", "subagents"),
    *("agent_name", "agent_name_source", "agent_id", "ghost"),
)


def with_session(
    record: SessionRecord, info: SessionInfo, roster: Roster, settings: Settings, agent_id: str
) -> SessionRecord:
    """A record with what is known of its session now; a labelled session is never a ghost."""
    now = card(info, roster, settings, agent_id)
    known = {name: getattr(now, name) for name in _SESSION}
    known["title"] = session_title(info, record.engagements)
    known["ghost"] = now.ghost and not record.engagements
    known["agent_role"] = now.agent_role or record.agent_role
    return msgspec.structs.replace(record, **known)


def named(record: SessionRecord, roster: Roster) -> SessionRecord:
    """A name the transcript gives itself wins over the roster's (ID-01 … ID-08)."""
    entry = roster.find(record.session_id)
    if entry is None:
        return record
    if record.agent_name is None or record.agent_name_source == "roster":
        record = msgspec.structs.replace(
            record,
            agent_name=entry.name or record.agent_name,
            agent_name_source="roster" if entry.name else record.agent_name_source,
        )
    return msgspec.structs.replace(record, agent_role=entry.role or record.agent_role)


def _grouped(items: list[T]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(item.session_id, []).append(item)
    return found
