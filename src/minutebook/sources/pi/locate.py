"""Where pi keeps its sessions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from minutebook.sources.assembly.lines import DECODE_ERRORS
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.files import first_line, found_files

SOURCE = "pi"
_SESSIONS = "sessions"
_PROJECT = re.compile(r"--.*--")


class _Header(msgspec.Struct):
    type: str = ""
    version: int | None = None
    id: str | None = None
    cwd: str | None = None


def default_root() -> Path:
    """``$PI_CODING_AGENT_DIR``, else ``~/.pi/agent``; where there is nothing, the folder that its
    sessions were moved to."""
    own = Path(os.environ.get("PI_CODING_AGENT_DIR") or Path.home() / ".pi" / "agent")
    sessions = moved()
    return sessions if sessions is not None and not own.is_dir() else own


def moved() -> Path | None:
    """``$PI_CODING_AGENT_SESSION_DIR``: where sessions are, instead of in pi's folder."""
    found = os.environ.get("PI_CODING_AGENT_SESSION_DIR")
    return Path(found) if found else None


def claims(path: Path) -> bool:
    """A session's file; or pi's own folder, or one of sessions."""
    if path.is_dir():
        return any(_is_session(file) for file in _files(path))
    return path.suffix == ".jsonl" and _is_session(path)


def discover(places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
    return found_files(places, SOURCE, _files, session_id, (_SESSIONS,), 1)


def _files(place: Path) -> Iterator[Path]:
    """Files that may be sessions: of pi's folder, of its ``sessions``, of one project's; in a
    folder that is not pi's, a file has to look like one."""
    elsewhere = moved()
    if elsewhere is not None and place == default_root():
        yield from sorted(elsewhere.rglob("*.jsonl"))
    inner = place / _SESSIONS if (place / _SESSIONS).is_dir() else place
    own = inner.name == _SESSIONS or _PROJECT.fullmatch(inner.name) is not None
    yield from (file for file in sorted(inner.glob("*.jsonl")) if own or _is_session(file))
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
