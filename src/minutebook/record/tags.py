"""Tags: which rounds belong to which engagement, in an append-only file (DB-07, DB-09).

Round files never change, and databases can be thrown away; the tags are here.
"""

from __future__ import annotations

import msgspec

from minutebook.record.layout import Layout
from minutebook.record.lines import Lines, read_lines
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


def read_tags(layout: Layout) -> Lines[Tag]:
    """Tags in the order they were given."""
    return read_lines(layout.tags, Tag)
