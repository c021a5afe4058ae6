"""Everything a query found, on its way to one order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from minutebook.index import ranking
from minutebook.index.database import Owner

if TYPE_CHECKING:
    from minutebook.index.vectors import Like

_SPOKEN, _FIRST, _TYPED, _LAST = 0, 1, 2, 3


class Candidates:
    """Rows by what speaks for them."""

    def __init__(self) -> None:
        self.said: dict[int, float] = {}
        """Rows that have some of the words."""
        self.whole: dict[int, float] = {}
        """Rows that have every word, those with the words as they were typed before other forms."""
        self.exact = 0.0
        """What that counts: the more, the fewer words there are."""
        self.sessions: dict[str, float] = {}
        """Sessions that have some of the words anywhere."""
        self.likes: list[Like] = []
        """Passages that are alike, and from which cosine on that says something by itself."""
        self.least = 0.0
        self.weight = 1.0
        """What meaning counts beside words."""
        self.spoken: set[int] = set()
        """Rows where somebody said all that was typed in one piece, and that is several words."""
        self.typed: dict[int, float] = {}
        """Rows where all that was typed stands in one piece in what tools did."""
        self.done: dict[int, float] = {}
        """Rows where words stand in what tools did."""
        self.done_whole: set[int] = set()
        """Those of them that have every word there."""

    @property
    def rows(self) -> list[int]:
        alike = (like.row for like in self.likes)
        return list({*self.said, *self.typed, *self.done, *alike})

    @property
    def by_work(self) -> set[int]:
        """Rows that speak by what was done in them, rather than by what was said."""
        return (self.typed.keys() - self.whole.keys()) | (self.done.keys() - self.said.keys())

    @property
    def passages(self) -> dict[int, int]:
        """The passage of each row that is most alike."""
        best: dict[int, int] = {}
        for like in self.likes:  # best first
            best.setdefault(like.row, like.passage)
        return best

    def by_row(self, owners: Mapping[int, Owner]) -> list[tuple[int, float]]:
        """Rows with their scores, best first."""
        scores = self._row_scores(owners)
        rows = [row for row in scores if self._is_near((row,))]
        rows.sort(key=lambda row: (self._tier((row,)), -scores[row], *_newest(row, owners)))
        return [(row, scores[row]) for row in rows]

    def by_session(self, owners: Mapping[int, Owner], most: int) -> list[tuple[int, float]]:
        """Rows with the scores of their sessions, the best of each session together."""
        single = self._row_scores(owners)
        scores = self._session_scores(owners)
        rows: dict[str, list[int]] = {}
        for row in single:
            rows.setdefault(owners[row].session_id, []).append(row)
        for own in rows.values():
            own.sort(key=lambda row: (self._tier((row,)), -single[row], *_newest(row, owners)))
        ids = [id for id in rows if self._is_near(rows[id])]
        ids.sort(
            key=lambda own: (self._tier(rows[own]), -scores[own], *_newest(rows[own][0], owners))
        )
        return [(row, scores[id]) for id in ids for row in rows[id][:most]]

    def lonely(self, owners: Mapping[int, Owner], most: int) -> list[str]:
        """Sessions found as a whole, of whose rounds none was."""
        found = {owners[row].session_id for row in self.rows if row in owners}
        best = sorted(self.sessions, key=lambda own: -self.sessions[own])[:most]
        return [id for id in best if id not in found]

    def _tier(self, rows: Iterable[int]) -> int:
        """What people said comes first, but a line that tools printed before mere likeness."""
        rows = list(rows)
        if any(row in self.spoken for row in rows):
            return _SPOKEN
        if not self.typed:
            return _FIRST
        if any(row in self.whole for row in rows):
            return _FIRST
        return _TYPED if any(row in self.typed for row in rows) else _LAST

    def _is_near(self, rows: Iterable[int]) -> bool:
        """Whether more than a faint likeness speaks for some rows."""
        alike = self._cosines
        return any(
            row in self.said
            or row in self.typed
            or row in self.done
            or alike.get(row, 0.0) >= self.least
            for row in rows
        )

    @cached_property
    def _cosines(self) -> dict[int, float]:
        return ranking.best_of((like.row, like.cosine) for like in self.likes)

    def _row_scores(self, owners: Mapping[int, Owner]) -> dict[int, float]:
        total = ranking.added(
            (1.0, ranking.standardised(self._adjusted(self.said, owners))),
            (2 * ranking.PASSAGES * self.weight, ranking.standardised(self._cosines)),
            (1.0, ranking.standardised(self.done)),
            (1.0, ranking.standardised(self.typed)),
            (ranking.WHOLE, dict.fromkeys({*self.whole, *self.done_whole}, 1.0)),
            (self.exact, ranking.standardised(self.whole)),
        )
        return {row: score for row, score in total.items() if row in owners}

    def _session_scores(self, owners: Mapping[int, Owner]) -> dict[str, float]:
        def of_sessions(scores: Mapping[int, float]) -> dict[str, float]:
            known = ((owners[row].session_id, s) for row, s in scores.items() if row in owners)
            return ranking.standardised(ranking.best_of(known))

        near = [
            (owners[like.row].session_id, like.cosine) for like in self.likes if like.row in owners
        ]
        meaning = ranking.PASSAGES * self.weight
        every = {*self.whole, *self.done_whole} & owners.keys()
        whole = {owners[row].session_id: 1.0 for row in every}
        return ranking.added(
            (1.0, of_sessions(self._adjusted(self.said, owners))),
            (ranking.SESSION, ranking.standardised(self.sessions)),
            (meaning, ranking.standardised(ranking.best_of(near))),
            (meaning, ranking.standardised(ranking.mean_of_best(near))),
            (1.0, of_sessions(self.done)),
            (1.0, of_sessions(self.typed)),
            (ranking.WHOLE, whole),
            (self.exact, of_sessions(self.whole)),
        )

    @staticmethod
    def _adjusted(scores: Mapping[int, float], owners: Mapping[int, Owner]) -> dict[int, float]:
        return {
            row: ranking.adjusted(score, quoted=owners[row].quoted)
            for row, score in scores.items()
            if row in owners
        }


def _newest(row: int, owners: Mapping[int, Owner]) -> tuple[int, str, int]:
    """Equals come newest first, and always in the same order."""
    owner = owners[row]
    return -owner.at, owner.session_id, owner.round
