"""The command that other programs use to start this one."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from minutebook.archive import Archive
from minutebook.extras import EXTRAS, missing


def program() -> list[str]:
    """The command that starts us, by an absolute path; what `uvx` made for one run, by `uvx`."""
    if "archive-v0" in Path(sys.prefix).parts:  # uv's cache, which it empties when it likes
        with_extras = ",".join(extra for extra in EXTRAS if not missing(extra))
        wanted = f"minutebook[{with_extras}]" if with_extras else "minutebook"
        return [shutil.which("uvx") or "uvx", "--from", wanted, "minutebook"]
    found = shutil.which("minutebook") or str(Path(sys.argv[0]).absolute())
    if Path(found).name == "minutebook":
        return [str(Path(found).absolute())]
    # A hook runs in any project: nothing is imported from the folder it is in.
    return [sys.executable, "-P", "-m", "minutebook"]


def places(archive: Archive, named: str | None) -> list[str]:
    """The roots and the archive a person chose (by option or environment), as options."""
    roots = [part for root in archive.places for part in ("--root", str(root.absolute()))]
    if named or os.environ.get("MINUTEBOOK_ARCHIVE"):
        return [*roots, "--archive", str(archive.root.absolute())]
    return roots
