"""A note where a verb makes the search index, which a reading verb may."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from minutebook.archive import Archive
from minutebook.cli import terminal


@contextmanager
def telling_of_a_new_index(archive: Archive) -> Iterator[None]:
    """Say that there is an index now, where there was none."""
    if archive.remote is not None:
        yield
        return
    there = archive.layout.search_database.exists()
    yield
    if there or not archive.layout.search_database.exists():
        return
    if archive.layout.search_database.parent != archive.layout.sessions:
        terminal.note("This archive is read-only and has no search index: created a temporary one.")
    else:
        note_new_index(archive, "Created")


def note_new_index(archive: Archive, verb: str) -> None:
    """Where the index is, who can read it, and that it can be thrown away."""
    terminal.note(
        f"{verb} a search index in {archive.layout.sessions}. Only you can read it. You may delete "
        "it; it is rebuilt when needed."
    )
