"""A session of a team, opened for reading: as much of it as its person shares."""

from __future__ import annotations

from functools import cached_property

from minutebook.archive.masking import Hide
from minutebook.archive.session import OpenSession, RoundShape, shape
from minutebook.errors import NotFound
from minutebook.model import Round
from minutebook.record.ledger import Entry
from minutebook.record.recover import missing
from minutebook.record.rounds import Damaged, read_round
from minutebook.team.choice import Level
from minutebook.team.database import Database

_TOGETHER = 50  # rounds of a question, at most
_WITHHELD: dict[Level, str] = {
    "engagements": "Only its minutes are shared, and none of its rounds.",
    "rounds": "What tools did and models thought is not shared.",
    "tools": "",
}


class TeamSession(OpenSession):
    """Rounds come from the database, some at a time."""

    def __init__(
        self, database: Database, key: int, level: Level, entry: Entry, hide: Hide, short: str
    ) -> None:
        super().__init__(entry.session_id, None, entry, None, hide, lambda _: short)
        self._database, self._key = database, key
        self.withheld = _WITHHELD[level]
        self._rounds: dict[int, Round] = {}
        self._ahead = 1
        """How many rounds come together: more and more while somebody reads one after the other."""

    @cached_property
    def count(self) -> int:
        found = self._database.ask(
            "SELECT coalesce(max(number), 0) FROM minutebook.shared_rounds WHERE session_key = %s",
            self._key,
        )
        return int(found[0][0])

    def stored(self, number: int) -> Round:
        if not 1 <= number <= self.count and self.withheld and not self.count:
            raise NotFound(f"Session {self.short}: {self.withheld}")
        if not 1 <= number <= self.count:
            return super().stored(number)
        with self._lock:
            if number not in self._rounds:
                self._fetch(number)
            return self._rounds[number]

    def _fetch(self, first: int) -> None:
        follows = first - 1 in self._rounds
        self._ahead = min(_TOGETHER, 4 * self._ahead) if follows else 1
        last = first + self._ahead - 1
        bodies = self._database.ask(
            "SELECT number, body FROM minutebook.shared_rounds "
            "WHERE session_key = %s AND number BETWEEN %s AND %s",
            *(self._key, first, last),
        )
        self._rounds = {number: missing(number) for number in range(first, last + 1)}
        for number, body in bodies:
            try:
                self._rounds[number] = read_round(body.encode())
            except Damaged:
                continue  # of a newer minutebook

    def shapes(self) -> list[RoundShape]:
        return [shape(self.stored(number)) for number in range(1, self.count + 1)]
