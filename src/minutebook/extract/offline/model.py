"""Running what was learned: linear models over named features, from one readable file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from operator import mul
from pathlib import Path
from typing import Any

from minutebook.extract.offline.reasons import USUAL, Reason, grouped
from minutebook.extract.offline.wording import Wording, wording

Features = Mapping[str, float]
FILE = Path(__file__).with_name("model.json")
FURTHEST = 4.0
"""Standard deviations a feature may count; what is stranger than that says no more."""


@dataclass(frozen=True)
class Linear:
    """Log-odds of one class (two-way), or a score for each of several classes."""

    classes: tuple[str, ...]
    bias: tuple[float, ...]
    features: Mapping[str, Sequence[float]]
    """Name → mean, scale, and a weight for each class."""

    @cached_property
    def _scales(self) -> list[tuple[str, float, float, float]]:
        """Name, mean, scale of each feature, and where 0 is on that scale."""
        told = ((name, of[0], of[1]) for name, of in self.features.items())
        return [(name, mean, scale, _clipped(-mean / scale)) for name, mean, scale in told]

    @cached_property
    def _weights(self) -> list[tuple[float, ...]]:
        """For each class its weight for every feature."""
        return list(zip(*(of[2:] for of in self.features.values()), strict=True))

    def scores(self, row: Features) -> list[float]:
        """A score for each class."""
        scaled = self._scaled(row)
        return [
            bias + sum(map(mul, scaled, weights))
            for bias, weights in zip(self.bias, self._weights, strict=True)
        ]

    def _scaled(self, row: Features) -> list[float]:
        return [  # of most rows most is 0
            _clipped((value - mean) / scale) if (value := row[name]) else zero
            for name, mean, scale, zero in self._scales
        ]

    def reasons(
        self, row: Features, column: int = 0, words: Sequence[tuple[str, float]] = ()
    ) -> tuple[Reason, ...]:
        """What decided a score: what is usual, then its reasons, strongest first.

        Together they are the score. `words` are signs of another kind, in words of their own.
        """
        told = zip(self.features, self._scaled(row), self._weights[column], strict=True)
        signs = [(name, row[name], at * weight) for name, at, weight in told]
        spoken = [(what, None, weight) for what, weight in words]
        return (Reason(USUAL, self.bias[column]), *grouped([*signs, *spoken]))


def _clipped(deviations: float) -> float:
    return FURTHEST if deviations > FURTHEST else max(deviations, -FURTHEST)


@dataclass(frozen=True)
class Models:
    """One learned model for each question."""

    about: Mapping[str, Any]
    cut: Linear
    """Is there a cut before this round?"""
    count: Linear
    """How many cuts has the session?"""
    method: Linear
    ending: Linear
    """Is the last engagement still open?"""
    wording: Wording
    """What single words tell of method and of how sessions begin."""


def from_dict(content: Mapping[str, Any], words: Wording) -> Models:
    parts = {
        name: Linear(tuple(part["classes"]), tuple(part["bias"]), part["features"])
        for name, part in content["models"].items()
    }
    return Models(content["about"], wording=words, **parts)


@cache
def models() -> Models:
    """Those that come with the package."""
    return from_dict(json.loads(FILE.read_text(encoding="utf-8")), wording())
