"""Qwen Code: sessions under ``~/.qwen/projects`` (see README.md beside this file)."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.model import ToolKind
from minutebook.sources.base import Depth, Transcript, Trouble
from minutebook.sources.files import FileSource
from minutebook.sources.qwen import locate, tools

if TYPE_CHECKING:
    from minutebook.sources.qwen.read import QwenReading


class Qwen(FileSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "qwen"
    title = "Qwen Code"
    home = "$QWEN_RUNTIME_DIR or $QWEN_HOME, else ~/.qwen"

    # -- finding

    def default_root(self) -> Path:
        return locate.default_root()

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
        return locate.discover(places)

    def claims(self, path: Path) -> bool:
        return locate.claims(path)

    def beside(self, transcript: Transcript) -> str:
        return locate.beside(transcript.path)

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]:
        return locate.orphans(folder, session_ids)

    # -- reading; its modules are loaded when there is something to read

    def read(self, transcript: Transcript, depth: Depth) -> QwenReading:
        from minutebook.sources.qwen.read import opened

        return opened(transcript, depth)

    def resume(self, transcript: Transcript, checkpoint: bytes) -> QwenReading | None:
        from minutebook.sources.assembly.lines import lines_checkpoint
        from minutebook.sources.qwen.read import QwenReading, opened

        known = lines_checkpoint(checkpoint, transcript.path, QwenReading.version)
        return opened(transcript, "full", known) if known is not None else None

    def tool_kind(self, name: str) -> ToolKind:
        return tools.tool_kind(name)

    # -- watching

    def matters(self, path: Path) -> bool:
        return locate.matters(path)

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        return locate.sessions_of(paths)

    # -- going on

    def resume_command(self, session_id: str, cwd: str | None) -> str:
        command = f"qwen --resume {shlex.quote(session_id)}"
        return f"cd {shlex.quote(cwd)} && {command}" if cwd else command
