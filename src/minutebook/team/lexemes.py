"""Words as PostgreSQL keeps them: our own analysis as ``tsvector`` and ``tsquery``.

The server's dictionaries are not used: what is a word, a part of a compound, a pair of Chinese
characters or a stem is decided by the code that the local index uses (`index.clauses`,
`index.analysis`). A sign before a lexeme says what it is:

=============  ====================================================================================
``login``      a word of what was said; weight A asked, B answered, C the rest of the answer
``=認証``       a pair of neighbouring characters of the same
``~login``     a stem of the same
``^login``     a stem of all that was said in a session, in the entry it has of its own
``c:login``    a word of what tools did: c commands, e errors, o output, p paths, t thinking,
               a subagents (in the column ``done``); ``c=認証`` likewise
``c:a c:b``    two neighbours whose places are not known
=============  ====================================================================================

Positions are those of the text, so phrases are found by ``<->``. A tsvector counts to 16,383, and
keeps 255 places of a word: around what is beyond that, neighbours are lexemes of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from minutebook.derive.surfaces import SURFACES, Surface
from minutebook.index.entry import Prepared

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

WEIGHTS = {"asked": "A", "answered": "B", "rest": "C"}
SIGNS: dict[Surface, str] = {
    "commands": "c",
    "errors": "e",
    "output": "o",
    "paths": "p",
    "thinking": "t",
    "subagents": "a",
}
VERSION = 2  # how words are written; entries of another number are written again
_LAST = 16_383
_APART = 3  # positions between two texts, so that no phrase goes from one to the next
_OFTEN = 255  # positions of one lexeme
_AROUND = 3  # neighbours before and behind a word whose place is not known
_SIDES = {"": 1, "A": 1, "B": 2, "C": 3}  # places of pairs: one for each weight
_ROOM = 900_000  # bytes of a tsvector; PostgreSQL keeps up to a megabyte
_LONGEST = 2_000  # bytes of a lexeme


@cache
def _words() -> TextAnalyzer:
    from minutebook.index.clauses import words

    return words()


@cache
def _stems() -> TextAnalyzer:
    from minutebook.index.clauses import stems

    return stems()


def analyzed(text: str) -> list[str]:
    """The words of a text, as the local index has them."""
    return list(_words().analyze(text))


class _Vector:
    """A tsvector in the making."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self._size = 0
        self._at: dict[str, int] = {}
        self.lengths: dict[str, int] = {}
        """Words there are, by sign and weight; also of those for which there is no room."""

    def add(self, sign: str, tokens: Sequence[str], weight: str = "") -> None:
        self.lengths[sign + weight] = self.lengths.get(sign + weight, 0) + len(tokens)
        first = at = self._at.get(sign, 0)
        places, size = self._places, self._size
        unknown: list[int] = []
        for token in tokens:
            at += 1
            lexeme = sign + token
            known = places.get(lexeme)
            if known is None:
                length = _bytes(lexeme)
                size += length + 8
                if size > _ROOM or length > _LONGEST:
                    continue
                known = places[lexeme] = []
            if len(known) < _OFTEN:
                size += 2
                known.append(f"{min(_LAST, at)}{weight}")
                if at <= _LAST:
                    continue
            unknown.append(at - first - 1)
        self._at[sign], self._size = at + _APART, size
        if unknown:
            self._add_pairs([sign + token for token in tokens], unknown, weight)

    def _add_pairs(self, lexemes: Sequence[str], unknown: Sequence[int], weight: str) -> None:
        """Neighbours around words whose places are not known, so that phrases are found there."""
        last, done = len(lexemes) - 1, 0
        place = f"{_SIDES[weight]}{weight}"
        for at in unknown:
            for start in range(max(done, at - _AROUND), min(last, at + _AROUND)):
                lexeme = pair(lexemes[start], lexemes[start + 1])
                known = self._places.get(lexeme)
                if known is None:
                    length = _bytes(lexeme)
                    if self._size + length + 10 > _ROOM or length > _LONGEST:
                        continue
                    known = self._places[lexeme] = []
                    self._size += length + 8
                if place not in known:
                    known.append(place)
                    self._size += 2
            done = max(done, min(last, at + _AROUND))

    def __str__(self) -> str:
        return " ".join(f"{quoted(word)}:{','.join(at)}" for word, at in self._places.items())


class Indexed(NamedTuple):
    """An entry as the database finds it."""

    said: str
    """What was said in it, as a tsvector."""
    done: str | None
    """What tools did, as a tsvector; None where they did nothing that was pushed."""
    lengths: list[int]
    """How many words its parts have (`LENGTHS`)."""


LENGTHS = ("A", "B", "C", "~", *(f"{sign}:" for sign in SIGNS.values()), "^")
"""Of what `lengths` is: asked, answered, rest, stems, what tools did by its kind, stems of a whole
session."""


def indexed(prepared: Prepared) -> Indexed:
    """An entry as the database finds it."""
    said, done = _said(prepared), _done(prepared)
    known = said.lengths | done.lengths
    return Indexed(str(said), str(done) or None, [known.get(name, 0) for name in LENGTHS])


def _said(prepared: Prepared) -> _Vector:
    entry = prepared.entry
    vector = _Vector()
    told = []
    for (name, weight), parts in zip(WEIGHTS.items(), prepared.parts, strict=True):
        text: str = getattr(entry, name)
        if text:
            whole = f"{text}\n{parts}" if parts else text
            told.append(whole)
            vector.add("", analyzed(whole), weight)
            vector.add("=", " ".join(prepared.pairs.get(name, ())).split(), weight)
    for sign, spoken in (("~", "\n".join(told)), ("^", prepared.whole)):
        if spoken:
            vector.add(sign, list(_stems().analyze(spoken)))
    return vector


def _done(prepared: Prepared) -> _Vector:
    vector = _Vector()
    # Output is longest and says least: where there is no room, its end is left out.
    for surface in sorted(SURFACES, key=lambda name: name == "output"):
        sign = SIGNS[surface]
        for text in prepared.work.get(surface, ()):
            vector.add(f"{sign}:", analyzed(text))
        for text in prepared.pairs.get(surface, ()):
            vector.add(f"{sign}=", text.split())
    return vector


# -- queries


def quoted(lexeme: str) -> str:
    """A lexeme as text of a tsvector or tsquery: never an operator."""
    if not lexeme.isascii():
        lexeme = lexeme.encode("utf-8", "replace").decode()
    if "\\" in lexeme or "'" in lexeme:
        lexeme = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{lexeme}'"


def _bytes(lexeme: str) -> int:
    return len(lexeme) if lexeme.isascii() else len(lexeme.encode("utf-8", "replace"))


def term(lexeme: str, weights: str = "", *, prefix: bool = False) -> str:
    marks = ("*" if prefix else "") + weights
    return f"{quoted(lexeme)}:{marks}" if marks else quoted(lexeme)


def all_of(parts: Iterable[str]) -> str:
    return " & ".join(f"({part})" for part in parts if part)


def any_of(parts: Iterable[str]) -> str:
    return " | ".join(f"({part})" for part in parts if part)


def none_of(wanted: str, unwanted: Iterable[str]) -> str:
    """A query, and nothing of some others."""
    return all_of([wanted, *(f"!({part})" for part in unwanted if part)])


def pair(first: str, second: str) -> str:
    """Two lexemes as one: no lexeme has a space of its own."""
    return f"{first} {second}"


def following(lexemes: Sequence[str], weights: str = "", *, prefix: bool = False) -> str:
    """These words in this order, wherever they are in a text."""
    near = adjacent(lexemes, weights, prefix=prefix)
    if len(lexemes) < 2:
        return near
    *pairs, last = [pair(*both) for both in pairwise(lexemes)]
    far = [*(term(both, weights) for both in pairs), term(last, weights, prefix=prefix)]
    return f"({near}) | ({' & '.join(far)})"


def adjacent(lexemes: Sequence[str], weights: str = "", *, prefix: bool = False) -> str:
    """These words in this order, where their places are known."""
    *before, last = lexemes
    told = [term(lexeme, weights) for lexeme in before]
    return " <-> ".join([*told, term(last, weights, prefix=prefix)])
