"""Running what was learned: linear models over named features, from one readable file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minutebook.extract.offline.reasons import Reason, worded
from minutebook.extract.offline.wording import Wording, wording

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Features = Mapping[str, float]
FILE = Path(__file__).with_name("model.json")
FURTHEST = 4.0
"""Standard deviations a feature may count; what is stranger than that says no more."""
_NAMED = 8  # reasons that are told, before the rest is summed up


@dataclass(frozen=True)
class Linear:
    """Log-odds of one class (two-way), or a score for each of several classes."""

    classes: tuple[str, ...]
    bias: tuple[float, ...]
    features: Mapping[str, Sequence[float]]
    """Name → mean, scale, and a weight for each class."""

    @cached_property
    def _arrays(self) -> tuple[Array, Array, Array, Array]:
        import numpy as np

        table = np.array(list(self.features.values()), dtype=float)
        return table[:, 0], table[:, 1], table[:, 2:], np.array(self.bias)

    def scores(self, rows: Sequence[Features]) -> Array:
        """A row of scores for each row of features."""
        _, _, weights, bias = self._arrays
        total: Array = self._scaled(rows) @ weights + bias
        return total

    def _scaled(self, rows: Sequence[Features]) -> Array:
        import numpy as np

        mean, scale, _, _ = self._arrays
        values = np.array([[row[name] for name in self.features] for row in rows], dtype=float)
        scaled: Array = np.clip((values - mean) / scale, -FURTHEST, FURTHEST)
        return scaled

    def reasons(
        self, row: Features, column: int = 0, words: Sequence[tuple[str, float]] = ()
    ) -> tuple[Reason, ...]:
        """What decided a score, largest first; the last reason is all the rest.

        `words` are reasons of another kind, in words of their own.
        """
        _, _, weights, bias = self._arrays
        told = self._scaled([row])[0] * weights[:, column]
        found = [*zip(self.features, told.tolist(), strict=True), *words]
        found.sort(key=lambda one: (-abs(one[1]), one[0]))
        rest = float(bias[column]) + sum(weight for _, weight in found[_NAMED:])
        named = (
            Reason(worded(name, row[name]) if name in row else name, weight)
            for name, weight in found[:_NAMED]
        )
        return (*named, Reason("everything else", rest))


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
