"""Titles of sessions: Codex keeps them beside the rollouts, not in them."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

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
    """Names in the database; its number is that of its schema, and grows."""
    folder = Path(os.environ.get("CODEX_SQLITE_HOME") or home)
    try:
        found = [(int(m[1]), folder / n) for n in os.listdir(folder) if (m := _STATE.fullmatch(n))]  # noqa: PTH208
        if not found:
            return {}
        path = max(found)[1]
        stats = [path.stat(), *([wal.stat()] if (wal := _wal(path)).exists() else [])]
    except OSError:
        return {}
    return _names_of(path, tuple((stat.st_mtime_ns, stat.st_size) for stat in stats))


def _wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


@lru_cache(maxsize=8)
def _names_of(path: Path, changed: tuple[tuple[int, int], ...]) -> dict[str, str]:
    """All names. Codex's own files are not touched: with a log beside it, a copy is read."""
    import sqlite3

    try:
        with TemporaryDirectory(prefix="minutebook-") as scratch:
            if len(changed) > 1:
                copy = Path(scratch) / path.name
                shutil.copyfile(path, copy)
                shutil.copyfile(_wal(path), _wal(copy))
                place = f"{copy.as_uri()}"
            else:
                place = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
            with closing(sqlite3.connect(place, uri=True)) as database:
                rows = database.execute("SELECT id, name FROM threads WHERE name IS NOT NULL")
                return {
                    id: name[:_LONGEST]
                    for id, name in rows
                    if isinstance(id, str) and isinstance(name, str) and name.strip()
                }
    except (OSError, sqlite3.Error):
        return {}
