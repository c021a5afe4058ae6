"""The decisions page: every key decision, newest first (the minute book proper)."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from minutebook.archive.masking import unmarked
from minutebook.derive.times import instant
from minutebook.errors import NotFound
from minutebook.verbs.decisions import Decision, Pair, decisions, place_of
from minutebook.web.board import PAGE, listed_in_range
from minutebook.web.pages import project_of, render, session_url, wants_fragment
from minutebook.web.selection import Selection, selection, whole
from minutebook.web.signs import day_heading
from minutebook.web.state import ServerState

_SHOWN = "user,assistant,calls"  # a decision may be an answer to a call


class DecisionDay(msgspec.Struct, frozen=True):
    name: str
    decisions: list[Decision]


def decisions_of(state: ServerState, asked: Selection, words: str = "") -> list[Decision]:
    return decisions(_pairs(state, asked)[0], words)


def _pairs(state: ServerState, asked: Selection) -> tuple[list[Pair], int]:
    """The engagements asked for, copies once; and how many decisions of copies are left out."""
    pairs = listed_in_range(state, asked)
    every = listed_in_range(state, msgspec.structs.replace(asked, copies=True))
    return pairs, _count(every) - _count(pairs)


def _count(pairs: list[Pair]) -> int:
    return sum(len(engagement.key_decisions) for _, engagement in pairs)


def where_page(state: ServerState, request: Request) -> Response:
    """Lead to the passage in which a decision was made; looked for when somebody asks."""
    params = request.query_params
    session_id = state.session_id(params.get("session", ""))
    record = state.archive.record(session_id)
    engagement = next((e for e in record.engagements if e.id == params.get("e")), None)
    number = whole(params.get("n"))
    if engagement is None or number >= len(engagement.key_decisions):
        raise NotFound("This decision is not written down any more.")
    place = place_of(state.archive.open(session_id), engagement, engagement.key_decisions[number])
    block = str(place.block - 1) if place.block is not None else ""  # addresses count from 0
    to = session_url(session_id, place.round, e=engagement.id, block=block, show=_SHOWN)
    return RedirectResponse(to, 303)


def where_url(decision: Decision) -> str:
    """The address that leads there."""
    engagement = decision.engagement
    number = engagement.key_decisions.index(decision.text)
    said = {"session": decision.record.session_id, "e": engagement.id, "n": str(number)}
    return f"/decisions/where?{urlencode({n: unmarked(v) for n, v in said.items()})}"


def decisions_page(state: ServerState, request: Request) -> Response:
    asked = selection(request.query_params)
    words = request.query_params.get("q", "")[:200]
    pairs, copies = _pairs(state, asked)
    found = decisions(pairs, words)
    everything = found if not (asked.narrows or words) else decisions_of(state, Selection())
    start = whole(request.query_params.get("start"))
    now = datetime.now().astimezone()
    days: list[DecisionDay] = []
    for decision in found[start : start + 2 * PAGE]:
        name = day_heading(instant(decision.engagement.started or decision.record.started), now)
        if not days or days[-1].name != name:
            days.append(DecisionDay(name, []))
        days[-1].decisions.append(decision)
    if request.headers.get("x-fragment") == "rows":
        template = "decision_rows.html"
    else:
        template = "decisions_inner.html" if wants_fragment(request.headers) else "decisions.html"
    return render(
        template,
        selection=asked,
        words=words,
        days=days,
        count=len(found),
        total=len(everything),
        copies=0 if words else copies,
        projects=sorted({project_of(d.record, d.engagement) for d in everything} - {""}),
        next=start + 2 * PAGE if start + 2 * PAGE < len(found) else None,
        where_url=where_url,
        page="decisions",
        title="Decisions",
    )
