"""The ledger: what is inscribed from which source, so that what did not change is not read.

It also holds what lists show of each session, so that a list is one file to read. Disposable:
what it misses is read from the sessions' own folders.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from minutebook.model import SessionInfo
from minutebook.record.documents import peek
from minutebook.record.facts import SessionFacts, Written, read_facts
from minutebook.record.header import Header, summary_line
from minutebook.record.layout import Layout, SessionFolder, file_name
from minutebook.record.recover import FIRST_RELEASE, format_of, recovered_facts
from minutebook.record.store import write_atomically

VERSION = 2


class Entry(msgspec.Struct, omit_defaults=True):
    """One inscription, and its source as it was when it was last read."""

    agent_id: str
    info: SessionInfo
    summary: str = ""
    title: str | None = None
    """What it is called, where that is not what the transcript says (UND-06)."""
    written: Written = msgspec.field(default_factory=Written)
    waiting: int = 0
    """Rounds held back because they were still growing."""
    lost: int = 0
    """Rounds that were held back when the transcript was deleted; an export took its place."""
    source: str | None = None
    size: int = -1
    mtime: float = -1.0
    head: str = ""
    """Fingerprint of the source's first bytes: a rewritten file has another."""
    beside: str = ""
    """Sizes and times of the subagents' files, which grow on their own."""
    first_release: bool = False
    """Whether its folder is still in the first release's format."""

    @property
    def session_id(self) -> str:
        return self.info.id

    @property
    def rounds(self) -> int:
        return self.written.rounds

    @classmethod
    def of(cls, agent_id: str, facts: SessionFacts, header: Header | None) -> Entry:
        entry = cls(agent_id, facts.info, written=facts.written, source=facts.source)
        entry.lost = facts.lost
        entry.summary = summary_line(facts.written.opening)
        if header is not None:
            entry.headed(header)
        return entry

    def lost_in(self, info: SessionInfo | None) -> int:
        """Rounds that were held back and are nowhere now, where this is what the session's source
        says; None where that is gone.

        An export of ours in its place (`SessionInfo.origin`) has only what was archived.
        """
        if info is None:
            return self.lost + self.waiting
        if info.origin is None:
            return 0
        return self.lost + (self.waiting if self.info.origin is None else 0)

    def headed(self, header: Header) -> bool:
        """Take over what a document's header says; whether that is news."""
        title = header.title if "title" in header.replaced else None
        news = (self.summary, self.title) != (header.summary, title)
        self.summary, self.title = header.summary, title
        return news


class _Source(Protocol):
    @property
    def location(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def mtime(self) -> float: ...


class _Version(msgspec.Struct):
    version: int


class Ledger(msgspec.Struct):
    version: int = VERSION
    sessions: dict[str, Entry] = msgspec.field(default_factory=dict)
    unusable: dict[str, tuple[int, float]] = msgspec.field(default_factory=dict)
    """Sources that turned out to be no transcripts, with size and time when they were read."""
    damaged: dict[str, str] = msgspec.field(default_factory=dict)
    """Files of the archive that could not be read → why; found anew at each load."""

    def is_unusable(self, source: _Source) -> bool:
        return self.unusable.get(source.location) == (source.size, source.mtime)


def load_ledger(layout: Layout) -> Ledger:
    """Entries by session id, of all sessions there are; those it misses are read."""
    ledger, damaged = Ledger(), dict[str, str]()
    try:
        content = layout.ledger.read_bytes()
        version = msgspec.json.decode(content, type=_Version).version
        if version == VERSION:
            ledger = msgspec.json.decode(content, type=Ledger)
        elif version > VERSION:
            damaged[str(layout.ledger)] = "a newer minutebook wrote it; it is made again"
    except FileNotFoundError:
        pass  # not there yet
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        damaged[str(layout.ledger)] = f"{error}; it is made again at the next run that writes"
    present = layout.present()
    found = {
        session_id: entry
        for session_id, entry in ledger.sessions.items()
        if present.get(file_name(session_id)) == entry.agent_id
    }
    covered = {file_name(session_id) for session_id in found}
    for name in present.keys() - covered:
        entry = _read_entry(SessionFolder(layout.agent(present[name]) / name), damaged)
        if entry is not None:
            found[entry.session_id] = entry
    return Ledger(VERSION, found, ledger.unusable, damaged)


def _read_entry(folder: SessionFolder, damaged: dict[str, str]) -> Entry | None:
    """The entry of a session the ledger does not know."""
    header = peek(folder.document)
    try:
        facts: SessionFacts | None = read_facts(folder)
    except FileNotFoundError:
        facts = recovered_facts(folder)
    except (OSError, ValueError) as error:
        damaged[str(folder.facts)] = str(error)
        facts = recovered_facts(folder)
    if facts is None:
        return None
    entry = Entry.of(folder.path.parent.name, facts, header)
    # What the transcript had told and nobody wrote; a person is told when it is gone for good.
    entry.waiting = max(0, facts.info.rounds - facts.written.rounds)
    entry.first_release = format_of(folder) == FIRST_RELEASE
    return entry


def save_ledger(layout: Layout, ledger: Ledger) -> None:
    ordered = Ledger(
        VERSION, dict(sorted(ledger.sessions.items())), dict(sorted(ledger.unusable.items()))
    )
    write_atomically(layout.ledger, msgspec.json.encode(ordered) + b"\n")
