"""Qwen Code: sessions under ``~/.qwen/projects`` (see README.md beside this file)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.files import LinesSource
from minutebook.sources.qwen import locate, tools

if TYPE_CHECKING:
    from minutebook.sources.qwen.read import QwenReading


class Qwen(LinesSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "qwen"
    title = "Qwen Code"
    home = "$QWEN_RUNTIME_DIR or $QWEN_HOME, else ~/.qwen"
    going_on = "qwen --resume {}"
    instruction_files = ("QWEN.md", "AGENTS.md")
    places, kinds = locate, tools

    # -- finding

    def beside(self, transcript: Transcript) -> str:
        return locate.beside(transcript.path)

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]:
        return locate.orphans(folder, session_ids)

    # -- reading; its modules are loaded when there is something to read

    def reading(self) -> type[QwenReading]:
        from minutebook.sources.qwen.read import QwenReading

        return QwenReading

    # -- watching

    def matters(self, path: Path) -> bool:
        return locate.matters(path)

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        return locate.sessions_of(paths)
