"""Codex CLI: rollouts under ``~/.codex/sessions`` (see README.md beside this file)."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.model import ToolKind
from minutebook.sources.base import Depth, Exporter, Transcript, Trouble
from minutebook.sources.codex import agents, locate, titles, tools
from minutebook.sources.files import FileSource
from minutebook.sources.jsonl import is_compressed

if TYPE_CHECKING:
    from minutebook.sources.codex.read import CodexReading


class Codex(FileSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "codex"
    title = "Codex CLI"
    home = "$CODEX_HOME, else ~/.codex"

    @property
    def exporter(self) -> Exporter:
        from minutebook.sources.codex.export import CodexExporter  # only to write

        return CodexExporter()

    # -- finding

    def default_root(self) -> Path:
        return locate.default_root()

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
        return locate.discover(places)

    def claims(self, path: Path) -> bool:
        return locate.claims(path)

    def current(self, transcript: Transcript) -> Transcript | None:
        return locate.current(transcript)

    def head(self, transcript: Transcript, size: int) -> str:
        del size  # a rollout that is rewritten or compressed still is the same session
        return locate.head_digest(transcript.path)

    def beside(self, transcript: Transcript) -> str:
        return agents.beside(transcript.path, transcript.session_id)

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]:
        return agents.orphans(folder, session_ids)

    # -- reading; its modules are loaded when there is something to read

    def read(self, transcript: Transcript, depth: Depth) -> CodexReading:
        from minutebook.sources.codex.read import opened

        return opened(transcript, depth)

    def resume(self, transcript: Transcript, checkpoint: bytes) -> CodexReading | None:
        from minutebook.sources.assembly.lines import lines_checkpoint
        from minutebook.sources.codex.read import CodexReading, opened

        if is_compressed(transcript.path):
            return None
        known = lines_checkpoint(checkpoint, transcript.path, CodexReading.version)
        return opened(transcript, "full", known) if known is not None else None

    def tool_kind(self, name: str) -> ToolKind:
        return tools.tool_kind(name)

    # -- watching

    def folders(self, places: Iterable[Path]) -> list[Path]:
        """Not all of Codex's folder: it keeps databases, logs and programs there."""
        chosen = list(places) or [self.default_root()]
        inner = [place / name for place in chosen for name in ("sessions", "archived_sessions")]
        found = [folder for folder in inner if folder.is_dir()]
        return found or [place for place in chosen if place.exists()]

    def matters(self, path: Path) -> bool:
        return path.name.endswith((".jsonl", ".jsonl.zst"))

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        """A subagent's rollout changes its session; a title is in a file of its own."""
        found = set()
        for path in paths:
            if path.name == titles.INDEX:
                found.add(titles.last_named(path) or "")
                continue
            head = locate.head_of(path)
            found.add(locate.named_id(path))
            found.update({head.id, head.parent or ""} if head is not None else ())
        return found - {""}

    # -- going on

    def resume_command(self, session_id: str, cwd: str | None) -> str:
        command = f"codex resume {shlex.quote(session_id)}"
        return f"cd {shlex.quote(cwd)} && {command}" if cwd else command
