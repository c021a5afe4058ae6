"""Cursor (experimental): transcripts under ``~/.cursor/projects`` (see README.md beside this
file)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.model import ToolKind
from minutebook.sources.base import Depth, Transcript, Trouble
from minutebook.sources.cursor import locate, tools
from minutebook.sources.files import FileSource

if TYPE_CHECKING:
    from minutebook.sources.cursor.read import CursorReading


class Cursor(FileSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "cursor"
    title = "Cursor (experimental)"
    home = "~/.cursor"

    # -- finding

    def default_root(self) -> Path:
        return locate.default_root()

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
        return locate.discover(places)

    def claims(self, path: Path) -> bool:
        return locate.claims(path)

    def beside(self, transcript: Transcript) -> str:
        return locate.beside(transcript.path)

    # -- reading; its modules are loaded when there is something to read

    def read(self, transcript: Transcript, depth: Depth) -> CursorReading:
        from minutebook.sources.cursor.read import opened

        return opened(transcript, depth)

    def resume(self, transcript: Transcript, checkpoint: bytes) -> CursorReading | None:
        from minutebook.sources.assembly.lines import lines_checkpoint
        from minutebook.sources.cursor.read import CursorReading, opened

        known = lines_checkpoint(checkpoint, transcript.path, CursorReading.version)
        return opened(transcript, "full", known) if known is not None else None

    def tool_kind(self, name: str) -> ToolKind:
        return tools.tool_kind(name)

    # -- watching

    def folders(self, places: Iterable[Path]) -> list[Path]:
        """Only the projects: extensions and caches beside them are large."""
        chosen = list(places) or [self.default_root()]
        inner = [place / locate.PROJECTS for place in chosen]
        found = [i if i.is_dir() else p for p, i in zip(chosen, inner, strict=True)]
        return [place for place in found if place.exists()]

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        return {locate.session_id(locate.main_file(path)) for path in paths}

    # -- going on

    def resume_command(self, session_id: str, cwd: str | None) -> str:
        command = f"cursor-agent --resume={shlex.quote(session_id)}"
        return f"cd {shlex.quote(cwd)} && {command}" if cwd else command
