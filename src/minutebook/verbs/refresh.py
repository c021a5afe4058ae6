"""Bring the search index up to date: only what changed is read, only new turns are indexed."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

import msgspec

from minutebook.archive.engagements import read_records
from minutebook.archive.layout import Layout
from minutebook.archive.ledger import load_ledger
from minutebook.archive.reading import read_inscription
from minutebook.archive.store import make_folder, writing
from minutebook.derive.turn_pairs import turn_pairs
from minutebook.index import database as db
from minutebook.index.entry import Entry, engagement_entries, title_entry, turn_entry
from minutebook.index.lexical import Lexical, Writer
from minutebook.model import SessionInfo
from minutebook.sources.base import Transcript
from minutebook.sources.fan_out import fan_out
from minutebook.sources.library import Library, open_transcript

_CHUNK = 250_000  # entries between two commits
_FLOW = 2_000  # entries handed over at a time
_TEXT_AT_ONCE = 5_000  # rows of `entries_fts` made right away
_ARCHIVED = "archive"


class Refreshed(msgspec.Struct, frozen=True):
    """What a refresh did."""

    sessions: int = 0
    added: int = 0
    removed: int = 0
    anew: str | None = None
    """Why the index was made again from nothing."""


class _Source(msgspec.Struct, frozen=True):
    """Where a session's words come from: its transcript, or the inscription that outlived it."""

    session_id: str
    path: str
    size: int
    mtime: float
    transcript: Transcript | None = None

    @property
    def state(self) -> tuple[str, int, float]:
        return self.path, self.size, self.mtime


def refresh(
    layout: Layout, library: Library, progress: Callable[[int], None] | None = None
) -> Refreshed:
    """Index what is new or has changed; forget what is gone."""
    make_folder(layout.search)
    with writing(layout.search_lock, "search"):
        try:
            return _refresh(layout, library, progress)
        except db.Outdated as error:
            forget(layout)
            done = _refresh(layout, library, progress)
            return msgspec.structs.replace(done, anew=str(error))


def forget(layout: Layout) -> None:
    """Throw the index away; the next refresh makes it again."""
    import shutil

    for suffix in ("", "-wal", "-shm"):
        Path(f"{layout.search_database}{suffix}").unlink(missing_ok=True)
    shutil.rmtree(layout.search, ignore_errors=True)
    make_folder(layout.search)


@contextmanager
def _without_collection() -> Iterator[None]:
    """No garbage collection: a million entries hold no cycles, and looking for some takes time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _forget_others(layout: Layout, kept: Path) -> None:
    """Remove what belongs to a database that is gone."""
    import shutil

    for path in layout.search.iterdir():
        if path != kept:
            shutil.rmtree(path, ignore_errors=True)


def _refresh(layout: Layout, library: Library, progress: Callable[[int], None] | None) -> Refreshed:
    with (
        db.open_search(layout.search_database) as connection,
        _without_collection(),
        ExitStack() as stack,
    ):
        folder = layout.search / db.index_id(connection)
        _forget_others(layout, folder)
        run = stack.enter_context(_Run(connection, Lexical(folder / "lexical")))
        run.mend()
        sources = {source.session_id: source for source in _sources(layout, library)}
        known = {
            session_id: (path, size, mtime)
            for session_id, path, size, mtime in connection.execute("SELECT * FROM sources")
        }
        changed = [s for s in sources.values() if known.get(s.session_id) != s.state]
        for source, entries in _read(changed):
            if progress is not None:
                progress(source.size)
            run.put(source.session_id, ("turn", "title"), entries)
            run.note(source)
        for session_id in known.keys() - sources.keys():
            run.put(session_id, ("turn", "title"), [])
            connection.execute("DELETE FROM sources WHERE session_id = ?", (session_id,))
            run.sessions += 1
        run.put_engagements(layout)
        run.finish()
        return Refreshed(run.sessions, run.added, run.removed)


def _sources(layout: Layout, library: Library) -> Iterator[_Source]:
    """Every session there is, once; transcripts before inscriptions."""
    seen: set[str] = set()
    for transcript in library.transcripts:
        if transcript.session_id not in seen:
            seen.add(transcript.session_id)
            yield _Source(
                transcript.session_id,
                str(transcript.path),
                transcript.size,
                transcript.mtime,
                transcript,
            )
    for session_id, entry in load_ledger(layout).sessions.items():
        if session_id not in seen:
            document = layout.document(entry.agent_id, session_id)
            stat = document.stat()
            yield _Source(session_id, str(document), stat.st_size, stat.st_mtime)


def _read(changed: Sequence[_Source]) -> Iterator[tuple[_Source, list[Entry]]]:
    by_path = {source.path: source for source in changed}
    live = [source.transcript for source in changed if source.transcript is not None]
    for transcript, entries in fan_out(_transcript_entries, live):
        yield by_path[str(transcript.path)], entries
    for source in changed:
        if source.transcript is None:
            yield source, _inscription_entries(Path(source.path))


def _transcript_entries(transcript: Transcript) -> list[Entry]:
    try:
        reading = open_transcript(transcript, "skim")
        rounds = list(reading.rounds())
    except OSError:
        return []  # gone or forbidden since it was found: the next refresh sees it again
    if reading.report.foreign:
        return []
    info = reading.info()
    return _entries(info, [turn_entry(pair) for pair in turn_pairs(info, rounds)])


def _inscription_entries(document: Path) -> list[Entry]:
    inscription = read_inscription(document, pictures=False)
    header = inscription.header
    info = SessionInfo(
        id=header.session_id,
        source=_ARCHIVED,
        title=header.title,
        cwds=(header.cwd,) if header.cwd else (),
        branches=(header.branch,) if header.branch else (),
        models=(header.model,) if header.model else (),
    )
    return _entries(info, [turn_entry(pair) for pair in turn_pairs(info, inscription.rounds)])


def _entries(info: SessionInfo, turns: list[Entry]) -> list[Entry]:
    return [*turns, title_entry(info.id, info.title, turns)] if info.title and turns else turns


class _Run:
    """One refresh: entries flow into both stores as they come, and are committed in step."""

    def __init__(self, connection: db.Connection, lexical: Lexical) -> None:
        self._connection, self._lexical = connection, lexical
        self._open: ExitStack | None = None
        self._writer: Writer | None = None
        self._new: list[db.Signalled] = []
        self._old: list[int] = []
        self._noted: list[_Source] = []
        self._uncommitted = 0
        self.sessions = self.added = self.removed = 0

    def __enter__(self) -> _Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """What is not committed is taken back, in both stores."""
        if self._open is not None:
            self._open.__exit__(kind, error, trace)

    def mend(self) -> None:
        """After a kill between the two commits, the full text is made again from the rows."""
        expected = int(db.fact(self._connection, "count") or 0)
        if self._lexical.count == expected:
            return
        with self._lexical.writing() as writer:
            writer.clear()
            for found in db.every(self._connection):
                writer.add(found.row, found.entry)
        (count,) = self._connection.execute("SELECT count(*) FROM entries").fetchone()
        db.set_fact(self._connection, "count", str(count))

    def put(self, session_id: str, kinds: Sequence[str], entries: Iterable[Entry]) -> None:
        """Make a session's entries these; those that are the same are left alone."""
        known = db.signals(self._connection, session_id, kinds)
        for entry in entries:
            row, signal = known.pop(entry.key, (0, ""))
            now = entry.signal
            if signal != now:
                self._new.append((entry, now))
                if row:
                    self._old.append(row)
        self._old += [row for row, _ in known.values()]
        if len(self._new) >= _FLOW:
            self._flow()
        if self._uncommitted >= _CHUNK:
            self.commit()

    def note(self, source: _Source) -> None:
        self._noted.append(source)
        self.sessions += 1

    def put_engagements(self, layout: Layout) -> None:
        """Engagements, where their file is another than the last time."""
        try:
            stat = layout.engagements.stat()
            state = f"{stat.st_mtime_ns}-{stat.st_size}"
        except OSError:
            state = ""
        if db.fact(self._connection, "engagements") == state:
            return
        records = read_records(layout)
        indexed = self._connection.execute(
            "SELECT DISTINCT session_id FROM entries WHERE kind = 'engagement'"
        ).fetchall()
        for (session_id,) in indexed:
            if session_id not in records:
                self.put(session_id, ("engagement",), [])
        for record in records.values():
            self.put(record.session_id, ("engagement",), engagement_entries(record))
        self.commit()
        db.set_fact(self._connection, "engagements", state)

    def finish(self) -> None:
        self.commit()
        db.index_text(self._connection, _TEXT_AT_ONCE)
        db.set_fact(self._connection, "refreshed", str(time.time()))

    def _flow(self) -> None:
        """Hand over what has come, so that the engine works while the next sessions are read."""
        if not self._new and not self._old:
            return
        if self._open is None:
            self._open = ExitStack()
            self._writer = self._open.enter_context(self._lexical.writing())
            self._open.enter_context(db.transaction(self._connection))
        assert self._writer is not None
        db.remove(self._connection, self._old)
        for row in self._old:
            self._writer.remove(row)
        rows = db.insert(self._connection, self._new)
        for row, (entry, _) in zip(rows, self._new, strict=True):
            self._writer.add(row, entry)
        self.added += len(self._new)
        self.removed += len(self._old)
        self._uncommitted += len(self._new)
        count = int(db.fact(self._connection, "count") or 0) + len(self._new) - len(self._old)
        db.set_fact(self._connection, "count", str(count))
        self._new, self._old = [], []

    def commit(self) -> None:
        """Rows and full text, in step; the count tells whether both have happened."""
        self._flow()
        self._connection.executemany(
            "INSERT INTO sources VALUES (?, ?, ?, ?) ON CONFLICT (session_id) DO UPDATE SET "
            "path = excluded.path, size = excluded.size, mtime = excluded.mtime",
            [(source.session_id, *source.state) for source in self._noted],
        )
        self._noted, self._uncommitted = [], 0
        if self._open is not None:
            opened, self._open, self._writer = self._open, None, None
            opened.close()
