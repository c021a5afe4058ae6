"""Work on a time axis: bars with topics where there is room, density where there is not.

Pure: spans of work in, places in percent out. The page draws them as SVG, which needs no
script, and no style attribute that the content security policy would refuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.sources.registry import SOURCES
from minutebook.web.axis import DAY, HOUR, Range, Tick, ticks
from minutebook.web.pages import engagement_url, line, name_of, project_of, session_url
from minutebook.web.signs import UNLABELLED

MOST_BARS = 240
"""More than this in view, and the page shows density."""
MOST_GROUPS = 8
_BINS = 72
_LANES, _ALL_LANES = 3, 16  # of a row at least, and of all rows together at most
_FAR, _SLIVER = 45 * DAY, 0.004
_LEAST = 2.1  # percent of the width: room for the letter, and for a finger


class Work(msgspec.Struct, frozen=True):
    """An engagement (or a session) as the timeline knows it."""

    start: int
    end: int
    method: str
    record: SessionRecord
    engagement: Engagement | None = None

    @property
    def topic(self) -> str:
        return line(self.engagement.topic) if self.engagement else name_of(self.record)

    @property
    def href(self) -> str:
        if self.engagement is None:
            return session_url(self.record.session_id)
        return engagement_url(self.record, self.engagement)

    def group(self, by: str) -> str:
        """The row it stands in."""
        if by == "method":
            return self.method or UNLABELLED
        if by == "agent":
            return self.record.agent_name or "unnamed"
        if by == "program":
            return SOURCES.title_of(self.record.source)
        return project_of(self.record, self.engagement) or "no project"


class Bar(msgspec.Struct, frozen=True):
    x: float
    width: float
    lane: int
    work: Work
    room: float = 0.0
    """Percent of the width up to the next bar of the lane: where its topic may stand."""


class Part(msgspec.Struct, frozen=True):
    """A method's share of a column of the density, in percent of its height."""

    method: str
    y: float
    height: float


class Column(msgspec.Struct, frozen=True):
    x: float
    width: float
    count: int
    start: int
    end: int
    parts: list[Part]
    words: str = ""
    """How many of which method."""


class Row(msgspec.Struct, frozen=True):
    """A group: its bars in lanes, or its columns."""

    name: str
    count: int
    lanes: int
    bars: list[Bar]
    columns: list[Column]
    more: int = 0
    """Bars there was no lane for."""


class Timeline(msgspec.Struct, frozen=True):
    range: Range
    ticks: list[Tick]
    rows: list[Row]
    dense: bool
    count: int
    others: int = 0
    """Groups that are summed up in the last row."""


def timeline(works: Sequence[Work], shown: Range, group: str) -> Timeline:
    """Lay out what lies in a range, by one of the groupings."""
    seen = [work for work in works if work.start < shown.end and work.end >= shown.start]
    if group == "period":
        return _by_period(seen, shown)
    named, others = _groups(seen, group)
    dense = _is_far(seen, shown)
    fullest = _fullest(named.values(), shown) if dense else 0
    rows = [_row(name, items, shown, dense, fullest, len(named)) for name, items in named.items()]
    return Timeline(shown, ticks(shown), rows, dense, len(seen), others)


def _is_far(works: Sequence[Work], shown: Range) -> bool:
    """Whether bars would be too many, or most of them slivers nobody could read."""
    if len(works) > MOST_BARS:
        return True
    lengths = sorted(work.end - work.start for work in works)
    typical = lengths[len(lengths) // 2] if lengths else 0
    return shown.length > _FAR and typical / shown.length < _SLIVER


def _groups(works: Iterable[Work], group: str) -> tuple[dict[str, list[Work]], int]:
    """Works by group, the largest first; beyond `MOST_GROUPS` the rest is one."""
    found: dict[str, list[Work]] = {}
    for work in works:
        found.setdefault(work.group(group), []).append(work)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0].lower()))
    if len(ordered) <= MOST_GROUPS:
        return dict(ordered), 0
    kept, rest = dict(ordered[: MOST_GROUPS - 1]), ordered[MOST_GROUPS - 1 :]
    kept[f"{len(rest)} others"] = [work for _, works in rest for work in works]
    return kept, len(rest)


def _by_period(works: Sequence[Work], shown: Range) -> Timeline:
    """A row a day, week or month, on an axis of that length: the same hours stand together."""
    floor, label, length = _period(shown)
    found: dict[datetime, list[Work]] = {}
    for work in works:
        found.setdefault(floor(datetime.fromtimestamp(work.start)), []).append(work)
    newest = sorted(found, reverse=True)[:MOST_GROUPS]
    dense = _is_far([work for start in newest for work in found[start]], Range(0, length))
    spans = {start: _span(start, length) for start in newest}
    fullest = max((_fullest([found[s]], spans[s]) for s in newest), default=0) if dense else 0
    rows = [
        _row(label(start), found[start], spans[start], dense, fullest, len(newest))
        for start in newest
    ]
    axis = _period_ticks(length)
    return Timeline(shown, axis, rows, dense, len(works), max(0, len(found) - len(newest)))


Floor = Callable[[datetime], datetime]


def _period(shown: Range) -> tuple[Floor, Callable[[datetime], str], int]:
    def day(moment: datetime) -> datetime:
        return moment.replace(hour=0, minute=0, second=0, microsecond=0)

    if shown.length <= 14 * DAY:
        return day, lambda start: f"{start:%a} {start.day} {start:%b}", DAY
    if shown.length <= 120 * DAY:
        return (
            lambda moment: day(moment) - timedelta(days=moment.weekday()),
            lambda start: f"Week of {start.day} {start:%b}",
            7 * DAY,
        )
    return lambda moment: day(moment).replace(day=1), lambda start: f"{start:%b %Y}", 31 * DAY


def _span(start: datetime, length: int) -> Range:
    first = int(start.timestamp())
    return Range(first, first + length)


def _period_ticks(length: int) -> list[Tick]:
    if length == DAY:
        return [Tick(100 * hour / 24, f"{hour:02}:00") for hour in range(0, 24, 3)]
    if length == 7 * DAY:
        names = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
        return [Tick(100 * day / 7, name) for day, name in enumerate(names)]
    return [Tick(100 * (day - 1) / 31, str(day)) for day in range(1, 32, 5)]


def _row(name: str, works: list[Work], shown: Range, dense: bool, fullest: int, rows: int) -> Row:
    if dense:
        return Row(name, len(works), 1, [], _columns(works, shown, fullest))
    bars, lanes, more = _bars(works, shown, max(_LANES, _ALL_LANES // rows))
    return Row(name, len(works), lanes, bars, [], more)


def _bars(works: list[Work], shown: Range, lanes: int) -> tuple[list[Bar], int, int]:
    """Each bar in the first lane where it touches no other, newest first; how many found none."""
    starts: list[float] = []
    bars: list[Bar] = []
    more = 0
    for work in sorted(works, key=lambda work: (work.start, work.end), reverse=True):
        x = max(0.0, shown.share(work.start))
        width = max(_LEAST, min(100.0, shown.share(work.end)) - x)
        x = min(x, 100 - width)
        lane = next((at for at, start in enumerate(starts) if x + width <= start), len(starts))
        if lane >= lanes:
            more += 1
            continue
        if lane == len(starts):
            starts.append(100.0)
        bars.append(Bar(x, width, lane, work, starts[lane] - x))
        starts[lane] = x
    return bars[::-1], max(1, len(starts)), more


def _bin_length(shown: Range) -> int:
    return max(HOUR // 12, -(-shown.length // _BINS))


def _bins(works: Iterable[Work], shown: Range) -> dict[int, Counter[str]]:
    length = _bin_length(shown)
    bins: dict[int, Counter[str]] = {}
    for work in works:
        at = (max(work.start, shown.start) - shown.start) // length
        bins.setdefault(at, Counter())[work.method] += 1
    return bins


def _fullest(groups: Iterable[Iterable[Work]], shown: Range) -> int:
    return max((c.total() for group in groups for c in _bins(group, shown).values()), default=0)


def _columns(works: list[Work], shown: Range, fullest: int) -> list[Column]:
    """Columns as high as they are full, stacked by method; the fullest reaches the top."""
    length = _bin_length(shown)
    width = 100 * length / shown.length
    columns = []
    for at, counts in sorted(_bins(works, shown).items()):
        total = counts.total()
        # The root, so that a lone engagement is still seen beside a day of hundreds.
        height = 100 * (total / fullest) ** 0.5
        parts, y = [], 100.0
        for method, count in sorted(counts.items()):
            part = height * count / total
            y -= part
            parts.append(Part(method, y, part))
        start = shown.start + at * length
        words = ", ".join(f"{n} {method or UNLABELLED}" for method, n in counts.most_common())
        end = start + length
        columns.append(Column(at * width, width * 0.86, total, start, end, parts, words))
    return columns
