"""What tokens cost. Estimates before a call, the real figure after it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from functools import cache

from minutebook.derive.prices import PICO, Prices, Steps, rates_for
from minutebook.derive.tokens import tokens
from minutebook.extract.extractor import OverBudget
from minutebook.model import Usage

_MARGIN = 7 / 6  # an estimate of a cost is rather too high than too low
TYPICAL_OUTPUT = 1_200
"""Tokens of an answer for an average session, without its course."""
_COURSE = 25  # tokens of a line of it
_MOST_LINES = 80


@dataclass(frozen=True)
class Price:
    """What a model costs by the list, alone and in a batch."""

    alone: Steps
    batch: Steps

    def of(self, usage: Usage, *, batch: bool = False) -> float:
        prompt = usage.input + usage.cache_read + usage.cache_write
        rates = rates_for(self.batch if batch else self.alone, prompt)
        cost = rates.of(
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write_5m,
            usage.cache_write_1h,
        )
        return cost / PICO


@cache
def price_of(model: str) -> Price | None:
    """The list price of a model today; None for one that the price library does not know."""
    today = int(time.time() // 86_400)
    prices = Prices()
    alone, batch = prices.steps(model, today), prices.steps(model, today, batch=True)
    return Price(alone, batch) if alone is not None and batch is not None else None


def tokens_of(text: str) -> int:
    return round(tokens(text) * _MARGIN)


def answer_tokens(rounds: int) -> int:
    """Tokens of an answer for a session of so many rounds, with a line for each."""
    return TYPICAL_OUTPUT + _COURSE * min(rounds, _MOST_LINES)


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
