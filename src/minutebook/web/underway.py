"""What is under way: engagements that projects keep in files, and work left open (FUT-01, VIEW-21).

The first is what people and agents say while they work; the second is what the minutes found: work
whose last engagement has not come to an end.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.archive import Archive
from minutebook.archive.reporting import Work, open_files, report_of
from minutebook.derive.labels import known_phase
from minutebook.derive.times import instant
from minutebook.errors import BadArgument
from minutebook.model.engagement import OPEN_PHASES
from minutebook.web import api
from minutebook.web.pages import render, session_url
from minutebook.web.selection import Selection, selection, whole
from minutebook.web.state import ServerState
from minutebook.web.threads import thread_url

_PAGE = 50
_FILES = 100
_AGES = ((7, "Within a week"), (30, "Within a month"), (365, "Within a year"))


class Open(msgspec.Struct, frozen=True):
    """Work that was left open."""

    work: Work
    project: str
    href: str


class Age(msgspec.Struct, frozen=True):
    name: str
    open: list[Open]


def under_way_page(state: ServerState, request: Request) -> Response:
    asked = _asked(request)
    words = request.query_params.get("q", "")[:200]
    found = _open(state.archive, asked, words)
    everything = found
    if asked.narrows or words:
        everything = _open(state.archive, Selection(), "")
    start = whole(request.query_params.get("start"))
    files = open_files(state.archive, asked.filters)
    return render(
        "underway.html",
        files=files[:_FILES],
        more_files=max(0, len(files) - _FILES),
        ages=_by_age(found[start : start + _PAGE]),
        count=len(found),
        total=len(everything),
        counts={phase: sum(o.work.phase == phase for o in everything) for phase in OPEN_PHASES},
        projects=sorted({o.project for o in everything}),
        phases=OPEN_PHASES,
        selection=asked,
        words=words,
        thread_url=thread_url,
        place=lambda start=0: _place(asked, words, start),
        start=start,
        next=start + _PAGE if start + _PAGE < len(found) else None,
        page="engagements",
        title="In progress",
    )


def listed(state: ServerState, request: Request) -> Response:
    """``/api/v1/open``: work that was left open."""
    found = _open(state.archive, _asked(request), request.query_params.get("q", "")[:200])
    rows: list[dict[str, Any]] = [
        {**msgspec.to_builtins(o.work), "project": o.project, "url": o.href} for o in found
    ]
    return api.listing(rows, request, "open")


def _asked(request: Request) -> Selection:
    asked = selection(request.query_params)
    if asked.phase and known_phase(asked.phase) not in OPEN_PHASES:
        raise BadArgument(
            f"Work that is {asked.phase} is not open; choose one of {', '.join(OPEN_PHASES)}."
        )
    return asked


def _open(archive: Archive, asked: Selection, words: str) -> list[Open]:
    """Work left open, the newest first; a thread is open where its last engagement is."""
    everything = msgspec.structs.replace(asked.filters, phase=None)
    report = report_of(archive, everything)
    wanted = words.casefold().split()
    found = [
        Open(work, minutes.project, _href(work))
        for minutes in report.projects
        for work in minutes.open
        if (not asked.phase or work.phase == asked.phase)
        and (not asked.methods or work.method in asked.methods)
        and all(word in f"{work.topic} {work.outcome}".casefold() for word in wanted)
    ]
    found.sort(key=lambda o: (o.work.started or "", o.work.address), reverse=True)
    return found


def _href(work: Work) -> str:
    first = work.address.rpartition("#")[2].partition("-")[0]
    return session_url(work.session_id, whole(first) or None, e=work.engagement_id)


def _by_age(found: list[Open]) -> list[Age]:
    now = datetime.now().astimezone()
    ages: list[Age] = []
    for item in found:
        moment = instant(item.work.started)
        name = "Undated" if moment is None else "Older"
        for days, words in _AGES:
            if moment is not None and now - moment < timedelta(days=days):
                name = words
                break
        if not ages or ages[-1].name != name:
            ages.append(Age(name, []))
        ages[-1].open.append(item)
    return ages


def _place(asked: Selection, words: str, start: int) -> str:
    said = asked.said() | ({"q": words} if words else {}) | ({"start": str(start)} if start else {})
    return f"/engagements?{urlencode(said)}" if said else "/engagements"
