"""``store.db``: what a session is called, which model it had, when it began.

Of what is in it only one row is read. It is not touched: without a log all is in the one file.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import msgspec

_MOST = 1 << 16  # characters of the row


class Meta(msgspec.Struct):
    name: str | None = None
    lastUsedModel: str | None = None
    createdAt: float | None = None
    """In milliseconds."""

    @property
    def created(self) -> str | None:
        return moment(self.createdAt / 1000) if self.createdAt is not None else None


def moment(seconds: float) -> str | None:
    """A time as it is written everywhere else."""
    try:
        found = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_meta(path: Path | None) -> Meta:
    """The row that tells of the session; nothing where it cannot be read."""
    if path is None:
        return Meta()
    try:
        logged = path.with_name(path.name + "-wal").exists()
        how = "mode=ro&readonly_shm=1" if logged else "mode=ro&immutable=1"
        place = f"file:{quote(str(path))}?{how}"
        with closing(sqlite3.connect(place, uri=True, timeout=2)) as connection:
            row = connection.execute(
                "SELECT substr(value, 1, ?) FROM meta WHERE key = '0'", (_MOST,)
            ).fetchone()
        return msgspec.json.decode(bytes.fromhex(row[0]), type=Meta)
    except (OSError, sqlite3.Error, TypeError, ValueError, RecursionError):
        return Meta()
