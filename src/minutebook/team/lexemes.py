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
=============  ====================================================================================

Positions are those of the text, so phrases are found by ``<->``; a tsvector counts to 16,383, and
what is behind that is found as words. So phrases are checked again in the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from minutebook.derive.surfaces import SURFACES, Surface
from minutebook.index.analysis import has_cjk, pairs, parted, variants
from minutebook.index.entry import Prepared

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

WEIGHTS = {"asked": "A", "answered": "B", "rest": "C"}
SIDES = {"asked": "A", "answered": "BC", "final": "B", "both": ""}
"""Which weights a side of a conversation has; none means all."""
SIGNS: dict[Surface, str] = {
    "commands": "c",
    "errors": "e",
    "output": "o",
    "paths": "p",
    "thinking": "t",
    "subagents": "a",
}
_LAST = 16_383
_APART = 3  # positions between two texts, so that no phrase goes from one to the next
_OFTEN = 255  # positions of one lexeme
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
        at = self._at.get(sign, 0)
        places, size = self._places, self._size
        for token in tokens:
            at += 1
            lexeme = sign + token
            known = places.get(lexeme)
            if known is None:
                size += _bytes(lexeme) + 8
                if size > _ROOM or len(lexeme) > _LONGEST:
                    continue
                known = places[lexeme] = []
            if len(known) < _OFTEN:
                size += 2
                known.append(f"{min(_LAST, at)}{weight}")
        self._at[sign], self._size = at + _APART, size

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


def phrase(text: str, weights: str = "", sign: str = "") -> str:
    """These words in this order; empty for a text without words. `sign`: ``c`` for commands …"""
    if has_cjk(text):
        return _following([f"{sign}={pair}" for pair in pairs(text)], weights)
    return _following([f"{_plain(sign)}{token}" for token in analyzed(text)], weights)


def word(text: str, weights: str = "", sign: str = "") -> str:
    """A word in any of its forms, or a compound by its parts in order; empty for what is none."""
    if has_cjk(text):
        found = pairs(text)
        if len(found) == 1 and len(found[0]) == 1:
            return term(f"{sign}={found[0]}", weights, prefix=True)
        return phrase(text, weights, sign)
    tokens, whole = analyzed(parted(text)), analyzed(text)
    before = _plain(sign)
    if len(tokens) > 1:
        ways = [_following([f"{before}{token}" for token in tokens], weights)]
        if len(whole) == 1:
            ways.append(_forms(whole[0], weights, before))
        return any_of(ways)
    return _forms(tokens[0], weights, before) if tokens else ""


def starting(text: str, weights: str = "", sign: str = "") -> str:
    """Words that begin like this; what stands before the last one is a phrase."""
    tokens = [f"{_plain(sign)}{token}" for token in analyzed(text)]
    if not tokens:
        return ""
    last = term(tokens[-1], weights, prefix=True)
    return " <-> ".join([*(term(token, weights) for token in tokens[:-1]), last])


def stems(text: str) -> list[str]:
    """Queries for the stems of a text, each once."""
    return [term(f"~{stem}") for stem in dict.fromkeys(_stems().analyze(text))]


def _plain(sign: str) -> str:
    return f"{sign}:" if sign else ""


def _forms(token: str, weights: str, before: str) -> str:
    return any_of(term(f"{before}{form}", weights) for form in (token, *variants(token)))


def _following(lexemes: Sequence[str], weights: str) -> str:
    return " <-> ".join(term(lexeme, weights) for lexeme in lexemes)
