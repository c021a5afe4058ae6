"""The usage page: tokens, cost and time by one dimension, as `minutebook usage` counts (USE-04)."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from datetime import datetime
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.masking import unmarked
from minutebook.derive.usage.figures import Figures, Row, Usage
from minutebook.derive.usage.tally import DIMENSIONS, PERIODS
from minutebook.derive.usage.wording import short
from minutebook.errors import BadArgument
from minutebook.sources.registry import SOURCES
from minutebook.verbs.usage import CSV_COLUMNS, csv_rows
from minutebook.web.charts import Chart, over_time
from minutebook.web.pages import line, render, session_url
from minutebook.web.selection import whole
from minutebook.web.signs import active_for
from minutebook.web.state import ServerState

FILTERS = ("project", "agent", "method", "phase", "branch", "model", "since", "until", "date")
_PAGE = 100
_MEASURES: dict[str, tuple[str, Callable[[Figures], float], Callable[[float], str]]] = {
    "cost": ("cost at API prices", lambda f: f.cost.usd if f.cost else 0.0, lambda v: f"${v:,.2f}"),
    "output": (
        "tokens written",
        lambda f: float(f.tokens.output),
        lambda v: short(round(v)),
    ),
    "prompt": (
        "tokens read, cache included",
        lambda f: float(f.tokens.prompt),
        lambda v: short(round(v)),
    ),
    "time": (
        "active time",
        lambda f: f.times.active_clock if f.times else 0.0,
        active_for,
    ),
}
_PERIODS = {
    "today": {"date": "today"},
    "this week": {"date": "this week"},
    "last week": {"date": "last week"},
    "30 days": {"since": "30d"},
    "this year": {"date": "this year"},
    "all time": {},
}


class Wanted(msgspec.Struct, frozen=True):
    """What the page was asked for."""

    by: str
    measure: str
    filters: dict[str, str]

    def url(self, base: str = "/usage", /, **changes: str | None) -> str:
        said: dict[str, str | None] = {"by": self.by, "show": self.measure, **self.filters}
        usual = {"by": "day", "show": "cost"}
        said = {n: v for n, v in (said | changes).items() if v and usual.get(n) != v}
        told = {name: unmarked(value) for name, value in said.items() if value}
        return base + (f"?{urlencode(told)}" if told else "")

    def period(self, words: str) -> str:
        """The same of another period."""
        other: dict[str, str | None] = {"since": None, "until": None, "date": None}
        return self.url(**(other | _PERIODS[words]))

    @property
    def is_named(self) -> bool:
        """Whether the page marks its period among those that have a name."""
        return any(map(self.is_of, _PERIODS))

    def is_of(self, words: str) -> bool:
        named = {n: v for n, v in self.filters.items() if n in ("since", "until", "date")}
        return named == _PERIODS[words]


_kept: WeakKeyDictionary[ServerState, dict[tuple[object, ...], Usage]] = WeakKeyDictionary()
_MOST_KEPT = 12


def counted(state: ServerState, wanted: Wanted) -> Usage:
    """What was used; counted once as long as no minutes, no archived session and no transcript
    changes, and the day is the same: a page with another chart is not counted again."""
    archive = state.archive
    version = (
        archive.minutes.version,
        archive.growing,
        frozenset((t.session_id, t.size, t.mtime) for t in archive.library.transcripts),
    )
    key = (version, datetime.now().date(), wanted.by, *sorted(wanted.filters.items()))
    kept = _kept.setdefault(state, {})
    if (known := kept.get(key)) is None:
        known = archive.usage(wanted.by, **wanted.filters)
        for old in [other for other in list(kept) if other[0] != version]:
            kept.pop(old, None)
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        kept[key] = known
    return known


class Line(msgspec.Struct, frozen=True):
    """A row of the table."""

    row: Row
    name: str
    href: str
    share: float
    """Of the largest row, in percent, by the measure that is drawn."""


def wanted_of(params: Mapping[str, str]) -> Wanted:
    by, measure = params.get("by") or "day", params.get("show") or "cost"
    if by not in DIMENSIONS:
        raise BadArgument(f"'{by}' is not a dimension; choose one of {', '.join(DIMENSIONS)}.")
    if measure not in _MEASURES:
        raise BadArgument(f"'{measure}' is not shown; choose one of {', '.join(_MEASURES)}.")
    return Wanted(by, measure, {name: value for name in FILTERS if (value := params.get(name))})


def usage_page(state: ServerState, request: Request) -> Response:
    wanted = wanted_of(request.query_params)
    found = counted(state, wanted)
    start = whole(request.query_params.get("start"))
    rows = found.rows
    if wanted.by in PERIODS:  # the newest first, what has no date last
        rows = sorted(rows, key=lambda row: (row.key[:1].isdigit(), row.key), reverse=True)
    named, value, told = _MEASURES[wanted.measure]
    highest = max((value(row.figures) for row in rows), default=0.0)
    chart: Chart | None = None
    if wanted.by in PERIODS and highest:
        points = [
            (row.key, value(row.figures), f"{row.label}: {told(value(row.figures))}")
            for row in found.rows
        ]
        chart = over_time(wanted.by, points, f"{named[0].upper()}{named[1:]} by {wanted.by}", told)
    lines = [
        Line(
            row,
            SOURCES.title_of_program(row.key) if wanted.by == "program" else row.label,
            _href(wanted, row),
            100 * value(row.figures) / highest if highest else 0.0,
        )
        for row in rows[start : start + _PAGE]
    ]
    return render(
        "usage.html",
        wanted=wanted,
        found=found,
        chart=chart,
        lines=lines,
        start=start,
        next=start + _PAGE if start + _PAGE < len(rows) else None,
        before=max(0, start - _PAGE) if start else None,
        dimensions=DIMENSIONS,
        measures={name: measure[0] for name, measure in _MEASURES.items()},
        timed=wanted.by != "model",
        periods=_PERIODS,
        short=short,
        change=_change(found),
        page="usage",
        title="Usage",
    )


def usage_csv(state: ServerState, request: Request) -> Response:
    """The table for spreadsheets, as `minutebook usage --csv` prints it."""
    wanted = wanted_of(request.query_params)
    found = counted(state, wanted)
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in csv_rows(found):
        writer.writerow([line(cell) if isinstance(cell, str) else cell for cell in row])
    headers = {"Content-Disposition": f'attachment; filename="usage-by-{wanted.by}.csv"'}
    return Response(content.getvalue(), media_type="text/csv", headers=headers)


def _href(wanted: Wanted, row: Row) -> str:
    """Where a row leads: to the session, or to what makes it up."""
    key = row.key
    if key.startswith("("):
        return ""  # what has no name, or belongs nowhere
    match wanted.by:
        case "session":
            return session_url(key)
        case "engagement":
            session_id, _, engagement = key.partition("/")
            first = row.address.rpartition("#")[2].partition("-")[0]
            return session_url(session_id, whole(first) or None, e=engagement)
        case "thread":
            return f"/threads/{key}"
        case "day":
            return wanted.url(by="session", date=key, since=None, until=None)
        case "month":
            return wanted.url(by="day", date=key, since=None, until=None)
        case "project" | "model" | "agent" | "program":
            name = "agent" if wanted.by == "program" else wanted.by
            return wanted.url(by="day", **{name: key})
    return ""


def _change(found: Usage) -> str:
    """Against the period before, in words."""
    before, now = found.previous, found.total
    if before is None or before.cost is None or now.cost is None or not before.cost.exact:
        return ""
    share = now.cost.usd / before.cost.usd
    percent = abs(round(100 * (share - 1)))
    if not percent:
        return "as much as in the period before"
    return f"{percent:,} % {'more' if share > 1 else 'less'} than in the period before"
