"""Codex CLI: rollouts under ``~/.codex/sessions`` (see README.md beside this file)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from minutebook.sources.base import Exporter, Transcript, Trouble
from minutebook.sources.codex import agents, locate, titles, tools
from minutebook.sources.files import LinesSource, is_folder

if TYPE_CHECKING:
    from minutebook.sources.codex.read import CodexReading


class Codex(LinesSource):
    """The adapter, as the registry knows it."""

    name = locate.SOURCE
    program = "codex"
    title = "Codex CLI"
    home = "$CODEX_HOME, else ~/.codex"
    going_on = "codex resume {}"
    instruction_files = ("AGENTS.override.md", "AGENTS.md")
    places, kinds = locate, tools

    @property
    def exporter(self) -> Exporter:
        from minutebook.sources.codex.export import CodexExporter  # only to write

        return CodexExporter()

    # -- finding

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

    def reading(self) -> type[CodexReading]:
        from minutebook.sources.codex.read import CodexReading

        return CodexReading

    # -- watching

    def folders(self, places: Iterable[Path]) -> list[Path]:
        """Not all of Codex's folder: it keeps databases, logs and programs there."""
        chosen = list(places) or [self.default_root()]
        inner = [place / name for place in chosen for name in ("sessions", "archived_sessions")]
        found = [folder for folder in inner if is_folder(folder)]
        return found or super().folders(chosen)

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
