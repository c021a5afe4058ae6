"""The home page: the year, the latest week, timeline, figures and list, all of one range (VIEW-04,
VIEW-05, VIEW-07, VIEW-16, VIEW-17, VIEW-25)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.remote import archive_name, person_of
from minutebook.errors import NotFound
from minutebook.index.entry import seconds
from minutebook.index.query import Filters
from minutebook.sources.registry import SOURCES
from minutebook.verbs.decisions import Pair
from minutebook.web.activity import Activity
from minutebook.web.axis import Range, zoom_of
from minutebook.web.board import PAGE, Board, Boards, Day
from minutebook.web.counting import PATIENCE
from minutebook.web.kept import open_rows
from minutebook.web.pages import archive_note, date, line, project_of, render, wants_fragment
from minutebook.web.ranges import map_of, range_words, shown_range, zooms
from minutebook.web.selection import GROUPS, Selection, selection, whole
from minutebook.web.signs import day_heading
from minutebook.web.state import ServerState
from minutebook.web.timeline import timeline
from minutebook.web.week import week_of
from minutebook.web.year import year_of

_MOST_ROWS = 1_000
SESSION = "-"
"""In the address of a card, in place of an engagement: the session itself."""


def board_page(state: ServerState, request: Request, progress: dict[str, Any] | None) -> Response:
    """The page, or the part of it that changes with the selection."""
    asked = selection(request.query_params)
    start = whole(request.query_params.get("start"))
    boards = Boards(state, asked)
    in_all, known, board = boards.in_all, boards.extent, boards.of(asked)
    if request.headers.get("x-fragment") == "rows":
        whose = partial(person_of, state.archive)
        return render("rows.html", board=board, asked=asked, person=whose, **_listed(board, start))
    rows = min(whole(request.headers.get("x-rows"), PAGE), _MOST_ROWS)
    shown = shown_range(asked, known)
    whole_time = boards.of_all_time(asked)
    drawn = timeline(board.works, shown, asked.group, whole=asked.lanes)
    template = "board_inner.html" if wants_fragment(request.headers) else "board.html"
    links = zooms(asked, shown, known)
    return render(
        template,
        board=board,
        asked=asked,
        selection=asked,
        timeline=drawn,
        clocks={row.name: board.by_the_clock(row.keys) for row in drawn.rows},
        shown=shown,
        range_words=range_words(shown),
        noun="session" if asked.view == "sessions" else "engagement",
        map=map_of(whole_time.works, known),
        zooms=links,
        decisions_query=_elsewhere(board.selection, with_methods=True),
        usage_query=_elsewhere(board.selection, with_methods=False),
        zoom=_zoom(asked, links, shown),
        groups=[g for g in GROUPS if g != "program" or len(board.programs) > 1 or g == asked.group],
        counts=_methods(boards, asked),
        programs=_programs(boards, asked),
        projects=_names(in_all.pairs, project_of),
        agents=_names(in_all.pairs, lambda r, _: r.agent_name or ""),
        total=len(in_all.rows),
        ever=len(whole_time.rows),
        elsewhere=len(whole_time.rows) - len(boards.of(asked.unbounded).rows),
        year=year_of(boards, asked),
        week=None if asked.narrows or asked.view == "sessions" else week_of(boards),
        progress=progress,
        transcripts=len(state.archive.library.transcripts) if not in_all.rows else 0,
        places=[str(place) for place in state.archive.places],
        archive=archive_name(state.archive),
        person=partial(person_of, state.archive),
        note=archive_note(state),
        kept=open_rows(state.archive, asked.project),
        page="board",
        title="Minutes",
        **_listed(board, start, max(PAGE, rows)),
    )


def _zoom(asked: Selection, links: dict[str, str], shown: Range) -> str:
    """Which of the zooms is the current one; of another day or week, the one that is as long."""
    named = ("year", "hour", "day", "week", "month", "all")
    linked = next((name for name in named if links[name] == asked.query()), "")
    return linked or zoom_of(shown)


def _elsewhere(shown: Selection, *, with_methods: bool) -> str:
    """The query that shows the same on another page."""
    plain = msgspec.structs.replace(shown, view="engagements", group="project", lanes=False)
    if with_methods:
        return plain.query()
    said = {name: value for name, value in plain.said().items() if name not in ("from", "to")}
    if shown.after is not None:
        said["since"] = date(shown.after)
    if shown.before is not None:
        said["until"] = date(shown.before - 1)
    return f"?{urlencode(said)}" if said else ""


def _methods(boards: Boards, asked: Selection) -> Counter[str]:
    """How many of each method there are, by all other filters."""
    board = boards.of(msgspec.structs.replace(asked, methods=()))
    return Counter(engagement.method for _, engagement in board.pairs)


def _programs(boards: Boards, asked: Selection) -> dict[str, int]:
    """Coding agents, and how many sessions each has, by all other filters."""
    known = boards.in_all.programs
    chosen = asked.agent if asked.agent in known else None
    if chosen is not None:
        asked = msgspec.structs.replace(asked, agent=None)
    rows = boards.of(asked).rows
    sources = {row.record.session_id: row.record.source for row in rows}
    counts = Counter(SOURCES.program_of(source) for source in sources.values())
    return {name: counts[name] for name in known if counts[name] or name == chosen}


def _listed(board: Board, start: int, most: int = PAGE) -> dict[str, Any]:
    """A page of the list, by day; and where the next begins."""
    now = datetime.now().astimezone()
    days: list[Day] = []
    for row in board.rows[start : start + most]:
        at = seconds(row.at)
        name = day_heading(datetime.fromtimestamp(at).astimezone() if at else None, now)
        if not days or days[-1].name != name:
            days.append(Day(name, []))
        days[-1].rows.append(row)
    following = start + most if start + most < len(board.rows) else None
    return {"days": days, "next": following, "start": start}


def _names(pairs: Iterable[Pair], name: Any) -> list[str]:
    """Names to choose from, the most frequent first."""
    counts: Counter[str] = Counter(name(*pair) for pair in pairs)
    counts.pop("", None)
    return [line(text) for text, _ in counts.most_common(200)]


def card(state: ServerState, request: Request, session_id: str) -> Response:
    """What a bar of the timeline stands for: the topic in full, when, how long, what came of it."""
    record = state.archive.record(session_id)
    wanted = request.path_params["engagement"]
    engagement = next((e for e in record.engagements if e.id == wanted), None)
    if engagement is None and wanted != SESSION:
        raise NotFound("There is no such engagement.")
    worked = state.count.worked(Filters(), PATIENCE)
    activity = Activity(worked, Selection())
    if engagement is not None:
        did = activity.of((record, engagement))
    else:
        did = activity.of_session(record)
    return render("card.html", record=record, e=engagement, did=did)
