"""Where things are: flags first, then the environment, then the platform's habit."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from minutebook.errors import BadArgument


@dataclass(frozen=True)
class Settings:
    roots: tuple[Path, ...] = ()
    """Configuration folders, folders of transcripts or single files; empty: the source's own."""
    archive: Path = Path()


def settings(roots: Iterable[str | Path] = (), archive: str | Path | None = None) -> Settings:
    """Settings from what was given, with ``MINUTEBOOK_ARCHIVE`` as the fallback for the archive."""
    chosen = archive or os.environ.get("MINUTEBOOK_ARCHIVE")
    return Settings(
        tuple(expanded(root) for root in roots),
        expanded(chosen) if chosen else user_data_folder() / "minutebook",
    )


def expanded(path: str | Path) -> Path:
    """A path as typed, with ``~`` and ``~name`` resolved."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise BadArgument(f"There is no home folder for '{path}'.") from None


def user_data_folder() -> Path:
    """The platform's place for a user's data."""
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
