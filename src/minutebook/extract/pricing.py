"""What tokens cost. Estimates before a call, the real figure after it."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from minutebook.derive.skeleton import LIMIT
from minutebook.derive.tokens import tokens
from minutebook.extract.extractor import OverBudget
from minutebook.model import SessionInfo, Usage

_MARGIN = 7 / 6  # an estimate of a cost is rather too high than too low
_PROMPT_CHARS = 400  # of an average message of a person, pasted logs included
TYPICAL_OUTPUT = 1_200
"""Tokens of an answer for an average session."""


@dataclass(frozen=True)
class Price:
    """Dollars for a million tokens."""

    input: float
    output: float
    cache_write: float
    cache_read: float

    def of(self, usage: Usage, *, batch: bool = False) -> float:
        dollars = (
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_write * self.cache_write
            + usage.cache_read * self.cache_read
        ) / 1_000_000
        return dollars / 2 if batch else dollars


# platform.claude.com/docs/en/about-claude/pricing, November 2026; the longest prefix counts.
_PRICES = {
    "claude-haiku-5-5": Price(0.5, 2.5, 0.625, 0.05),
    "claude-haiku": Price(1, 5, 1.25, 0.1),
    "claude-sonnet-5": Price(2, 10, 2.5, 0.2),
    "claude-sonnet": Price(3, 15, 3.75, 0.3),
    "claude-opus-5-5": Price(4, 20, 5, 0.2),
    "claude-opus": Price(5, 25, 6.25, 0.5),
    "claude-fable": Price(10, 50, 12.5, 1),
    "claude-mythos": Price(10, 50, 12.5, 1),
}


def price_of(model: str) -> Price | None:
    """The price of a model; None for one nobody told us about."""
    fitting = [name for name in _PRICES if model.startswith(name)]
    return _PRICES[max(fitting, key=len)] if fitting else None


def tokens_of(text: str) -> int:
    return round(tokens(text) * _MARGIN)


def rough_chars(info: SessionInfo) -> int:
    """About how long the skeleton of a session is, known without reading it."""
    return min(LIMIT, info.answer_chars + _PROMPT_CHARS * info.prompts)


class Budget:
    """Money that may be spent: reserved before a call, settled after it.

    Reserving the worst case is what makes ``--max-cost`` a limit rather than a hope,
    however many calls are under way at once.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self.spent = 0.0
        self._reserved = 0.0
        self._lock = threading.Lock()

    def reserve(self, worst: float) -> None:
        with self._lock:
            if self.limit is not None and self.spent + self._reserved + worst > self.limit:
                raise OverBudget
            self._reserved += worst

    def settle(self, worst: float, real: float) -> None:
        with self._lock:
            self._reserved -= worst
            self.spent += real
