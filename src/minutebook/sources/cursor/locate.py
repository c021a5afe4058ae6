"""Where Cursor keeps its transcripts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from minutebook.sources.assembly.lines import DECODE_ERRORS
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.files import first_line, found_files

SOURCE = "cursor"
PROJECTS = "projects"
TRANSCRIPTS = "agent-transcripts"
SUBAGENTS = "subagents"


class _Said(msgspec.Struct):
    content: list[msgspec.Raw] | str


class _First(msgspec.Struct):
    role: str
    message: _Said
    type: str | None = None
    uuid: str | None = None
    sessionId: str | None = None


def default_root() -> Path:
    return Path.home() / ".cursor"


def claims(path: Path) -> bool:
    """A transcript or its folder; or Cursor's own folder, or one of transcripts."""
    if path.is_dir():
        return any(map(_is_transcript, _candidates(path)))
    return path.suffix == ".jsonl" and _is_transcript(path)


def discover(places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
    return found_files(places, SOURCE, _files, session_id, (PROJECTS,), 3)


def _files(place: Path) -> Iterator[Path]:
    """The transcripts of a place; in a folder that is not Cursor's, a file has to look like one."""
    return (file for file in _candidates(place) if _is_own(file) or _is_transcript(file))


def _is_own(path: Path) -> bool:
    return TRANSCRIPTS in (path.parent.name, path.parent.parent.name)


def _candidates(place: Path) -> Iterator[Path]:
    """Files that may be transcripts: of Cursor's folder, of a project's, of any folder of them."""
    if place.name == SUBAGENTS:
        return
    for folder in sorted(place.glob(f"{PROJECTS}/*/{TRANSCRIPTS}")):
        yield from _in(folder)
    if (place / TRANSCRIPTS).is_dir():
        yield from _in(place / TRANSCRIPTS)
    elif place.name == TRANSCRIPTS:
        yield from _in(place)
    else:
        yield from sorted(place.glob("*.jsonl"))


def _in(folder: Path) -> Iterator[Path]:
    """A session has a folder of its own; other files in it are not transcripts."""
    yield from sorted(folder.glob("*.jsonl"))
    for path in sorted(folder.glob("*/*.jsonl")):
        if path.stem == path.parent.name:
            yield path


def session_id(path: Path) -> str:
    return path.stem.encode("utf-8", "replace").decode()


def main_file(path: Path) -> Path:
    """The transcript a file belongs to: its own, or that of the session a subagent worked for."""
    if path.parent.name != SUBAGENTS:
        return path
    session = path.parent.parent
    return session / f"{session.name}.jsonl"


def subagent_files(path: Path) -> list[Path]:
    """Transcripts of the subagents of a session: in its folder, where that is its own."""
    folder = path.parent / SUBAGENTS
    try:
        if not folder.is_dir():
            return []
        if path.stem != path.parent.name and len(list(path.parent.glob("*.jsonl"))) > 1:
            return []
        return sorted(file for file in folder.glob("*.jsonl") if file.is_file())
    except OSError:
        return []


def store(path: Path) -> Path | None:
    """The database with a session's name: ``chats/<project>/<id>/store.db`` of Cursor's folder."""
    for parent in path.parents:
        if parent.name == PROJECTS:
            found = sorted((parent.parent / "chats").glob(f"*/{path.stem}/store.db"))
            return found[0] if found else None
    return None


def beside(path: Path) -> str:
    """Sizes and times of what belongs to a transcript, as one short text."""
    own = store(path)
    found = []
    for file in [*subagent_files(path), *([own] if own is not None else [])]:
        try:
            stat = file.stat()
        except OSError:
            continue
        found.append(f"{file.name} {stat.st_size} {stat.st_mtime}")
    words = "\n".join(found)
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16] if found else ""


def _is_transcript(path: Path) -> bool:
    """Lines without ids or times: a role, and what it said."""
    try:
        first = msgspec.json.decode(first_line(path, 1 << 20), type=_First)
    except (OSError, *DECODE_ERRORS):
        return False
    tied = first.type or first.uuid or first.sessionId
    return first.role in ("user", "assistant") and not tied
