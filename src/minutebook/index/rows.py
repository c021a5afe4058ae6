"""The rows of an index: what they belong to, and their texts.

This machine's are in ``search.db``; a team's database has its own (`team.rows`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from minutebook.index import database as db
from minutebook.index.entry import Touch

Round = tuple[str, int]
"""A session, and the number of a round."""


class Rows(Protocol):
    """What searches ask of rows."""

    def owners(self, rows: Sequence[int]) -> dict[int, db.Owner]:
        """What rows belong to, without their texts."""
        ...

    def fetch(self, rows: Sequence[int], *, texts: bool = True) -> dict[int, db.Found]:
        """Entries by row; without texts only titles and topics have theirs."""
        ...

    def holders(self, rounds: Sequence[Round]) -> dict[Round, list[Round]]:
        """Who else has rounds."""
        ...

    def turn(self, session_id: str, round: int) -> int | None:
        """The row of a round."""
        ...

    def keyed(self, session_id: str, key: str) -> int | None:
        """The row of an entry by its key."""
        ...

    def count(self) -> int:
        """Entries that can be found."""
        ...

    def paths(self) -> list[str]:
        """Every file that tools have read or changed."""
        ...

    def touches(self, wanted: Sequence[str]) -> Iterator[tuple[str, Touch]]:
        """Who read or changed some files: the session, and what it did."""
        ...

    def touched(
        self, hows: Sequence[str], after: int | None, before: int | None
    ) -> Iterator[db.Touched]:
        """Every file, with the rounds that did something to it."""
        ...

    def budgets(self, session_id: str | None = None) -> list[tuple[str, int, int]]:
        """Session, round and how full its window was, of all rounds where that is known."""
        ...


class OwnRows:
    """The rows of this machine's index."""

    def __init__(self, connection: db.Connection) -> None:
        self.connection = connection

    def owners(self, rows: Sequence[int]) -> dict[int, db.Owner]:
        return db.owners(self.connection, rows)

    def fetch(self, rows: Sequence[int], *, texts: bool = True) -> dict[int, db.Found]:
        return db.fetch(self.connection, rows, texts=texts)

    def holders(self, rounds: Sequence[Round]) -> dict[Round, list[Round]]:
        return db.holders(self.connection, rounds)

    def turn(self, session_id: str, round: int) -> int | None:
        return db.turn(self.connection, session_id, round)

    def keyed(self, session_id: str, key: str) -> int | None:
        return db.keyed(self.connection, session_id, key)

    def count(self) -> int:
        return len(db.rows(self.connection))

    def paths(self) -> list[str]:
        return db.paths(self.connection)

    def touches(self, wanted: Sequence[str]) -> Iterator[tuple[str, Touch]]:
        return db.touches(self.connection, wanted)

    def touched(
        self, hows: Sequence[str], after: int | None, before: int | None
    ) -> Iterator[db.Touched]:
        return db.touched(self.connection, hows, after, before)

    def budgets(self, session_id: str | None = None) -> list[tuple[str, int, int]]:
        return db.budgets(self.connection, session_id)
