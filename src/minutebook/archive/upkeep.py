"""What follows from the minutes: the compacted file, databases, documents' summaries, the page."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.coverage import SaidSummary, ranges_of
from minutebook.archive.folding import once, visible
from minutebook.archive.prospective import keep_engagements
from minutebook.archive.said_of_copies import affected
from minutebook.errors import Locked
from minutebook.model.engagement import SessionRecord
from minutebook.record.database import Broken, open_database, rows_of
from minutebook.record.documents import body_bytes, read_head, write_document
from minutebook.record.engagements import compact
from minutebook.record.engagements_index import engagements_index
from minutebook.record.facts import read_facts
from minutebook.record.header import Header, headed, summary_line
from minutebook.record.indexes import rounds_index, write_indexes
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.ledger import save_ledger
from minutebook.record.patches import Malformed
from minutebook.record.publish import cover_rows
from minutebook.record.store import patiently, write_atomically

_PATIENCE = 30.0  # seconds; an `append` of somebody else takes less
_SHORT_PATIENCE = 3.0
_MARGIN = 2.0


def is_indexed(layout: Layout) -> bool:
    """Whether the last run came to its end: the index is written last."""
    return _is_newer(layout.engagements_index, layout.engagements)


def is_said_indexed(layout: Layout) -> bool:
    """Whether what a person said is in the index; else somebody held the lock when they spoke."""
    return _is_newer(layout.engagements_index, layout.corrections)


def _is_newer(page: Path, made_from: Path) -> bool:
    try:
        return page.stat().st_mtime_ns >= made_from.stat().st_mtime_ns
    except OSError:
        return not made_from.exists()


def index_minutes(
    archive: Archive, changed: Collection[str], written: Collection[str] = ()
) -> None:
    """Compact the records and bring up to date what is made from those that changed.

    Sessions that are `written` have their engagements in their own files already.
    """
    with patiently(archive.layout.lock, "ingest", _PATIENCE):
        compact(archive.layout)
        _index(archive, set(changed), set(written))


def index_said(archive: Archive, session_id: str) -> bool:
    """Bring up to date what is made from the minutes of a session of which a person spoke.

    False where a run that is writing the archive will do it; everybody who reads knows already.
    """
    try:
        with patiently(archive.layout.lock, "correct", _SHORT_PATIENCE):
            _index(archive, affected(session_id, archive.ledger().sessions), set())
            return True
    except Locked:
        return False


def _index(archive: Archive, changed: set[str], written: set[str]) -> None:
    layout = archive.layout
    kept = keep_engagements(archive, with_threads=True)
    records = archive.minutes.records()
    known = [records[id] for id in changed | kept if id in records]
    _cover_all(layout, known)
    minutes = archive.minutes
    # What projects say, and what was said of copies of a session that is new, was not known when
    # it was written.
    settled = {id for id in written - kept if minutes.heard(id) == minutes.said(id)}
    cover_sessions(archive, [r for r in known if r.session_id not in settled])
    write_page(archive)


def write_page(archive: Archive) -> None:
    """``engagements-index.md``, newer than the records it is made from; holds the lock."""
    layout, records = archive.layout, archive.minutes.records()
    late = [records[id] for id in _said_since(archive) if id in records]
    _cover_all(layout, late)
    cover_sessions(archive, late)
    write_atomically(layout.engagements_index, page_of(archive))
    os.utime(layout.engagements_index)


def page_of(archive: Archive) -> bytes:
    """``engagements-index.md``, as the records have it now."""
    from minutebook.archive.threads import threads  # a run that changes nothing needs none

    records, archived = archive.minutes.records(), archive.ledger().sessions
    pairs, copies = once(archive, visible(records.values()))
    hid, _ = once(archive, visible(records.values(), hidden=True))
    still = threads(archive).still_open(pairs)
    page = engagements_index(records.values(), archived.keys(), pairs, still, copies, len(hid))
    return page.encode()


def _said_since(archive: Archive) -> set[str]:
    """Sessions of which a person spoke since the page was written: somebody held the lock."""
    try:
        written = archive.layout.engagements_index.stat().st_mtime
    except OSError:
        written = 0.0
    # Clocks of files are coarse, and a page may have been made while somebody spoke.
    since = datetime.fromtimestamp(max(0.0, written - _MARGIN), UTC).isoformat()
    entries = archive.ledger().sessions
    said = {item.session_id for item in archive.minutes.all_said() if (item.at or "") > since}
    return set[str]().union(*(affected(id, entries) for id in said))


def _cover_all(layout: Layout, records: Iterable[SessionRecord]) -> None:
    """Engagements in the cross-session database; a broken one is made again by a run."""
    found = list(records)
    if not found or not layout.database.is_file():
        return
    try:
        with open_database(layout.database) as database:
            for record in found:
                cover_rows(database, record.session_id, ranges_of(record))
    except Broken:
        layout.database.unlink(missing_ok=True)


def cover_sessions(archive: Archive, records: Iterable[SessionRecord]) -> None:
    """Engagements, titles and summaries in the sessions' own files; the caller holds the lock."""
    layout, ledger = archive.layout, archive.ledger()
    changed = False
    for record in records:
        entry = ledger.sessions.get(record.session_id)
        if entry is None:
            continue
        folder = SessionFolder(layout.folder(entry.agent_id, record.session_id))
        if folder.database.is_file():
            _cover_one(folder, record)
        said = archive.minutes.summary_said(record.session_id)
        header = _head(folder, record, said)
        changed |= header is not None and entry.headed(header)
    if changed:
        write_indexes(layout, ledger.sessions.values())
        save_ledger(layout, ledger)


def _cover_one(folder: SessionFolder, record: SessionRecord) -> None:
    try:
        with open_database(folder.database) as database:
            cover_rows(database, record.session_id, ranges_of(record))
            rows = rows_of(database, record.session_id)
    except Broken:
        folder.database.unlink(missing_ok=True)
    else:
        write_atomically(folder.index, rounds_index(record.session_id, rows))


def _head(folder: SessionFolder, record: SessionRecord, said: SaidSummary) -> Header | None:
    """The head of a document, brought up to date: title, name and role; and a summary in place of
    the placeholder, or of another one that was said before; never of words that a person wrote
    into the document (INS-10)."""
    try:
        header, start = read_head(folder.document)
        stale = header.edited and said.text is None and not said.is_by_hand(header)  # taken back
        opening = read_facts(folder).written.opening if stale else ""
    except (OSError, Malformed, ValueError):
        return None
    told = headed(header, record)
    summary = summary_line(record.session_summary or opening)
    if summary and not said.is_by_hand(header):
        told = msgspec.structs.replace(told, summary=summary, edited=said.text is not None)
    if told != header:
        write_document(folder.document, told, body_bytes(folder.document, start))
    return told
