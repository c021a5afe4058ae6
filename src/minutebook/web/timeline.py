"""Work on a time axis: bars with topics where there is room, density where there is not.

Pure: spans of work in, places in percent out. The page draws them as SVG, which needs no
script, and no style attribute that the content security policy would refuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from minutebook.archive.worked import Key, Piece
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.sources.registry import SOURCES
from minutebook.web.axis import DAY, HOUR, Range, Tick, ticks
from minutebook.web.pages import engagement_url, line, name_of, project_of, session_url
from minutebook.web.signs import UNLABELLED

MOST_BARS = 240
"""More than this in view, and the page shows density."""
MOST_GROUPS = 8
_BINS = 56
_LANES, _ALL_LANES = 3, 16  # of a row at least, and of all rows together at most
_FAR, _SLIVER = 45 * DAY, 0.004
_LEAST = 2.1  # percent of the width: room for the letter, and for a finger
NO_PROJECT = "no project"


class Work(msgspec.Struct, frozen=True):
    """An engagement (or a session) as the timeline knows it."""

    start: int
    end: int
    method: str
    record: SessionRecord
    engagement: Engagement | None = None
    pieces: tuple[Piece, ...] = ()
    """When somebody was active; without any, all the time."""
    active: int | None = None
    """Milliseconds; None where nobody counted."""
    cost: int = 0
    """In 10⁻¹² dollars."""
    keys: frozenset[Key] = frozenset()
    """What of the count it is."""

    @property
    def spans(self) -> tuple[Piece, ...]:
        return self.pieces or ((self.start, self.end),)

    def touches(self, shown: Range) -> bool:
        """Whether anything was done in a range."""
        return any(start < shown.end and end >= shown.start for start, end in self.spans)

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
        return project_of(self.record, self.engagement) or NO_PROJECT

    def narrowing(self, by: str) -> dict[str, object]:
        """What a selection has to ask for to show only its row."""
        name = self.group(by)
        if by == "method":
            return {"methods": (name,)} if self.method else {}
        if by == "agent":
            return {"agent": name} if self.record.agent_name else {}
        if by == "program":
            return {"agent": SOURCES.program_of(self.record.source)}
        return {"project": f"={name if name != NO_PROJECT else ''}"}


class Bar(msgspec.Struct, frozen=True):
    """A piece of work: as wide as it took, in a slot that a finger can hit."""

    x: float
    width: float
    lane: int
    work: Work
    lead: float = 0.0
    """Percent of the width between the slot's beginning and its own."""
    room: float = 0.0
    """Percent of the width up to the next bar of the lane: where its topic may stand."""
    slot: float = 0.0
    labelled: bool = True
    """Whether its topic stands here: of the pieces of a work, at the one with most room."""
    start: int = 0
    end: int = 0


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
    """Works there was no lane for."""
    active: int = 0
    """Milliseconds, in sum."""
    cost: int = 0
    """In 10⁻¹² dollars."""
    narrowing: dict[str, object] = {}
    """What a selection has to ask for to show only this row; empty where nothing does."""
    keys: frozenset[Key] = frozenset()
    """What of the count its works are."""


class Timeline(msgspec.Struct, frozen=True):
    range: Range
    ticks: list[Tick]
    rows: list[Row]
    dense: bool
    count: int
    others: int = 0
    """Groups that are summed up in the last row."""


def timeline(works: Sequence[Work], shown: Range, group: str, *, whole: bool = False) -> Timeline:
    """Lay out what lies in a range, by one of the groupings; with `whole`, every row and bar."""
    seen = [work for work in works if work.touches(shown)]
    most = len(seen) if whole else MOST_GROUPS
    if group == "period":
        return _by_period(seen, shown, most)
    named, others = _groups(seen, group, most)
    dense = _is_far(seen, shown)
    fullest = _fullest(named.values(), shown) if dense else 0
    lanes = len(seen) if whole else max(_LANES, _ALL_LANES // max(1, len(named)))
    rows = [
        _row(name, items, shown, fullest if dense else None, lanes, items[0].narrowing(group))
        for name, items in named.items()
    ]
    if others:
        rows[-1] = msgspec.structs.replace(rows[-1], narrowing={"lanes": True})
    return Timeline(shown, ticks(shown), rows, dense, len(seen), others)


def _is_far(works: Sequence[Work], shown: Range) -> bool:
    """Whether bars would be too many, or most of them slivers nobody could read."""
    if len(works) > MOST_BARS:
        return True
    lengths = sorted(sum(end - start for start, end in work.spans) for work in works)
    typical = lengths[len(lengths) // 2] if lengths else 0
    return shown.length > _FAR and typical / shown.length < _SLIVER


def _groups(works: Iterable[Work], group: str, most: int) -> tuple[dict[str, list[Work]], int]:
    """Works by group, the largest first; beyond so many the rest is one."""
    found: dict[str, list[Work]] = {}
    for work in works:
        found.setdefault(work.group(group), []).append(work)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0].lower()))
    if len(ordered) <= most:
        return dict(ordered), 0
    kept, rest = dict(ordered[: most - 1]), ordered[most - 1 :]
    kept[f"{len(rest)} others"] = [work for _, works in rest for work in works]
    return kept, len(rest)


def _by_period(works: Sequence[Work], shown: Range, most: int) -> Timeline:
    """A row a day, week or month, on an axis of that length: the same hours stand together."""
    floor, label, length = _period(shown)
    found: dict[datetime, list[Work]] = {}
    for work in works:
        pieces: dict[datetime, list[Piece]] = {}
        for start, end in work.spans:
            pieces.setdefault(floor(datetime.fromtimestamp(start)), []).append((start, end))
        for period, own in pieces.items():
            part = msgspec.structs.replace(work, pieces=tuple(own))
            found.setdefault(period, []).append(part)
    newest = sorted(found, reverse=True)[:most]
    dense = _is_far([work for start in newest for work in found[start]], Range(0, length))
    spans = {start: _span(start, length) for start in newest}
    fullest = max((_fullest([found[s]], spans[s]) for s in newest), default=0) if dense else 0
    lanes = max(_LANES, _ALL_LANES // max(1, len(newest)))
    rows = []
    for period in newest:
        span = spans[period]
        narrowing: dict[str, object] = {"after": span.start, "before": span.end}
        rows.append(
            _row(label(period), found[period], span, fullest if dense else None, lanes, narrowing)
        )
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


def _row(
    name: str,
    works: list[Work],
    shown: Range,
    fullest: int | None,
    most: int,
    narrowing: dict[str, object],
) -> Row:
    """Columns where there is a fullest one, else bars."""
    sums = sum(work.active or 0 for work in works), sum(work.cost for work in works)
    keys = frozenset[Key]().union(*(work.keys for work in works))
    if fullest is not None:
        columns = _columns(works, shown, fullest)
        return Row(name, len(works), 1, [], columns, 0, *sums, narrowing, keys)
    bars, lanes, more = _bars(works, shown, most)
    return Row(name, len(works), lanes, bars, [], more, *sums, narrowing, keys)


def _bars(works: list[Work], shown: Range, lanes: int) -> tuple[list[Bar], int, int]:
    """Each work in the first lane where its pieces touch no other, newest first; how many found
    none."""
    taken: list[list[Bar]] = []
    more = 0
    for work in sorted(works, key=lambda work: work.spans[-1], reverse=True):
        pieces = _slots(work, shown)
        at = next((at for at, lane in enumerate(taken) if _is_free(lane, pieces)), len(taken))
        if at >= lanes:
            more += 1
            continue
        if at == len(taken):
            taken.append([])
        taken[at] += [msgspec.structs.replace(piece, lane=at) for piece in pieces]
    bars = [bar for lane in taken for bar in _roomy(sorted(lane, key=lambda bar: bar.x))]
    return _labelled(sorted(bars, key=lambda bar: (bar.start, bar.end))), max(1, len(taken)), more


def _slots(work: Work, shown: Range) -> list[Bar]:
    """The pieces of a work, each in a slot of its own."""
    found: list[Bar] = []
    for start, end in work.spans:
        if start < shown.end and end >= shown.start:
            left = max(0.0, shown.share(start))
            width = min(100.0, shown.share(end)) - left
            slot = max(_LEAST, width)
            x = min(left, 100 - slot)
            found.append(Bar(x, width, 0, work, left - x, 0.0, slot, False, start, end))
    return found


def _is_free(lane: Iterable[Bar], pieces: Sequence[Bar]) -> bool:
    return not any(
        bar.x < piece.x + piece.slot and piece.x < bar.x + bar.slot
        for bar in lane
        for piece in pieces
    )


def _roomy(lane: list[Bar]) -> list[Bar]:
    """Bars of a lane, each with the room up to the next."""
    ends = [*(bar.x for bar in lane[1:]), 100.0]
    return [
        msgspec.structs.replace(bar, room=end - bar.x) for bar, end in zip(lane, ends, strict=True)
    ]


def _labelled(bars: list[Bar]) -> list[Bar]:
    """Of each work, the piece with most room has its topic."""
    best: dict[int, Bar] = {}
    for bar in bars:
        known = best.get(id(bar.work))
        if known is None or bar.room > known.room:
            best[id(bar.work)] = bar
    chosen = {id(bar) for bar in best.values()}
    return [msgspec.structs.replace(b, labelled=True) if id(b) in chosen else b for b in bars]


def _bin_length(shown: Range) -> int:
    """How long a column is: whole days, whole hours, or five minutes, so that it opens as such."""
    least = -(-shown.length // _BINS)
    unit = next((unit for unit in (DAY, HOUR) if least >= unit), HOUR // 12)
    return -(-least // unit) * unit


def _bins(works: Iterable[Work], shown: Range) -> dict[int, Counter[str]]:
    """How many were worked on in each piece of the range, by method."""
    length = _bin_length(shown)
    bins: dict[int, Counter[str]] = {}
    for work in works:
        places: set[int] = set()
        for start, end in work.spans:
            if start < shown.end and end >= shown.start:
                first = (max(start, shown.start) - shown.start) // length
                until = max(start, end - 1)  # an end belongs to what comes before it
                last = (max(shown.start, min(until, shown.end - 1)) - shown.start) // length
                places.update(range(first, last + 1))
        for at in places:
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
        columns.append(
            Column(at * width, min(width, 100 - at * width) * 0.86, total, start, end, parts, words)
        )
    return columns
