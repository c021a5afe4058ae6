"""The ledger: what is inscribed from which source, so that what did not change is not read.

Disposable: without it, the next run reads everything once and finds the same documents.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Protocol

import msgspec

from minutebook.record.blocks import Malformed
from minutebook.record.header import Header, read_header
from minutebook.record.layout import Layout
from minutebook.record.store import write_atomically

VERSION = 1
_HEAD = 4096


class Entry(msgspec.Struct, omit_defaults=True):
    """One inscription, and its source as it was when it was last read."""

    session_id: str
    agent_id: str
    title: str | None = None
    summary: str = ""
    started: str | None = None
    ended: str | None = None
    messages: int = 0
    rounds: int = 0
    waiting: int = 0
    """Rounds held back because they were still growing."""
    source: str | None = None
    size: int = -1
    mtime: float = -1.0
    head: str = ""
    """Fingerprint of the source's first bytes: a rewritten file has another."""
    beside: str = ""
    """Sizes and times of the subagents' files, which grow on their own."""

    @classmethod
    def of(cls, header: Header) -> Entry:
        return cls(
            session_id=header.session_id,
            agent_id=header.agent_id,
            title=header.title,
            summary=header.summary,
            started=header.started,
            ended=header.ended,
            messages=header.messages,
            source=header.source,
        )


class _Source(Protocol):
    @property
    def path(self) -> Path: ...
    @property
    def size(self) -> int: ...
    @property
    def mtime(self) -> float: ...


class Ledger(msgspec.Struct):
    version: int = VERSION
    sessions: dict[str, Entry] = msgspec.field(default_factory=dict)
    unusable: dict[str, tuple[int, float]] = msgspec.field(default_factory=dict)
    """Sources that turned out to be no transcripts, with size and time when they were read."""

    def is_unusable(self, source: _Source) -> bool:
        return self.unusable.get(str(source.path)) == (source.size, source.mtime)


def load_ledger(layout: Layout) -> Ledger:
    """Entries by session id, of all documents there are; those it misses are read."""
    ledger = Ledger()
    try:
        ledger = msgspec.json.decode(layout.ledger.read_bytes(), type=Ledger)
        if ledger.version != VERSION:
            ledger = Ledger()
    except (OSError, msgspec.DecodeError):
        pass  # not there yet, or not ours: it is made again
    known = ledger.sessions
    present = set(layout.documents())
    found = {
        session_id: entry
        for session_id, entry in known.items()
        if layout.document(entry.agent_id, session_id) in present
    }
    covered = {layout.document(entry.agent_id, id) for id, entry in found.items()}
    for path in present - covered:
        header = peek(path)
        if header is not None:
            found[header.session_id] = Entry.of(header)
    return Ledger(VERSION, found, ledger.unusable)


def save_ledger(layout: Layout, ledger: Ledger) -> None:
    ordered = Ledger(
        VERSION, dict(sorted(ledger.sessions.items())), dict(sorted(ledger.unusable.items()))
    )
    write_atomically(layout.ledger, msgspec.json.format(msgspec.json.encode(ordered), indent=1))


def peek(document: Path) -> Header | None:
    """The header of a document, without reading all of it; None where it is no inscription."""
    try:
        with document.open("rb") as file:
            start = file.read(1 << 16).decode("utf-8", "ignore")
        return read_header(start)[0]
    except (OSError, Malformed):
        return None


def fingerprint(path: Path, size: int) -> str:
    """A digest of the first bytes of a file, as far as it reached when it had this size."""
    with path.open("rb") as file:
        return hashlib.sha256(file.read(min(size, _HEAD))).hexdigest()[:16]
