"""A transcript in parts: some twenty blocks each, so that only what is near is ever loaded.

Parts are cut by counting blocks from the first, so a session that grows only gets new ones,
and the same block is in the same part whether it comes from the archive or the source.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

import msgspec

from minutebook.archive.session import RoundShape

TOGGLES = ("user", "assistant", "thinking", "calls", "results")
SHOWN = ("user", "assistant", "calls")
"""What is shown unless a reader says otherwise."""
_BLOCKS = 20


class Piece(msgspec.Struct, frozen=True):
    """Blocks of one round, from one place up to another."""

    round: int
    first: int
    last: int


class Part(msgspec.Struct, frozen=True):
    pieces: tuple[Piece, ...]
    counts: tuple[int, int, int, int, int]
    """Blocks by toggle; what a call answered counts as a result."""


def parts_of(shapes: Iterable[RoundShape]) -> list[Part]:
    """The whole session, cut; a round stays whole where it is short."""
    parts: list[Part] = []
    pieces: list[Piece] = []
    counts: Counter[str] = Counter()
    blocks = 0

    def close() -> None:
        nonlocal blocks
        if pieces:
            u, a, t, c, r = (counts[name] for name in TOGGLES)
            parts.append(Part(tuple(pieces), (u, a, t, c, r)))
        pieces.clear()
        counts.clear()
        blocks = 0

    for shape in shapes:
        size = len(shape.kinds)
        if blocks and blocks + min(size, _BLOCKS) > _BLOCKS:
            close()
        first = 0
        while True:
            last = min(size, first + _BLOCKS - blocks)
            pieces.append(Piece(shape.number, first, last))
            counts.update(toggle for kind in shape.kinds[first:last] for toggle in _toggles(kind))
            blocks += last - first
            first = last
            if blocks >= _BLOCKS:
                close()
            if first >= size:
                break
    close()
    return parts


def _toggles(kind: str) -> tuple[str, ...]:
    if kind == "call":
        return ("calls", "results")
    return {"unanswered": ("calls",), "result": ("results",), "notice": ()}.get(kind, (kind,))


def part_of(parts: list[Part], round: int, block: int = 0) -> int:
    """The part a block is in."""
    starts = [(part.pieces[0].round, part.pieces[0].first) for part in parts]
    return max(0, bisect_right(starts, (round, block)) - 1)


def totals(parts: Iterable[Part]) -> dict[str, int]:
    """Blocks of the whole session by toggle."""
    sums = [0] * len(TOGGLES)
    for part in parts:
        for at, count in enumerate(part.counts):
            sums[at] += count
    return dict(zip(TOGGLES, sums, strict=True))


def shown_of(text: str | None) -> frozenset[str]:
    """``show=user,calls`` as a set; words it does not know are left out."""
    if text is None:
        return frozenset(SHOWN)
    return frozenset(word for word in text.split(",") if word in TOGGLES)


def show_query(shown: Iterable[str]) -> str:
    """The same as a URL's query writes it, in the order of the toggles."""
    chosen = set(shown)
    if chosen == set(SHOWN):
        return ""
    return ",".join(name for name in TOGGLES if name in chosen) or "none"
