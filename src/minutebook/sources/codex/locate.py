"""Where Codex keeps its rollouts, and what their first lines say."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from minutebook.sources.assembly.lines import DECODE_ERRORS
from minutebook.sources.assembly.rings import first_of_rings
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.codex.carried import AgentNote
from minutebook.sources.files import first_line, found_files
from minutebook.sources.jsonl import is_compressed, size_of

SOURCE = "codex"
_FOLDERS = ("sessions", "archived_sessions")
_LONGEST_HEAD = 1 << 24
_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$")
DATE = re.compile(r"rollout-(\d{4})-(\d{2})-(\d{2})T")
_DAY = "[0-9][0-9]"
_LEVELS = ("", f"{_DAY}/", f"{_DAY}/{_DAY}/", f"{_DAY}{_DAY}/{_DAY}/{_DAY}/")
_HELPERS = frozenset({"compact", "memory_consolidation"})


class Head(msgspec.Struct, frozen=True):
    """What the first line of a rollout says of it."""

    id: str
    started: str = ""
    parent: str | None = None
    """Of a subagent: whose."""
    kind: str | None = None
    """Of a subagent: what it is for."""
    nickname: str | None = None
    helper: bool = False
    call_id: str | None = None
    """Of a subagent in an export: the call that started it."""

    @property
    def is_subagent(self) -> bool:
        return self.parent is not None or self.kind is not None


class _Payload(msgspec.Struct):
    id: str | None = None
    timestamp: str | None = None
    source: Any = None
    parent_thread_id: str | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None


class _Note(msgspec.Struct):
    agent: AgentNote | None = None


class _Line(msgspec.Struct):
    type: str = ""
    payload: _Payload | None = None
    id: str | None = None
    timestamp: str | None = None
    instructions: msgspec.Raw = msgspec.Raw()
    minutebook: _Note | None = None


def default_root() -> Path:
    """``$CODEX_HOME``, else ``~/.codex``."""
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def home_of(path: Path) -> Path | None:
    """The folder whose ``sessions`` hold a rollout; None for a file somewhere else."""
    return next((folder.parent for folder in path.parents if folder.name in _FOLDERS), None)


# ------------------------------------------------------------ finding


def claims(path: Path) -> bool:
    """A rollout; or Codex's own folder, or one of rollouts."""
    if path.is_dir():
        return any(head_of(file) is not None or _is_named(file) for file in _files(path))
    if not path.name.endswith((".jsonl", ".jsonl.zst")):
        return False
    return head_of(path) is not None or _is_named(path)


def _is_named(path: Path) -> bool:
    """Whether only Codex calls a file so."""
    return DATE.match(path.name) is not None and path.is_file()


def discover(places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]:
    """Sessions: of two files of one session the one that is not compressed; no subagents, but for
    one whose parent is not here, and a file that somebody named."""
    found, troubles = found_files(places, SOURCE, _sessions, session_id, _FOLDERS, 3)
    kept: list[Transcript] = []
    paths = {transcript.path for transcript in found}
    for transcript in found:
        if is_compressed(transcript.path):
            if transcript.path.with_suffix("") in paths:
                continue
            transcript = _decompressed(transcript)
        kept.append(transcript)
    return kept, troubles


def _decompressed(transcript: Transcript) -> Transcript:
    """With the size of what was compressed: it is the same session as before."""
    try:
        size = size_of(transcript.path, transcript.size)
    except OSError:
        return transcript  # the reading will say what is wrong
    return msgspec.structs.replace(transcript, size=size)


def current(transcript: Transcript) -> Transcript | None:
    """As it is now; None where it is gone."""
    try:
        stat = transcript.path.stat()
    except OSError:
        return None
    now = msgspec.structs.replace(transcript, size=stat.st_size, mtime=stat.st_mtime)
    return _decompressed(now) if is_compressed(now.path) else now


def _sessions(place: Path) -> Iterator[Path]:
    files = [(path, head_of(path)) for path in _files(place)]
    here = {head.id for _, head in files if head is not None}
    home = home_of(place / "any")
    parents = {head.id: head.parent for _, head in files if head is not None and head.parent}
    first = first_of_rings(parents)
    for path, head in files:
        if head is None:
            # A rollout whose first line cannot be read is listed: the reading says what is wrong.
            if DATE.match(path.name) is not None:
                yield path
        elif not head.is_subagent or head.id in first or _is_lonely(head, here, home):
            yield path


def _is_lonely(head: Head, here: set[str], home: Path | None) -> bool:
    """Whether a subagent's session is gone: nothing else would show what it did."""
    if head.helper or head.parent in here:
        return False
    if home is None or head.parent is None:
        return True  # all of Codex's folder was looked at, or somebody's own
    return all(named_id(path) != head.parent for path in _files(home))


def _files(place: Path) -> Iterator[Path]:
    """Files that may be rollouts: of Codex's folder, of its sessions, of a year, of a day."""
    inner = [place / name for name in _FOLDERS if (place / name).is_dir()]
    for folder in inner or [place]:
        for level in _LEVELS:
            for ending in (".jsonl", ".jsonl.zst"):
                name = "rollout-*" if level or inner else "*"
                yield from sorted(folder.glob(f"{level}{name}{ending}"))


def session_id(path: Path) -> str:
    """What the first line says, else the name of the file."""
    head = head_of(path)
    if head is not None:
        return head.id
    return named_id(path)


def named_id(path: Path) -> str:
    """``rollout-<time>-<id>.jsonl``; a file that somebody renamed goes by its name."""
    stem = path.name.encode("utf-8", "replace").decode().removesuffix(".zst")
    stem = stem.removesuffix(".jsonl")
    found = _ID.search(stem)
    return found[1] if found is not None else stem


# ------------------------------------------------------------ heads


def head_of(path: Path) -> Head | None:
    """The first line of a rollout; None for what is not one."""
    try:
        stat = path.stat()
        return _head(path, stat.st_mtime_ns, stat.st_size)
    except (OSError, LookupError):
        return None


@lru_cache(maxsize=20_000)
def _head(path: Path, changed: int, size: int) -> Head:  # noqa: ARG001 - cache key
    """Raises LookupError where there is none: that may be about to change."""
    try:
        line = msgspec.json.decode(first_line(path, _LONGEST_HEAD), type=_Line)
    except DECODE_ERRORS:
        raise LookupError from None
    known = line.payload
    if line.type == "session_meta" and known is not None and known.id:
        note = line.minutebook.agent if line.minutebook is not None else None
        return _meta(known.id, known) if note is None else _noted(note, known)
    if not line.type and line.id and line.timestamp and bytes(line.instructions):
        return Head(line.id, line.timestamp)
    raise LookupError


def _meta(id: str, meta: _Payload) -> Head:
    source = meta.source.get("subagent") if isinstance(meta.source, dict) else None
    spawned = source.get("thread_spawn") if isinstance(source, dict) else None
    parent, kind = meta.parent_thread_id, meta.agent_role
    if isinstance(spawned, dict):
        parent = parent or _text(spawned.get("parent_thread_id"))
        kind = kind or _text(spawned.get("agent_role"))
    elif isinstance(source, dict):
        kind = kind or _text(source.get("other")) or next(iter(source), "subagent")
    elif source is not None:
        kind = _text(source) or "subagent"
    helper = kind in _HELPERS
    return Head(id, meta.timestamp or "", parent, kind, meta.agent_nickname, helper)


def _noted(note: AgentNote, meta: _Payload) -> Head:
    """A subagent of an export: as it was called before."""
    parent, kind, name = meta.parent_thread_id, note.kind, note.description
    return Head(note.id, meta.timestamp or "", parent, kind, name, note.helper, note.call_id)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def head_digest(path: Path) -> str:
    """Of which session a file is, and since when. Its first bytes will not do: Codex migrates
    rollouts in place and compresses them, and each is the same session still."""
    path.stat()  # one that is not there is an error
    head = head_of(path)
    told = f"{head.id} {head.started}" if head is not None else "not a rollout"
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]
