"""Words in a team's database: candidates by its index, counted and ranked as on one machine.

The server finds entries that have the words (`find_words`, bounded) and counts how often each word
stands in the best of them; what that is worth is the same measure as in the index of one machine
(`parts.Weights`). Whatever a `tsquery` of one column cannot say is asked of the candidates.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from minutebook.index.clauses import Clause, Fields
from minutebook.index.query import Query
from minutebook.index.words import Scores, Words, in_order
from minutebook.team import lexemes
from minutebook.team.database import Database
from minutebook.team.parts import (
    Column,
    Either,
    Every,
    Leaf,
    Part,
    TeamParts,
    Weights,
    leaves,
    tsquery,
)
from minutebook.team.rows import Keys

_BOUND = 4_000
"""Candidates the server looks at for one question."""
_SOME, _ENOUGH = 2_000, 1_000
"""Candidates that have some of several words; and how many that have all of them are enough."""
_COUNTED = 10_000  # how often a word occurs: common beyond that
_WEIGHED = 2_000  # of the candidates, the best by the server's measure, are weighed
_EXACT = 20_000  # entries up to which all are looked at for how long they are
_COLUMNS: tuple[Column, ...] = ("said", "done")
_OF_ROUNDS = ("project", "branch", "model", "tools", "after", "before")
ENTRIES = ("turn", "title", "engagement")


@dataclass(frozen=True)
class Within:
    """What an entry must be."""

    filters: Mapping[str, Any] = field(default_factory=dict)
    """As `find_words` understands them."""
    demanded: tuple[Part, ...] = ()
    """Words it must have, whatever else is asked for: of a command, of an error, of a phrase."""
    outside: frozenset[str] = frozenset()
    """Sessions it must not be of."""

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.filters.get("kinds", ENTRIES))


class Candidate(NamedTuple):
    """An entry that was found, before it is weighed."""

    session_key: int
    at: int


class TeamWords(Words):
    """Entries of a team, found by their words."""

    def __init__(self, database: Database, keys: Keys) -> None:
        super().__init__(TeamParts())
        self._database, self._keys = database, keys
        self._counts: dict[str, int] = {}

    @property
    def count(self) -> int:
        return self._keys.size

    # -- rows

    def of_work(self, command: str | None, error: str | None) -> tuple[Part, ...]:
        """What filters demand of what was done: words of a command, of a failed call."""
        named = ((command, "commands"), (error, "errors"))
        return tuple(
            self._clauses.typed(text, ((surface, 1.0),)) or Either(())
            for text, surface in named
            if text is not None
        )

    def rows(self, within: Within, most: int = _BOUND) -> list[int]:
        """Entries that have all that is demanded, the newest first."""
        found = self._having(list(within.demanded), (), within)
        return sorted(found, key=lambda row: (-found[row].at, row))[:most]

    def having(self, texts: Sequence[str], rows: Sequence[int]) -> set[int]:
        if not texts or not rows:
            return set()
        return self._holding([self._clauses.excluded(text) for text in texts], rows)

    def newest(
        self, query: Query, fields: Fields, within: Part | None, most: int
    ) -> tuple[list[int], int]:
        wanted = [part for _, part in self._clauses.every(query, fields)]
        unwanted = [part for _, part in self._clauses.without(query)]
        limits = _limits(within)
        if wanted or limits.demanded:
            found = self._having([*wanted, *limits.demanded], unwanted, limits)
        else:
            found = self._listed(limits, most)
        rows = sorted(found, key=lambda row: (-found[row].at, row))
        return rows[:most], len(rows)

    def _listed(self, limits: Within, most: int) -> dict[int, Candidate]:
        found = self._database.ask(
            "SELECT entry, session_key, at FROM minutebook.find_newest(%s::jsonb, %s)",
            *(_json(limits.filters), most + 1),
        )
        return self._known({entry: Candidate(key, at) for entry, key, at in found}, limits)

    def outside(self, within: Part | None, sessions: Collection[str]) -> Within:
        limits = _limits(within)
        return replace(limits, outside=limits.outside | frozenset(sessions))

    def _narrowed(self, within: Part | None, parts: Sequence[Part]) -> Within:
        limits = _limits(within)
        return replace(limits, demanded=(*limits.demanded, *parts))

    # -- found and weighed

    def _found(
        self,
        query: Query,
        wanted: list[Clause],
        k: int,
        within: Part | None,
        *,
        whole_rounds: bool = True,
    ) -> Scores:
        parts: list[Part] = [part for _, part in wanted]
        if not parts:
            return []
        limits = _limits(within)
        if whole_rounds:
            unwanted = [part for _, part in self._clauses.without(query)]
            found = self._having([*parts, *limits.demanded], unwanted, limits)
        else:
            found = self._sessions(parts, limits)
        return self._weighed(Every(tuple(parts)), found, k)

    def _sessions(self, parts: list[Part], limits: Within) -> dict[int, Candidate]:
        """Entries of whole sessions; what is asked of rounds holds for one of theirs."""
        of_rounds = {name: limits.filters[name] for name in _OF_ROUNDS if name in limits.filters}
        others = {n: v for n, v in limits.filters.items() if n not in _OF_ROUNDS}
        whole = replace(limits, filters={**others, "kinds": ["session"]}, demanded=())
        found = self._having(parts, (), whole)
        if not (of_rounds and found):
            return found
        passing = self._database.ask(
            "SELECT * FROM minutebook.passing(%s, %s::jsonb)",
            *([one.session_key for one in found.values()], _json(of_rounds)),
        )
        keys = {key for (key,) in passing}
        return {row: one for row, one in found.items() if one.session_key in keys}

    def _having(
        self, parts: Sequence[Part], unwanted: Sequence[Part], limits: Within
    ) -> dict[int, Candidate]:
        """Entries that have all parts and nothing unwanted, best by the server's measure first."""
        columns = {column: [p for p in parts if _column(p) == column] for column in _COLUMNS}
        first: Column = "said" if columns["said"] else "done"
        ways, every = _alternatives(columns[first])
        ways = self._rarest_first(ways, first)
        wanted = [tsquery(part, first) for part in every]
        some = [told for way in ways if (told := tsquery(way, first))]
        if not (wanted or some) or not all(wanted) or (ways and not some):
            return {}
        without = [tsquery(part, first) for part in unwanted]
        found = self._known(self._candidates(first, some, wanted, without, limits), limits)
        if first == "said" and columns["done"]:
            kept = self._holding([Every(tuple(columns["done"]))], list(found))
            found = {row: one for row, one in found.items() if row in kept}
        if unwanted and found:
            gone = self._holding(unwanted, list(found), others_than=first)
            found = {row: one for row, one in found.items() if row not in gone}
        return found

    def _candidates(
        self,
        column: Column,
        some: list[str],
        wanted: list[str],
        without: list[str],
        limits: Within,
    ) -> dict[int, Candidate]:
        """What has all that is wanted and some of the rest: all of it first, then the rarest of it,
        so that of a million entries only so many are looked at."""
        every = lexemes.none_of(lexemes.all_of(wanted), without)
        filters = _json({**limits.filters, "kinds": list(limits.kinds)})
        if some:
            found = self._database.ask(
                "SELECT entry, session_key, at "
                "FROM minutebook.find_some("
                "%s, %s::tsquery[], %s::tsquery, %s::jsonb, %s, %s, %s)",
                *(column, some, every or None, filters, _SOME, _SOME, _ENOUGH),
            )
        else:
            found = self._database.ask(
                "SELECT entry, session_key, at "
                "FROM minutebook.find_words(%s, %s::tsquery, %s::jsonb, %s, %s)",
                *(column, every, filters, _BOUND, _BOUND),
            )
        return {entry: Candidate(key, at) for entry, key, at in found}

    def _known(self, found: dict[int, Candidate], limits: Within) -> dict[int, Candidate]:
        """Without what is read from another person's push of the same session, or not wanted."""
        kept = {}
        for row, one in found.items():
            id = self._keys.id_of(one.session_key)
            if id is not None and id not in limits.outside:
                kept[row] = one
        return kept

    def _holding(
        self, parts: Sequence[Part], rows: Sequence[int], others_than: Column | None = None
    ) -> set[int]:
        """Those of some rows that have one of some parts, in whatever column."""
        said = lexemes.any_of(tsquery(part, "said") for part in parts)
        done = lexemes.any_of(tsquery(part, "done") for part in parts)
        found: set[int] = set()
        if said and others_than != "said":
            hits = self._database.ask(
                "SELECT entry FROM minutebook.shared_entries "
                "WHERE entry = ANY (%s) AND said @@ %s::tsquery",
                *(list(rows), said),
            )
            found |= {row for (row,) in hits}
        if done and others_than != "done":
            hits = self._database.ask(
                "SELECT entry FROM minutebook.shared_entries "
                "WHERE entry = ANY (%s) AND done @@ %s::tsquery",
                *(list(rows), done),
            )
            found |= {row for (row,) in hits}
        return found

    # -- scores

    def _weighed(self, part: Part, found: dict[int, Candidate], k: int) -> Scores:
        """The best by our own measure; those behind them in the order of the server's."""
        rows = list(found)
        best, others = rows[:_WEIGHED], rows[_WEIGHED:]
        known = list(dict.fromkeys(leaves(part)))
        weights = self._weights(known)
        hits = [
            (row, weights.score(part, often, lengths), found[row].at)
            for row, often, lengths in self._often(_column(part), known, best)
        ]
        scores = in_order(hits)
        least = min((score for _, score in scores), default=0.0)
        return [*scores, *((row, least) for row in others)][:k]

    def _often(
        self, column: Column, known: Sequence[Leaf], rows: Sequence[int]
    ) -> Iterable[tuple[int, Mapping[Leaf, float], Sequence[int]]]:
        """How often each leaf stands in some entries, and how long those are.

        The rank of one word by cover density, where everything counts 1, is how often it is there.
        """
        words = [leaf.counted() for leaf in known]
        sides = [leaf.side for leaf in known]
        counted = self._database.ask(
            _OFTEN_SAID if column == "said" else _OFTEN_DONE, *(words, sides, list(rows))
        )
        for row, lengths, often in counted:
            yield row, dict(zip(known, often, strict=True)), lengths

    def _weights(self, known: Sequence[Leaf]) -> Weights:
        column = known[0].column if known else "said"
        if column == "said":
            self._count_words(known)
        return Weights(*self._usual, self._counts)

    def _rarest_first(self, ways: Sequence[Part], column: Column) -> Sequence[Part]:
        if column != "said" or not ways:
            return ways
        known = {id(way): list(leaves(way)) for way in ways}
        self._count_words([leaf for some in known.values() for leaf in some])
        return sorted(ways, key=lambda way: sum(map(self._having_leaf, known[id(way)])))

    def _having_leaf(self, leaf: Leaf) -> int:
        return min((self._counts.get(word, 0) for word in leaf.words), default=0)

    def _count_words(self, known: Sequence[Leaf]) -> None:
        """How many entries have words that were not asked for before."""
        wanted = {word for leaf in known for word in leaf.words} - self._counts.keys()
        if not wanted:
            return
        named = sorted(wanted)
        terms = [lexemes.term(word) for word in named]
        ((counts,),) = self._database.ask(
            "SELECT minutebook.count_words(%s::tsquery[], %s)", terms, _COUNTED
        )
        self._counts |= dict(zip(named, counts, strict=True))

    @cached_property
    def _usual(self) -> tuple[float, list[float]]:
        """How many entries there are, and how long they are: of a part of them where they are
        many; spread over all entries, as the engine of one machine has it."""
        few = self.count <= _EXACT
        ((entries, lengths),) = self._database.ask(
            "SELECT * FROM minutebook.lengths_of(%s)", 100 if few else 1
        )
        usual = [float(length) / max(1, entries) for length in lengths]
        return max(1, entries if few else self.count), usual


_OFTEN_SAID = (
    "SELECT e.entry, e.lengths, ARRAY(SELECT ts_rank_cd(CASE w.side WHEN 'A' THEN "
    "'{0,0,0,1}'::real[] WHEN 'B' THEN '{0,0,1,0}' WHEN 'C' THEN '{0,1,0,0}' "
    "ELSE '{1,1,1,1}' END, v.words, w.word) "
    "FROM unnest(%s::tsquery[], %s::text[]) WITH ORDINALITY w(word, side, place) "
    "ORDER BY w.place) FROM minutebook.shared_entries e "
    # Unpacked once, and not for each word.
    "CROSS JOIN LATERAL (SELECT e.said || ''::tsvector AS words OFFSET 0) v "
    "WHERE e.entry = ANY (%s)"
)
_OFTEN_DONE = (
    "SELECT e.entry, e.lengths, ARRAY(SELECT ts_rank_cd('{1,1,1,1}'::real[], v.words, w.word) "
    "FROM unnest(%s::tsquery[], %s::text[]) WITH ORDINALITY w(word, side, place) "
    "ORDER BY w.place) FROM minutebook.shared_entries e "
    "CROSS JOIN LATERAL (SELECT e.done || ''::tsvector AS words OFFSET 0) v "
    "WHERE e.entry = ANY (%s)"
)


def _alternatives(parts: Sequence[Part]) -> tuple[Sequence[Part], Sequence[Part]]:
    """The ways of the one part that is a choice, where there is one; and the others."""
    choices = [part for part in parts if isinstance(part, Either) and len(part.parts) > 1]
    if len(choices) != 1:
        return (), parts
    return choices[0].parts, [part for part in parts if part is not choices[0]]


def _column(part: Part) -> Column:
    return next((leaf.column for leaf in leaves(part)), "said")


def _limits(within: Part | None) -> Within:
    return within if isinstance(within, Within) else Within()


def _json(filters: Mapping[str, Any]) -> str:
    import msgspec

    return msgspec.json.encode(filters).decode()
