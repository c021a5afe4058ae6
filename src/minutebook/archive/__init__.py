"""The archive: the one object that everything above it stands on."""

from minutebook.archive.archive import Archive
from minutebook.archive.opening import open_archive

__all__ = ["Archive", "open_archive"]
