"""Claude Code: transcripts under ``~/.claude/projects`` (see README.md beside this file)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from minutebook.sources.base import Depth, Transcript, Trouble
from minutebook.sources.claude_code import locate, settings
from minutebook.sources.claude_code.checkpoint import decode_checkpoint
from minutebook.sources.claude_code.read import ClaudeReading


class ClaudeCode:
    """The adapter, as the registry knows it."""

    name = locate.SOURCE

    def default_root(self) -> Path:
        return locate.default_root()

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
        return locate.discover(places)

    def read(self, path: Path, depth: Depth) -> ClaudeReading:
        return ClaudeReading(path, depth)

    def resume(self, path: Path, checkpoint: bytes) -> ClaudeReading | None:
        """Go on from a checkpoint; None where the file is not what it was up to there."""
        known = decode_checkpoint(checkpoint)
        if known is None or not known.fits(path):
            return None
        return ClaudeReading(path, resume=known)

    def beside(self, path: Path) -> str:
        return locate.beside(path)

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]:
        return locate.orphans(folder, session_ids)

    def retention_days(self, root: Path) -> int:
        return settings.retention_days(root)
