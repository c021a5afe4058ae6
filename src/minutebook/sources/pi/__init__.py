"""pi: sessions under ``~/.pi/agent/sessions`` (see README.md beside this file)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.model import ToolKind
from minutebook.sources.base import Depth, Transcript, Trouble
from minutebook.sources.files import FileSource
from minutebook.sources.pi import locate, tools

if TYPE_CHECKING:
    from minutebook.sources.pi.read import PiReading


class Pi(FileSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "pi"
    title = "pi"
    home = "$PI_CODING_AGENT_DIR, else ~/.pi/agent"

    # -- finding

    def default_root(self) -> Path:
        return locate.default_root()

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
        return locate.discover(places)

    def claims(self, path: Path) -> bool:
        return locate.claims(path)

    # -- reading; its modules are loaded when there is something to read

    def read(self, transcript: Transcript, depth: Depth) -> PiReading:
        from minutebook.sources.pi.read import opened

        return opened(transcript, depth)

    def resume(self, transcript: Transcript, checkpoint: bytes) -> PiReading | None:
        from minutebook.sources.assembly.lines import lines_checkpoint
        from minutebook.sources.pi.read import PiReading, opened

        known = lines_checkpoint(checkpoint, transcript.path, PiReading.version)
        return opened(transcript, "full", known) if known is not None else None

    def tool_kind(self, name: str) -> ToolKind:
        return tools.tool_kind(name)

    # -- watching

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        return {locate.session_id(path) for path in paths}

    # -- going on

    def resume_command(self, session_id: str, cwd: str | None) -> str:
        command = f"pi --session {shlex.quote(session_id)}"
        return f"cd {shlex.quote(cwd)} && {command}" if cwd else command
