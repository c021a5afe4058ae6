"""From scores of several kinds to one order.

Words of a round, words of a whole session and likeness of passages have no common measure, so
each is standardised over the best of its kind, and they are added. Ranks would forget by how
much the first is better than the second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeVar

K = TypeVar("K")
_COMPARED = 100
"""How many of the best a score is standardised over. Those beyond count as much as the last."""
_FEWEST = 5  # scores that have something like a spread
SESSION = 0.6
"""What the words of a whole session count beside those of its best round."""
PASSAGES = 0.5
"""What the best passage counts, and what the mean of the three best."""
TOP = 3
WHOLE = 4.0
"""What it adds to have every word."""
_QUOTED = 0.5


def standardised(scores: Mapping[K, float]) -> dict[K, float]:
    """Scores as distances from their mean, in standard deviations; 0 is the last that counts."""
    best = sorted(scores.values(), reverse=True)[:_COMPARED]
    if not best:
        return {}
    # Few scores have no spread to speak of: what is missing scores nothing.
    values = best + [0.0] * (_FEWEST - len(best))
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    least = values[-1]
    if spread < 1e-9:
        return dict.fromkeys(scores, 0.0)
    return {key: (max(score, least) - least) / spread for key, score in scores.items()}


def added(*parts: tuple[float, Mapping[K, float]]) -> dict[K, float]:
    """Weighted scores of everything that has one."""
    total: dict[K, float] = {}
    for weight, scores in parts:
        for key, score in scores.items():
            total[key] = total.get(key, 0.0) + weight * score
    return total


def best_of(scores: Iterable[tuple[K, float]]) -> dict[K, float]:
    """The best score of each."""
    best: dict[K, float] = {}
    for key, score in scores:
        if score > best.get(key, -math.inf):
            best[key] = score
    return best


def mean_of_best(scores: Iterable[tuple[K, float]]) -> dict[K, float]:
    """The mean of the three best scores of each; of fewer where there are no more, since a
    session of one prompt is not less about a thing for being short."""
    kept: dict[K, list[float]] = {}
    for key, score in scores:
        kept.setdefault(key, []).append(score)
    found = {}
    for key, values in kept.items():
        top = sorted(values, reverse=True)[:TOP]
        found[key] = sum(top) / len(top)
    return found


def adjusted(score: float, *, quoted: bool) -> float:
    """A score, and less of it for what only quotes our own output."""
    return score * _QUOTED if quoted else score
