"""List prices of models, by `genai-prices`: what tokens cost at API prices (USE-02).

The library is large, so it is imported when a price is asked for that is not known yet, and
what it says is kept: once for each model and day. It works offline; nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import msgspec

PICO = 10**12
"""Costs are counted in whole millionths of a millionth of a dollar, so that sums are exact."""
_EPOCH = date(1970, 1, 1)
_MAKERS = {"anthropic": "", "openai": "", "google": "gemini"}
"""Whose list prices count, and how their models' names begin; a model that is sold elsewhere,
under another name, has another price, which is not guessed."""
_PROMPT = 1_000_000  # tokens with which a rate is measured where there is no step


class Rates(msgspec.Struct, frozen=True, array_like=True):
    """What one token of each kind costs, and one web search, in 10⁻¹² dollars."""

    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    search: int = 0

    def of(
        self,
        input: int,
        output: int,
        cache_read: int,
        cache_write_5m: int,
        cache_write_1h: int,
        searches: int = 0,
    ) -> int:
        return (
            input * self.input
            + output * self.output
            + cache_read * self.cache_read
            + cache_write_5m * self.cache_write_5m
            + cache_write_1h * self.cache_write_1h
            + searches * self.search
        )


Steps = tuple[tuple[int, Rates], ...]
"""Rates by length of the prompt: from more than so many tokens on; the first is for all."""


class Prices:
    """Prices that are known, and those the library tells."""

    def __init__(self, known: Mapping[str, Steps | None] | None = None) -> None:
        self.known: dict[str, Steps | None] = dict(known or {})
        self.asked = False
        """Whether the library had to be asked for something."""
        self._days: dict[tuple[str, int, bool], Steps | None] = {}

    def steps(self, model: str, day: int, *, batch: bool = False) -> Steps | None:
        """The rates of a model on a day (since 1970, UTC); None where nobody knows them."""
        key = (model, day, batch)
        if key not in self._days:
            name = f"{model} {_day(day)}{' batch' if batch else ''}"
            if name not in self.known:
                self.asked = True
                self.known[name] = _told(model, _day(day), batch)
            self._days[key] = self.known[name]
        return self._days[key]


def load_library() -> None:
    """Import the library, while there is nothing else to do."""
    from genai_prices import Usage, calc_price

    with suppress(LookupError):  # it unpacks its prices when it is asked first
        calc_price(Usage(input_tokens=1), "", provider_id=next(iter(_MAKERS)))


def rates_for(steps: Steps, prompt: int) -> Rates:
    """The rates of a prompt of so many tokens: a longer one may be dearer as a whole."""
    found = steps[0][1]
    for start, rates in steps[1:]:
        if prompt > start:
            found = rates
    return found


def _day(day: int) -> date:
    return _EPOCH + timedelta(days=max(0, min(day, 80_000)))


def _told(model: str, day: date, batch: bool) -> Steps | None:
    """What the library says; None for a model it does not know, and for prices that are broken."""
    from genai_prices import Usage, calc_price

    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    for maker, opening in _MAKERS.items():
        if not model.startswith(opening):
            continue
        try:
            found = calc_price(
                Usage(input_tokens=1),
                model,
                provider_id=maker,
                genai_request_timestamp=noon,
                price_context={"processing": "batch"} if batch else None,
            ).model_price
            return _steps(_Price(found))
        except (LookupError, ValueError, ArithmeticError):
            continue
    return None


class _Price:
    """A price of the library; the same object for many days."""

    def __init__(self, price: Any) -> None:
        self.price = price
        self._key = repr(price)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Price) and other._key == self._key


@cache
def _steps(held: _Price) -> Steps:
    tiered = [value for value in vars(held.price).values() if hasattr(value, "tiers")]
    starts = sorted({0, *(tier.start for value in tiered for tier in value.tiers)})
    ends = [*starts[1:], starts[-1] + _PROMPT]
    return tuple((start, _rates(held.price, end)) for start, end in zip(starts, ends, strict=True))


def _rates(price: Any, prompt: int) -> Rates:
    """Rates for prompts of so many tokens, measured: the library knows what stands in for what."""
    from genai_prices import Usage

    def cost(**more: int) -> int:
        given = {name: count for name, count in more.items() if count}
        told = price.calc_price(Usage(input_tokens=prompt, **given))["total_price"]
        return int(told * PICO)

    plain = cost()
    written = {"cache_write_tokens": prompt}
    return Rates(
        plain // prompt,
        (cost(output_tokens=prompt) - plain) // prompt,
        cost(cache_read_tokens=prompt) // prompt,
        cost(**written) // prompt,
        cost(**written, cache_write_1h_tokens=prompt) // prompt,
        cost(web_searches=1) - plain,
    )
