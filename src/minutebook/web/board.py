"""The home page: timeline, summary, list (VIEW-04, VIEW-05, VIEW-07)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.folding import hidden_once, once
from minutebook.archive.passing import ghosts_of
from minutebook.derive.times import instant
from minutebook.index.entry import seconds
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.sources.registry import SOURCES
from minutebook.verbs.decisions import Pair
from minutebook.verbs.stats import Stats, tally
from minutebook.web import axis
from minutebook.web.axis import Range
from minutebook.web.kept import open_rows
from minutebook.web.pages import (
    archive_note,
    engagement_url,
    line,
    project_of,
    render,
    session_url,
    wants_fragment,
)
from minutebook.web.selection import GROUPS, Selection, chosen, chosen_sessions, selection, whole
from minutebook.web.signs import day_heading
from minutebook.web.state import ServerState
from minutebook.web.timeline import Column, Work, timeline

PAGE = 50
_MOST_ROWS = 1_000
_LATELY = 28 * axis.DAY  # what the home page opens on: the newest four weeks with work in them


class Row(msgspec.Struct, frozen=True):
    """A line of the list: an engagement, or a session with those that pass."""

    record: SessionRecord
    engagement: Engagement | None = None
    engagements: list[Engagement] = []

    @property
    def at(self) -> str | None:
        if self.engagement is not None:
            return self.engagement.started or self.record.started
        return self.record.ended or self.record.started

    @property
    def href(self) -> str:
        if self.engagement is not None:
            return engagement_url(self.record, self.engagement)
        return session_url(self.record.session_id)


class Day(msgspec.Struct, frozen=True):
    name: str
    rows: list[Row]


class Board(msgspec.Struct, frozen=True):
    """Everything the home page shows for a selection."""

    selection: Selection
    pairs: list[Pair]
    works: list[Work]
    rows: list[Row]
    stats: Stats
    ghosts: int
    copies: int = 0
    """Sessions that the list leaves out: they are nothing but copies of others."""
    programs: dict[str, int] = {}
    """Coding agents, by their commands, and how many sessions each has here."""


def board_of(state: ServerState, chosen_by: Selection) -> Board:
    archive = state.archive
    records = archive.cards() if chosen_by.view == "sessions" else archive.records()
    every = chosen(records, chosen_by)
    pairs, copies = (every, 0) if chosen_by.copies else once(archive, every)
    left_out = 0
    if chosen_by.view == "sessions":
        passing = list(chosen_sessions(records, chosen_by, every))
        alike = archive.mere_copies(r.session_id for r, _ in passing if not chosen_by.copies)
        sessions = [row for row in passing if row[0].session_id not in alike]
        left_out = len(alike)
        works = [_session_work(record, found) for record, found in sessions]
        rows = [Row(record, engagements=found) for record, found in sessions]
    else:
        works = [_work(*pair) for pair in pairs]
        rows = [Row(*pair) for pair in pairs]
    ghosts = sum(record.ghost for record in records.values())
    known, filters = archive.records(), chosen_by.filters
    passed_over = len(ghosts_of(known, filters))
    hidden = hidden_once(archive, known, filters)
    counts = tally(pairs, passed_over, copies, hidden)
    programs = Counter(SOURCES.program_of(record.source) for record in records.values())
    held = dict(programs.most_common())
    return Board(chosen_by, pairs, works, rows, counts, ghosts, left_out, held)


def board_page(state: ServerState, request: Request, progress: dict[str, Any] | None) -> Response:
    """The page, or the part of it that changes with the selection."""
    asked = selection(request.query_params)
    start = whole(request.query_params.get("start"))
    board = board_of(state, asked)
    if request.headers.get("x-fragment") == "rows":
        return render("rows.html", board=board, **_listed(board, start))
    rows = min(whole(request.headers.get("x-rows"), PAGE), _MOST_ROWS)
    everything = Selection(
        view=asked.view,
        group=asked.group,
        ghosts=asked.ghosts,
        hidden=asked.hidden,
        copies=asked.copies,
    )
    in_all = board if everything == asked else board_of(state, everything)
    shown = shown_range(board, in_all.works)
    drawn = timeline(board.works, shown, asked.group)
    template = "board_inner.html" if wants_fragment(request.headers) else "board.html"
    return render(
        template,
        board=board,
        selection=asked,
        timeline=drawn,
        shown=shown,
        range_words=_range_words(shown),
        chosen_range=asked.after is not None or asked.before is not None,
        noun="session" if asked.view == "sessions" else "engagement",
        map=_map(in_all.works),
        zooms=_zooms(asked, shown, in_all.works),
        groups=[g for g in GROUPS if g != "program" or len(board.programs) > 1 or g == asked.group],
        counts=_counts(in_all.pairs),
        projects=_names(in_all.pairs, project_of),
        agents=_names(in_all.pairs, lambda r, _: r.agent_name or ""),
        total=len(in_all.rows),
        progress=progress,
        transcripts=len(state.archive.library.transcripts) if not in_all.rows else 0,
        places=[str(place) for place in state.archive.places],
        archive=str(state.archive.root),
        note=archive_note(state),
        kept=open_rows(state.archive, asked.project),
        page="board",
        title="Minutes",
        **_listed(board, start, max(PAGE, rows)),
    )


def _listed(board: Board, start: int, most: int = PAGE) -> dict[str, Any]:
    """A page of the list, by day; and where the next begins."""
    now = datetime.now().astimezone()
    days: list[Day] = []
    for row in board.rows[start : start + most]:
        name = day_heading(instant(row.at), now)
        if not days or days[-1].name != name:
            days.append(Day(name, []))
        days[-1].rows.append(row)
    following = start + most if start + most < len(board.rows) else None
    return {"days": days, "next": following, "start": start}


def _work(record: SessionRecord, engagement: Engagement) -> Work:
    start = seconds(engagement.started or record.started)
    end = seconds(engagement.ended or engagement.started or record.ended)
    return Work(start, max(start, end), engagement.method, record, engagement)


def _session_work(record: SessionRecord, found: Sequence[Engagement]) -> Work:
    """A session has the colour of what was done most in it."""
    start = seconds(record.started)
    most = Counter(e.method for e in found).most_common(1)
    return Work(start, max(start, seconds(record.ended)), most[0][0] if most else "", record)


# -- ranges


def shown_range(board: Board, everything: Sequence[Work]) -> Range:
    """The range a selection asks for; without one, all days there are, or the newest month."""
    asked = board.selection
    dated = [work for work in everything if work.start]
    now = int(time.time())
    first = min((work.start for work in dated), default=now - axis.DAY)
    # A clock that was wrong once must not leave everybody looking at an empty future.
    past = [work.end for work in dated if work.end <= now + axis.DAY]
    last = max(past or (work.end for work in dated), default=now)
    first = max(first, last - _LATELY)
    days = axis.whole_days(first, last)
    start = asked.after if asked.after is not None else days.start
    end = asked.before if asked.before is not None else days.end
    return Range(start, end) if start < end else Range(start, start + axis.HOUR)


def _zooms(asked: Selection, shown: Range, works: Sequence[Work]) -> dict[str, str]:
    """Links to other ranges."""

    def link(to: Range) -> str:
        return asked.query(after=to.start, before=to.end)

    newest = max((work.end for work in works), default=int(time.time()))
    end = axis.whole_days(newest, newest).end
    found = {
        name: link(axis.recent(end, name)) for name in ("hour", "day", "week", "month", "year")
    }
    return {
        **found,
        "all": link(_everything(works)),
        "lately": asked.query(after=None, before=None),
        "in": link(axis.zoomed(shown, 0.5)),
        "out": link(axis.zoomed(shown, 2)),
        "earlier": link(axis.moved(shown, -0.5)),
        "later": link(axis.moved(shown, 0.5)),
    }


def _everything(works: Sequence[Work]) -> Range:
    now = int(time.time())
    first = min((work.start for work in works if work.start), default=now)
    return axis.whole_days(first, max((work.end for work in works), default=now))


def _range_words(shown: Range) -> str:
    first, last = datetime.fromtimestamp(shown.start), datetime.fromtimestamp(shown.end - 1)
    if first.date() == last.date():
        whole = shown.length >= axis.DAY - axis.HOUR
        clock = "" if whole else f", {first:%H:%M}–{datetime.fromtimestamp(shown.end):%H:%M}"
        return f"{first:%a} {first.day} {first:%b %Y}{clock}"
    if first.year == last.year:
        return f"{first.day} {first:%b} – {last.day} {last:%b %Y}"
    return f"{first.day} {first:%b %Y} – {last.day} {last:%b %Y}"


def _map(works: Sequence[Work]) -> dict[str, Any] | None:
    """All time in one small row, to brush a range on."""
    dated = [work for work in works if work.start]
    if not dated:
        return None
    everything = _everything(dated)
    counts: Counter[int] = Counter()
    bins = 90
    length = -(-everything.length // bins)
    for work in dated:
        counts[(work.start - everything.start) // length] += 1
    most = max(counts.values())
    columns = [
        Column(100 * at / bins, 85 / bins, count, 0, 0, [])
        for at, count in sorted(counts.items())
        if 0 <= at < bins
    ]
    heights = [max(8.0, 100 * (column.count / most) ** 0.5) for column in columns]
    return {"range": everything, "columns": list(zip(columns, heights, strict=True))}


def _counts(pairs: Iterable[Pair]) -> Counter[str]:
    return Counter(engagement.method for _, engagement in pairs)


def _names(pairs: Iterable[Pair], name: Any) -> list[str]:
    """Names to choose from, the most frequent first."""
    counts: Counter[str] = Counter(name(*pair) for pair in pairs)
    counts.pop("", None)
    return [line(text) for text, _ in counts.most_common(200)]
