"""Cursor (experimental): transcripts under ``~/.cursor/projects`` (see README.md beside this
file)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.sources.base import Transcript
from minutebook.sources.cursor import locate, tools
from minutebook.sources.files import LinesSource

if TYPE_CHECKING:
    from minutebook.sources.cursor.read import CursorReading


class Cursor(LinesSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "cursor"
    title = "Cursor (experimental)"
    home = "~/.cursor"
    going_on = "cursor-agent --resume={}"
    inside = locate.PROJECTS
    instruction_files = ("AGENTS.md", ".cursorrules", ".cursor/rules/*.mdc")
    places, kinds = locate, tools

    # -- finding

    def beside(self, transcript: Transcript) -> str:
        return locate.beside(transcript.path)

    # -- reading; its modules are loaded when there is something to read

    def reading(self) -> type[CursorReading]:
        from minutebook.sources.cursor.read import CursorReading

        return CursorReading

    # -- watching

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        return {locate.session_id(locate.main_file(path)) for path in paths}
