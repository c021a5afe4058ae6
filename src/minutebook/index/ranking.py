"""From hits of several kinds to one order.

Ranks are fused, not scores: words and meanings have no common measure. Words lead; meaning
adds what they miss, and the more so the fewer of them matched.
"""

from __future__ import annotations

from collections.abc import Sequence

_DEPTH = 40  # the lower, the more the first ranks count
_QUOTED = 0.5


def fuse(lexical: Sequence[int], semantic: Sequence[int], weight: float) -> dict[int, float]:
    """Rows with their fused scores."""
    scores: dict[int, float] = {}
    for rank, row in enumerate(lexical):
        scores[row] = 1 / (_DEPTH + rank)
    for rank, row in enumerate(semantic):
        scores[row] = scores.get(row, 0.0) + weight / (_DEPTH + rank)
    return scores


def adjusted(score: float, *, quoted: bool) -> float:
    """A score, and less of it for what only quotes our own output."""
    return score * _QUOTED if quoted else score
