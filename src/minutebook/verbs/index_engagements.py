"""What follows from the records: the compacted file, the databases' tags, the index page."""

from __future__ import annotations

import os
import time
from collections.abc import Collection

from minutebook.record.database import Broken, open_database, rows_of
from minutebook.record.engagements import compact
from minutebook.record.engagements_index import engagements_index
from minutebook.record.indexes import rounds_index
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.store import write_atomically, writing
from minutebook.record.tags import apply_tags
from minutebook.errors import Locked
from minutebook.model.engagement import SessionRecord

_PATIENCE = 30.0  # seconds; an `append` of somebody else takes less


def is_indexed(layout: Layout) -> bool:
    """Whether the last run came to its end: the index is written last."""
    try:
        return layout.engagements_index.stat().st_mtime_ns >= layout.engagements.stat().st_mtime_ns
    except OSError:
        return not layout.engagements.exists()


def index_engagements(
    layout: Layout,
    records: dict[str, SessionRecord],
    changed: Collection[str],
    tagged: Collection[str] = (),
) -> None:
    """Compact the records, tag the rounds of changed sessions, write the page.

    Sessions that are `tagged` have their engagements in their own database already.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            with writing(layout.lock, "ingest"):
                compact(layout)
                _tag(layout, set(changed))
                _tag_sessions(layout, [records[id] for id in changed if id not in tagged])
                page = engagements_index(layout, records.values()).encode()
                write_atomically(layout.engagements_index, page)
                os.utime(layout.engagements_index)
                return
        except Locked:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _tag(layout: Layout, ids: set[str]) -> None:
    """Engagements in the cross-session database; a broken one is made again by an inscribe."""
    if not ids:
        return
    try:
        with open_database(layout.database) as database:
            apply_tags(layout, database, ids)
    except Broken:
        layout.database.unlink(missing_ok=True)


def _tag_sessions(layout: Layout, records: list[SessionRecord]) -> None:
    """Engagements in the sessions' own databases and index files."""
    for record in records:
        folder = SessionFolder(layout.folder(record.agent_id or "", record.session_id))
        if not record.engagements or not folder.database.exists():
            continue
        try:
            with open_database(folder.database) as database:
                apply_tags(layout, database, {record.session_id})
                rows = rows_of(database, record.session_id)
        except Broken:
            folder.database.unlink(missing_ok=True)
        else:
            write_atomically(folder.index, rounds_index(record.session_id, rows))
