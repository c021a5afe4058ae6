"""Bring the search index up to date: only what changed is read, only new turns are indexed.

A session is read through the archive, so nothing changes here when its transcript is deleted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.coverage import SessionSaid
from minutebook.archive.round_work import RoundWork
from minutebook.archive.sessions import has_grown
from minutebook.derive.titles import is_opening
from minutebook.derive.turn_pairs import turn_pairs
from minutebook.errors import NotFound
from minutebook.index import database as db
from minutebook.index.entry import (
    Entry,
    Prepared,
    Touch,
    engagement_entries,
    prepare,
    title_entry,
    turn_entry,
)
from minutebook.index.lexical import Lexical
from minutebook.index.update import State, Update
from minutebook.model import Round, SessionInfo, Subagent
from minutebook.model.engagement import SessionRecord
from minutebook.record.layout import Layout
from minutebook.record.recover import StoredRounds
from minutebook.record.rounds import read_words
from minutebook.record.store import make_folder, private, writing
from minutebook.sources.fan_out import fan_out, without_collection
from minutebook.sources.library import open_transcript
from minutebook.sources.registry import SOURCES


class Refreshed(msgspec.Struct, frozen=True):
    """What a refresh did."""

    sessions: int = 0
    added: int = 0
    removed: int = 0
    anew: str | None = None
    """Why the index was made again from nothing."""


class _Source(msgspec.Struct, frozen=True, kw_only=True):
    """A session to be indexed, and the state that says whether it has changed."""

    session_id: str
    state: State
    size: int


def refresh(archive: Archive) -> Refreshed:
    """Index what is new or has changed; forget what is gone."""
    layout = archive.layout
    with writing(layout.search_lock, "search"), private():
        if layout.search_database.is_dir() or layout.search.is_file():
            forget(layout)
        make_folder(layout.search)
        try:
            return _refresh(archive)
        except db.Outdated as error:
            forget(layout)
            done = _refresh(archive)
            return msgspec.structs.replace(done, anew=error.reason)


def forget(layout: Layout) -> None:
    """Throw the index away; the next refresh makes it again."""
    import shutil

    for suffix in ("", "-wal", "-shm"):
        path = Path(f"{layout.search_database}{suffix}")
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
    if layout.search.is_file():
        layout.search.unlink()
    shutil.rmtree(layout.search, ignore_errors=True)
    make_folder(layout.search)


def _forget_others(layout: Layout, kept: Path) -> None:
    """Remove what belongs to a database that is gone."""
    import shutil

    for path in layout.search.iterdir():
        if path != kept:
            shutil.rmtree(path, ignore_errors=True)


def _refresh(archive: Archive) -> Refreshed:
    layout = archive.layout
    with (
        db.open_search(layout.search_database) as connection,
        without_collection(),
        ExitStack() as stack,
    ):
        folder = layout.search / db.index_id(connection)
        _forget_others(layout, folder)
        run = stack.enter_context(Update(connection, Lexical(folder / "lexical", make=True)))
        run.mend()
        _check_settings(archive, connection)
        records = archive.minutes.records()
        sources = {source.session_id: source for source in _sources(archive, records)}
        known = run.states()
        changed = [s for s in sources.values() if known.get(s.session_id) != s.state]
        for source, found in _read(archive, records, changed):
            run.put(source.session_id, ("turn", "title"), found.entries)
            run.note(source.session_id, source.state, found.files, counts=bool(found.entries))
        for session_id in known.keys() - sources.keys():
            run.forget(session_id)
        _put_engagements(archive, records, connection, run)
        run.finish()
        return Refreshed(run.sessions, run.added, run.removed)


def _check_settings(archive: Archive, connection: db.Connection) -> None:
    """What is indexed depends on a setting; where that was changed, the index is made anew."""
    wanted = str(archive.settings.search_tools)
    known = db.fact(connection, "tools")
    if known not in (None, wanted):
        raise db.Outdated("search_tools was changed")
    db.set_fact(connection, "tools", wanted)


def _put_engagements(
    archive: Archive, records: dict[str, SessionRecord], connection: db.Connection, run: Update
) -> None:
    """Engagements, where the minutes are others than the last time."""
    state = repr(archive.minutes.version)
    if db.fact(connection, "engagements") == state:
        return
    query = "SELECT DISTINCT session_id FROM entries WHERE kind = 'engagement'"
    for (session_id,) in connection.execute(query).fetchall():
        if session_id not in records:
            run.put(session_id, ("engagement",), [])
    for record in records.values():
        run.put(record.session_id, ("engagement",), engagement_entries(record))
    run.commit()
    db.set_fact(connection, "engagements", state)


def _sources(archive: Archive, records: dict[str, SessionRecord]) -> Iterator[_Source]:
    """Every session there is, once."""
    entries = archive.ledger().sessions
    said = archive.minutes.sessions_said()
    for id in sorted(archive.ids()):  # equal hits come in the order of the index
        entry, transcript = entries.get(id), archive.transcript(id)
        if entry is not None and (transcript is None or not has_grown(entry, transcript)):
            moved = _moved(records.get(id))
            told = msgspec.json.encode((_title(said, id) or entry.info.title, moved))
            state = (f"archive:{hashlib.sha256(told).hexdigest()[:16]}", entry.rounds, 0.0)
            yield _Source(session_id=id, state=state, size=max(entry.size, 0))
        elif transcript is not None:
            titled = f"{transcript.location}\n{title}" if (title := _title(said, id)) else ""
            state = (titled or transcript.location, transcript.size, transcript.mtime)
            yield _Source(session_id=id, state=state, size=transcript.size)


def _title(said: Mapping[str, SessionSaid], session_id: str) -> str | None:
    """The title a person gave a session."""
    return said[session_id].title if session_id in said else None


def _moved(record: SessionRecord | None) -> list[tuple[tuple[tuple[int, int], ...], str]]:
    """Engagements that are of another project than their session's folder (ING-12)."""
    if record is None:
        return []
    return [(e.ranges, e.project) for e in record.engagements if e.project != record.cwd]


class _Found(msgspec.Struct, frozen=True):
    """What a session has that can be found."""

    entries: list[Prepared]
    files: list[Touch]


def _read(
    archive: Archive, records: dict[str, SessionRecord], changed: Sequence[_Source]
) -> Iterator[tuple[_Source, _Found]]:
    decoder = msgspec.msgpack.Decoder(_Found)
    for source, packed in fan_out(partial(_packed, archive, records), changed):
        if packed:  # else it could not be read: the next refresh tries again
            yield source, decoder.decode(packed)


def _packed(archive: Archive, records: dict[str, SessionRecord], source: _Source) -> bytes:
    """What is found in a session as it travels; pickling it takes three times as long."""
    try:
        return msgspec.msgpack.encode(_found(archive, source, records.get(source.session_id)))
    except OSError:
        return b""


def _found(archive: Archive, source: _Source, record: SessionRecord | None) -> _Found:
    """Turns with what was done in them, files, and the title, unless it only is the beginning of
    the first prompt."""
    work = RoundWork()
    info, rounds = _rounds_of(archive, source.session_id, work)
    if info is None:
        return _Found([], [])
    found = {pair.metadata.round: turn_entry(pair) for pair in turn_pairs(info, rounds)}
    for agent in _subagents(archive, source.session_id, work):
        work.note_agent(agent)
    title = _title(archive.minutes.sessions_said(), source.session_id) or info.title
    return _Found(entries_of(info, found, work, record, title), work.files)


def entries_of(
    info: SessionInfo,
    found: dict[int, Entry],
    work: RoundWork,
    record: SessionRecord | None,
    title: str | None,
) -> list[Prepared]:
    """The turns of a session, by round, with what was done in them; and its title."""
    for number in work.done.keys() - found.keys():
        found[number] = _wordless(info, number, work.at[number])
    turns = [_of_project(found[number], record) for number in sorted(found)]
    program = SOURCES.get(info.source)
    filled = work.meter.tenths(program.context_windows) if program is not None else {}
    turns = [
        msgspec.structs.replace(
            e, blocks=work.blocks.get(e.round, ""), budget=filled.get(e.round, -1)
        )
        for e in turns
    ]
    entries = [prepare(entry, work.done.get(entry.round)) for entry in turns]
    if turns and title and not is_opening(title, turns[0].asked):
        entries.append(prepare(title_entry(info.id, title, turns)))
    return entries


def _wordless(info: SessionInfo, number: int, at: int) -> Entry:
    """A round in which nobody said anything, but something was done."""
    return Entry(
        kind="turn",
        session_id=info.id,
        key=str(number),
        round=number,
        at=at,
        project=info.cwd or info.project or "",
        branch=info.branch or "",
        model=info.model or "",
        tools=True,
    )


def _rounds_of(
    archive: Archive, session_id: str, work: RoundWork
) -> tuple[SessionInfo | None, Iterable[Round]]:
    """A session and its rounds, one at a time; what was done in each is noted as it passes."""
    if not archive.settings.search_tools:
        told, spoken = words_of(archive, session_id)
        return told, work.meter.noting(spoken)
    entry = archive.ledger().sessions.get(session_id)
    if entry is not None:
        return entry.info, work.noting(archive.open(session_id).stored_rounds())
    transcript = archive.transcript(session_id)
    info, rounds = words_of(archive, session_id)
    if info is not None and transcript is not None:
        # Once more: words alone are read without the calls, and all of it may be too much to hold.
        reading = open_transcript(transcript)
        for _ in work.noting(reading.rounds()):
            pass
        for agent in reading.subagents():
            work.note_agent(agent)
    return info, rounds


def _subagents(archive: Archive, session_id: str, work: RoundWork) -> Iterator[Subagent]:
    """The subagents of an archived session, one at a time; what is lost is left out."""
    if session_id not in archive.ledger().sessions:
        return
    session = archive.open(session_id)
    for agent_id in work.callers:
        try:
            yield session.stored_subagent(agent_id)
        except (NotFound, OSError):
            continue


def _of_project(entry: Entry, record: SessionRecord | None) -> Entry:
    """A turn with the project of the engagement it belongs to."""
    if record is None:
        return entry
    for engagement in record.engagements:
        if engagement.project != record.cwd and engagement.covers(entry.round):
            return msgspec.structs.replace(entry, project=engagement.project)
    return entry


def words_of(archive: Archive, session_id: str) -> tuple[SessionInfo | None, list[Round]]:
    """A session and its rounds with nothing but their words, as they are kept.

    From the archive where that has them, else from the transcript; None where the file is not
    a transcript after all.
    """
    entry = archive.ledger().sessions.get(session_id)
    transcript = archive.transcript(session_id)
    if entry is not None:
        if transcript is not None and has_grown(entry, transcript):
            return entry.info, list(archive.open(session_id).stored_rounds())
        return entry.info, list(_archived_words(archive, session_id))
    if transcript is None:
        return None, []
    reading = open_transcript(transcript, "skim")
    rounds = list(reading.rounds())
    return (None, []) if reading.report.foreign else (reading.info(), rounds)


def _archived_words(archive: Archive, session_id: str) -> Iterator[Round]:
    """The words of an archived session; what is damaged is read where it can still be had."""
    folder = archive.folder(session_id)
    stored = StoredRounds(folder)
    for number in stored.numbers():
        if not stored.is_first_release:
            try:
                yield read_words(folder.round(number).read_bytes())
                continue
            except (OSError, ValueError):
                pass  # from the document, if that has it
        yield stored.read(number)
