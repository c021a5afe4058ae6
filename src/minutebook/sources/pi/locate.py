"""Where pi keeps its sessions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from minutebook.sources.assembly.lines import DECODE_ERRORS
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.files import first_line, found_files

SOURCE = "pi"


class _Header(msgspec.Struct):
    type: str = ""
    version: int | None = None
    id: str | None = None
    cwd: str | None = None


def default_root() -> Path:
    """``$PI_CODING_AGENT_DIR``, else ``~/.pi/agent``."""
    return Path(os.environ.get("PI_CODING_AGENT_DIR") or Path.home() / ".pi" / "agent")


def claims(path: Path) -> bool:
    """A session's file; or pi's own folder, or one of sessions."""
    if path.is_dir():
        return any(_is_session(file) for file in _files(path))
    return path.suffix == ".jsonl" and _is_session(path)


def discover(places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
    return found_files(places, SOURCE, _files, session_id)


def _files(place: Path) -> Iterator[Path]:
    """Files that may be sessions: of pi's folder, of its ``sessions``, of one project's."""
    moved = os.environ.get("PI_CODING_AGENT_SESSION_DIR")
    if moved and place == default_root():
        yield from sorted(Path(moved).rglob("*.jsonl"))
    inner = place / "sessions" if (place / "sessions").is_dir() else place
    yield from sorted(inner.glob("*.jsonl"))
    yield from sorted(inner.glob("--*--/*.jsonl"))


def session_id(path: Path) -> str:
    """``<time>_<id>.jsonl``; a file that somebody renamed goes by its name."""
    stem = path.stem.encode("utf-8", "replace").decode()
    return stem.rsplit("_", 1)[-1] or stem


def _is_session(path: Path) -> bool:
    try:
        header = msgspec.json.decode(first_line(path), type=_Header)
    except (OSError, *DECODE_ERRORS):
        return False
    return header.type == "session" and header.id is not None and header.cwd is not None
