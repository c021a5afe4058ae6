"""Where Gemini CLI keeps its sessions, and what stands beside them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.files import found_files
from minutebook.sources.gemini.projects import cwd_of

SOURCE = "gemini"
_LOOKED_AT = 20  # files of a folder
_HEAD = 8192
_ID = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')
_HASH = re.compile(rb'"projectHash"\s*:')
_SUBAGENT = re.compile(rb'"kind"\s*:\s*"subagent"')
_HISTORY = re.compile(rb'^\s*\{\s*"history"\s*:\s*\[.*"lastUpdated"\s*:', re.DOTALL)


class AgentFile(msgspec.Struct, frozen=True):
    """A subagent's log on disk."""

    path: Path
    id: str


def default_root() -> Path:
    """``$GEMINI_CLI_HOME/.gemini``, else ``~/.gemini``."""
    return Path(os.environ.get("GEMINI_CLI_HOME") or Path.home()) / ".gemini"


def claims(path: Path) -> bool:
    """A session's file; or Gemini CLI's own folder, a project's, one of sessions."""
    if path.is_dir():
        return any(_is_session(file) for file in islice(_files(path), _LOOKED_AT))
    return _is_session(path)


def discover(places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
    found, troubles = found_files(places, SOURCE, _files, session_id, ("tmp",), 2)
    known: list[Transcript] = []
    for transcript in found:
        if transcript.session_id:
            known.append(transcript)
        elif transcript.root is None:
            stem = transcript.path.stem.encode("utf-8", "replace").decode()
            known.append(replace(transcript, session_id=stem))
        else:
            troubles.append(Trouble(transcript.path, "half-written, or not a session"))
    return known, troubles


def _files(place: Path) -> Iterator[Path]:
    """Files that may be sessions: of Gemini CLI's folder, of a project's, of one of sessions."""
    if (place / "tmp").is_dir():
        found = place.glob("tmp/*/chats/session-*.json*")
    elif place.name == "tmp":
        found = place.glob("*/chats/session-*.json*")
    elif (place / "chats").is_dir() or place.name == "chats":
        inner = place if place.name == "chats" else place / "chats"
        found = inner.glob("session-*.json*")
    else:
        found = (path for path in place.glob("*.json*") if _is_session(path))
    names = {path for path in found if path.suffix in (".json", ".jsonl")}
    # A session that is resumed by a later version goes on in a file of lines beside the old one.
    kept = (path for path in names if path.with_suffix(".jsonl") not in names - {path})
    return iter(sorted(kept))


def _head_of(path: Path) -> bytes:
    try:
        if not path.is_file():  # a pipe of that name would make us wait for ever
            return b""
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""


def _is_session(path: Path) -> bool:
    if path.suffix not in (".json", ".jsonl") or path.name.startswith("checkpoint-"):
        return False
    head = _head_of(path)
    first = head.split(b"\n", 1)[0] if path.suffix == ".jsonl" else head
    if _SUBAGENT.search(first) is not None:
        return False
    told = _ID.search(first) is not None and _HASH.search(first) is not None
    return told or (path.suffix == ".json" and _HISTORY.match(head) is not None)


def session_id(path: Path) -> str:
    """Of the file's beginning: its name has only the first letters. Nothing where it is torn."""
    head = _head_of(path)
    if (found := _ID.search(head)) is not None:
        return found[1].decode("utf-8", "replace")
    named = path.stem.encode("utf-8", "replace").decode()
    return named if _HISTORY.match(head) is not None else ""


def head(path: Path) -> str:
    with path.open("rb"):  # OSError where it cannot be read
        return hashlib.sha256(session_id(path).encode()).hexdigest()[:16]


def project_folder(path: Path) -> Path | None:
    """``tmp/<project>`` of a session, or of a subagent's log."""
    return next((p.parent for p in path.parents if p.name.startswith("chats")), None)


def folder_of(path: Path) -> str | None:
    """The folder a session worked on."""
    project = project_folder(path)
    return cwd_of(project) if project is not None else None


# ------------------------------------------------------------ subagents


def agent_files(path: Path, id: str) -> list[AgentFile]:
    """Logs of the subagents of a session, and of theirs."""
    found: dict[str, AgentFile] = {}
    parents = [id]
    while parents:
        parent = parents.pop(0)
        if "/" in parent or parent in ("", ".", ".."):
            continue
        for file in sorted((path.parent / parent).glob("*.jsonl")):
            if file.stem not in found and file.stem != id:
                found[file.stem] = AgentFile(file, file.stem.encode("utf-8", "replace").decode())
                parents.append(file.stem)
    return list(found.values())


def beside(path: Path, id: str) -> str:
    """The folder it worked on, and sizes and times of the subagents' logs, as one short text."""
    told = [folder_of(path) or ""]
    for agent in agent_files(path, id):
        try:
            stat = agent.path.stat()
        except OSError:
            continue
        told.append(f"{agent.id} {stat.st_size} {stat.st_mtime}")
    return hashlib.sha256("\n".join(told).encode("utf-8", "replace")).hexdigest()[:16]


def orphans(folder: Path, session_ids: Collection[str]) -> list[Trouble]:
    """Subagents' logs in a folder of sessions that belong to none of them. In a folder above, what
    looks like one may be a session."""
    logs = sorted(folder.glob("*/*.jsonl"))
    known = {*session_ids, *(path.stem for path in logs)}
    return [
        Trouble(path, "a subagent of a session that is not here")
        for path in logs
        if path.parent.name not in known and not _is_session(path)
    ]


def sessions_of(paths: Iterable[Path]) -> set[str]:
    """A subagent's log belongs to the session its folder is named after."""
    found = set()
    for path in paths:
        inside = path.parent.parent.name == "chats"
        found.add(path.parent.name if inside else session_id(path))
    return found - {""}
