"""Gemini CLI: sessions under ``~/.gemini/tmp/<project>/chats`` (see README.md beside this file)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.derive.instructions import Given
from minutebook.model import Block
from minutebook.sources.base import Depth, Reading, Transcript, Trouble
from minutebook.sources.files import LinesSource, named_in
from minutebook.sources.gemini import locate, projects, tools

if TYPE_CHECKING:
    from minutebook.sources.gemini.read import LogReading


_LOADED = re.compile(r"^--- Context from: ([^\n]{1,4096}) ---\n", re.MULTILINE)
_LOADED_END = "\n--- End of Context from: {} ---"


class Gemini(LinesSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "gemini"
    title = "Gemini CLI"
    home = "$GEMINI_CLI_HOME/.gemini, else ~/.gemini"
    going_on = "gemini --resume {}"
    inside = "tmp"
    instruction_files = ("GEMINI.md",)
    places, kinds = locate, tools

    # -- finding

    def head(self, transcript: Transcript, size: int) -> str:
        del size  # a file that is rewritten, or moved from JSON to lines, is the same session
        return locate.head(transcript.path)

    def beside(self, transcript: Transcript) -> str:
        return locate.beside(transcript.path, transcript.session_id)

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]:
        return locate.orphans(folder, session_ids)

    def retention_days(self, root: Path) -> int | None:
        return projects.retention_days(root)

    # -- reading; its modules are loaded when there is something to read

    def reading(self) -> type[LogReading]:
        from minutebook.sources.gemini.read import LogReading

        return LogReading

    def read(self, transcript: Transcript, depth: Depth) -> Reading:
        if transcript.path.suffix == ".jsonl":
            return super().read(transcript, depth)
        from minutebook.sources.assembly.lines import begun
        from minutebook.sources.gemini.read import WholeReading

        return WholeReading(transcript, begun(transcript, self.tool_kind, depth))

    def resume(self, transcript: Transcript, checkpoint: bytes) -> Reading | None:
        if transcript.path.suffix != ".jsonl":
            return None
        return super().resume(transcript, checkpoint)

    def instructions(self, block: Block) -> tuple[Given, ...]:
        """Files whose text is in the context that every process puts before the prompts."""
        return named_in(block, "context", _LOADED, _LOADED_END) or super().instructions(block)

    # -- watching

    def matters(self, path: Path) -> bool:
        known = path.suffix == ".json" and path.name.startswith("session-")
        return known or path.suffix == ".jsonl"

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        return locate.sessions_of(paths)
