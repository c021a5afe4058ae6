"""Opening an archive at a place."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from minutebook.archive.archive import Archive
from minutebook.archive.masking import Hide, hide, reveal
from minutebook.config import chosen_archive, expanded
from minutebook.errors import NotFound


def open_archive(
    path: str | Path | None = None,
    roots: Iterable[str | Path] = (),
    *,
    create: bool = False,
    secrets: bool = False,
) -> Archive:
    """The archive at a place, with the transcripts that flow into it.

    Without a path it is the one the environment names, or the platform's own. One that was
    named must be there, unless it may be created. With `secrets`, nothing is masked.
    """
    root, named = chosen_archive(path)
    if root.exists() and not root.is_dir():
        raise NotFound(f"{root} is a file, not an archive.")
    if named and not create and not root.is_dir():
        raise NotFound(f"There is no archive at {root}.", remedy="archive", root=root)
    places = tuple(expanded(place) for place in roots)
    return Archive(root, places, hide=reveal if secrets else hide)


def reopened(
    archive: Archive,
    *,
    hide: Hide = hide,
    patience: float | None = None,
    lenient: bool = False,
) -> Archive:
    """The same archive once more: masked otherwise, or looked at for as long as a server lives."""
    if archive.remote is not None:
        return archive.remote.opened(hide=hide, patience=patience)
    return Archive(archive.root, archive.places, hide=hide, patience=patience, lenient=lenient)
