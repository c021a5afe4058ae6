"""What follows from the minutes: the compacted file, databases, documents' summaries, the page."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.coverage import ranges_of
from minutebook.archive.folding import archived_once
from minutebook.errors import Locked
from minutebook.model.engagement import SessionRecord
from minutebook.record.database import Broken, open_database, rows_of
from minutebook.record.documents import body_bytes, read_head, write_document
from minutebook.record.engagements import compact
from minutebook.record.engagements_index import engagements_index
from minutebook.record.header import summary_line
from minutebook.record.indexes import rounds_index, write_indexes
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.ledger import save_ledger
from minutebook.record.patches import Malformed
from minutebook.record.publish import cover_rows
from minutebook.record.store import write_atomically, writing

_PATIENCE = 30.0  # seconds; an `append` of somebody else takes less


def is_indexed(layout: Layout) -> bool:
    """Whether the last run came to its end: the index is written last."""
    try:
        return layout.engagements_index.stat().st_mtime_ns >= layout.engagements.stat().st_mtime_ns
    except OSError:
        return not layout.engagements.exists()


def index_minutes(
    archive: Archive, changed: Collection[str], written: Collection[str] = ()
) -> None:
    """Compact the records and bring up to date what is made from those that changed.

    Sessions that are `written` have their engagements in their own files already.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            with writing(archive.layout.lock, "ingest"):
                _index(archive, set(changed), set(written))
                return
        except Locked:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _index(archive: Archive, changed: set[str], written: set[str]) -> None:
    layout = archive.layout
    compact(layout)
    records = archive.minutes.records()
    known = [records[id] for id in changed if id in records]
    _cover_all(layout, known)
    cover_sessions(archive, [r for r in known if r.session_id not in written])
    write_page(archive)


def write_page(archive: Archive) -> None:
    """``engagements-index.md``, newer than the records it is made from."""
    layout = archive.layout
    write_atomically(layout.engagements_index, page_of(archive))
    os.utime(layout.engagements_index)


def page_of(archive: Archive) -> bytes:
    """``engagements-index.md``, as the records have it now."""
    records, archived = archive.minutes.records(), archive.ledger().sessions
    pairs, copies = archived_once(archive, records.values())
    return engagements_index(records.values(), archived.keys(), pairs, copies).encode()


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
    """Engagements and summaries in the sessions' own files; the caller holds the lock."""
    layout, ledger = archive.layout, archive.ledger()
    changed = False
    for record in records:
        entry = ledger.sessions.get(record.session_id)
        if entry is None:
            continue
        folder = SessionFolder(layout.folder(entry.agent_id, record.session_id))
        if folder.database.is_file():
            _cover_one(folder, record)
        summary = _summarise(folder, record)
        if summary is not None and summary != entry.summary:
            entry.summary = summary
            changed = True
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


def _summarise(folder: SessionFolder, record: SessionRecord) -> str | None:
    """An extracted summary in place of the placeholder, never of a person's words (INS-10)."""
    summary = summary_line(record.session_summary)
    if not summary:
        return None
    try:
        header, start = read_head(folder.document)
    except (OSError, Malformed):
        return None
    if header.edited or header.summary == summary:
        return header.summary
    told = msgspec.structs.replace(header, summary=summary)
    write_document(folder.document, told, body_bytes(folder.document, start))
    return summary
