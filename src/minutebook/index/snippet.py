"""The part of a text that shows why it was found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import msgspec

from minutebook.derive.surfaces import Piece
from minutebook.index.analysis import has_cjk, parted, variants
from minutebook.index.clauses import Side
from minutebook.index.entry import Entry
from minutebook.index.passages import passages_of
from minutebook.index.query import Query

_WIDTH = 160
_BEFORE = 50
_LOOKED_AT = 200_000  # characters
_MOST_WAYS = 24


class Snippet(msgspec.Struct, frozen=True):
    """A line of text, and where in it the words are: (start, end) pairs."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


class Shown(msgspec.Struct, frozen=True):
    """A snippet, whose words it has, and the block it is from, where that is known."""

    snippet: Snippet
    side: str
    block: int | None = None


def snippet(
    entry: Entry,
    query: Query,
    side: Side = "both",
    passage: int | None = None,
    hide: Callable[[str], str] = str,
) -> Shown:
    """The best line of what was said for a query; without its words, the passage that is alike.

    Secrets are hidden before the line is cut: half a secret would be taken for a word.
    """
    pattern = _pattern(query)
    best: tuple[int, Shown] | None = None
    for name, block, text in _texts(entry, side):
        found = _cut(" ".join(hide(text).split()), pattern)
        if best is None or len(set(found.marks)) > best[0]:
            best = (len(set(found.marks)), Shown(found, name, block))
    if best is not None and best[1].snippet.text:
        return best[1]
    return _beginning(entry, passage, hide)


def _texts(entry: Entry, side: Side) -> Iterator[tuple[str, int | None, str]]:
    """The texts of an entry: who said each, and in which block."""
    if side in ("asked", "both"):
        yield "asked", None, entry.asked
    if side == "final":
        yield "answered", _block_of(entry, entry.answered), entry.answered
    elif side != "asked":
        last, *others = reversed(_answers(entry))
        for block, text in (last, *reversed(others)):  # what it came to before how it got there
            yield "answered", block, text


def _answers(entry: Entry) -> list[tuple[int | None, str]]:
    """The texts of an answer with their blocks; in one piece where nobody noted those."""
    full = entry.full
    found: list[tuple[int | None, str]] = []
    at = 0
    for place in entry.blocks.split():
        block, length = map(int, place.split(":"))
        found.append((block, full[at : at + length]))
        at += length + 2
    return found if found and at <= len(full) + 8 else [(None, entry.answered), (None, entry.rest)]


def _block_of(entry: Entry, text: str) -> int | None:
    """The block that has the beginning of a text."""
    start = text.strip()[:80]
    return next((block for block, whole in _answers(entry) if start and start in whole), None)


def _beginning(entry: Entry, passage: int | None, hide: Callable[[str], str]) -> Shown:
    """How the passage that is alike begins; or what was said first."""
    # Before it is cut: half a secret would be taken for a word.
    shown = msgspec.structs.replace(
        entry, asked=hide(entry.asked), answered=hide(entry.answered), rest=hide(entry.rest)
    )
    text = dict(passages_of(shown)).get(passage or 0, shown.asked or shown.answered)
    line = Snippet(" ".join(text.split())[:_WIDTH])
    if text == shown.asked or (passage or 0) > 0:
        return Shown(line, "asked")
    return Shown(line, "answered", _block_of(entry, text))


def snippet_of_labels(fields: Iterable[tuple[str, str]], query: Query) -> Shown | None:
    """The first of the fields with most of the words."""
    pattern = _pattern(query)
    found = [Shown(_cut(" ".join(text.split()), pattern), label) for label, text in fields]
    best = max(found, key=lambda shown: len(set(shown.snippet.marks)), default=None)
    return best if best is not None and best.snippet.text else None


def snippet_of_work(pieces: Iterable[Piece], query: Query) -> Shown | None:
    """The best line of what was done: with all that was typed, else with most of the words."""
    wanted = query.typed or query.filters.command or query.filters.error or ""
    line = _pattern(Query(phrases=(wanted,))) if wanted else None
    pattern = _pattern(query) or line
    best: tuple[int, Shown] | None = None
    for piece in pieces:
        text = " ".join(piece.text.split())
        if line is not None and (found := _cut(text, line)).text:
            return Shown(found, piece.label, piece.block)
        found = _cut(text, pattern)
        if found.text and (best is None or len(set(found.marks)) > best[0]):
            best = (len(set(found.marks)), Shown(found, piece.label, piece.block))
    return best[1] if best is not None else None


# Where a word begins, or a hump of one: `art` is not in `start`, `json` is in `parseJson`.
_BEGINNING = r"(?:(?<![^\W_])|(?<=[a-z])(?=[A-Z]))"


@lru_cache(maxsize=16)
def _pattern(query: Query) -> re.Pattern[str] | None:
    """The query's words as they may stand in a text, in any of their forms."""
    ways = [_quoted(phrase) for phrase in query.phrases]
    ways += [_spaced(piece) for piece in query.telling]
    ways += [rf"{_BEGINNING}(?i:{re.escape(folded(prefix))}\w*)" for prefix in query.prefixes]
    found = [way for way in ways[:_MOST_WAYS] if way]
    return re.compile("|".join(found)) if found else None


def _quoted(phrase: str) -> str:
    """A phrase as a pattern: these words in this order, as the index holds them."""
    tokens = re.findall(r"[^\W_]+", folded(phrase))
    if not tokens:
        return ""
    if has_cjk(phrase):
        joined = r"[\W_]*".join(map(re.escape, tokens))
        return f"(?i:{joined})"
    joined = r"[\W_]+".join(map(re.escape, tokens))
    return rf"(?<![^\W_])(?i:{joined})(?![^\W_])"


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


def words_in(text: str, query: Query) -> set[str]:
    """The words of a query that a text has, each in the form it has them."""
    pattern = _pattern(query)
    if pattern is None:
        return set()
    return {match.group().lower() for match in pattern.finditer(folded(text[:_LOOKED_AT]))}
