"""Words: what has all of them, what is about them, where tools did something with them.

One way of asking for two engines: the one of this machine (`index.lexical`) and a team's database
(`team.words`) put the same clauses together and answer them each in its own way.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from tantivy import Occur

from minutebook.derive.surfaces import Surface
from minutebook.index.analysis import has_cjk
from minutebook.index.clauses import FIELDS, Clause, Clauses, Fields, Part, Parts, Side, work_fields
from minutebook.index.query import Query

_SAME = 0.02  # two scores a fiftieth apart are as good as each other
_SEVERAL = 3  # words that hardly stand together by chance

Scores = list[tuple[int, float]]
"""Rows with their scores, best first."""


def in_order(hits: Sequence[tuple[int, float, int]]) -> Scores:
    """Rows, scores and times by their scores; of those that hardly differ the newest first."""
    ordered = sorted(hits, key=lambda hit: (-_step(hit[1]), -hit[2]))
    return [(row, score) for row, score, _ in ordered]


def _step(score: float) -> int:
    return round(math.log(score) / _SAME) if score > 0 else -(10**6)


class Words(ABC):
    """Entries found by their words. `within` is what passes filters, as an engine has it."""

    def __init__(self, parts: Parts) -> None:
        self._clauses = Clauses(parts)

    @property
    @abstractmethod
    def count(self) -> int:
        """Entries there are."""

    @abstractmethod
    def having(self, texts: Sequence[str], rows: Sequence[int]) -> set[int]:
        """Those of some rows that have one of some words."""

    @abstractmethod
    def newest(
        self, query: Query, fields: Fields, within: Part | None, most: int
    ) -> tuple[list[int], int]:
        """Rows that pass the filters and have every word in some fields, the newest first; and
        how many there are."""

    @abstractmethod
    def outside(self, within: Part | None, sessions: Collection[str]) -> Part:
        """Filters, and none of some sessions."""

    @abstractmethod
    def _narrowed(self, within: Part | None, parts: Sequence[Part]) -> Part:
        """Filters, and parts of a query that must hold as well."""

    @abstractmethod
    def _found(
        self,
        query: Query,
        wanted: list[Clause],
        k: int,
        within: Part | None,
        *,
        whole_rounds: bool = True,
    ) -> Scores:
        """The best of what passes, without what the query leaves out."""

    # -- what was said

    def whole(
        self, query: Query, k: int, side: Side = "both", within: Part | None = None
    ) -> Scores:
        """Entries that have all words and phrases."""
        fields = FIELDS[side]
        return self._found(query, self._clauses.every(query, fields), k, within)

    def spoken(
        self, query: Query, k: int, side: Side = "both", within: Part | None = None
    ) -> Scores:
        """Entries where all that was typed stands in one piece; a word or two always do."""
        line = self._clauses.typed(query.typed, FIELDS[side])
        if line is None or len(query.words) < _SEVERAL:
            return []
        return self._found(query, [(Occur.Must, line)], k, within)

    def about(
        self, query: Query, k: int, side: Side = "both", within: Part | None = None
    ) -> Scores:
        """Entries that have some of the words, in any form; and every phrase."""
        fields = FIELDS[side]
        some = (
            self._clauses.about(query, "said", fields)
            if side == "both"
            else self._clauses.some(query, fields)
        )
        return self._found(query, some, k, within)

    def sessions(self, query: Query, k: int, within: Part | None = None) -> Scores:
        """Sessions that have some of the words anywhere in them, as rows of their own."""
        some = self._clauses.about(query, "whole", ())
        return self._found(query, some, k, within, whole_rounds=False)

    # -- what was done

    def typed(
        self, query: Query, k: int, surfaces: Sequence[Surface], within: Part | None
    ) -> Scores:
        """Rounds where all that was typed stands in one piece in what tools did."""
        fields = work_fields(surfaces)
        line = self._clauses.typed(query.typed, fields)
        if line is None or not query.typed:
            return []
        return self._found(query, [(Occur.Must, line)], k, within)

    def done(
        self,
        query: Query,
        k: int,
        surfaces: Sequence[Surface],
        within: Part | None,
        *,
        every: bool,
    ) -> Scores:
        """Rounds where tools did something with all, or some, of the words."""
        fields = work_fields(surfaces)
        clauses = self._clauses.every if every else self._clauses.some
        return self._found(query, clauses(query, fields), k, within)

    # -- filters

    def with_phrases(self, query: Query, side: Side, within: Part | None) -> Part | None:
        """Filters, and the phrases of a query, which hold whatever else is asked for."""
        phrases = [part for _, part in self._clauses.phrases(query, FIELDS[side])]
        return self._narrowed(within, phrases) if phrases else within

    def holds(self, phrase: str, text: str) -> bool:
        """Whether a text has the words of a phrase in their order.

        The index alone cannot tell: it has parts of compound words behind the text.
        """
        if has_cjk(phrase):
            return "".join(phrase.lower().split()) in "".join(text.lower().split())
        return (
            f" {' '.join(self._clauses.analyzed(phrase))} "
            in f" {' '.join(self._clauses.analyzed(text))} "
        )
