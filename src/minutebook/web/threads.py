"""Threads: pieces of work over several sessions, listed, and each on a page of its own (FUT-06)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.threads import Threads, threads
from minutebook.archive.using import usage_of
from minutebook.derive.threads import Key, Thread, Tie
from minutebook.index.query import Filters
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.verbs.threads import (
    passing_threads,
    plain_member,
    plain_needs,
    plain_thread,
    where_it_stands,
)
from minutebook.web import api, axis
from minutebook.web.pages import render
from minutebook.web.ranges import range_words
from minutebook.web.selection import Selection, selection, whole
from minutebook.web.signs import active_for, price
from minutebook.web.state import ServerState

_PAGE = 50
_KINDS = {
    "recorded": "the transcript says so",
    "lineage": "one session goes on with the other",
    "branch": "same branch",
    "number": "same issue or pull request",
    "files": "same files",
}


class Step(msgspec.Struct, frozen=True):
    """An engagement of a thread, and what ties it to those before."""

    record: SessionRecord
    engagement: Engagement
    ties: list[tuple[Tie, str, str]]
    """Each with why, in words, and the topic of the earlier one where it is not the one above."""


def thread_url(id: str) -> str:
    return f"/threads/{quote(id, safe='')}"


def days_words(first: str, last: str) -> str:
    """From one day to another, as the rest of the viewer says it."""
    if not (first and last):
        return "undated"
    ends = (int(datetime.fromisoformat(day).timestamp()) for day in (first, last))
    return range_words(axis.whole_days(*ends))


def threads_page(state: ServerState, request: Request) -> Response:
    asked = selection(request.query_params)
    words = request.query_params.get("q", "")[:200]
    known = threads(state.archive)
    found = _found(state, asked, words)
    start = whole(request.query_params.get("start"))
    shown = [plain_thread(known, thread) for thread in found[start : start + _PAGE]]
    return render(
        "threads.html",
        threads=shown,
        count=len(found),
        total=len(known.every),
        words=words,
        selection=asked,
        thread_url=thread_url,
        days_words=days_words,
        where_it_stands=where_it_stands,
        start=start,
        next=start + _PAGE if start + _PAGE < len(found) else None,
        page="threads",
        title="Threads",
    )


def _found(state: ServerState, asked: Selection, words: str) -> list[Thread]:
    """Threads that have every word in a topic, a project or their name."""
    known, wanted = threads(state.archive), words.casefold().split()
    method = asked.methods[0] if len(asked.methods) == 1 else None
    filters = msgspec.structs.replace(asked.filters, method=method)

    def says(thread: Thread) -> bool:
        told = [thread.id, *plain_thread(known, thread)["projects"]]
        told += [known.pairs[key][1].topic for key in thread.members]
        return all(word in " ".join(told).casefold() for word in wanted)

    return [thread for thread in passing_threads(state.archive, filters) if says(thread)]


def thread_page(state: ServerState, request: Request) -> Response:
    known = threads(state.archive)
    thread = known.named(request.path_params["id"])
    used = usage_of(state.archive, "session", Filters(among=frozenset(thread.members))).total
    return render(
        "thread.html",
        thread=thread,
        told=plain_thread(known, thread),
        steps=[_step(known, thread, key) for key in thread.members],
        needs=[(known.named(d.thread), d.evidence) for d in thread.depends_on],
        needed_by=known.needed_by(thread),
        cost=price(used.cost),
        active=active_for(used.times.active_clock) if used.times else "",
        thread_url=thread_url,
        days_words=days_words,
        where_it_stands=where_it_stands,
        page="threads",
        title=thread.topic,
    )


def _step(known: Threads, thread: Thread, key: Key) -> Step:
    before = thread.continues(key)
    ties = [
        (tie, _why(tie), "" if tie.earlier == before else known.pairs[tie.earlier][1].topic)
        for tie in thread.ties
        if tie.later == key
    ]
    return Step(*known.pairs[key], ties)


def _why(tie: Tie) -> str:
    if tie.kind == "recorded":
        return _KINDS[tie.kind]  # its evidence is the id of a session, which is on this page
    return f"{_KINDS[tie.kind]}: {tie.evidence}"


def listed(state: ServerState, request: Request) -> Response:
    """``/api/v1/threads``."""
    known = threads(state.archive)
    words = request.query_params.get("q", "")[:200]
    found = _found(state, selection(request.query_params), words)
    return api.listing([plain_thread(known, thread) for thread in found], request, "threads")


def one(state: ServerState, request: Request) -> Response:
    """``/api/v1/threads/<id>``."""
    known = threads(state.archive)
    thread = known.named(request.path_params["id"])
    chain: list[dict[str, Any]] = [
        plain_member(state.archive, known, thread, key, here=False) for key in thread.members
    ]
    told: dict[str, Any] = msgspec.to_builtins(
        {"thread": plain_thread(known, thread), "chain": chain, **plain_needs(known, thread)}
    )
    return api.answer(**told)
