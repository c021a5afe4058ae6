"""Bring the search index up to date: only what changed is read, only new turns are indexed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from minutebook.record.engagements import read_records
from minutebook.record.layout import Layout
from minutebook.record.ledger import load_ledger
from minutebook.record.reading import info_of, read_inscription
from minutebook.record.store import make_folder, writing
from minutebook.derive.turn_pairs import turn_pairs
from minutebook.index import database as db
from minutebook.index.entry import (
    Entry,
    Prepared,
    engagement_entries,
    prepare,
    title_entry,
    turn_entry,
)
from minutebook.index.lexical import Lexical
from minutebook.index.update import State, Update
from minutebook.model import SessionInfo
from minutebook.sources.base import Transcript
from minutebook.sources.fan_out import fan_out
from minutebook.sources.library import Library, open_transcript


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
    def state(self) -> State:
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
            return msgspec.structs.replace(done, anew=error.reason)


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
        run = stack.enter_context(Update(connection, Lexical(folder / "lexical", make=True)))
        run.mend()
        sources = {source.session_id: source for source in _sources(layout, library)}
        known = run.states()
        changed = [s for s in sources.values() if known.get(s.session_id) != s.state]
        for source, entries in _read(changed):
            if progress is not None:
                progress(source.size)
            run.put(source.session_id, ("turn", "title"), entries)
            run.note(source.session_id, source.state)
        for session_id in known.keys() - sources.keys():
            run.forget(session_id)
        _put_engagements(layout, connection, run)
        run.finish()
        return Refreshed(run.sessions, run.added, run.removed)


def _put_engagements(layout: Layout, connection: db.Connection, run: Update) -> None:
    """Engagements, where their file is another than the last time."""
    try:
        stat = layout.engagements.stat()
        state = f"{stat.st_mtime_ns}-{stat.st_size}"
    except OSError:
        state = ""
    if db.fact(connection, "engagements") == state:
        return
    records = read_records(layout)
    query = "SELECT DISTINCT session_id FROM entries WHERE kind = 'engagement'"
    for (session_id,) in connection.execute(query).fetchall():
        if session_id not in records:
            run.put(session_id, ("engagement",), [])
    for record in records.values():
        run.put(record.session_id, ("engagement",), engagement_entries(record))
    run.commit()
    db.set_fact(connection, "engagements", state)


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


def _read(changed: Sequence[_Source]) -> Iterator[tuple[_Source, list[Prepared]]]:
    by_path = {source.path: source for source in changed}
    live = [source.transcript for source in changed if source.transcript is not None]
    decoder = msgspec.msgpack.Decoder(list[Prepared])
    for transcript, packed in fan_out(_packed_entries, live):
        if packed:  # else it could not be read: the next refresh tries again
            yield by_path[str(transcript.path)], decoder.decode(packed)
    for source in changed:
        if source.transcript is None:
            yield source, _inscription_entries(Path(source.path))


def _packed_entries(transcript: Transcript) -> bytes:
    """A session's entries as they travel; pickling them takes three times as long."""
    try:
        return msgspec.msgpack.encode(_transcript_entries(transcript))
    except OSError:
        return b""


def _transcript_entries(transcript: Transcript) -> list[Prepared]:
    reading = open_transcript(transcript, "skim")
    rounds = list(reading.rounds())
    if reading.report.foreign:
        return []
    info = reading.info()
    return _entries(info, [turn_entry(pair) for pair in turn_pairs(info, rounds)])


def _inscription_entries(document: Path) -> list[Prepared]:
    inscription = read_inscription(document, pictures=False)
    info = info_of(inscription.header, len(inscription.rounds))
    return _entries(info, [turn_entry(pair) for pair in turn_pairs(info, inscription.rounds)])


def _entries(info: SessionInfo, turns: list[Entry]) -> list[Prepared]:
    """Turns, and the title, unless it only is the beginning of the first prompt."""
    if turns and info.title and not turns[0].asked.startswith(info.title.rstrip("…")):
        turns = [*turns, title_entry(info.id, info.title, turns)]
    return [prepare(entry) for entry in turns]
