"""``opencode.db``: read without touching it or the files beside it.

The program may be writing at the same time. Of its tables only three are read: others hold
tokens of accounts.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from minutebook.sources.opencode.records import Families, Family, Held

_MAGIC = b"SQLite format 3\x00"
_OWN = frozenset({"session", "message", "part"})
_COPIES = 3  # attempts at a copy nothing was written to meanwhile
_WAIT = 2.0  # seconds for a writer that is just checkpointing
# How long a value is; from 3.43 on without reading it.
_BYTES = (
    "octet_length(data)" if sqlite3.sqlite_version_info >= (3, 43) else "length(CAST(data AS BLOB))"
)
_State = tuple[tuple[int, int], tuple[int, int]]


class Unusable(OSError):
    """A database that cannot be read, and why."""


def is_database(path: Path) -> bool:
    """Whether a file is a database with OpenCode's tables."""
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return False
        with _opened(path) as connection:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return {_text(name) for (name,) in found} >= _OWN
    except OSError:
        return False


# ------------------------------------------------------------ opening


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees the log; sqlite's errors come out as OSError."""
    try:
        with closing(_connected(path)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise Unusable(0, f"not a database that can be read ({error})", str(path)) from error


def _connected(path: Path) -> sqlite3.Connection:
    log, shared = _beside(path, "-wal"), _beside(path, "-shm")
    if not log.exists():
        # The program closed it, so all is in the one file; otherwise sqlite would make a log.
        return _tried(path, "mode=ro&immutable=1")
    if shared.exists():
        try:
            return _tried(path, "mode=ro&readonly_shm=1")
        except sqlite3.OperationalError:
            pass  # the log's index is of no use to somebody who may not write to it
    return _tried(_copy(path, _state(path)), "mode=rw")


def _tried(path: Path, how: str) -> sqlite3.Connection:
    """A connection that has read something. A page of the viewer may go on with it in another
    thread, but never in two at once."""
    place = f"file:{quote(os.fsencode(path))}?{how}"
    connection = sqlite3.connect(place, timeout=_WAIT, check_same_thread=False, uri=True)
    try:
        connection.text_factory = bytes
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


_copies: dict[Path, tuple[_State, TemporaryDirectory[str]]] = {}


def _copy(path: Path, state: _State) -> Path:
    """The database and its log in a folder of our own, kept as long as neither changes."""
    known = _copies.get(path)
    if known is None or known[0] != state:
        folder = TemporaryDirectory(prefix="minutebook-")
        for _ in range(_COPIES):
            for place in (path, _beside(path, "-wal")):
                if place.exists():
                    shutil.copyfile(place, Path(folder.name) / place.name)
            state, before = _state(path), state
            if state == before:
                break
        if known is not None:
            known[1].cleanup()
        known = _copies[path] = (state, folder)
    return Path(known[1].name) / path.name


@atexit.register
def _throw_copies_away() -> None:
    while _copies:
        _copies.popitem()[1][1].cleanup()


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _state(path: Path) -> _State:
    """What changes when anything is written."""
    own = path.stat()
    try:
        log = _beside(path, "-wal").stat()
    except OSError:
        return (own.st_size, own.st_mtime_ns), (0, 0)
    return (own.st_size, own.st_mtime_ns), (log.st_size, log.st_mtime_ns)


# ------------------------------------------------------------ all sessions


def families(path: Path) -> Families:
    """Every session's row: one query, and none while nothing was written."""
    return _families(path, _state(path))


@lru_cache(maxsize=4)
def _families(path: Path, state: _State) -> Families:
    del state
    with _opened(path) as connection:
        had = {_text(row[1]) for row in connection.execute("PRAGMA table_info(session)")}
        wanted = ("parent_id", "directory", "title", "version", "slug", "agent")
        own = ", ".join(f"s.{name}" if name in had else "NULL" for name in wanted)
        rows = connection.execute(
            f"SELECT s.id, s.time_created, s.time_updated, {own}, m.n, m.bytes, m.latest, m.sum,"
            f" p.n, p.bytes, p.latest, p.sum FROM session s"
            f" LEFT JOIN ({_sums('message')}) m ON m.session_id = s.id"
            f" LEFT JOIN ({_sums('part')}) p ON p.session_id = s.id"
        ).fetchall()
    return Families(map(_family, rows))


def _sums(table: str) -> str:
    # Rows are updated in place: the sum of their times tells, where their number does not.
    return (
        f"SELECT session_id, count(*) n, sum({_BYTES}) bytes,"
        f" max(time_updated) latest, total(time_updated) sum FROM {table} GROUP BY session_id"
    )


def _family(row: tuple[Any, ...]) -> Family:
    id, created, updated = _text(row[0]), row[1], row[2]
    parent, directory, title, version, slug, agent = (_text(cell) or None for cell in row[3:9])
    counts = [_number(cell) for cell in row[9:]]
    latest = max(_number(updated), counts[2], counts[6])
    return Family(
        id,
        parent,
        directory,
        title,
        version,
        slug,
        agent,
        int(_number(created)),
        int(counts[1] + counts[5]),
        latest / 1000,
        f"{_number(updated)} {counts}",
    )


# ------------------------------------------------------------ one session


def messages(path: Path, session_id: str) -> Iterator[Held]:
    """The messages of a session in their order; all as they were at one moment."""
    with _opened(path) as connection:
        connection.execute("BEGIN")
        found = connection.execute(
            "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id",
            (session_id,),
        )
        for id, data in found:
            parts = connection.execute(
                "SELECT id, data FROM part WHERE message_id = ? ORDER BY id", (_text(id),)
            )
            yield Held(_text(id), _bytes(data), [(_text(i), _bytes(d)) for i, d in parts])


# ------------------------------------------------------------ cells, which may hold anything


def _text(cell: Any) -> str:
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    return "" if cell is None else str(cell)


def _bytes(cell: Any) -> bytes:
    return cell if isinstance(cell, bytes) else b""


def _number(cell: Any) -> float:
    return float(cell) if isinstance(cell, int | float) and abs(cell) < 1e15 else 0.0
