"""The part of a text that shows why it was found."""

from __future__ import annotations

import re

import msgspec

from minutebook.index.analysis import parted
from minutebook.index.entry import Entry
from minutebook.index.lexical import Side
from minutebook.index.query import Query

_WIDTH = 160
_BEFORE = 50


class Snippet(msgspec.Struct, frozen=True):
    """A line of text, and where in it the words are: (start, end) pairs."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def snippet(entry: Entry, query: Query, side: Side = "both") -> tuple[Snippet, str]:
    """The best line of an entry for a query, and which side it is from."""
    pattern = _pattern(query)
    sides = {"asked": (entry.asked,), "answered": (entry.answered, entry.rest)}
    names = ("asked", "answered") if side == "both" else (side,)
    best: tuple[int, Snippet, str] | None = None
    for name in names:
        for text in sides[name]:
            found = _cut(" ".join(text.split()), pattern)
            if best is None or len(set(found.marks)) > best[0]:
                best = (len(set(found.marks)), found, name)
    assert best is not None
    if not best[1].text:
        rest = " ".join((entry.asked or entry.answered).split())
        return Snippet(rest[:_WIDTH]), "asked" if entry.asked else "answered"
    return best[1], best[2]


def _pattern(query: Query) -> re.Pattern[str] | None:
    """The query's words as they may stand in a text; beginnings count, as stems do."""
    pieces = [*query.phrases, *query.telling, *query.prefixes]
    ways = []
    for piece in pieces[:24]:
        tokens = [re.escape(token) for token in re.findall(r"\w+", parted(piece))]
        if tokens:
            ways.append(r"[\W_]*".join(_stemmed(token) for token in tokens))
    return re.compile("|".join(ways), re.IGNORECASE) if ways else None


def _stemmed(token: str) -> str:
    """A long word without its ending, so that `migrates` marks `migrated`."""
    return token[:-2] + r"\w*" if len(token) > 6 and token.isalpha() and token.isascii() else token


def _cut(text: str, pattern: re.Pattern[str] | None) -> Snippet:
    """The stretch of a text with most different words of the query in it."""
    marks = [match.span() for match in pattern.finditer(text[:200_000])][:400] if pattern else []
    marks = [(start, end) for start, end in marks if start < end]
    if not marks:
        return Snippet("")
    best, most = marks[0][0], 0
    for start, _ in marks:
        inside = {
            text[a:b].lower() for a, b in marks if start <= a and b <= start + _WIDTH - _BEFORE
        }
        if len(inside) > most:
            best, most = start, len(inside)
    first = max(0, best - _BEFORE)
    if first:
        first = text.find(" ", first, best) + 1 or first
    last = min(len(text), first + _WIDTH)
    lead, tail = "… " if first else "", " …" if last < len(text) else ""
    shift = len(lead) - first
    shown = tuple((a + shift, b + shift) for a, b in marks if first <= a and b <= last)
    return Snippet(f"{lead}{text[first:last]}{tail}", shown)
