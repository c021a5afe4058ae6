"""``threads.jsonl``: which thread a person says an engagement belongs to; append-only (FUT-06)."""

from __future__ import annotations

import msgspec

from minutebook.record.layout import Layout
from minutebook.record.lines import Lines, read_lines
from minutebook.record.store import append_line, make_folder


class ThreadName(msgspec.Struct, frozen=True):
    session_id: str
    engagement_id: str
    turn_range: tuple[int, int]
    """Where the engagement was: it is found again by that, should its id be another one."""
    name: str | None
    """The thread; None says that it belongs to none; empty takes back what was said."""


def add_thread_name(layout: Layout, said: ThreadName) -> None:
    """Write it down; one line, appended in one step."""
    make_folder(layout.sessions)
    append_line(layout.threads, msgspec.json.encode(said))


def read_thread_names(layout: Layout) -> Lines[ThreadName]:
    """What was said, in its order: the last word on an engagement counts."""
    return read_lines(layout.threads, ThreadName)
