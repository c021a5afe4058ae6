"""The year at a glance: a calendar of 53 weeks, coloured by what each day was about, and the hours
of the day beneath (VIEW-16). Drawn by the server as SVG; savable as a picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.worked import Key, Share
from minutebook.derive.usage.figures import Figures
from minutebook.derive.wording import plural
from minutebook.model.engagement import METHODS
from minutebook.web.board import Boards
from minutebook.web.counting import PATIENCE
from minutebook.web.pages import render
from minutebook.web.ranges import Extent
from minutebook.web.selection import Selection, selection
from minutebook.web.signs import COLOURS, UNLABELLED, dollars, worked_for
from minutebook.web.state import ServerState

STEP, SIDE = 14, 11
"""From one day of the picture to the next, and how much of that is coloured."""
LEFT, TOP = 30, 18
_LEVELS = (30, 120, 300)  # minutes of activity that a day needs for a stronger colour
_LEAST_APART = 3  # columns, between the names of two months
_HOURS_HIGH = 26


class CalendarDay(msgspec.Struct, frozen=True):
    """A day with work."""

    x: int
    y: int
    method: str
    level: int
    """1 to 4, by how long somebody was active."""
    words: str
    after: int
    before: int


class Hour(msgspec.Struct, frozen=True):
    """An hour of the day, over the whole year."""

    hour: int
    height: float
    words: str


class Year(msgspec.Struct, frozen=True):
    """The picture, as the page and the file draw it."""

    start: int
    end: int
    days: list[CalendarDay]
    empty: str
    """The path of all other days."""
    months: list[tuple[int, str]]
    hours: list[Hour]
    methods: list[str]
    """Those that days are about, as the legend orders them."""
    words: str
    """From when to when, for a heading."""
    old: bool
    counted: bool
    """Whether times are known yet."""
    active_days: int


class _DayOfWork:
    """What is known of a day, in the making."""

    def __init__(self) -> None:
        self.methods: Counter[str] = Counter()
        self.active = self.cost = 0
        self.keys: set[Key] = set()


def year_of(boards: Boards, asked: Selection) -> Year:
    """The calendar of what passes all filters but the range."""
    known, state = boards.extent, boards.state
    year = known.year
    within = msgspec.structs.replace(asked, after=year.start, before=year.end)
    worked = state.count.worked(within.filters, PATIENCE)
    shares = worked.shares(within.filters, within.methods) if worked is not None else {}
    methods = {key: worked.method(key) for key in shares} if worked is not None else {}
    board = boards.of(asked.unbounded)
    days, hours = _days(shares.items(), methods)
    for work in board.works:
        if work.active is None:  # only its minutes are left
            for at, _ in work.spans:
                if year.start <= at < year.end:
                    found = days.setdefault(_date(at), _DayOfWork())
                    found.methods.setdefault(work.method, 0)
                    engagement = work.engagement.id if work.engagement is not None else ""
                    found.keys.add((work.record.session_id, engagement))
    drawn = _drawn(days, hours, known)
    return msgspec.structs.replace(drawn, counted=worked is not None)


def _date(at: int) -> date:
    return datetime.fromtimestamp(at).date()


def _days(
    shares: Iterable[tuple[Key, Share]], methods: dict[Key, str]
) -> tuple[dict[date, _DayOfWork], list[int]]:
    days: dict[date, _DayOfWork] = {}
    hours = [0] * 24
    for key, share in shares:
        for cell in share.cells:
            if cell.sum is None or not cell.hour:
                continue
            moment = datetime.fromtimestamp(cell.hour)
            found = days.setdefault(moment.date(), _DayOfWork())
            found.methods[methods[key]] += cell.active
            found.active += cell.active
            found.cost += cell.sum.cost
            hours[moment.hour] += cell.active
            if key[1]:
                found.keys.add(key)
    return days, hours


def _drawn(days: dict[date, _DayOfWork], hours: list[int], known: Extent) -> Year:
    first, end = _date(known.year.start), _date(known.year.end)
    every = [first + timedelta(days=at) for at in range((end - first).days)]
    places = {day: (LEFT + at // 7 * STEP, TOP + at % 7 * STEP) for at, day in enumerate(every)}
    drawn = [_day(days[day], day, *places[day]) for day in every if day in days]
    last = _date(known.last) if known.old else datetime.now().date()
    rest = [places[day] for day in every if day not in days and day <= max(last, _date(known.last))]
    most = max(hours) or 1
    chosen = {day.method for day in drawn}
    return Year(
        start=known.year.start,
        end=known.year.end,
        days=drawn,
        empty="".join(f"M{x} {y}h{SIDE}v{SIDE}h-{SIDE}z" for x, y in rest),
        months=_months(every),
        hours=[
            Hour(hour, _HOURS_HIGH * active / most, f"{hour:02}:00: {worked_for(active)}")
            for hour, active in enumerate(hours)
            if active
        ],
        methods=[method for method in (*METHODS, "") if method in chosen],
        words=f"{first.day} {first:%b %Y} – {last.day} {last:%b %Y}",
        old=known.old,
        counted=True,
        active_days=len(drawn),
    )


def _day(found: _DayOfWork, day: date, x: int, y: int) -> CalendarDay:
    named = Counter({method: spent for method, spent in found.methods.items() if method})
    method = named.most_common(1)[0][0] if named else ""
    minutes = found.active / 60_000
    level = 1 + sum(minutes >= least for least in _LEVELS)
    facts = [
        f"mostly {method or UNLABELLED}" if found.methods else "",
        f"{worked_for(found.active)} active" if found.active else "",
        plural(len(found.keys), "engagement") if found.keys else "",
        dollars(found.cost),
    ]
    start = datetime(day.year, day.month, day.day)
    return CalendarDay(
        x,
        y,
        method,
        level,
        f"{day:%a} {day.day} {day:%b %Y}: {', '.join(fact for fact in facts if fact)}",
        int(start.timestamp()),
        int((start + timedelta(days=1)).timestamp()),
    )


def _months(every: list[date]) -> list[tuple[int, str]]:
    """Names of months, over the first week that begins in each."""
    found: list[tuple[int, str]] = []
    for at in range(0, len(every), 7):
        day = every[at]
        new = at == 0 or every[at - 7].month != day.month
        if new and (not found or at // 7 - (found[-1][0] - LEFT) // STEP >= _LEAST_APART):
            found.append((LEFT + at // 7 * STEP, f"{day:%b}"))
        elif new:
            found[-1] = (LEFT + at // 7 * STEP, f"{day:%b}")  # the first month has a few days only
    return found


def year_file(state: ServerState, request: Request) -> Response:
    """``/year.svg``: the calendar with its figures, to keep or to send; it names nothing."""
    asked = selection(request.query_params).unbounded
    boards = Boards(state, asked, patience=None)
    year, board = year_of(boards, asked), boards.of(asked)
    picture = render(
        "year_file.svg", year=year, board=board, figures=board.figures or Figures(), colours=COLOURS
    )
    headers = {"Content-Disposition": 'attachment; filename="minutebook-year.svg"'}
    return Response(picture.body, headers=headers, media_type="image/svg+xml")
