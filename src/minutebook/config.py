"""Where things are: options first, then the environment, then the platform's convention."""

from __future__ import annotations

import os
from pathlib import Path

from minutebook.errors import BadArgument


def chosen_archive(archive: str | Path | None = None) -> tuple[Path, bool]:
    """The archive's folder, and whether somebody named it (by flag or environment)."""
    named = archive or os.environ.get("MINUTEBOOK_ARCHIVE")
    return (expanded(named), True) if named else (user_data_folder() / "minutebook", False)


def archive_folder(archive: str | Path | None = None) -> Path:
    """The archive's folder, whether or not it is there."""
    return chosen_archive(archive)[0]


def expanded(path: str | Path) -> Path:
    """A path as typed, with ``~`` and ``~name`` resolved."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise BadArgument(f"There is no home folder for '{path}'.") from None


def user_data_folder() -> Path:
    """The platform's place for a user's data."""
    from platformdirs import user_data_path

    return user_data_path()
