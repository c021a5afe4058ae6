"""One run that writes: the lock, the ledger, the databases and indexes that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from minutebook.archive.archive import Archive
from minutebook.archive.capturing import capture
from minutebook.archive.coverage import ranges_of
from minutebook.archive.formats import write_format
from minutebook.archive.prospective import keep_engagements
from minutebook.archive.relocate import relocate
from minutebook.archive.upgrade import upgrade
from minutebook.archive.upkeep import cover_sessions, is_indexed, write_page
from minutebook.archive.writing import Done, SessionWriting, is_live
from minutebook.derive.instructions import Sighting
from minutebook.errors import Conflict
from minutebook.model import SessionInfo
from minutebook.record.database import Broken, count_rows, open_database, put_rows
from minutebook.record.indexes import write_indexes
from minutebook.record.layout import SessionFolder
from minutebook.record.ledger import Entry, Ledger, load_ledger, save_ledger
from minutebook.record.patches import Malformed
from minutebook.record.publish import all_rows, cover_rows
from minutebook.record.rounds import Damaged, RoundRow
from minutebook.record.store import (
    make_folder,
    partial_name,
    put_in_place,
    sweep,
    writing,
)
from minutebook.sources.base import Transcript, reason_of
from minutebook.sources.registry import SOURCES


class RunView:
    """What a run has to look at; reading only, so that a dry run can ask the same."""

    def __init__(self, archive: Archive, ledger: Ledger, *, ended: bool = False) -> None:
        self.archive, self.ledger = archive, ledger
        self.layout = archive.layout
        self._ended = ended

    def entry(self, session_id: str) -> Entry | None:
        return self.ledger.sessions.get(session_id)

    def is_current(self, transcript: Transcript) -> bool:
        """Whether a source is as it was when it was last read; its first bytes are looked at."""
        if self.ledger.is_unusable(transcript):
            return True
        entry = self.entry(transcript.session_id)
        if entry is None or entry.source != transcript.location:
            return False
        if (entry.size, entry.mtime) != (transcript.size, transcript.mtime):
            return False
        if entry.waiting and (self._ended or not is_live(transcript, entry.info.ended)):
            return False
        folder = SessionFolder(self.layout.folder(entry.agent_id, entry.session_id))
        lost = not folder.facts.exists() or not folder.document.exists()
        if lost or len(folder.numbers()) < entry.rounds:
            return False  # it is made again
        try:
            source = SOURCES[transcript.source]
            return entry.head == source.head(
                transcript, entry.size
            ) and entry.beside == source.beside(transcript)
        except OSError:
            return False  # the reading will say what is wrong

    def doubles(self, transcripts: Sequence[Transcript]) -> dict[str, str]:
        """Locations of files whose id another file has too → where that one is: the one archived,
        else the larger."""
        chosen = self.archive.chosen_transcripts(transcripts)
        return {
            transcript.location: chosen[transcript.session_id].location
            for transcript in transcripts
            if chosen[transcript.session_id].location != transcript.location
        }


class WritingRun(RunView):
    """Holds the archive's lock; sessions are written by workers, and noted here."""

    def __init__(self, archive: Archive, verb: str, *, ended: bool = False) -> None:
        super().__init__(archive, Ledger(), ended=ended)
        self._verb = verb
        self._stack = ExitStack()
        self._rows: list[RoundRow] = []
        self._changed = False
        self._instructed: dict[str, tuple[SessionInfo, Path | None, tuple[Sighting, ...]]] = {}
        self.remarks: list[str] = []

    def __enter__(self) -> WritingRun:
        with ExitStack() as stack:
            stack.enter_context(writing(self.layout.lock, self._verb))
            make_folder(self.layout.sessions)
            sweep(self.layout.sessions, "", "*/")
            sweep(self.layout.instructions, "")
            self.remarks += upgrade(self.archive)
            write_format(self.layout)
            self.ledger = load_ledger(self.layout)
            roster = self.archive.roster
            moved = [
                entry.session_id
                for entry in list(self.ledger.sessions.values())
                if relocate(self.layout, self.ledger, entry, roster)
            ]
            if moved:
                self._changed = True
                self.archive.read_again()
                records = self.archive.minutes.records()
                cover_sessions(self.archive, [records[id] for id in moved if id in records])
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._stack:
            if kind is None:
                self._index()
            self.archive.read_again()

    def write(self, transcript: Transcript) -> SessionWriting:
        """One session, to be written in a worker."""
        entry = self.entry(transcript.session_id)
        if entry is not None and _is_another(entry, transcript):
            raise Conflict(f"another transcript of this id is archived: {entry.source}")
        roster = self.archive.roster
        return SessionWriting(self.layout, roster, transcript, entry, ended=self._ended)

    # -- what was written

    def note(self, transcript: Transcript, done: Done) -> None:
        """What a worker did."""
        self._changed = True
        self.ledger.unusable.pop(transcript.location, None)
        if done.published is not None:
            published = done.published
            self.remarks += published.remarks
            self._rows += published.rows
            entry = Entry.of(published.agent_id, published.facts, published.header)
            entry.waiting = done.waiting
            entry.size, entry.mtime = transcript.size, transcript.mtime
            entry.head, entry.beside = done.head, done.beside
            self.ledger.sessions[transcript.session_id] = entry
            about = (entry.info, transcript.root, done.instructions)
            self._instructed[transcript.session_id] = about
        elif done.foreign is not None:
            self.ledger.unusable[transcript.location] = (transcript.size, transcript.mtime)

    def _index(self) -> None:
        """The cross-session database, the index files and the ledger, in that order.

        The ledger comes last: with it, the next run has nothing to do.
        """
        expected = sum(entry.rounds for entry in self.ledger.sessions.values())
        held = count_rows(self.layout.database) if not self.layout.database.is_dir() else -1
        stale = held + len(self._rows) != expected
        if stale:
            # Gone, truncated, or from a run that was killed: from the round files.
            make_sessions_database(self.archive, self.ledger.sessions.values())
        elif self._rows:
            ids = {row.session_id for row in self._rows}
            records = self.archive.minutes.records()
            with open_database(self.layout.database) as database:
                put_rows(database, self._rows)
                for id in ids & records.keys():
                    cover_rows(database, id, ranges_of(records[id]))
        if self._changed or stale:
            write_indexes(self.layout, self.ledger.sessions.values())
            if self._instructed:
                capture(self.layout, self._instructed)
            save_ledger(self.layout, self.ledger)
            self.archive.read_again()
            if self._rows:
                self._cover_grown()
            if is_indexed(self.layout) and self.layout.engagements.exists():
                write_page(self.archive)
        if kept := keep_engagements(self.archive, with_threads=False):
            records = self.archive.minutes.records()
            cover_sessions(self.archive, [records[id] for id in kept if id in records])

    def _cover_grown(self) -> None:
        """What a person said of a session may hold for its new rounds, too."""
        minutes = self.archive.minutes
        ids = {id for id in {row.session_id for row in self._rows} if minutes.heard(id)}
        grown = [record for id, record in minutes.records().items() if id in ids]
        if grown:
            with open_database(self.layout.database) as database:
                for record in grown:
                    cover_rows(database, record.session_id, ranges_of(record))
            cover_sessions(self.archive, grown)


def problem_of(error: Exception, transcript: Transcript) -> str | None:
    """What went wrong with one session, in words; None for what is not a session's affair."""
    if isinstance(error, OSError):
        return f"{error.filename or transcript.path}: {reason_of(error)}"
    if isinstance(error, Broken | Conflict | Malformed | Damaged):
        return str(error)
    return None


def make_sessions_database(archive: Archive, entries: Iterable[Entry]) -> int:
    """``sessions.db`` from the round files; the caller holds the lock. How many rows it has."""
    layout = archive.layout
    records = archive.minutes.records()
    fresh = partial_name(layout.database)
    fresh.unlink(missing_ok=True)
    count = 0
    with open_database(fresh, scratch=True) as database:
        for entry in entries:
            folder = SessionFolder(layout.folder(entry.agent_id, entry.session_id))
            rows = all_rows(layout, folder, entry.session_id)
            put_rows(database, rows)
            count += len(rows)
            record = records.get(entry.session_id)
            cover_rows(database, entry.session_id, ranges_of(record) if record else None)
    put_in_place(fresh, layout.database)
    return count


def _is_another(entry: Entry, transcript: Transcript) -> bool:
    """Whether a file at another place than the archived one is not that file, moved."""
    if entry.source == transcript.location or not entry.head:
        return False
    return SOURCES[transcript.source].head(transcript, entry.size) != entry.head
