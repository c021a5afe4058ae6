"""What a selection shows, by activity: when each engagement or session was worked on in the range,
how long, and at what cost. Timeline, list, figures and calendar all have it from here (VIEW-17).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from minutebook.archive.worked import Key, Piece, Share, Worked, unbroken
from minutebook.derive.genealogy import is_one
from minutebook.index.entry import seconds
from minutebook.model.engagement import SessionRecord
from minutebook.verbs.decisions import Pair
from minutebook.web.selection import Selection


class Did(msgspec.Struct, frozen=True):
    """What was done of something in the range."""

    pieces: tuple[Piece, ...] = ()
    """When somebody was active, without silences of less than half an hour."""
    active: int | None = None
    """Milliseconds; None where nobody counted: only the minutes are left."""
    cost: int = 0
    """In 10⁻¹² dollars."""
    keys: frozenset[Key] = frozenset()
    """What of the count it is."""


class Activity:
    """The count, of what a selection asks for."""

    def __init__(self, worked: Worked | None, asked: Selection) -> None:
        self._worked = worked
        self._after, self._before = asked.after, asked.before
        self._bounded = asked.after is not None or asked.before is not None
        self.shares: Mapping[Key, Share] = {}
        if worked is not None:
            self.shares = worked.shares(asked.filters, asked.methods)
        self._by_session: dict[str, list[Key]] = {}
        for key in self.shares:
            self._by_session.setdefault(key[0], []).append(key)

    def of(self, pair: Pair, copies: Iterable[Pair] = ()) -> Did | None:
        """What was done of an engagement, with the copies it stands for; None: nothing in the
        range."""
        pairs = (pair, *copies)
        keys = [(record.session_id, engagement.id) for record, engagement in pairs]
        known = self._worked is not None and any(map(self._worked.knows, keys))
        record, engagement = pair
        started = engagement.started or record.started
        return self._did(keys, known, started, engagement.ended or started)

    def of_session(self, record: SessionRecord, copies: Iterable[str] = ()) -> Did | None:
        """The same of a session."""
        ids = (record.session_id, *copies)
        keys = [key for id in ids for key in self._by_session.get(id, ())]
        known = bool(keys) or (self._worked is not None and self._worked.has(record.session_id))
        return self._did(keys, known, record.started, record.ended)

    def _did(
        self, keys: Iterable[Key], known: bool, started: str | None, ended: str | None
    ) -> Did | None:
        found = {key: self.shares[key] for key in keys if key in self.shares}
        pieces = unbroken(piece for share in found.values() for piece in share.pieces)
        if found and pieces:
            return Did(
                tuple(pieces),
                sum(share.active for share in found.values()),
                sum(share.cost for share in found.values()),
                frozenset(found),
            )
        if known and not found and self._bounded:
            return None  # it was worked on at other times
        # Only its minutes tell of it: what is known is when it began, and when it ended.
        moments = [at for at in (seconds(started), seconds(ended)) if at]
        inside = [at for at in moments if self._has(at)]
        if self._bounded and not inside:
            return None
        active = sum(share.active for share in found.values()) if found else None
        cost = sum(share.cost for share in found.values())
        spans = unbroken((at, at) for at in inside)
        return Did(tuple(spans), active, cost, frozenset(found))

    def _has(self, at: int) -> bool:
        return (self._after is None or at >= self._after) and (
            self._before is None or at < self._before
        )


def standing(kept: Iterable[Pair], left_out: Iterable[Pair]) -> dict[Key, list[Pair]]:
    """Which engagements of copies each one stands for (UND-08)."""
    began: dict[str | None, list[Pair]] = {}
    for pair in kept:
        began.setdefault(pair[1].started, []).append(pair)
    found: dict[Key, list[Pair]] = {}
    for record, copy in left_out:
        for owner, engagement in began.get(copy.started, ()):
            if is_one(engagement, copy):
                found.setdefault((owner.session_id, engagement.id), []).append((record, copy))
                break
    return found
