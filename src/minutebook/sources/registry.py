"""The sources there are. Adding an agent is adding a folder and a line here."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Protocol

from minutebook.sources.base import Depth, Reading, Transcript, Trouble
from minutebook.sources.claude_code import ClaudeCode


class Source(Protocol):
    name: str

    def default_root(self) -> Path: ...

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]: ...

    def read(self, path: Path, depth: Depth) -> Reading: ...

    def resume(self, path: Path, checkpoint: bytes) -> Reading | None: ...

    def beside(self, path: Path) -> str: ...

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]: ...

    def retention_days(self, root: Path) -> int: ...


SOURCES: dict[str, Source] = {source.name: source for source in (ClaudeCode(),)}
