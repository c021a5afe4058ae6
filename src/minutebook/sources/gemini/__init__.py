"""Gemini CLI: sessions under ``~/.gemini/tmp/<project>/chats`` (see README.md beside this file)."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.model import ToolKind
from minutebook.sources.base import Depth, Reading, Transcript, Trouble
from minutebook.sources.files import FileSource
from minutebook.sources.gemini import locate, projects, tools

if TYPE_CHECKING:
    from minutebook.sources.gemini.read import LogReading


class Gemini(FileSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "gemini"
    title = "Gemini CLI"
    home = "$GEMINI_CLI_HOME/.gemini, else ~/.gemini"

    # -- finding

    def default_root(self) -> Path:
        return locate.default_root()

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
        return locate.discover(places)

    def claims(self, path: Path) -> bool:
        return locate.claims(path)

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

    def read(self, transcript: Transcript, depth: Depth) -> Reading:
        from minutebook.sources.gemini.read import opened

        return opened(transcript, depth)

    def resume(self, transcript: Transcript, checkpoint: bytes) -> LogReading | None:
        from minutebook.sources.assembly.lines import lines_checkpoint
        from minutebook.sources.gemini.read import LogReading, opened_log

        if transcript.path.suffix != ".jsonl":
            return None
        known = lines_checkpoint(checkpoint, transcript.path, LogReading.version)
        return opened_log(transcript, "full", known) if known is not None else None

    def tool_kind(self, name: str) -> ToolKind:
        return tools.tool_kind(name)

    # -- watching

    def folders(self, places: Iterable[Path]) -> list[Path]:
        """Not all of its folder: it keeps extensions and settings there."""
        chosen = list(places) or [self.default_root()]
        inner = [place / "tmp" if (place / "tmp").is_dir() else place for place in chosen]
        return [place for place in inner if place.exists()]

    def matters(self, path: Path) -> bool:
        known = path.suffix == ".json" and path.name.startswith("session-")
        return known or path.suffix == ".jsonl"

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        return locate.sessions_of(paths)

    # -- going on

    def resume_command(self, session_id: str, cwd: str | None) -> str:
        command = f"gemini --resume {shlex.quote(session_id)}"
        return f"cd {shlex.quote(cwd)} && {command}" if cwd else command
