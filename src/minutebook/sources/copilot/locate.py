"""Where Copilot CLI keeps its sessions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from minutebook.sources.assembly.lines import DECODE_ERRORS
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.files import first_line, found_files

SOURCE = "copilot"
SESSIONS = "session-state"
EVENTS = "events.jsonl"
WORKSPACE = "workspace.yaml"
_MOST_NOTES = 1 << 14  # bytes of a workspace.yaml; one has 300


class _First(msgspec.Struct):
    type: str = ""
    data: msgspec.Raw = msgspec.Raw()


class _Start(msgspec.Struct):
    sessionId: str | None = None
    producer: str | None = None
    copilotVersion: str | None = None


def default_root() -> Path:
    """``$COPILOT_HOME``, else ``~/.copilot``."""
    return Path(os.environ.get("COPILOT_HOME") or Path.home() / ".copilot")


def claims(path: Path) -> bool:
    """A session's file or folder; or Copilot's own folder, or one of sessions."""
    if path.is_dir():
        return any(map(_is_session, _candidates(path)))
    return path.suffix == ".jsonl" and _is_session(path)


def discover(places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
    return found_files(places, SOURCE, _files, session_id, (SESSIONS,), 1)


def _files(place: Path) -> Iterator[Path]:
    """The sessions of a place; in a folder that is not Copilot's, a file has to look like one."""
    own = place.name == SESSIONS or (place / SESSIONS).is_dir()
    return (file for file in _candidates(place) if own or _is_session(file))


def _candidates(place: Path) -> Iterator[Path]:
    """Files that may be sessions: of Copilot's folder, of its ``session-state``, of one session."""
    if (place / EVENTS).is_file():
        yield place / EVENTS
    folder = place / SESSIONS if (place / SESSIONS).is_dir() else place
    yield from sorted(folder.glob(f"*/{EVENTS}"))
    # What older versions wrote.
    yield from sorted(path for path in folder.glob("*.jsonl") if path.name != EVENTS)


def session_id(path: Path) -> str:
    """``<id>/events.jsonl``, before that ``<id>.jsonl``."""
    name = path.parent.name if path.name in (EVENTS, WORKSPACE) else path.stem
    return name.encode("utf-8", "replace").decode()


def _is_session(path: Path) -> bool:
    try:
        first = msgspec.json.decode(first_line(path), type=_First)
        if first.type != "session.start":
            return False
        start = msgspec.json.decode(first.data, type=_Start)
    except (OSError, *DECODE_ERRORS):
        return False
    return start.sessionId is not None and (start.producer or start.copilotVersion) is not None


def workspace(path: Path) -> bytes:
    """What stands beside a session's events; nothing where that is too large to be it."""
    if path.name != EVENTS:
        return b""
    notes = path.parent / WORKSPACE
    try:
        if not notes.is_file():
            return b""
        with notes.open("rb") as file:
            found = file.read(_MOST_NOTES + 1)
    except OSError:
        return b""
    return found if len(found) <= _MOST_NOTES else b""


def beside(path: Path) -> str:
    """A digest of it: a session gets its name there, and a new one when somebody renames it."""
    notes = workspace(path)
    return hashlib.sha256(notes).hexdigest()[:16] if notes else ""
