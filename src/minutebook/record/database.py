"""``session.db`` and ``sessions.db``: the index of seed 003, and the one place that opens them.

Disposable: everything in them can be made again from the documents and the tag file.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from minutebook.record.rounds import RoundRow

Connection = sqlite3.Connection
_COLUMNS = RoundRow.__struct_fields__

_SCHEMA = """
CREATE TABLE IF NOT EXISTS rounds (
  session_id TEXT,
  round INTEGER,
  started TEXT,
  engagement_id TEXT,
  user_preview TEXT,
  agent_preview TEXT,
  tool_count INTEGER,
  thinking_count INTEGER,
  thinking_chars INTEGER,
  token_count INTEGER,
  round_file TEXT,
  PRIMARY KEY (session_id, round)
);
CREATE VIRTUAL TABLE IF NOT EXISTS rounds_fts USING fts5(
  session_id, round, user_preview, agent_preview,
  content='rounds', content_rowid='rowid'
);
CREATE TRIGGER IF NOT EXISTS rounds_added AFTER INSERT ON rounds BEGIN
  INSERT INTO rounds_fts(rowid, session_id, round, user_preview, agent_preview)
  VALUES (new.rowid, new.session_id, new.round, new.user_preview, new.agent_preview);
END;
CREATE TRIGGER IF NOT EXISTS rounds_removed AFTER DELETE ON rounds BEGIN
  INSERT INTO rounds_fts(rounds_fts, rowid, session_id, round, user_preview, agent_preview)
  VALUES ('delete', old.rowid, old.session_id, old.round, old.user_preview, old.agent_preview);
END;
CREATE TRIGGER IF NOT EXISTS rounds_changed
AFTER UPDATE OF session_id, round, user_preview, agent_preview ON rounds BEGIN
  INSERT INTO rounds_fts(rounds_fts, rowid, session_id, round, user_preview, agent_preview)
  VALUES ('delete', old.rowid, old.session_id, old.round, old.user_preview, old.agent_preview);
  INSERT INTO rounds_fts(rowid, session_id, round, user_preview, agent_preview)
  VALUES (new.rowid, new.session_id, new.round, new.user_preview, new.agent_preview);
END;
"""

# UPSERT, never INSERT OR REPLACE: that would change rowids behind the full-text index.
# What is there already keeps its engagement; only a tag changes that.
_UPSERT = (
    f"INSERT INTO rounds ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
    "ON CONFLICT (session_id, round) DO UPDATE SET "
    + ", ".join(
        f"{c} = excluded.{c}" for c in _COLUMNS if c not in ("session_id", "round", "engagement_id")
    )
)


class Broken(Exception):
    """A database file that is none: it can be rebuilt."""


@contextmanager
def open_database(
    path: Path, *, scratch: bool = False, readonly: bool = False
) -> Iterator[sqlite3.Connection]:
    """A database with the schema in it, committed at the end or not at all.

    `scratch` is for files nobody can see yet: they need no journal. `readonly` looks at one
    that is there, through a copy in memory, so that nothing is written beside it.
    """
    if readonly:
        with _copy(path) as copy:
            yield copy
        return
    if not path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    connection = _connect(path)
    try:
        # Killed processes are safe without syncing; after a power failure it is made again.
        connection.execute("PRAGMA synchronous=OFF")
        if scratch:
            connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("BEGIN IMMEDIATE")
        for statement in _statements():
            connection.execute(statement)
        yield connection
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        # A full disk, a lock, a folder in the way: the machine's trouble, not the file's.
        raise OSError(errno.EIO, str(error), str(path)) from error
    except sqlite3.DatabaseError as error:
        raise Broken(f"{path}: {error}") from error
    finally:
        connection.close()


@contextmanager
def _copy(path: Path) -> Iterator[sqlite3.Connection]:
    """A database in memory with what a file holds."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        content = path.read_bytes()
        if not content:
            raise Broken(f"{path}: it is empty")
        copy.deserialize(content)
        copy.execute("SELECT count(*) FROM rounds").fetchone()
        yield copy
    except sqlite3.DatabaseError as error:
        raise Broken(f"{path}: {error}") from error
    finally:
        copy.close()


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path, timeout=10, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise OSError(errno.EIO, str(error), str(path)) from error


def _statements() -> list[str]:
    found, current = [], ""
    for line in _SCHEMA.strip().splitlines():
        current += line + "\n"
        if sqlite3.complete_statement(current):
            found.append(current)
            current = ""
    return found


def put_rows(connection: sqlite3.Connection, rows: Iterable[RoundRow]) -> None:
    """Insert rounds, or bring what is known of them up to date."""
    connection.executemany(_UPSERT, (_storable(msgspec.structs.astuple(row)) for row in rows))


def _storable(values: tuple[object, ...]) -> tuple[object, ...]:
    # SQLite ends a text at NUL when it counts; nobody looks for NULs in a preview.
    return tuple(v.replace("\0", "\ufffd") if isinstance(v, str) else v for v in values)


def tag_rows(
    connection: sqlite3.Connection, session_id: str, first: int, last: int | None, tag: str | None
) -> int:
    """Set the engagement of a range of rounds; the number of rounds in it."""
    most = 1 << 62  # SQLite counts no further, and a file edited by hand may
    first, limit = min(first, most), most if last is None else min(last, most)
    where = "session_id = ? AND round BETWEEN ? AND ?"
    connection.execute(
        f"UPDATE rounds SET engagement_id = ? WHERE {where}", (tag, session_id, first, limit)
    )
    (count,) = connection.execute(
        f"SELECT count(*) FROM rounds WHERE {where}", (session_id, first, limit)
    ).fetchone()
    return int(count)


def rows_of(connection: sqlite3.Connection, session_id: str) -> list[RoundRow]:
    """A session's rounds, in order."""
    found = connection.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM rounds WHERE session_id = ? ORDER BY round",
        (session_id,),
    )
    return [RoundRow(*row) for row in found]


def count_rows(path: Path) -> int:
    """How many rounds a database holds; a broken one is removed, and holds none."""
    if not path.exists():
        return 0
    try:
        with open_database(path) as database:
            (count,) = database.execute("SELECT count(*) FROM rounds").fetchone()
            return int(count)
    except Broken:
        path.unlink()
        return 0


def integrity(connection: sqlite3.Connection) -> str | None:
    """What is wrong with the database or its full-text index; None where nothing is."""
    (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
    if verdict != "ok":
        return str(verdict)
    try:
        connection.execute("INSERT INTO rounds_fts(rounds_fts, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        return str(error)
    return None
