"""``search.db``: the words of every round, for anybody with ``sqlite3`` (DB-10), and the one
place that opens it. Row numbers tie it to the full-text index and to the vectors.
"""

from __future__ import annotations

import errno
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from minutebook.errors import Locked, MinutebookError
from minutebook.index.entry import Entry, Prepared, Touch

Connection = sqlite3.Connection
VERSION = 7
_NAMED = ("project", "branch", "model")
_COLUMNS = Entry.__struct_fields__
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT, session_id TEXT, key TEXT, round INTEGER, at INTEGER,
  project TEXT, branch TEXT, model TEXT, tools INTEGER,
  asked TEXT, answered TEXT, rest TEXT, quoted INTEGER, budget INTEGER, blocks TEXT, signal TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS entries_key ON entries (session_id, key);
CREATE INDEX IF NOT EXISTS entries_copies ON entries (key, session_id, round)
  WHERE kind = 'turn' AND length(key) >= 16;
CREATE TABLE IF NOT EXISTS sources (
  session_id TEXT PRIMARY KEY, path TEXT, size INTEGER, mtime REAL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (
  field TEXT, value TEXT, PRIMARY KEY (field, value)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
  session_id TEXT, round INTEGER, at INTEGER, how TEXT, path TEXT, times INTEGER
);
CREATE INDEX IF NOT EXISTS files_session ON files (session_id);
CREATE INDEX IF NOT EXISTS files_path ON files (path);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS entries_fts USING fts5(
  asked, answered, rest, content='entries', content_rowid='row'
);
"""
_INSERT = (
    f"INSERT INTO entries (row, {', '.join(_COLUMNS)}, signal) "
    f"VALUES ({', '.join('?' * (len(_COLUMNS) + 2))})"
)
_FTS = (
    "INSERT INTO entries_fts(rowid, asked, answered, rest) "
    "SELECT row, asked, answered, rest FROM entries WHERE row >= ? AND row < ?"
)
_FTS_DELETE = (
    "INSERT INTO entries_fts(entries_fts, rowid, asked, answered, rest) "
    "SELECT 'delete', row, asked, answered, rest FROM entries WHERE row = ?"
)


class Found(msgspec.Struct, frozen=True):
    """An entry, with its row."""

    row: int
    entry: Entry


class Outdated(MinutebookError):
    """The index is of another version, or not readable: a refresh makes it again."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The search index cannot be used ({reason}).", remedy="refresh")
        self.reason = reason


_BROKEN = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


@contextmanager
def open_search(path: Path, *, readonly: bool = False) -> Iterator[Connection]:
    """The database; its schema is made where it is new."""
    place = f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rwc'}"
    try:
        connection = sqlite3.connect(place, timeout=30, isolation_level=None, uri=True)
    except sqlite3.OperationalError as error:
        raise OSError(errno.EIO, str(error), str(path)) from error
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != VERSION and (version or _has_tables(connection)):
            raise Outdated("it is of another version, or was never finished")
        if readonly:
            yield connection
            return
        connection.execute("PRAGMA synchronous = OFF")  # it can be made again
        if version == 0:
            # Nobody reads it yet, and one that was killed in the making is made again.
            connection.execute("PRAGMA page_size = 16384")
            connection.execute("PRAGMA journal_mode = OFF")
            connection.executescript(_SCHEMA)
            # Full text and vectors of another database are not this one's.
            set_fact(connection, "id", secrets.token_hex(6))
        else:
            connection.execute("PRAGMA journal_mode = WAL")
        yield connection
        if version == 0:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA user_version = {VERSION}")
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            raise Locked("Another process is writing the search index: try again later.") from error
        if code in _BROKEN:
            raise Outdated(str(error)) from error
        # A full disk, a read-only folder: no reason to throw anything away.
        raise OSError(errno.EIO, str(error), str(path)) from error
    finally:
        connection.close()


def _has_tables(connection: Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def insert(connection: Connection, entries: Sequence[Prepared]) -> range:
    """Add entries; the rows they got, in their order."""
    query = "SELECT seq FROM sqlite_sequence WHERE name = 'entries'"
    (last,) = connection.execute(query).fetchone() or (0,)
    rows = range(last + 1, last + 1 + len(entries))
    connection.executemany(
        _INSERT,
        (
            (row, *_storable(msgspec.structs.astuple(item.entry)), item.signal)
            for row, item in zip(rows, entries, strict=True)
        ),
    )
    names = {(field, getattr(item.entry, field)) for item in entries for field in _NAMED}
    connection.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", map(_storable, names))
    return rows


def index_text(connection: Connection, most: int | None = None) -> int:
    """Bring ``entries_fts`` up to date, for people with ``sqlite3``; rows still waiting.

    Our own searches do not need it, so many new rows are left to the background.
    """
    done = int(fact(connection, "text") or 0)
    (last,) = connection.execute("SELECT coalesce(max(row), 0) FROM entries").fetchone()
    if most is not None and last - done > most:
        return int(last - done)
    with transaction(connection):
        connection.execute(_FTS, (done + 1, last + 1))
        set_fact(connection, "text", str(last))
    return 0


def put_files(connection: Connection, session_id: str, touches: Iterable[Touch]) -> None:
    """Make these the files of a session."""
    connection.execute("DELETE FROM files WHERE session_id = ?", (session_id,))
    connection.executemany(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)",
        (_storable((session_id, t.round, t.at, t.how, t.path, t.times)) for t in touches),
    )


def paths(connection: Connection) -> list[str]:
    """Every file that tools have read or changed."""
    return [path for (path,) in connection.execute("SELECT DISTINCT path FROM files")]


def touches(connection: Connection, wanted: Sequence[str]) -> Iterator[tuple[str, Touch]]:
    """Who read or changed some files: the session, and what it did."""
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        marks = ", ".join("?" * len(part))
        for session_id, *fields in connection.execute(
            f"SELECT session_id, round, at, how, path, times FROM files WHERE path IN ({marks})",
            part,
        ):
            yield session_id, Touch(*fields)


class Touched(NamedTuple):
    """A round in which something was done to a file."""

    path: str
    session_id: str
    round: int
    at: int
    """In seconds since the epoch."""


def touched(
    connection: Connection, hows: Sequence[str], after: int | None, before: int | None
) -> Iterator[Touched]:
    """Every file, with the rounds that did something to it."""
    marks = ", ".join("?" * len(hows))
    query = (
        "SELECT DISTINCT path, session_id, round, at FROM files "
        f"WHERE how IN ({marks}) AND at >= ? AND at < ?"
    )
    limits = (after if after is not None else -1, before if before is not None else 1 << 60)
    for found in connection.execute(query, (*hows, *limits)):
        yield Touched(*found)


def rows(connection: Connection, newest_first: bool = False) -> list[int]:
    """The rows of everything that has words of its own, so that meanings can be compared."""
    order = "ORDER BY at DESC" if newest_first else ""
    found = connection.execute(f"SELECT row FROM entries WHERE kind != 'session' {order}")
    return [row for (row,) in found]


def budgets(connection: Connection, session_id: str | None = None) -> list[tuple[str, int, int]]:
    """Session, round and how full its window was, of all rounds where that is known."""
    query = "SELECT session_id, round, budget FROM entries WHERE kind = 'turn' AND budget >= 0"
    if session_id is None:
        return connection.execute(query).fetchall()
    return connection.execute(f"{query} AND session_id = ?", (session_id,)).fetchall()


def rows_of(connection: Connection, session_id: str) -> list[int]:
    found = connection.execute("SELECT row FROM entries WHERE session_id = ?", (session_id,))
    return [row for (row,) in found]


class Owner(NamedTuple):
    """What a row belongs to."""

    session_id: str
    round: int
    at: int
    quoted: bool


def owners(connection: Connection, rows: Sequence[int]) -> dict[int, Owner]:
    """What rows belong to, without their texts."""
    found: dict[int, Owner] = {}
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        marks = ", ".join("?" * len(part))
        query = f"SELECT row, session_id, round, at, quoted FROM entries WHERE row IN ({marks})"
        for row, session_id, round, at, quoted in connection.execute(query, part):
            found[row] = Owner(session_id, round, at, bool(quoted))
    return found


def holders(
    connection: Connection, rounds: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], list[tuple[str, int]]]:
    """Who else has rounds, by the id of their first message: sessions, and the rounds there.

    A key shorter than an id is the number of a round, which all have.
    """
    keys: dict[str, list[tuple[str, int]]] = {}
    for place in set(rounds):
        for (key,) in connection.execute(
            "SELECT key FROM entries WHERE session_id = ? AND round = ? AND kind = 'turn' "
            "AND length(key) >= 16",
            place,
        ):
            keys.setdefault(key, []).append(place)
    found: dict[tuple[str, int], list[tuple[str, int]]] = {}
    known = list(keys)
    for start in range(0, len(known), 500):
        part = known[start : start + 500]
        marks = ", ".join("?" * len(part))
        for key, session_id, round in connection.execute(
            f"SELECT key, session_id, round FROM entries WHERE key IN ({marks}) "
            "AND kind = 'turn' AND length(key) >= 16",
            part,
        ):
            for place in keys[key]:
                found.setdefault(place, []).append((session_id, round))
    return found


def turn(connection: Connection, session_id: str, round: int) -> int | None:
    """The row of a round."""
    found = connection.execute(
        "SELECT row FROM entries WHERE session_id = ? AND round = ? AND kind = 'turn'",
        (session_id, round),
    ).fetchone()
    return None if found is None else int(found[0])


def keyed(connection: Connection, session_id: str, key: str) -> int | None:
    """The row of an entry by its key."""
    query = "SELECT row FROM entries WHERE session_id = ? AND key = ?"
    found = connection.execute(query, (session_id, key)).fetchone()
    return None if found is None else int(found[0])


def sessions(connection: Connection, start: str) -> list[str]:
    """Ids of sessions that begin with a text."""
    found = connection.execute("SELECT session_id FROM sources")
    return [id for (id,) in found if id.lower().startswith(start)]


def named(connection: Connection, field: str, part: str) -> list[str]:
    """Values of a field that contain a text, whatever its case."""
    found = connection.execute("SELECT value FROM names WHERE field = ?", (field,))
    return [value for (value,) in found if part.lower() in value.lower()]


def remove(connection: Connection, rows: Iterable[int]) -> None:
    """Take entries out; of the full text only those that are in it."""
    done = int(fact(connection, "text") or 0)
    for row in rows:
        if row <= done:
            connection.execute(_FTS_DELETE, (row,))
        connection.execute("DELETE FROM entries WHERE row = ?", (row,))


def signals(
    connection: Connection, session_id: str, kinds: Sequence[str]
) -> dict[str, tuple[int, str]]:
    """Row and change signal of a session's entries, by key."""
    marks = ", ".join("?" * len(kinds))
    found = connection.execute(
        f"SELECT key, row, signal FROM entries WHERE session_id = ? AND kind IN ({marks})",
        (session_id, *kinds),
    )
    return {key: (row, signal) for key, row, signal in found}


_LIGHT = ", ".join(
    {
        "asked": "CASE kind WHEN 'turn' THEN '' ELSE asked END",
        "answered": "''",
        "rest": "''",
        "blocks": "''",
    }.get(name, name)
    for name in _COLUMNS
)


def fetch(connection: Connection, rows: Sequence[int], *, texts: bool = True) -> dict[int, Found]:
    """Entries by row; without texts only titles and topics have theirs."""
    found: dict[int, Found] = {}
    columns = ", ".join(_COLUMNS) if texts else _LIGHT
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        marks = ", ".join("?" * len(part))
        for row, *values in connection.execute(
            f"SELECT row, {columns} FROM entries WHERE row IN ({marks})", part
        ):
            found[row] = _found(row, values)
    return found


def _found(row: int, values: Sequence[Any]) -> Found:
    fields = dict(zip(_COLUMNS, values, strict=True))
    fields["tools"], fields["quoted"] = bool(fields["tools"]), bool(fields["quoted"])
    return Found(row, Entry(**fields))


def index_id(connection: Connection) -> str:
    """What the other parts of this index are named by."""
    known = fact(connection, "id")
    if known is None:
        raise Outdated("it has no id")
    return known


def fact(connection: Connection, name: str) -> str | None:
    row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else None


def set_fact(connection: Connection, name: str, value: str) -> None:
    connection.execute(
        "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )


def _storable(values: Sequence[object]) -> tuple[object, ...]:
    return tuple([storable(value) if type(value) is str else value for value in values])


def storable(value: str) -> str:
    """What SQLite can keep: no lone surrogates, no NUL that would end it early."""
    if not value.isascii():
        value = value.encode("utf-8", "replace").decode()
    return value.replace("\0", "\ufffd") if "\0" in value else value
