"""Where in a text a secret can be: cheap hints, looked for in few passes.

Masking runs over everything that is shown, so the passes are what counts. A pattern that begins
with one certain sign is fast, and hints that share the sign share the pass; a hint of several
signs is looked for as it is, and the longer the faster. Readers are asked only at a hint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

Candidate = tuple[int, int, int, str]  # start, rank, end, kind
Reader = Callable[[str, int], Iterable[Candidate]]
Found = tuple[int, int, str]  # start, end, kind

# A known format says more than the name it is given to.
LAST = 1_000
_LONG = 500  # a text of this length has every sign


def first(*readers: Callable[[str, int], Found | None], back: int = 0) -> Reader:
    """A reader that asks others in turn, each at the place so many signs before."""

    def read(text: str, end: int) -> Iterable[Candidate]:
        for one in readers:
            if found := one(text, end - back):
                return ((found[0], LAST, found[1], found[2]),)
        return ()

    return read


class Hint(msgspec.Struct, frozen=True):
    """A sign that a secret may be near."""

    sign: str
    read: Reader  # is asked with the text and the place where the hint ends
    around: str = ""  # what else has to hold there: a pattern without groups, after the sign
    beside: str = ""  # a letter beyond ASCII that such texts have: it is found fast


class Scanner:
    """All hints, sorted into passes."""

    def __init__(self, hints: Sequence[Hint]) -> None:
        signs: dict[str, list[Hint]] = {}
        for hint in hints:
            if hint.around:
                signs.setdefault(hint.sign, []).append(hint)
        # Plain tuples: taking them apart is what a short text costs.
        self._passes = tuple(_pass(sign, some) for sign, some in signs.items())
        words = [(hint.sign, hint.read, hint.beside) for hint in hints if not hint.around]
        self._words = tuple((sign, read) for sign, read, beside in words if not beside)
        self._far = tuple(word for word in words if word[2])

    def candidates(self, text: str) -> list[Candidate]:
        """What the readers find in a text, in no order."""
        told: list[Candidate] = []
        long = len(text) > _LONG
        for sign, search, readers in self._passes:
            if long or sign in text:
                found = search(text)
                while found:
                    end = found.end()
                    told.extend(readers[(found.lastindex or 1) - 1](text, end))
                    found = search(text, end)
        for sign, read in self._words:
            if sign in text:
                told.extend(_each(text, sign, read))
        if not text.isascii():
            for sign, read, beside in self._far:
                if beside in text:
                    told.extend(_each(text, sign, read))
        return told


def _each(text: str, sign: str, read: Reader) -> Iterator[Candidate]:
    at = text.find(sign)
    while at >= 0:
        at += len(sign)
        yield from read(text, at)
        at = text.find(sign, at)


_Search = Callable[..., re.Match[str] | None]


def _pass(sign: str, hints: Sequence[Hint]) -> tuple[str, _Search, tuple[Reader, ...]]:
    either = "|".join(f"({hint.around})" for hint in hints)
    search = re.compile(f"{re.escape(sign)}(?:{either})", re.ASCII).search
    return sign, search, tuple(hint.read for hint in hints)
