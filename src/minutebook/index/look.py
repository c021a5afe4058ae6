"""One search, as it is made: by words, by meaning, by what tools did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from minutebook.index import database as db
from minutebook.index.candidates import Candidates
from minutebook.index.clauses import Part, Side
from minutebook.index.query import Query
from minutebook.index.rows import Rows
from minutebook.index.words import Scores

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder
    from minutebook.index.engine import Engine, Mode, Scope

PASSAGES = 4
"""Passages compared for an entry wanted: several of one session count."""
LONELY = 50
"""Sessions found as a whole whose rounds are looked for."""
_MORE = 4  # times to look beyond sessions that take all places
_ENOUGH = 200  # sessions that are enough for several pages


class Look:
    """One search, as it is made."""

    def __init__(
        self,
        engine: Engine,
        rows: Rows,
        query: Query,
        mode: Mode,
        side: Side,
        scope: Scope,
        depth: int,
        by_session: bool,
    ) -> None:
        self._engine, self._lexical, self._rows = engine, engine.lexical, rows
        self._query, self._mode, self._side = query, mode, side
        self._scope, self._depth, self._by_session = scope, depth, by_session
        self._owners: dict[int, db.Owner] = {}
        self.capped = False
        """Whether there may be more than was looked at."""
        self._within = engine.within(rows, query, scope)
        turns = msgspec.structs.replace(scope, kinds=("turn",))
        self._turns_within = engine.within(rows, query, turns)

    def for_words(self, found: Candidates) -> None:
        """Words of rounds, and of sessions as a whole."""
        query, side, depth = self._query, self._side, self._depth
        lexical = self._lexical
        whole = self._spread(lambda within: lexical.whole(query, depth, side, within), depth)
        found.whole, found.exact = dict(whole), 1 / max(1, len(query.telling))
        if self._mode == "semantic":
            return
        found.spoken = {row for row, _ in lexical.spoken(query, depth, side, self._within)}
        said = self._spread(lambda within: lexical.about(query, 2 * depth, side, within), 2 * depth)
        found.said = dict(said)
        least = min(found.said.values(), default=1.0)
        for row, _ in whole:
            found.said.setdefault(row, least)
        if side == "both" and not query.phrases and self._scope.kinds != ("engagement",):
            rows = self._lexical.sessions(query, depth, self._sessions_within())
            owners = self.owners([row for row, _ in rows])
            found.sessions = {owners[row].session_id: s for row, s in rows if row in owners}

    def owners(self, rows: Sequence[int]) -> dict[int, db.Owner]:
        """What rows belong to; each is looked up once."""
        known = self._owners
        known |= self._rows.owners([row for row in rows if row not in known])
        return {row: known[row] for row in rows if row in known}

    def _spread(self, find: Callable[[Part | None], Scores], most: int) -> Scores:
        """The best, and the best of others where a few sessions take all places."""
        found = last = find(self._within)
        for _ in range(_MORE if self._by_session else 0):
            if len(last) < most:
                return found
            taken = {owner.session_id for owner in self.owners([row for row, _ in found]).values()}
            if len(taken) >= _ENOUGH:
                break
            last = find(self._lexical.outside(self._within, taken))
            found = [*found, *last]
        self.capped |= len(last) >= most
        return found

    def _sessions_within(self) -> Part | None:
        """The filters, for sessions as a whole; what holds for a round only is left to rounds."""
        limits = msgspec.structs.replace(self._query.filters, command=None, error=None, budget=None)
        query = msgspec.structs.replace(self._query, filters=limits)
        scope = msgspec.structs.replace(self._scope, kinds=())
        return self._engine.within(self._rows, query, scope)

    def for_rounds_of(self, found: Candidates, sessions: Sequence[str]) -> dict[int, db.Owner]:
        """The rounds that speak for sessions found as a whole."""
        scope = msgspec.structs.replace(self._scope, sessions=tuple(sessions))
        within = self._engine.within(self._rows, self._query, scope)
        rounds = self._lexical.about(self._query, 2 * LONELY, self._side, within)
        owners = self.owners([row for row, _ in rounds])
        found.said.update((row, score) for row, score in rounds if row not in found.said)
        return owners

    def for_meaning(self, found: Candidates, embedder: Embedder, most: int) -> None:
        """Passages that are alike."""
        query, side, scope = self._query, self._side, self._scope
        near = self._engine.near(self._rows, query, scope, side, embedder, most)
        unwanted = self._lexical.having(query.excluded, list({like.row for like in near}))
        found.likes = [like for like in near if like.row not in unwanted]
        found.weight = embedder.weight
        if not (found.said or self._lexical.about(query, 1)):
            found.least = embedder.certain
        else:
            has_all = found.whole and self._mode == "hybrid"
            found.least = embedder.related if has_all else embedder.alike
        self.capped |= len(near) >= most and near[-1].cosine >= found.least

    def for_work(self, found: Candidates) -> None:
        """What tools did, models thought and subagents said: all that was typed in one piece;
        single words only where that is asked for, or where nobody said one of them."""
        query, surfaces, depth = self._query, self._scope.surfaces, self._depth
        if len(found.whole) >= depth:
            return  # so many people said it that nobody would get to see what tools did
        lexical, turns = self._lexical, self._turns_within
        found.typed = dict(lexical.typed(query, depth, surfaces, turns))
        if self._scope.said and (found.said or found.typed):
            return
        every = lexical.done(query, depth, surfaces, turns, every=True)
        found.done_whole = {row for row, _ in every}
        found.done = dict(every)
        some = lexical.done(query, depth, surfaces, turns, every=False)
        self.capped |= max(len(found.typed), len(every), len(some)) >= depth
        for row, score in some:
            found.done.setdefault(row, score)
