"""Tags: which rounds belong to which engagement, in an append-only file (DB-07, DB-09).

Round files never change, and databases can be thrown away; the tags are here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping

import msgspec

from minutebook.record.database import tag_rows
from minutebook.record.engagements import Ranges, engagement_ranges
from minutebook.record.layout import Layout
from minutebook.record.store import append_line, make_folder


class Tag(msgspec.Struct, frozen=True):
    session_id: str
    first: int
    last: int | None
    """None: to the end, however long the session grows."""
    engagement_id: str | None
    """None takes a tag off."""


def add_tag(layout: Layout, tag: Tag) -> None:
    """Write a tag down; one line, appended in one step."""
    make_folder(layout.sessions)
    append_line(layout.tags, msgspec.json.encode(tag))


def apply_tags(
    layout: Layout,
    database: sqlite3.Connection,
    session_ids: Collection[str] | None = None,
    fresh: Mapping[str, Ranges] | None = None,
) -> None:
    """Put the engagements of some sessions, or of all, into a database.

    What was ingested first (`fresh` is what is not written down yet), then what a person
    tagged: the person wins.
    """
    known = engagement_ranges(layout)
    for session_id in known if session_ids is None else session_ids:
        ranges = (fresh or {}).get(session_id, known.get(session_id))
        if ranges is not None:
            tag_rows(database, session_id, 1, None, None)
            for first, last, engagement_id in ranges:
                tag_rows(database, session_id, first, last, engagement_id)
    for tag in read_tags(layout):
        if session_ids is None or tag.session_id in session_ids:
            tag_rows(database, tag.session_id, tag.first, tag.last, tag.engagement_id)


def read_tags(layout: Layout) -> Iterator[Tag]:
    """Tags in the order they were given; a half-written line is passed over."""
    try:
        lines = layout.tags.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=Tag)
        except msgspec.DecodeError:
            continue
