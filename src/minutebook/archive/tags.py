"""Tags: which rounds belong to which engagement, in an append-only file (DB-07, DB-09).

Round files never change, and databases can be thrown away; the tags are here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from minutebook.archive.layout import Layout
from minutebook.archive.store import make_folder


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
    line = msgspec.json.encode(tag) + b"\n"
    descriptor = os.open(layout.tags, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def read_tags(layout: Layout, session_id: str | None = None) -> Iterator[Tag]:
    """Tags in the order they were given; a half-written line is passed over."""
    try:
        lines = layout.tags.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            tag = msgspec.json.decode(line, type=Tag)
        except msgspec.DecodeError:
            continue
        if session_id in (None, tag.session_id):
            yield tag
