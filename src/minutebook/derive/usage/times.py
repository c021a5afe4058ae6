"""Active time: gaps between records that an agent or a person filled (USE-03).

A gap that ends in something the agent made is its time, at most ten minutes of it; one that ends
in a prompt is the person's, if it is not longer than five. Everything else is idle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

AGENT_CAP, YOUR_CAP = 600_000, 300_000  # milliseconds
_SANE = range(31_536_000_000, 7_258_118_400_000)
"""1971 to 2199: what is far off is not a time of a session (`derive.times`)."""
_AGENTS = frozenset({"reply", "result", "progress"})
_YOURS = frozenset({"prompt", "command"})


class Span(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Time in which somebody was active, in milliseconds since the epoch."""

    start: int
    end: int
    round: int
    yours: bool = False


def spans_of(moments: list[tuple[int, str, int]]) -> tuple[list[Span], int, int]:
    """The active spans of a session, its first and its last moment; given when, by what and in
    which round each record was written. Of one moment, records stand in the order of the file."""
    ordered = sorted((m for m in moments if m[0] in _SANE), key=lambda moment: moment[0])
    if len(ordered) < 2:
        return [], ordered[0][0] if ordered else 0, ordered[-1][0] if ordered else 0
    spans: list[Span] = []
    round = ordered[0][2]
    for (start, _, _), (end, made_by, number) in pairwise(ordered):
        round = number or round
        gap = end - start
        if made_by in _AGENTS:
            yours, gap = False, min(gap, AGENT_CAP)
        elif made_by in _YOURS and gap <= YOUR_CAP:
            yours = True
        else:
            continue
        if not gap:
            continue
        before = spans[-1] if spans else None
        if before and before.end == start and (before.round, before.yours) == (round, yours):
            spans[-1] = Span(before.start, start + gap, round, yours)
        else:
            spans.append(Span(start, start + gap, round, yours))
    return spans, ordered[0][0], ordered[-1][0]


def by_the_clock(spans: Iterable[tuple[int, int]]) -> int:
    """How long it was by the clock: what ran at once counts once."""
    total, reached = 0, -1
    for start, end in sorted(spans):
        if end > reached:
            total += end - (start if start > reached else reached)  # noqa: FURB136 - hot
            reached = end
    return total


def cut(start: int, end: int, midnights: list[int]) -> Iterator[tuple[int, int]]:
    """A span, cut where days begin."""
    for midnight in midnights:
        if start < midnight < end:
            yield start, midnight
            start = midnight
    yield start, end
