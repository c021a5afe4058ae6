"""Where Qwen Code keeps its sessions, and what stands beside them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from minutebook.model import FormatReport
from minutebook.sources.assembly.lines import DECODE_ERRORS, Lines
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.files import found_files

SOURCE = "qwen"
_TYPES = frozenset({"user", "assistant", "tool_result", "system"})
_LOOKED_AT = 20  # files of a folder
_AGENT = "agent-"


class AgentFile(msgspec.Struct, frozen=True):
    """A subagent's transcript on disk."""

    path: Path
    id: str
    call_id: str | None = None
    kind: str | None = None
    description: str | None = None
    model: str | None = None


class _Meta(msgspec.Struct):
    agentType: str | None = None
    description: str | None = None
    toolUseId: str | None = None
    model: str | None = None


class _Message(msgspec.Struct):
    parts: msgspec.Raw | None = None


class _Line(msgspec.Struct):
    type: str = ""
    uuid: str | None = None
    sessionId: str | None = None
    isSidechain: bool = False
    message: _Message | None = None
    systemPayload: msgspec.Raw | None = None


def default_root() -> Path:
    """``$QWEN_RUNTIME_DIR``, else ``$QWEN_HOME``, else ``~/.qwen``."""
    moved = os.environ.get("QWEN_RUNTIME_DIR") or os.environ.get("QWEN_HOME")
    return Path(moved or Path.home() / ".qwen")


def claims(path: Path) -> bool:
    """A session's file; or Qwen Code's own folder, a project's, one of sessions."""
    if path.is_dir():
        return any(_is_session(file) for file in islice(_files(path), _LOOKED_AT))
    return path.suffix == ".jsonl" and path.is_file() and _is_session(path)


def discover(places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
    return found_files(places, SOURCE, _files, session_id, ("projects",), 2)


def session_id(path: Path) -> str:
    return path.stem.encode("utf-8", "replace").decode()


def _files(place: Path) -> Iterator[Path]:
    """Files that may be sessions: of Qwen Code's folder, of a project's, of one of sessions."""
    if (place / "projects").is_dir():
        yield from sorted(place.glob("projects/*/chats/*.jsonl"))
    elif (place / "chats").is_dir() or place.name == "chats":
        inner = place if place.name == "chats" else place / "chats"
        yield from sorted(inner.glob("*.jsonl"))
    else:
        found = (path for path in sorted(place.glob("*.jsonl")) if _is_session(path))
        yield from sorted({*place.glob("*/chats/*.jsonl"), *found})


def _is_session(path: Path) -> bool:
    """The first line that can be read decides."""
    if path.name.startswith(_AGENT) or not path.is_file():
        return False
    try:
        return next((_is_ours(line) for line in Lines(path, _Line, FormatReport())), False)
    except OSError:
        return False


def _is_ours(line: _Line) -> bool:
    told = line.systemPayload is not None or (
        line.message is not None and line.message.parts is not None
    )
    tied = line.uuid is not None and line.sessionId is not None
    return line.type in _TYPES and tied and told and not line.isSidechain


# ------------------------------------------------------------ subagents


def agent_files(path: Path) -> list[AgentFile]:
    """The subagents of a session, by the names of their files."""
    try:
        found = sorted(_agents_of(path).glob(f"{_AGENT}*.jsonl"))
    except OSError:
        return []
    return [_agent_file(file) for file in found]


def _agents_of(path: Path) -> Path:
    return path.parent.parent / "subagents" / path.stem


def _agent_file(path: Path) -> AgentFile:
    try:
        meta = msgspec.json.decode(path.with_suffix(".meta.json").read_bytes(), type=_Meta)
    except (OSError, *DECODE_ERRORS):
        meta = _Meta()
    id = session_id(path).removeprefix(_AGENT)
    return AgentFile(path, id, meta.toolUseId, meta.agentType, meta.description, meta.model)


def beside(path: Path) -> str:
    """Sizes and times of the subagents' files, as one short text."""
    try:
        with os.scandir(_agents_of(path)) as entries:
            stats = sorted((entry.name, entry.stat()) for entry in entries)
    except OSError:
        return ""
    found = "\n".join(f"{name} {stat.st_size} {stat.st_mtime}" for name, stat in stats)
    return hashlib.sha256(found.encode("utf-8", "replace")).hexdigest()[:16]


def orphans(folder: Path, session_ids: Collection[str]) -> list[Trouble]:
    """Subagents' files of a project that belong to none of its sessions."""
    return [
        Trouble(path, "a subagent of a session that is not here")
        for path in sorted(folder.parent.glob(f"subagents/*/{_AGENT}*.jsonl"))
        if path.parent.name not in session_ids
    ]


def sessions_of(paths: Iterable[Path]) -> set[str]:
    """A subagent's file, and its notes, belong to the session its folder is named after."""
    return {
        path.parent.name if path.name.startswith(_AGENT) else session_id(path) for path in paths
    }


def matters(path: Path) -> bool:
    """Sessions, and subagents with their notes; not what processes add up."""
    notes = path.name.startswith(_AGENT) and path.name.endswith(".meta.json")
    return notes or (path.suffix == ".jsonl" and path.name != "usage_record.jsonl")
