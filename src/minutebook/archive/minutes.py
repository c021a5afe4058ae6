"""The minutes of every session: engagements as every layer above the archive sees them.

Read again whenever one of their files has changed (VIEW-02); a parse is kept until then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from minutebook.archive.coverage import (
    SaidSummary,
    SessionSaid,
    Work,
    covered,
    resummed,
    session_said,
)
from minutebook.archive.coverage import summary_said as summary_of
from minutebook.archive.said_of_copies import PromptIds, with_copies
from minutebook.archive.settings import Settings
from minutebook.derive.identity import identify, titled
from minutebook.derive.prospective import with_prospective
from minutebook.derive.record import bare_record
from minutebook.derive.titles import session_title
from minutebook.model import Roster, SessionInfo
from minutebook.model.engagement import SessionRecord
from minutebook.model.said import Said
from minutebook.record.engagements import read_records
from minutebook.record.kept_engagements import KeptEngagements, read_kept
from minutebook.record.layout import Layout
from minutebook.record.ledger import Entry
from minutebook.record.said import read_said

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
        work: Callable[[str], Work],
        prompts: PromptIds,
        lock: threading.RLock,
    ) -> None:
        self._layout = layout
        self._entries, self._roster, self._settings = entries, roster, settings
        self._work, self._prompts = work, prompts
        self._version: tuple[Version, ...] = ()
        self._version_heard: tuple[Version, ...] = ()
        self._records: dict[str, SessionRecord] = {}
        self._stored: dict[str, SessionRecord] = {}
        self._kept = KeptEngagements()
        self._every: list[Said] = []
        self._said: dict[str, list[Said]] = {}
        self._heard: dict[str, list[Said]] = {}
        self._whole: dict[str, SessionSaid] = {}
        self._merges: dict[str, tuple[SessionRecord, list[Said], SessionRecord]] = {}
        # The archive's own: each asks the other while it holds it.
        self._lock = lock
        self._unheard: dict[str, str] = {}
        self.problems: dict[str, str] = {}
        """Path of a file that cannot be read as a whole → why."""

    @property
    def version(self) -> tuple[Version, ...]:
        """Another one means that the minutes have changed."""
        layout = self._layout
        others = (layout.engagements, layout.roster, layout.settings, layout.prospective)
        return (*self._version_said, *map(version_of, others))

    @property
    def _version_said(self) -> tuple[Version, ...]:
        """Another one means that a person said something, or that there are other sessions."""
        layout = self._layout
        files = (layout.corrections, layout.tags, layout.threads, layout.ledger)
        return tuple(map(version_of, files))

    def read_again(self) -> None:
        self._version = self._version_heard = ()
        self._merges.clear()

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

    def said(self, session_id: str) -> list[Said]:
        """What a person said of a session, in its order; what was taken back is among it."""
        with self._lock:
            self._hear()
            return self._said.get(session_id, [])

    def heard(self, session_id: str) -> list[Said]:
        """The same, and what holds for it of what was said of its copies."""
        with self._lock:
            self._hear()
            return self._heard.get(session_id, [])

    def all_said(self) -> list[Said]:
        """What a person said of any session, in its order."""
        with self._lock:
            self._hear()
            return self._every

    def sessions_said(self) -> dict[str, SessionSaid]:
        """What a person said of sessions as a whole; of those they said anything of."""
        with self._lock:
            self._hear()
            return self._whole

    def summary_said(self, session_id: str) -> SaidSummary:
        """A person's own summary of a session."""
        return summary_of(self.heard(session_id))

    def kept_engagements(self) -> KeptEngagements:
        """What was last seen of engagement files, and of the sessions that took part."""
        with self._lock:
            self._load()
            return self._kept

    def merged(self, record: SessionRecord) -> SessionRecord:
        """A record with everything a person said of its session."""
        with self._lock:
            self._load()
            return self._merged(record)

    def _merged(self, record: SessionRecord) -> SessionRecord:
        id, found = record.session_id, record
        record = with_prospective(record, self._kept.files_of(id))
        if not (said := self._heard.get(id)):
            return resummed(found, record)
        known = self._merges.get(id)
        if known is None or known[:2] != (record, said):  # rounds of what was cut are read
            merged = covered(record, said, lambda: self._work(id))
            known = self._merges[id] = (record, said, resummed(found, merged))
        return known[2]

    def _hear(self) -> None:
        """What a person said: a run that writes asks for every session, and writes other files."""
        version = self._version_said
        if version == self._version_heard:
            return
        said = read_said(self._layout)
        self._unheard = dict(said.problems)
        self._every, self._said = said.values, {}
        for item in self._every:
            self._said.setdefault(item.session_id, []).append(item)
        order = {item.id: at for at, item in enumerate(self._every)}
        self._heard = with_copies(self._said, order, self._entries(), self._prompts)
        self._whole = {id: session_said(items) for id, items in self._heard.items()}
        self._version_heard = version

    def _load(self) -> None:
        version = self.version
        if version == self._version:
            return
        self._hear()
        layout = self._layout
        records = read_records(layout)
        self._kept, problem = read_kept(layout)
        self.problems = dict(self._unheard)
        if problem is not None:
            self.problems[str(layout.prospective)] = problem
        if records.problem is not None:
            self.problems[str(layout.engagements)] = records.problem
        self._stored = {record.session_id: record for record in records.values}
        entries, roster, settings = self._entries(), self._roster(), self._settings()
        self._records = {}
        for id, record in self._stored.items():
            entry = entries.get(id)
            if entry is None:
                self._records[id] = self._merged(named(record, roster))
                continue
            now = self._merged(with_session(record, entry.info, roster, settings, entry.agent_id))
            self._records[id] = retitled(now, entry.info, roster)
        # A person may speak of a session nobody has taken the minutes of.
        for id in self._heard.keys() - self._stored.keys():
            if (entry := entries.get(id)) is not None:
                now = self._merged(card(entry.info, roster, settings, entry.agent_id))
                self._records[id] = retitled(now, entry.info, roster)
        self._version = version


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
    known["ghost"] = now.ghost and not record.engagements
    known["agent_role"] = now.agent_role or record.agent_role
    return msgspec.structs.replace(record, **known)


def retitled(record: SessionRecord, info: SessionInfo, roster: Roster) -> SessionRecord:
    """A record that is called as its session is now (UND-06): the best topic may be corrected, or
    hidden; a title that a person gave may take the place of the one that named the agent."""
    if record.given_title is not None:
        if "agent_name" in record.corrected:
            return record
        now = identify(titled(info, record.given_title), roster)
        return msgspec.structs.replace(record, agent_name=now.name, agent_name_source=now.source)
    title = session_title(info, [e for e in record.engagements if not e.hidden])
    return record if title == record.title else msgspec.structs.replace(record, title=title)


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
