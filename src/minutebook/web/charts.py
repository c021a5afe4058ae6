"""Charts as plain SVG: places in percent, a title for every bar, nothing that needs a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta

import msgspec

_MOST_SLOTS = 800  # days of more than two years are too narrow to be told apart
_LABELS = 8
_WIDEST = 12.0  # percent: a single day is a column, too


class Bar(msgspec.Struct, frozen=True):
    """A column of a chart over time, or a bar of one by name."""

    x: float
    width: float
    height: float
    title: str


class Tick(msgspec.Struct, frozen=True):
    at: float
    label: str
    minor: bool = False
    """Whether a narrow screen leaves it out."""


class Chart(msgspec.Struct, frozen=True):
    title: str
    bars: list[Bar]
    ticks: list[Tick] = []
    top: str = ""
    """What the highest bar stands for."""


Point = tuple[str, float, str]
"""Key of a row, its value, and both in words."""


def over_time(by: str, points: Sequence[Point], title: str, top: Callable[[float], str]) -> Chart:
    """Columns in their places in time: a day without work is a gap."""
    dated = [(day, value, words) for key, value, words in points if (day := _day(key))]
    slots = _slots(by, [day for day, _, _ in dated])
    places = {day: at for at, day in enumerate(slots)}
    highest = max((value for _, value, _ in dated), default=0.0)
    width = 100 / max(1, len(slots))
    bars = [
        Bar(places[day] * width, min(width * 0.84, _WIDEST), 100 * value / highest, words)
        for day, value, words in dated
        if highest and day in places
    ]
    step = max(1, -(-len(slots) // _LABELS))
    marked = range(0, len(slots), step)
    years = [slots[at - step].year if at else 0 for at in marked]
    ticks = [
        Tick(at * width, _label(by, slots[at], before != slots[at].year), number % 3 > 0)
        for number, (at, before) in enumerate(zip(marked, years, strict=True))
    ]
    return Chart(title, bars, ticks, top(highest) if highest else "")


def _day(key: str) -> date | None:
    try:
        return date.fromisoformat(key if len(key) > 7 else f"{key}-01")
    except ValueError:
        return None


def _slots(by: str, days: Sequence[date]) -> list[date]:
    if not days:
        return []
    found, day, last = [], min(days), max(days)
    while day <= last:
        found.append(day)
        day = _next(by, day)
    return found if len(found) <= _MOST_SLOTS else sorted(set(days))


def _next(by: str, day: date) -> date:
    if by == "month":
        return date(day.year + day.month // 12, day.month % 12 + 1, 1)
    return day + timedelta(days=7 if by == "week" else 1)


def _label(by: str, day: date, of_new_year: bool) -> str:
    """A date; with its year where the mark before has another one."""
    if by == "month":
        return f"{day:%b %Y}"
    return f"{day.day} {day:%b}{f' {day.year}' if of_new_year else ''}"
