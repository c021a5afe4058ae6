"""A server of one's own: where root keeps its data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from minutebook.errors import Conflict

pytest.importorskip("psycopg")
needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root: files change owners"
)
SOMEBODY = 12_345


@needs_root
@pytest.mark.parametrize("made", ["folder", "link", "dangling"])
def test_root_writes_into_no_folder_of_another_user(tmp_path: Path, made: str) -> None:
    """TEAM-01: who made it first in /tmp could have put links to root's files into it."""
    from minutebook.team.serving import refuse_foreign

    folder = tmp_path / "minutebook-team"
    if made == "folder":
        folder.mkdir()
    else:
        folder.symlink_to("/etc" if made == "link" else tmp_path / "nowhere")
    os.chown(folder, SOMEBODY, SOMEBODY, follow_symlinks=False)
    with pytest.raises(Conflict, match="belongs to another user"):
        refuse_foreign(folder)


@needs_root
def test_root_writes_into_folders_of_its_own(tmp_path: Path) -> None:
    """TEAM-01: one that is to be made, and one that is there."""
    from minutebook.team.serving import refuse_foreign

    refuse_foreign(tmp_path / "new")
    refuse_foreign(tmp_path)
