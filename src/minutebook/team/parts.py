"""Queries as a team's database has them: what finds entries, and how each of them counts.

The same tree as the engine of this machine puts together (`index.clauses.Parts`), so that both
find alike. The server finds candidates by a `tsquery` and counts how often each leaf stands in
them; the score is counted here, by the same measure (BM25) as there.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from minutebook.derive.surfaces import SURFACES
from minutebook.team import lexemes

Column = Literal["said", "done"]
_K, _B = 1.2, 0.75
_CJK = "cjk_"


@dataclass(frozen=True, slots=True)
class Leaf:
    """Words in their order, in one field."""

    column: Column
    words: tuple[str, ...]
    """Lexemes with their signs."""
    side: str = ""
    """The weight the field has in the tsvector, where it has one."""
    length: int = -1
    """Its place among the lengths of an entry (`lexemes.LENGTHS`); -1 where nobody counts."""
    open: bool = False
    """Whether the last word may go on."""

    def tsquery(self) -> str:
        return lexemes.following(self.words, self.side, prefix=self.open)

    def counted(self) -> str:
        """What says how often it stands in an entry, on whatever side."""
        return lexemes.adjacent(self.words, prefix=self.open)


@dataclass(frozen=True, slots=True)
class Weighed:
    part: Part
    weight: float


@dataclass(frozen=True, slots=True)
class Best:
    parts: tuple[Part, ...]
    tie: float


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Every:
    parts: tuple[Part, ...]


Part = Leaf | Weighed | Best | Either | Every


class TeamParts:
    """What queries of a team's database are put together from."""

    def term(self, field: str, token: str) -> Part:
        return _leaf(field, (token,))

    def phrase(self, field: str, tokens: Sequence[str]) -> Part:
        return _leaf(field, tuple(tokens))

    def starting(self, field: str, tokens: Sequence[str]) -> Part:
        return _leaf(field, tuple(tokens), open=True)

    def letter(self, field: str, letter: str) -> Part:
        """A pair that begins with this character; in the middle of a run each character does."""
        return _leaf(field, (letter,), open=True)

    def weighed(self, part: Part, weight: float) -> Part:
        return Weighed(part, weight)

    def best(self, parts: Sequence[Part], tie: float = 0.0) -> Part:
        return Best(tuple(parts), tie)

    def either(self, parts: Sequence[Part]) -> Part:
        return Either(tuple(parts))

    def every(self, parts: Sequence[Part]) -> Part:
        return Every(tuple(parts))

    def nothing(self) -> Part:
        return Either(())


def _leaf(name: str, tokens: tuple[str, ...], *, open: bool = False) -> Leaf:
    cjk = name.startswith(_CJK)
    plain = name.removeprefix(_CJK)
    if plain in ("said", "whole"):
        sign = "~" if plain == "said" else "^"
        stems = tuple(sign + token for token in tokens)
        return Leaf("said", stems, length=_place(sign), open=open)
    for surface in SURFACES:
        if plain == surface:
            sign = lexemes.SIGNS[surface]
            before = f"{sign}=" if cjk else f"{sign}:"
            length = -1 if cjk else _place(f"{sign}:")
            return Leaf("done", tuple(before + token for token in tokens), "", length, open)
    side = lexemes.WEIGHTS[plain]
    words = tuple(f"={token}" for token in tokens) if cjk else tokens
    return Leaf("said", words, side, -1 if cjk else _place(side), open)


def _place(name: str) -> int:
    return lexemes.LENGTHS.index(name)


def leaves(part: Part) -> Iterator[Leaf]:
    """Every leaf, in its order."""
    match part:
        case Leaf():
            yield part
        case Weighed():
            yield from leaves(part.part)
        case _:
            for inner in part.parts:
                yield from leaves(inner)


def tsquery(part: Part, column: Column) -> str:
    """What finds it in a column, as text of a tsquery; empty where nothing can."""
    match part:
        case Leaf():
            return part.tsquery() if part.column == column else ""
        case Weighed():
            return tsquery(part.part, column)
        case Every():
            told = [tsquery(inner, column) for inner in part.parts]
            return lexemes.all_of(told) if all(told) else ""
        case _:
            return lexemes.any_of(_merged(part, column))


def _merged(part: Best | Either, column: Column) -> Iterator[str]:
    """The ways of an alternative; a word that may stand on any side is asked for once."""
    sides: dict[tuple[tuple[str, ...], bool], set[str]] = {}
    for inner in part.parts:
        plain = inner.part if isinstance(inner, Weighed) else inner
        if not isinstance(plain, Leaf):
            yield tsquery(plain, column)
        elif plain.column == column:
            sides.setdefault((plain.words, plain.open), set()).add(plain.side)
    for (words, is_open), found in sides.items():
        every = "" in found or found >= set(lexemes.WEIGHTS.values())
        yield Leaf(column, words, "" if every else "".join(sorted(found)), open=is_open).tsquery()


@dataclass(slots=True)
class Weights:
    """What words count: how rare they are, and how long fields are otherwise."""

    entries: float
    """How many entries there are."""
    usual: Sequence[float]
    """How long the fields of an entry usually are (`lexemes.LENGTHS`)."""
    counts: Mapping[str, int]
    """How many entries have a lexeme."""
    _rare: dict[tuple[str, ...], float] = field(default_factory=dict)

    def rarity(self, words: tuple[str, ...]) -> float:
        if words not in self._rare:
            self._rare[words] = sum(self._one(word) for word in words)
        return self._rare[words]

    def _one(self, word: str) -> float:
        having = min(self.counts.get(word, 0), self.entries)
        return math.log(1 + (self.entries - having + 0.5) / (having + 0.5))

    def score(self, part: Part, often: Mapping[Leaf, float], lengths: Sequence[int]) -> float:
        """How well an entry fits; 0 where it does not."""
        match part:
            case Leaf():
                return self._leaf(part, often.get(part, 0.0), lengths)
            case Weighed():
                return part.weight * self.score(part.part, often, lengths)
            case Best():
                scores = [self.score(inner, often, lengths) for inner in part.parts]
                best = max(scores, default=0.0)
                return best + part.tie * (sum(scores) - best)
            case _:
                return sum(self.score(inner, often, lengths) for inner in part.parts)

    def _leaf(self, leaf: Leaf, often: float, lengths: Sequence[int]) -> float:
        if often <= 0:
            return 0.0
        if leaf.open and len(leaf.words) == 1:
            return 1.0  # as the other engine has it
        there = 0 <= leaf.length < len(lengths) and self.usual
        usual = self.usual[leaf.length] if there else 0.0
        longer = _kept(lengths[leaf.length]) / usual if there and usual else 1.0
        return self.rarity(leaf.words) * (1 + _K) * often / (often + _K * (1 - _B + _B * longer))


_STEPS: list[int] = [
    *range(40),
    *(40 + 2 * n * 2**b + 16 * (2**b - 1) for b in range(26) for n in range(8)),
]


def _kept(length: int) -> int:
    """A length as the other engine keeps it: in one byte."""
    return _STEPS[bisect_right(_STEPS, length) - 1]
