"""Where Claude Code keeps transcripts (FMT-01, FMT-02, FMT-15)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from minutebook.errors import NotFound
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.claude_code.records import DECODE_ERRORS, SkimRecord, decode_skim
from minutebook.sources.jsonl import LineReader

_HELPERS = ("acompact-", "aprompt_suggestion-", "aside_question-")
WARMUP = "Warmup"
SOURCE = "claude-code"


class AgentFile(msgspec.Struct, frozen=True):
    """A subagent's transcript on disk."""

    path: Path
    id: str
    helper: bool
    call_id: str | None = None
    kind: str | None = None
    description: str | None = None


class _Meta(msgspec.Struct):
    agentType: str | None = None
    description: str | None = None
    toolUseId: str | None = None


def default_root() -> Path:
    """``$CLAUDE_CONFIG_DIR``, else ``~/.claude``."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


def discover(places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
    """Sessions of configuration folders, of plain folders of transcripts, and single files."""
    found: dict[Path, Transcript] = {}
    troubles: list[Trouble] = []
    for place in places:
        if place.is_file():
            found[place] = _transcript(place, place.stat(), None)
            continue
        if not place.is_dir():
            raise NotFound(f"There is no folder or transcript at {place}.")
        projects = place / "projects"
        base = projects if projects.is_dir() else place
        for path, stat in _session_files(base, troubles):
            found.setdefault(path, _transcript(path, stat, place))
    return list(found.values()), troubles


def _session_files(base: Path, troubles: list[Trouble]) -> Iterator[tuple[Path, os.stat_result]]:
    for entry in _entries(base, troubles):
        inner = _entries(Path(entry.path), troubles) if entry.is_dir() else [entry]
        for file in inner:
            if not file.name.endswith(".jsonl") or file.name.startswith("agent-"):
                continue
            path = Path(file.path)
            try:
                if file.is_file():
                    yield path, file.stat()
                elif file.is_symlink():
                    troubles.append(Trouble(path, "a link to a file that is not there"))
            except OSError as error:
                troubles.append(Trouble(path, _why(error)))


def _entries(folder: Path, troubles: list[Trouble]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        troubles.append(Trouble(folder, _why(error)))
        return []


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _transcript(path: Path, stat: os.stat_result, root: Path | None) -> Transcript:
    return Transcript(path, SOURCE, path.stem, stat.st_size, stat.st_mtime, root)


# ------------------------------------------------------------ beside a session


def session_folder(path: Path) -> Path:
    """``<uuid>/`` beside ``<uuid>.jsonl``: subagents, spilled tool results, a title."""
    return path.with_suffix("")


def agent_files(path: Path) -> list[AgentFile]:
    """Subagent transcripts of a session, inside its folder (2.1+) or beside it (2.0.x)."""
    inside = _agents_in(session_folder(path) / "subagents")
    try:
        changed = path.parent.stat().st_mtime_ns
    except OSError:
        changed = 0
    beside = _siblings(path.parent, changed).get(path.stem, [])
    return [_agent_file(file) for file in inside + beside]


def _agents_in(folder: Path) -> list[Path]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is needed
    except OSError:
        return []
    return [
        folder / name
        for name in sorted(names)
        if name.startswith("agent-") and name.endswith(".jsonl")
    ]


@lru_cache(maxsize=64)
def _siblings(folder: Path, changed: int) -> dict[str, list[Path]]:  # noqa: ARG001 - cache key
    """Agent files of a project folder by the session they name; looked up once a change."""
    owned: dict[str, list[Path]] = {}
    for path in _agents_in(folder):
        record = _first_record(path)
        if record is not None and record.sessionId:
            owned.setdefault(record.sessionId, []).append(path)
    return owned


def _agent_file(path: Path) -> AgentFile:
    id = path.stem.removeprefix("agent-")
    try:
        meta = msgspec.json.decode(path.with_suffix(".meta.json").read_bytes(), type=_Meta)
    except (OSError, *DECODE_ERRORS):
        meta = _Meta()
    first = _first_record(path)
    # A warm-up leaves a prompt "Warmup", or, split over two sessions, a reply to none.
    warm_up = first is not None and (first.type == "assistant" or _prompt(first) == WARMUP)
    helper = id.startswith(_HELPERS) or warm_up
    return AgentFile(path, id, helper, meta.toolUseId, meta.agentType, meta.description)


def first_prompt(path: Path) -> str | None:
    """The task a subagent was given."""
    record = _first_record(path)
    return _prompt(record) if record is not None else None


def _prompt(record: SkimRecord) -> str | None:
    message = record.message
    content = message if message is None or isinstance(message, str) else message.content
    return content if isinstance(content, str) else None


def _first_record(path: Path) -> SkimRecord | None:
    lines = LineReader(path)
    try:
        for start, end in lines:
            try:
                return decode_skim(lines.view[start:end])
            except DECODE_ERRORS:
                continue
    except OSError:
        pass  # an unreadable sibling belongs to nobody; doctor names it
    return None


def custom_title(path: Path) -> str | None:
    """The title an interactive ``/rename`` leaves in ``<uuid>/custom-title.json``."""

    class Title(msgspec.Struct):
        customTitle: str | None = None

    try:
        raw = (session_folder(path) / "custom-title.json").read_bytes()
        return msgspec.json.decode(raw, type=Title).customTitle
    except (OSError, *DECODE_ERRORS):
        return None
