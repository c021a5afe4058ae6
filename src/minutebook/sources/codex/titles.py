"""Titles of sessions: Codex keeps them beside the rollouts, not in them."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

import msgspec

from minutebook.sources.assembly.lines import DECODE_ERRORS
from minutebook.sources.jsonl import LineReader

INDEX = "session_index.jsonl"
_STATE = re.compile(r"state_(\d{1,6})\.sqlite")
_LONGEST = 1_000


class _Named(msgspec.Struct):
    id: str = ""
    thread_name: str | None = None


def title_of(home: Path | None, session_id: str) -> str | None:
    """The name of a session: the last one in the index, else the one in the state database."""
    if home is None:
        return None
    known = _index(home / INDEX).get(session_id)
    return known if known is not None else _states(home).get(session_id)


def last_named(index: Path) -> str | None:
    """Whose name was written last."""
    return next(reversed(_index(index)), None)


def _index(path: Path) -> dict[str, str]:
    try:
        stat = path.stat()
    except OSError:
        return {}
    return _index_of(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _index_of(path: Path, changed: int, size: int) -> dict[str, str]:  # noqa: ARG001 - cache key
    found: dict[str, str] = {}
    lines = LineReader(path)
    decode = msgspec.json.Decoder(_Named).decode
    try:
        for start, end in lines:
            try:
                named = decode(lines.view[start:end])
            except DECODE_ERRORS:
                continue
            found.pop(named.id, None)  # the last one is the last in order, too
            if named.id and named.thread_name and named.thread_name.strip():
                found[named.id] = named.thread_name[:_LONGEST]
    except OSError:
        return {}
    return found


def _states(home: Path) -> dict[str, str]:
    """Names in the database, which may have been moved; its number grows with its schema."""
    folder = Path(os.environ.get("CODEX_SQLITE_HOME") or home)
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is needed
        found = [(int(match[1]), name) for name in names if (match := _STATE.fullmatch(name))]
        if not found:
            return {}
        from minutebook.sources.databases import state_of  # loads sqlite

        path = folder / max(found)[1]
        return _names_of(path, state_of(path))
    except OSError:
        return {}


@lru_cache(maxsize=8)
def _names_of(path: Path, state: tuple[tuple[int, int], ...]) -> dict[str, str]:  # noqa: ARG001
    """All names; `state` is a cache key."""
    from minutebook.sources.databases import untouched

    try:
        with untouched(path) as database:
            rows = database.execute("SELECT id, name FROM threads WHERE name IS NOT NULL")
            return {
                id: name[:_LONGEST]
                for id, name in rows
                if isinstance(id, str) and isinstance(name, str) and name.strip()
            }
    except OSError:
        return {}
