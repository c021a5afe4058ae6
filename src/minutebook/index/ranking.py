"""From hits of several kinds to one order.

Ranks are fused, not scores: words and meanings have no common measure. Words lead; meaning
adds what they miss, and the more so the fewer of them matched.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_DEPTH = 40  # the lower, the more the first ranks count
_RECENT_DAYS = 120.0
_RECENT = 0.04  # at most: never enough to lift a worse match over a better one
_QUOTED = 0.5


def fuse(lexical: Sequence[int], semantic: Sequence[int], weight: float) -> dict[int, float]:
    """Rows with their fused scores."""
    scores: dict[int, float] = {}
    for rank, row in enumerate(lexical):
        scores[row] = 1 / (_DEPTH + rank)
    for rank, row in enumerate(semantic):
        scores[row] = scores.get(row, 0.0) + weight / (_DEPTH + rank)
    return scores


def adjusted(score: float, *, age_days: float, quoted: bool) -> float:
    """A score with a breath of recency, and less for what only quotes our own output."""
    recency = math.exp(-max(0.0, age_days) / _RECENT_DAYS)
    return score * (1 + _RECENT * recency) * (_QUOTED if quoted else 1.0)


def best_of(scores: Mapping[int, float], groups: Mapping[int, str]) -> list[tuple[int, float]]:
    """The best row of every group, best group first."""
    best: dict[str, tuple[int, float]] = {}
    for row, score in scores.items():
        known = best.get(groups[row])
        if known is None or score > known[1]:
            best[groups[row]] = (row, score)
    return sorted(best.values(), key=lambda item: (-item[1], item[0]))
