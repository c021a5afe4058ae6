"""The minutes as every front end reads them: engagements and roster, merged (VIEW-02)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from minutebook.record.engagements import read_records
from minutebook.record.layout import Layout
from minutebook.record.ledger import Entry, load_ledger
from minutebook.record.roster import FILE_NAME, load_roster
from minutebook.derive.identity import identify
from minutebook.derive.record import bare_record
from minutebook.model import Roster, SessionInfo
from minutebook.model.engagement import SessionRecord

Version = tuple[int, int, int]
"""Inode, time and size: while they are the same, so is the file."""


class Minutes:
    """Reads the records on every call; a parse is kept as long as the files are the same."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._version: tuple[Version, Version] | None = None
        self._records: dict[str, SessionRecord] = {}
        self._ledger_version: Version | None = None
        self._ledger: dict[str, Entry] = {}

    @property
    def version(self) -> tuple[Version, Version]:
        """Another one means that the minutes have changed."""
        return _version(self._layout.engagements), _version(self._layout.root / FILE_NAME)

    def records(self) -> dict[str, SessionRecord]:
        """Every session's record, with the roster's present word on who it was."""
        version = self.version
        if version != self._version:
            roster = load_roster(self._layout.root)
            found = read_records(self._layout)
            self._records = {id: _named(record, roster) for id, record in found.items()}
            self._version = version
        return self._records

    def entry(self, session_id: str) -> Entry | None:
        """What the ledger knows of a session's inscription."""
        version = _version(self._layout.ledger)
        if version != self._ledger_version:
            self._ledger = load_ledger(self._layout).sessions
            self._ledger_version = version
        return self._ledger.get(session_id)


def card(info: SessionInfo, roster: Roster) -> SessionRecord:
    """A session nobody has taken the minutes of yet, as a record without engagements."""
    record = bare_record(info, identify(info, roster))
    return msgspec.structs.replace(record, ghost=info.is_ghost())


def _named(record: SessionRecord, roster: Roster) -> SessionRecord:
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


def _version(path: Path) -> Version:
    try:
        stat = path.stat()
    except OSError:
        return (0, 0, 0)
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
