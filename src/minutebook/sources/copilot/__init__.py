"""GitHub Copilot CLI: sessions under ``~/.copilot/session-state`` (see README.md beside this
file)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.sources.base import Transcript
from minutebook.sources.copilot import locate, tools
from minutebook.sources.files import LinesSource

if TYPE_CHECKING:
    from minutebook.sources.copilot.read import CopilotReading


class Copilot(LinesSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "copilot"
    title = "GitHub Copilot CLI"
    home = "$COPILOT_HOME, else ~/.copilot"
    going_on = "copilot --resume={}"
    inside = locate.SESSIONS
    instruction_files = (
        *("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md"),
        ".github/instructions/*.instructions.md",
    )
    places, kinds = locate, tools

    # -- finding

    def home_instructions(self, root: Path | None) -> list[Path]:
        folder = root or self.default_root()
        own = sorted((folder / "instructions").glob("*.instructions.md"))
        return [path for path in (folder / "copilot-instructions.md", *own) if path.is_file()]

    def beside(self, transcript: Transcript) -> str:
        return locate.beside(transcript.path)

    # -- reading; its modules are loaded when there is something to read

    def reading(self) -> type[CopilotReading]:
        from minutebook.sources.copilot.read import CopilotReading

        return CopilotReading

    # -- watching

    def matters(self, path: Path) -> bool:
        return path.suffix == ".jsonl" or path.name == locate.WORKSPACE

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        return {locate.session_id(path) for path in paths}
