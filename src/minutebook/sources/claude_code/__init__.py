"""Claude Code: transcripts under ``~/.claude/projects`` (see README.md beside this file)."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.derive.instructions import Given
from minutebook.model import Block, ToolKind
from minutebook.sources.base import Depth, Exporter, Transcript, Trouble
from minutebook.sources.claude_code import locate, settings, tools
from minutebook.sources.files import current_file, head_of_file

if TYPE_CHECKING:
    from minutebook.sources.claude_code.read import ClaudeReading


class ClaudeCode:
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "claude"
    title = "Claude Code"
    home = "$CLAUDE_CONFIG_DIR, else ~/.claude"
    # AGENTS.md is read where CLAUDE.md imports it, or is a link to it.
    instruction_files: tuple[str, ...] = (
        *("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", ".claude/rules/*.md"),
    )

    @property
    def exporter(self) -> Exporter:
        # Only when something is exported: it is half of this folder.
        from minutebook.sources.claude_code.export import ClaudeExporter

        return ClaudeExporter()

    def mcp_servers(self, root: Path) -> frozenset[str]:
        from minutebook.sources.claude_code.servers import mcp_servers

        return mcp_servers(root)

    # -- finding

    def default_root(self) -> Path:
        return locate.default_root()

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
        return locate.discover(places)

    def claims(self, path: Path) -> bool:
        """A transcript, or a folder that holds some."""
        from minutebook.sources.claude_code.claims import claims  # only for what a person named

        return claims(path)

    def current(self, transcript: Transcript) -> Transcript | None:
        return current_file(transcript)

    def head(self, transcript: Transcript, size: int) -> str:
        return head_of_file(transcript.path, size)

    def beside(self, transcript: Transcript) -> str:
        return locate.beside(transcript.path)

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]:
        return locate.orphans(folder, session_ids)

    def retention_days(self, root: Path) -> int:
        return settings.retention_days(root)

    # -- reading; its modules are loaded when there is something to read

    def read(self, transcript: Transcript, depth: Depth) -> ClaudeReading:
        from minutebook.sources.claude_code.read import ClaudeReading

        return ClaudeReading(transcript.path, depth)

    def resume(self, transcript: Transcript, checkpoint: bytes) -> ClaudeReading | None:
        """Go on from a checkpoint; None where the file is not what it was up to there."""
        from minutebook.sources.claude_code.checkpoint import decode_checkpoint
        from minutebook.sources.claude_code.read import ClaudeReading

        known = decode_checkpoint(checkpoint)
        if known is None or not known.fits(transcript.path):
            return None
        return ClaudeReading(transcript.path, resume=known)

    def tool_kind(self, name: str) -> ToolKind:
        return tools.tool_kind(name)

    def home_instructions(self, root: Path | None) -> list[Path]:
        from minutebook.sources.claude_code.instructions import of_home

        return of_home(root or self.default_root())

    def instructions(self, block: Block) -> tuple[Given, ...]:
        from minutebook.sources.claude_code.instructions import instructions

        return instructions(block)

    def context_windows(self, model: str) -> tuple[int, ...]:
        from minutebook.sources.claude_code.windows import context_windows

        return context_windows(model)

    # -- watching

    def folders(self, places: Iterable[Path]) -> list[Path]:
        """What to watch: the folders of these places, else of the default root."""
        chosen = list(places) or [self.default_root()]
        inner = [place / "projects" if (place / "projects").is_dir() else place for place in chosen]
        return [place for place in inner if place.exists()]

    def matters(self, path: Path) -> bool:
        return path.suffix == ".jsonl"

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        """A subagent's file lies in a folder named after its session."""
        return {name for path in paths for name in (path.stem, *path.parts[-3:-1])}

    # -- going on

    def resume_command(self, session_id: str, cwd: str | None) -> str:
        command = f"claude --resume {shlex.quote(session_id)}"
        return f"cd {shlex.quote(cwd)} && {command}" if cwd else command
