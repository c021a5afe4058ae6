"""Where Claude Code keeps transcripts (FMT-01, FMT-02, FMT-15)."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from minutebook.errors import NotFound
from minutebook.sources.base import Transcript, Trouble, reason_of
from minutebook.sources.claude_code.records import DECODE_ERRORS, SkimRecord, decode_skim
from minutebook.sources.jsonl import LineReader

_HELPERS = ("acompact-", "aprompt_suggestion-", "aside_question-")
WARMUP = "Warmup"
SOURCE = "claude-code"
_LONGEST_NAME = 200


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
    helper: bool = False
    """Only in exports: what else told a helper is not always in its file."""


# The same files are looked for again and again, and making a path costs more than looking.
_path = lru_cache(maxsize=20_000)(Path)


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
            # Only a configuration folder is cleaned up by Claude Code.
            root = place if base is projects else None
            found.setdefault(path, _transcript(path, stat, root))
    return list(found.values()), troubles


def _session_files(base: Path, troubles: list[Trouble]) -> Iterator[tuple[Path, os.stat_result]]:
    for entry in _entries(base, troubles):
        try:
            inner = _entries(Path(entry.path), troubles) if entry.is_dir() else [entry]
        except OSError as error:  # a link that leads round in circles
            troubles.append(Trouble(Path(entry.path), reason_of(error)))
            continue
        for file in inner:
            if not file.name.endswith(".jsonl") or file.name.startswith("agent-"):
                continue
            path = _path(file.path)
            try:
                if file.is_file():
                    yield path, file.stat()
                elif file.is_symlink():
                    troubles.append(Trouble(path, "a link to a file that is not there"))
                else:
                    troubles.append(Trouble(path, "not a file that can be read"))
            except OSError as error:
                troubles.append(Trouble(path, reason_of(error)))


def _entries(folder: Path, troubles: list[Trouble]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        troubles.append(Trouble(folder, reason_of(error)))
        return []


def _transcript(path: Path, stat: os.stat_result, root: Path | None) -> Transcript:
    # A file name need not be UTF-8; what is shown and written must be.
    session_id = path.stem.encode("utf-8", "replace").decode()
    return Transcript(path, SOURCE, session_id, stat.st_size, stat.st_mtime, root)


def encoded_folder(cwd: str) -> str:
    """The folder under ``projects`` for a working directory, as the CLI makes it.

    Past 200 characters the name is cut, and a hash of the whole path makes it unique again:
    Java's string hash over UTF-16 units, in base 36.
    """
    path = os.path.realpath(cwd) if os.path.isabs(cwd) else cwd  # noqa: PTH117 - a string
    name = re.sub(r"[^a-zA-Z0-9]", "-", path)
    if len(name) <= _LONGEST_NAME:
        return name
    hashed = 0
    units = path.encode("utf-16-le")
    for at in range(0, len(units), 2):
        hashed = (hashed * 31 + units[at] + (units[at + 1] << 8)) & 0xFFFFFFFF
    hashed = abs(hashed - (1 << 32) if hashed >= 1 << 31 else hashed)
    digits = ""
    while hashed:
        hashed, digit = divmod(hashed, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return f"{name[:_LONGEST_NAME]}-{digits or '0'}"


def transcript_name(session_id: str) -> str:
    """The file of a session; an id that is not a harmless name is made one."""
    return f"{_file_name(session_id)}.jsonl"


def agent_name(agent_id: str) -> str:
    """The file of a subagent."""
    return f"agent-{_file_name(agent_id)}.jsonl"


def _file_name(id: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,120}", id):
        return id
    return "_" + re.sub(r"[^A-Za-z0-9_-]", lambda m: f"%{ord(m[0]):02X}", id)[:200]


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


def beside(path: Path) -> str:
    """Sizes and times of the files in a session's own folder, as one short text."""
    try:
        with os.scandir(session_folder(path) / "subagents") as entries:
            stats = sorted((entry.name, entry.stat()) for entry in entries)
    except OSError:
        return ""
    found = "\n".join(f"{name} {stat.st_size} {stat.st_mtime}" for name, stat in stats)
    return hashlib.sha256(found.encode("utf-8", "replace")).hexdigest()[:16]


def orphans(folder: Path, session_ids: Collection[str]) -> list[Trouble]:
    """Agent files in a folder of sessions, or in those of its sessions, that belong to none."""
    found = []
    for path in _agents_in(folder):
        record = _first_record(path)
        if record is None:
            found.append(Trouble(path, "a subagent's file that cannot be read"))
        elif record.sessionId not in session_ids:
            found.append(Trouble(path, "a subagent of a session that is not here"))
    for left in _entries(folder, []):
        if left.name not in session_ids and Path(left.path).is_dir():
            agents = _agents_in(Path(left.path) / "subagents")
            found += [Trouble(path, "a subagent of a session that is not here") for path in agents]
    return found


def _agent_file(path: Path) -> AgentFile:
    id = path.stem.removeprefix("agent-")
    try:
        meta = msgspec.json.decode(path.with_suffix(".meta.json").read_bytes(), type=_Meta)
    except (OSError, *DECODE_ERRORS):
        meta = _Meta()
    first = _first_record(path)
    # A warm-up leaves a prompt "Warmup", or, split over two sessions, a reply to none.
    warm_up = first is not None and (first.type == "assistant" or _prompt(first) == WARMUP)
    helper = id.startswith(_HELPERS) or warm_up or meta.helper
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
    if not path.is_file():  # a pipe of that name would make us wait for ever
        return None
    lines = LineReader(path)
    try:
        for start, end in lines:
            try:
                return decode_skim(lines.view[start:end])
            except DECODE_ERRORS:
                continue
    except OSError:
        pass  # belongs to nobody then; `orphans` names it
    return None


class _Title(msgspec.Struct):
    customTitle: str | None = None


def custom_title(path: Path) -> str | None:
    """The title an interactive ``/rename`` leaves in ``<uuid>/custom-title.json``."""
    try:
        raw = (session_folder(path) / "custom-title.json").read_bytes()
        return msgspec.json.decode(raw, type=_Title).customTitle
    except (OSError, *DECODE_ERRORS):
        return None
