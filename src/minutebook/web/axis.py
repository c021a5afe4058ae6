"""The time axis: ranges, steps between ticks, and what a zoom in or out shows."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec

HOUR, DAY = 3600, 86400
ZOOMS = {"hour": HOUR, "day": DAY, "week": 7 * DAY, "month": 31 * DAY, "year": 366 * DAY}
_STEPS = (300, 900, HOUR, 3 * HOUR, 6 * HOUR, DAY, 2 * DAY, 7 * DAY)
_MOST_TICKS = 12
_MOST_NARROW = 5
_LENGTHS = {
    "hour": (1, 1),
    "day": (24, 24),
    "week": (168, 168),
    "month": (672, 744),
    "year": (8760, 8784),
}
"""The hours each zoom has: a month 28 to 31 days, a year 365 or 366."""
SHORTEST, LONGEST = HOUR, 20 * 366 * DAY
_FIRST, _LAST = 366 * DAY, 229 * 365 * DAY  # calendars end somewhere; so do ours


class Range(msgspec.Struct, frozen=True):
    """From a moment up to another, in seconds since the epoch."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    def share(self, moment: float) -> float:
        """Where a moment is, in percent of the range."""
        return 100 * (moment - self.start) / self.length


class Tick(msgspec.Struct, frozen=True):
    at: float
    """Percent of the range."""
    label: str
    minor: bool = False
    """Whether a narrow screen leaves its label out."""


def whole_days(first: int, last: int) -> Range:
    """The days from one moment to another, with at least an hour between."""
    start = datetime.fromtimestamp(first).replace(hour=0, minute=0, second=0, microsecond=0)
    end = datetime.fromtimestamp(last).replace(hour=0, minute=0, second=0, microsecond=0)
    return Range(int(start.timestamp()), int((end + timedelta(days=1)).timestamp()))


def zoomed(shown: Range, factor: float) -> Range:
    """The same middle, so many times as long."""
    middle = (shown.start + shown.end) / 2
    half = min(max(shown.length * factor, SHORTEST), LONGEST) / 2
    return _within(int(middle - half), int(middle + half))


def moved(shown: Range, share: float) -> Range:
    step = int(shown.length * share)
    return _within(shown.start + step, shown.end + step)


def recent(end: int, zoom: str) -> Range:
    """The last hour, day, week, month or year before a moment."""
    return _within(end - ZOOMS[zoom], end)


def zoom_of(shown: Range) -> str:
    """The zoom a range is as long as, on the day that clocks change too; empty for any other."""
    for name, (least, most) in _LENGTHS.items():
        changed = HOUR if least > 1 else 0
        if least * HOUR - changed <= shown.length <= most * HOUR + changed:
            return name
    return ""


def _within(start: int, end: int) -> Range:
    """A range no calendar breaks at."""
    start = min(max(start, _FIRST), _LAST - SHORTEST)
    return Range(start, max(start + SHORTEST, min(end, _LAST)))


def ticks(shown: Range) -> list[Tick]:
    """A dozen marks at most, at round moments of local time; on a narrow screen, five."""
    if shown.length > _MOST_TICKS * 7 * DAY:
        return _thinned(list(_months(shown)), 1)
    step = next(step for step in _STEPS if shown.length / step <= _MOST_TICKS)
    return _thinned(list(_regular(shown, step)), DAY // step if step < DAY else 1)


def _thinned(found: list[Tick], day: int) -> list[Tick]:
    """Every so many of them have room everywhere: beginnings of days first, where a day has
    several."""
    every = -(-len(found) // _MOST_NARROW)
    if every > 1 and day > 1:
        every = -(-every // day) * day if every > day / 2 else every
    first = next((at for at, tick in enumerate(found) if ":" not in tick.label), 0)
    return [
        msgspec.structs.replace(tick, minor=(at - first) % every != 0)
        for at, tick in enumerate(found)
    ]


def _regular(shown: Range, step: int) -> Iterator[Tick]:
    moment = datetime.fromtimestamp(shown.start).replace(hour=0, minute=0, second=0, microsecond=0)
    if step == 7 * DAY:
        moment -= timedelta(days=moment.weekday())
    month = None
    while (at := moment.timestamp()) < shown.end:
        if at >= shown.start:
            if step >= DAY:
                label = f"{moment.day} {moment:%b}" if moment.month != month else str(moment.day)
                month = moment.month
            elif moment.hour == moment.minute == 0:
                label = f"{moment:%a} {moment.day}"
            else:
                label = f"{moment:%H:%M}"
            yield Tick(shown.share(at), label)
        moment += timedelta(seconds=step)


def _months(shown: Range) -> Iterator[Tick]:
    months = shown.length / (30 * DAY)
    every = next((n for n in (1, 2, 3, 6, 12) if months / n <= _MOST_TICKS), 24)
    moment = datetime.fromtimestamp(shown.start)
    year, month = moment.year, 1
    while (at := datetime(year, month, 1).timestamp()) < shown.end:
        if at >= shown.start:
            label = str(year) if month == 1 else calendar.month_abbr[month]
            yield Tick(shown.share(at), label)
        month += every
        if month > 12:
            year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
