"""Which range of time the home page shows, in words, and links to others (VIEW-17)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from minutebook.web import axis
from minutebook.web.axis import Range
from minutebook.web.selection import Selection
from minutebook.web.timeline import Column, Work

WEEKS = 53
_BINS = 90  # of the map of all time


class Extent(msgspec.Struct, frozen=True):
    """From when to when there is work."""

    first: int
    last: int
    year: Range
    """The 53 weeks up to the newest work, or up to now: what the calendar shows."""
    old: bool
    """Whether the newest work is of an earlier week than this one."""


def extent(works: Iterable[Work], now: float | None = None) -> Extent:
    """The extent of all work there is."""
    now = int(now if now is not None else time.time())
    spans = [span for work in works if work.start or work.pieces for span in work.spans]
    first = min((start for start, _ in spans), default=now - axis.DAY)
    # A clock that was wrong once must not leave everybody looking at an empty future.
    past = [end for _, end in spans if end <= now + axis.DAY]
    last = max(past or (end for _, end in spans), default=now)
    this_week, newest = _monday(now), _monday(last)
    old = newest < this_week
    end = (newest if old else this_week) + timedelta(weeks=1)
    start = end - timedelta(weeks=WEEKS)
    return Extent(first, last, Range(int(start.timestamp()), int(end.timestamp())), old)


def _monday(moment: int) -> datetime:
    day = datetime.fromtimestamp(moment).replace(hour=0, minute=0, second=0, microsecond=0)
    return day - timedelta(days=day.weekday())


def shown_range(asked: Selection, known: Extent) -> Range:
    """The range a selection asks for; without one, the calendar's from the first day with work."""
    first = max(known.first, known.year.start)
    last = known.last if known.old else max(known.last, int(time.time()))
    days = axis.whole_days(first, max(first, last))
    start = asked.after if asked.after is not None else days.start
    end = asked.before if asked.before is not None else days.end
    return Range(start, end) if start < end else Range(start, start + axis.HOUR)


def zooms(asked: Selection, shown: Range, known: Extent) -> dict[str, str]:
    """Links to other ranges."""

    def link(to: Range) -> str:
        return asked.query(after=to.start, before=to.end)

    hour = datetime.fromtimestamp(max(known.last - 1, 0)).replace(minute=0, second=0)
    end = axis.whole_days(known.last, known.last).end
    found = {name: link(axis.recent(end, name)) for name in ("day", "week", "month")}
    return {
        "hour": link(Range(int(hour.timestamp()), int(hour.timestamp()) + axis.HOUR)),
        **found,
        "year": asked.query(after=None, before=None),
        "all": link(axis.whole_days(known.first, known.last)),
        "in": link(axis.zoomed(shown, 0.5)),
        "out": link(axis.zoomed(shown, 2)),
        "earlier": link(axis.moved(shown, -0.5)),
        "later": link(axis.moved(shown, 0.5)),
    }


def range_words(shown: Range) -> str:
    first, last = datetime.fromtimestamp(shown.start), datetime.fromtimestamp(shown.end - 1)
    if first.date() == last.date():
        whole = shown.length >= axis.DAY - axis.HOUR
        clock = "" if whole else f", {first:%H:%M}–{datetime.fromtimestamp(shown.end):%H:%M}"
        return f"{first:%a} {first.day} {first:%b %Y}{clock}"
    if first.year == last.year:
        return f"{first.day} {first:%b} – {last.day} {last:%b %Y}"
    return f"{first.day} {first:%b %Y} – {last.day} {last:%b %Y}"


def map_of(works: Sequence[Work], known: Extent) -> dict[str, Any] | None:
    """All time in one small row, to brush a range on."""
    dated = [work for work in works if work.start or work.pieces]
    if not dated:
        return None
    everything = axis.whole_days(known.first, known.last)
    counts: Counter[int] = Counter()
    length = -(-everything.length // _BINS)
    for work in dated:
        counts.update({(start - everything.start) // length for start, _ in work.spans})
    most = max(counts.values())
    columns = [
        Column(100 * at / _BINS, 85 / _BINS, count, 0, 0, [])
        for at, count in sorted(counts.items())
        if 0 <= at < _BINS
    ]
    heights = [max(8.0, 100 * (column.count / most) ** 0.5) for column in columns]
    return {"range": everything, "columns": list(zip(columns, heights, strict=True))}
