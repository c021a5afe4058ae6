"""A context for a query: what answers it first, then what stands beside it, then references.

Every step is taken only where the whole text still fits, so the budget holds by construction
(CTX-05). The store is only read (CTX-01).
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from minutebook.archive.relevance import Relevant
from minutebook.derive.plain import one_line
from minutebook.derive.surfaces import surfaces_of
from minutebook.derive.tokens import BYTES_A_TOKEN, tokens, utf8_bytes
from minutebook.index.query import Query
from minutebook.index.snippet import snippet_of_work
from minutebook.model import Round
from minutebook.verbs.context_text import (
    Context,
    Piece,
    Source,
    Telling,
    pieces_of,
    text_of,
    too_small,
)
from minutebook.verbs.digest import short, tellings
from minutebook.verbs.round_text import Fidelity, reference, round_text

LINES = 40
"""Rounds worth a line, for a query that names no session."""
_ROUNDS = 8  # rounds whose answers are told, at least where there is room
_A_ROUND = 500  # tokens: a larger budget is for a round more for each of these
_RELEVANT = 0.5  # of what speaks for the best round; less is worth a line only
_FOR_ANSWERS = 0.75  # of a budget; the rest is for neighbours and references
_ONE_ROUND = 0.5  # of a budget, at most
_NEIGHBOURS_OF = 2  # of so many rounds those before and after are told
_TYPED = 200  # characters of the query that are repeated
_RANGE = Telling("range")

Place = tuple[str, int]
"""A session's id, and the number of a round."""


def build_query_context(
    sources: Sequence[Source],
    query: Query,
    found: Sequence[Relevant],
    *,
    typed: str,
    budget: int | None = None,
    around: int = 0,
    every: bool = False,
    fidelity: Fidelity | None = None,
) -> Context:
    """What sessions have about a query, within a budget.

    `found` has the best round first; with `every`, the other rounds of the sessions are
    mentioned too. Rounds are told at a `fidelity` where one is asked for. `around` is what the
    caller's own words cost, in tokens.
    """
    plan = _Plan(sources, query, found, typed, fidelity)
    most = math.inf if budget is None else math.floor((budget - around) * BYTES_A_TOKEN)
    plan.begin(most, around, every)
    plan.tell_answers(_ROUNDS if budget is None else max(_ROUNDS, budget // _A_ROUND))
    plan.tell_neighbours()
    plan.tell_references()
    text = plan.text()
    damaged = {path: why for source in sources for path, why in source.session.damaged.items()}
    return Context(text, tokens(text), budget, plan.pieces(), damaged, len(plan.left_out))


class _Plan:
    """Rounds, as far as they are told."""

    def __init__(
        self,
        sources: Sequence[Source],
        query: Query,
        found: Sequence[Relevant],
        typed: str,
        fidelity: Fidelity | None,
    ) -> None:
        self._by_id = {source.session.session_id: source for source in sources}
        self._query, self._fidelity = query, fidelity
        self._words = sources[0].words
        self._typed = one_line(typed)[:_TYPED]
        self._found = found
        self._told: dict[str, dict[int, Telling]] = {id: {} for id in self._by_id}
        self._most = math.inf
        self._reference = cache(self._referred)

    # -- the text

    def pieces(self) -> list[Piece]:
        return [piece for id in self._by_id for piece in self._pieces_of(id)]

    def _pieces_of(self, session_id: str) -> list[Piece]:
        return pieces_of(self._by_id[session_id], sorted(self._told[session_id].items()))

    def text(self) -> str:
        pieces = {id: self._pieces_of(id) for id in self._by_id}
        told = text_of([source for id, source in self._by_id.items() if pieces[id]], pieces)
        missing = len(self.left_out)
        if not missing:
            return told
        search = self._words.find(shlex.quote(self._typed))
        return f"{told}\nMore rounds have some of it (at least {missing}): `{search}`\n"

    @property
    def left_out(self) -> list[Place]:
        """Rounds that were found, and are not even mentioned."""
        places = ((item.session_id, item.round) for item in self._found)
        return [(id, number) for id, number in places if number not in self._told.get(id, {})]

    def _try(self, place: Place, telling: Telling, most: float | None = None) -> bool:
        """Tell a round so, if everything fits then."""
        session, number = self._told[place[0]], place[1]
        before = session.get(number)
        session[number] = telling
        if self._fits(most):
            return True
        if before is None:
            del session[number]
        else:
            session[number] = before
        return False

    def _tell(self, place: Place, ways: Iterable[Telling], most: float | None = None) -> bool:
        """Tell a round in the first of some ways that fits."""
        return any(self._try(place, way, most) for way in ways)

    def _fits(self, most: float | None = None) -> bool:
        return utf8_bytes(self.text()) <= (self._most if most is None else most)

    # -- the steps

    def begin(self, most: float, around: int, every: bool) -> None:
        """The least there is: every round of a session that was named, or the best one found."""
        self._most = most
        if every:
            for id, source in self._by_id.items():
                self._told[id] = dict.fromkeys(source.rounds, _RANGE)
        else:
            self._told[self._found[0].session_id][self._found[0].round] = _RANGE
        least = utf8_bytes(self.text())
        if least > most:
            raise too_small(least, around)

    def tell_answers(self, count: int) -> None:
        """The best rounds, each as well as there is room for."""
        room = self._most * _FOR_ANSWERS
        least = max(0.0, self._found[0].score) * _RELEVANT if self._found else 0.0
        for rank, item in enumerate(self._of_sessions()[:count]):
            if rank and item.score < least:
                break
            place = (item.session_id, item.round)
            ways = list(self._ways(item))
            fair = [w for w in ways if utf8_bytes(w.text) <= self._most * _ONE_ROUND]
            if rank:
                self._tell(place, fair, room)
            elif not self._tell(place, [w for w in fair if w.told != "short"], room):
                self._tell(place, ways)  # the best one may have all there is

    def _of_sessions(self) -> list[Relevant]:
        return [item for item in self._found if item.session_id in self._by_id]

    def _ways(self, item: Relevant) -> Iterator[Telling]:
        """A round, from more to less."""
        place = (item.session_id, item.round)
        address, round = self._address(place), self._round(place)
        if self._fidelity is not None:
            yield Telling("full", round_text(address, round, self._fidelity))
        done = snippet_of_work(surfaces_of(round), self._query) if item.printed else None
        yield from tellings(address, round, self._query, item.passage, done, self._words)

    def tell_neighbours(self) -> None:
        """The rounds before and after the best ones, a line of each side."""
        for item in self._of_sessions()[:_NEIGHBOURS_OF]:
            count = self._by_id[item.session_id].session.count
            for number in (item.round - 1, item.round + 1):
                place = (item.session_id, number)
                if 1 <= number <= count and self._is_open(place):
                    self._try(place, short(self._address(place), self._round(place)))

    def tell_references(self) -> None:
        """A line for each of the others: what was found, then the newest of what was named."""
        for item in self._of_sessions()[:LINES]:
            place = (item.session_id, item.round)
            if self._is_open(place) and not self._try(place, self._reference(place)):
                break
        others = [
            (id, number)
            for id in self._by_id
            for number in sorted(self._told[id], reverse=True)
            if self._told[id][number] is _RANGE
        ]
        self._tell_as_many(others)

    def _tell_as_many(self, places: Sequence[Place]) -> None:
        """References to the first of some places: to as many as there is room for."""
        least, most = 0, len(places)
        while least < most:  # each line adds to the text: the number is found by halving
            middle = (least + most + 1) // 2
            self._refer(places, middle)
            least, most = (middle, most) if self._fits() else (least, middle - 1)
        self._refer(places, least)
        while least and not self._fits():
            least -= 1
            self._refer(places, least)

    def _refer(self, places: Sequence[Place], count: int) -> None:
        for at, (id, number) in enumerate(places):
            self._told[id][number] = self._reference((id, number)) if at < count else _RANGE

    def _is_open(self, place: Place) -> bool:
        """Whether a round is not told yet, or only counted."""
        return self._told[place[0]].get(place[1], _RANGE) is _RANGE

    def _referred(self, place: Place) -> Telling:
        line = reference(self._address(place), self._round(place), self._words)
        return Telling("reference", line)

    def _address(self, place: Place) -> str:
        return f"{self._by_id[place[0]].name}#{place[1]}"

    def _round(self, place: Place) -> Round:
        return self._by_id[place[0]].session.round(place[1])
