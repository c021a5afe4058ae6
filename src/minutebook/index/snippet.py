"""The part of a text that shows why it was found."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import msgspec

from minutebook.index.analysis import has_cjk, parted, variants
from minutebook.index.entry import Entry
from minutebook.index.lexical import Side
from minutebook.index.query import Query

_WIDTH = 160
_BEFORE = 50
_LOOKED_AT = 200_000  # characters
_MOST_WAYS = 24


_NAMES = {"asked": "asked", "answered": "answered", "final": "answered"}


class Snippet(msgspec.Struct, frozen=True):
    """A line of text, and where in it the words are: (start, end) pairs."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def snippet(entry: Entry, query: Query, side: Side = "both") -> tuple[Snippet, str]:
    """The best line of an entry for a query, and which side it is from."""
    pattern = _pattern(query)
    sides = {"asked": (entry.asked,), "answered": (entry.answered, entry.rest)}
    names = ("asked", "answered") if side == "both" else (_NAMES[side],)
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


# Where a word begins, or a hump of one: `art` is not in `start`, `json` is in `parseJson`.
_BEGINNING = r"(?:(?<![^\W_])|(?<=[a-z])(?=[A-Z]))"


@lru_cache(maxsize=16)
def _pattern(query: Query) -> re.Pattern[str] | None:
    """The query's words as they may stand in a text, in any of their forms."""
    ways = [_spaced(piece) for piece in (*query.phrases, *query.telling)]
    ways += [rf"{_BEGINNING}(?i:{re.escape(folded(prefix))}\w*)" for prefix in query.prefixes]
    found = [way for way in ways[:_MOST_WAYS] if way]
    return re.compile("|".join(found)) if found else None


def _spaced(piece: str) -> str:
    """A piece of a query as a pattern; whatever stands between its parts may stand there."""
    tokens = re.findall(r"[^\W_]+", folded(parted(piece)))
    if not tokens:
        return ""
    if len(tokens) > 1 or has_cjk(piece):
        joined = r"[\W_]*".join(map(re.escape, tokens))
        return f"(?i:{joined})"
    (token,) = tokens
    forms = sorted({token, *variants(token.lower())}, key=len, reverse=True)
    return rf"{_BEGINNING}(?i:{'|'.join(map(re.escape, forms))})(?![a-z])"


def folded(text: str) -> str:
    """A text without accents, every character in its place."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize("NFD", char)[0] for char in text)


def _cut(text: str, pattern: re.Pattern[str] | None) -> Snippet:
    """The stretch of a text with most different words of the query in it."""
    plain = folded(text[:_LOOKED_AT])
    marks = [match.span() for match in pattern.finditer(plain)][:400] if pattern else []
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
