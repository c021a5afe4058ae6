"""OpenCode: sessions in ``~/.local/share/opencode`` (see README.md beside this file)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.model import ToolKind
from minutebook.sources.base import Depth, Transcript, Trouble
from minutebook.sources.files import FileSource
from minutebook.sources.opencode import tools

if TYPE_CHECKING:
    from minutebook.sources.opencode.read import OpenCodeReading


class OpenCode(FileSource):
    """The adapter, as the registry knows it. sqlite is loaded when there is something to find."""

    name = program = "opencode"
    title = "OpenCode"
    home = "$XDG_DATA_HOME/opencode, else ~/.local/share/opencode"
    going_on = "opencode -s {}"

    # -- finding

    def default_root(self) -> Path:
        from minutebook.sources.opencode.locate import default_root

        return default_root()

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
        from minutebook.sources.opencode.locate import discover

        return discover(places)

    def claims(self, path: Path) -> bool:
        from minutebook.sources.opencode.locate import claims

        return claims(path)

    def current(self, transcript: Transcript) -> Transcript | None:
        from minutebook.sources.opencode.locate import current

        return current(transcript)

    def head(self, transcript: Transcript, size: int) -> str:
        from minutebook.sources.opencode.locate import head

        del size
        return head(transcript)

    def beside(self, transcript: Transcript) -> str:
        from minutebook.sources.opencode.locate import beside

        return beside(transcript)

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]:
        from minutebook.sources.opencode.locate import orphans

        del session_ids
        return orphans(folder)

    # -- reading; rows are updated in place, so nothing is gone on from

    def read(self, transcript: Transcript, depth: Depth) -> OpenCodeReading:
        from minutebook.sources.opencode.read import OpenCodeReading

        return OpenCodeReading(transcript, depth)

    def tool_kind(self, name: str) -> ToolKind:
        return tools.tool_kind(name)

    def home_instructions(self, root: Path | None) -> list[Path]:
        """Not in the folder of its sessions, but with its settings."""
        del root
        config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return [path for path in (config / "opencode" / "AGENTS.md",) if path.is_file()]

    # -- watching

    def folders(self, places: Iterable[Path]) -> list[Path]:
        """The database that was moved elsewhere, too; not all of the folder it is in."""
        from minutebook.sources.opencode.locate import moved

        chosen = list(places)
        found, elsewhere = super().folders(chosen), moved()
        if not chosen and elsewhere is not None and elsewhere.is_file():
            found.append(elsewhere)
        return found

    def matters(self, path: Path) -> bool:
        from minutebook.sources.opencode.locate import matters

        return matters(path)

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        from minutebook.sources.opencode.locate import sessions_of

        return sessions_of(paths)
