"""A note where a verb makes the search index, which a reading verb may."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from minutebook.archive import Archive
from minutebook.cli import terminal


@contextmanager
def telling_of_a_new_index(archive: Archive) -> Iterator[None]:
    """Say that there is an index now, and that it can be thrown away."""
    there = archive.layout.search_database.exists()
    yield
    if not there and archive.layout.search_database.exists():
        terminal.note(
            f"Made a search index in {archive.layout.sessions}. Only you can read it, and you "
            "can delete it: it is made again when it is needed."
        )
