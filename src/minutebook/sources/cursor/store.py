"""``store.db``: what a session is called, which model it had, when it began.

Of what is in it only one row is read.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

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
        from minutebook.sources.databases import untouched  # loads sqlite

        with untouched(path) as connection:
            row = connection.execute(
                "SELECT substr(value, 1, ?) FROM meta WHERE key = '0'", (_MOST,)
            ).fetchone()
        return msgspec.json.decode(bytes.fromhex(row[0]), type=Meta)
    except (OSError, TypeError, ValueError, RecursionError):
        return Meta()
