"""The decisions page: every key decision, newest first (the minute book proper)."""

from __future__ import annotations

from datetime import datetime

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.folding import once
from minutebook.derive.times import instant
from minutebook.verbs.decisions import Decision, decisions
from minutebook.web.board import PAGE
from minutebook.web.pages import project_of, render, wants_fragment
from minutebook.web.selection import Selection, chosen, selection, whole
from minutebook.web.signs import day_heading
from minutebook.web.state import ServerState


class DecisionDay(msgspec.Struct, frozen=True):
    name: str
    decisions: list[Decision]


def decisions_of(state: ServerState, asked: Selection, words: str = "") -> list[Decision]:
    pairs, _ = once(state.archive, chosen(state.archive.records(), asked))
    return decisions(pairs, words)


def decisions_page(state: ServerState, request: Request) -> Response:
    asked = selection(request.query_params)
    words = request.query_params.get("q", "")[:200]
    found = decisions_of(state, asked, words)
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
        projects=sorted({project_of(d.record, d.engagement) for d in everything} - {""}),
        next=start + 2 * PAGE if start + 2 * PAGE < len(found) else None,
        page="decisions",
        title="Decisions",
    )
