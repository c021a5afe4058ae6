"""``opencode.db``: read without touching it or the files beside it.

The program may be writing at the same time. Of its tables only three are read: others hold
tokens of accounts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from minutebook.sources.databases import State, state_of, untouched
from minutebook.sources.opencode.records import Families, Family, Held

_MAGIC = b"SQLite format 3\x00"
_OWN = frozenset({"session", "message", "part"})
# How long a value is; from 3.43 on without reading it.
_BYTES = (
    "octet_length(data)" if sqlite3.sqlite_version_info >= (3, 43) else "length(CAST(data AS BLOB))"
)


def is_database(path: Path) -> bool:
    """Whether a file is a database with OpenCode's tables."""
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return False
        with untouched(path) as connection:
            connection.text_factory = bytes
            found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return {_text(name) for (name,) in found} >= _OWN
    except OSError:
        return False


# ------------------------------------------------------------ all sessions


def families(path: Path) -> Families:
    """Every session's row: one query, and none while nothing was written."""
    return _families(path, state_of(path))


@lru_cache(maxsize=4)
def _families(path: Path, state: State) -> Families:
    del state
    with untouched(path) as connection:
        connection.text_factory = bytes
        had = {_text(row[1]) for row in connection.execute("PRAGMA table_info(session)")}
        wanted = ("parent_id", "directory", "title", "version", "slug", "agent")
        own = ", ".join(f"s.{name}" if name in had else "NULL" for name in wanted)
        rows = connection.execute(
            f"SELECT s.id, s.time_created, s.time_updated, {own}, m.n, m.bytes, m.latest, m.sum,"
            f" p.n, p.bytes, p.latest, p.sum FROM session s"
            f" LEFT JOIN ({_sums('message')}) m ON m.session_id = s.id"
            f" LEFT JOIN ({_sums('part')}) p ON p.session_id = s.id"
            " WHERE s.id <> ''"  # nothing can belong to one without an id
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
    with untouched(path) as connection:
        connection.text_factory = bytes
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
