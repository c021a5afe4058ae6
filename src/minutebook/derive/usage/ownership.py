"""Whose a reply is: known to several sessions, counted once (USE-01).

Forks and resumed sessions begin with a copy of another. A reply belongs to the session that
ended first among those that hold it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from minutebook.derive.usage.digest import BARE, ENDED, Digest, Row, better

Owned = list[tuple[Row, str] | None]
"""For each row of a digest: the reply as it is believed, and its model; None where it belongs to
another session."""


_FOREVER = 1 << 60


class Copied:
    """How far the rounds of a session are history that it has from another one."""

    def __init__(self, digest: Digest, owned: Owned) -> None:
        last: dict[int, int] = {}
        own: dict[int, bool] = {}
        for row, mine in zip(digest.rows, owned, strict=True):
            if mine is None:
                last[row.round] = max(last.get(row.round, 0), row.at)
            own[row.round] = own.get(row.round, False) or mine is not None
        self._last, self._own = last, own
        self._whole = max((round for round in last if not own[round]), default=-1)

    def until(self, round: int) -> int:
        """Up to which moment a round is copied; 0 where nothing of it is."""
        if round not in self._own:  # nothing was replied: it stands or falls with what follows
            return _FOREVER if round <= self._whole else 0
        return self._last.get(round, 0) if self._own[round] else _FOREVER


class Ownership:
    """Which replies are whose, over all sessions there are."""

    def __init__(self, digests: Mapping[str, Digest]) -> None:
        self._digests = digests
        self._shared = _shared(digests)
        self._owner = {
            id: min(holders, key=lambda session: (digests[session].replied, session))
            for id, holders in self._shared.items()
        }

    def of(self, session_id: str) -> Owned:
        """The rows of a session, as they count."""
        digest = self._digests[session_id]
        models = digest.models
        if not self._shared:
            return [(row, models[row.model]) for row in digest.rows]
        owner = self._owner.get
        return [
            (row, models[row.model])
            if (whose := owner(row.id)) is None
            else (self._believed(row) if whose == session_id else None)
            for row in digest.rows
        ]

    def continued(self, session_id: str) -> dict[str, int]:
        """How many replies a session has from which others."""
        found: Counter[str] = Counter()
        for row in self._digests[session_id].rows:
            whose = self._owner.get(row.id)
            if whose is not None and whose != session_id and not row.marks & BARE:
                found[whose] += 1
        return dict(found.most_common())

    def _believed(self, own: Row) -> tuple[Row, str]:
        """The best sighting of a reply, in the round in which its owner has it."""
        best, digest = own, None
        ended = own.marks & ENDED
        for session_id, row in self._shared[own.id].items():
            ended |= row.marks & ENDED
            if row is not own and (best.marks & BARE or better(row, best)):
                best, digest = row, self._digests[session_id]
        if digest is None:
            digest = next(d for s, d in self._digests.items() if self._shared[own.id].get(s) is own)
        model = digest.models[best.model]
        return msgspec.structs.replace(best, round=own.round, marks=best.marks | ended), model


def _shared(digests: Mapping[str, Digest]) -> dict[str, dict[str, Row]]:
    """Replies that several sessions hold."""
    once: dict[str, tuple[str, Row]] = {}
    shared: dict[str, dict[str, Row]] = {}
    for session_id, digest in digests.items():
        for row in digest.rows:
            known = once.setdefault(row.id, (session_id, row))
            if known[1] is not row:
                shared.setdefault(row.id, dict([known]))[session_id] = row
    return shared
