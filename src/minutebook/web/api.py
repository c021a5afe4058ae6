"""``/api/v1/``: the same data for programs (docs/viewer.md)."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.archive.budgets import budget_overview
from minutebook.archive.instructions import compare
from minutebook.archive.masking import hidden_round, hide, unmarked_value
from minutebook.archive.masking import reveal as revealed
from minutebook.archive.names import parse_rounds
from minutebook.archive.remote import archive_name
from minutebook.archive.threads import threads
from minutebook.errors import BadArgument, MinutebookError, NotFound
from minutebook.index.query import Filters
from minutebook.model.engagement import SessionRecord
from minutebook.record.rounds import round_file
from minutebook.sources.registry import SOURCES
from minutebook.verbs.lineage import of_agent
from minutebook.verbs.usage import plain_usage
from minutebook.web import session as session_pages
from minutebook.web.asking import asked_of
from minutebook.web.board import board_of
from minutebook.web.decisions import decisions_of, where_url
from minutebook.web.finding import has_no_word, plain_hits
from minutebook.web.pages import engagement_url, name_of, project_of
from minutebook.web.ranges import extent, shown_range
from minutebook.web.scroll import find as find_in
from minutebook.web.selection import selection
from minutebook.web.state import ServerState
from minutebook.web.timeline import Bar, timeline

VERSION = 1
_MOST = 500
_USAGE = ("project", "agent", "method", "phase", "branch", "model", "since", "until", "date")


def answer(status: int = 200, /, **values: Any) -> Response:
    """Every answer says which version of the API it is of; secrets are words in all of them."""
    content = msgspec.json.encode({"version": VERSION, **unmarked_value(values)})
    return Response(content, status, media_type="application/json")


def sorry(error: MinutebookError) -> Response:
    return answer(404 if isinstance(error, NotFound) else 400, problem=hide(str(error)))


def limits(request: Request) -> tuple[int, int]:
    """``start`` and ``limit`` of a listing."""
    found = []
    for name, usual in (("start", 0), ("limit", 100)):
        text = request.query_params.get(name, str(usual))
        if not (text.isascii() and text.isdigit() and len(text) < 9):
            raise BadArgument(f"{name} is a number, not '{text}'.")
        found.append(int(text))
    return found[0], min(found[1], _MOST)


def listing(items: list[Any], request: Request, name: str, **left_out: int) -> Response:
    start, limit = limits(request)
    following = start + limit if start + limit < len(items) else None
    page = {name: items[start : start + limit]}
    return answer(total=len(items), next=following, **left_out, **page)


def status(
    state: ServerState, progress: dict[str, Any] | None, *, read_only: bool = False
) -> Response:
    archive = state.archive
    return answer(
        program="minutebook",
        archive=archive_name(archive),
        sessions=len(archive.records()),
        indexed=state.is_indexed,
        progress=progress,
        read_only=read_only,
        first_release=archive.is_first_release,
        damaged=[{"path": str(t.path), "reason": t.reason} for t in archive.troubles()],
    )


def stats(state: ServerState, request: Request) -> Response:
    found = board_of(state, selection(request.query_params)).stats
    return answer(stats=_plain(found))


def usage(state: ServerState, request: Request) -> Response:
    """What was used, ``by`` a dimension, of one ``session`` or of what passes."""
    params = request.query_params
    named = {name: params.get(name) for name in _USAGE}
    found = state.archive.usage(params.get("by", "day"), session=params.get("session"), **named)
    return answer(usage=plain_usage(found))


def engagements(state: ServerState, request: Request) -> Response:
    asked = selection({**request.query_params, "view": "engagements"})
    known = threads(state.archive)
    board = board_of(state, asked)
    rows = [
        {
            "session_id": row.record.session_id,
            "agent": row.record.agent_name,
            "program": SOURCES.program_of(row.record.source),
            **_plain(e),
            "thread": thread.id if (thread := known.of(row.record.session_id, e.id)) else None,
        }
        for row in board.rows
        if (e := row.engagement) is not None
    ]
    left_out = {"copies_hidden": board.stats.copies_hidden, "hidden": board.stats.hidden}
    return listing(rows, request, "engagements", **left_out)


def sessions(state: ServerState, request: Request) -> Response:
    asked = selection({**request.query_params, "view": "sessions"})
    board = board_of(state, asked)
    rows = [{**_record(row.record), "engagements": len(row.engagements)} for row in board.rows]
    return listing(rows, request, "sessions", copies_hidden=board.copies)


def _record(record: SessionRecord) -> dict[str, Any]:
    """A session's record, with the coding agent that held it."""
    return {**_plain(record), "program": SOURCES.program_of(record.source)}


def _plain(value: msgspec.Struct) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(value)
    return plain


def session(state: ServerState, _request: Request, session_id: str) -> Response:
    record, opened = state.archive.record(session_id), state.archive.open(session_id)
    return answer(session=_record(record), rounds=opened.count)


def rounds(state: ServerState, request: Request, session_id: str) -> Response:
    """Some rounds in full: ``rounds=3-17``; secrets masked unless a person asks: ``reveal=1``."""
    opened = state.archive.open(session_id)
    numbers = parse_rounds(request.query_params.get("rounds", "1"), opened.count)[:_MOST]
    if request.query_params.get("reveal") == "1":
        asked_by_a_person(request)
        found = [hidden_round(opened.stored(number), revealed) for number in numbers]
    else:
        found = list(opened.rounds(numbers))
    told = [msgspec.json.decode(round_file(session_id, round)) for round in found]
    return answer(count=opened.count, rounds=told)


def asked_by_a_person(request: Request) -> None:
    """Refuse what another site makes a browser ask; it could not read the answer anyway."""
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise BadArgument("Secrets are shown to the viewer's own pages only.")


def lineage(state: ServerState, request: Request) -> Response:
    """All families of more than one session."""
    families = state.archive.lineage().families()
    if agent := request.query_params.get("agent"):
        families = of_agent(state.archive, families, agent)
    return listing([_plain(family) for family in families], request, "families")


def session_lineage(state: ServerState, _request: Request, session_id: str) -> Response:
    return answer(session_id=session_id, lineage=_plain(state.archive.lineage(session_id)))


def budget(state: ServerState, _request: Request, session_id: str) -> Response:
    return answer(**_plain(state.archive.budget(session_id)))


def budgets(state: ServerState, request: Request) -> Response:
    """How often work came near the limit; ``project`` and ``agent`` narrow it."""
    params = request.query_params
    filters = Filters(project=params.get("project") or None, agent=params.get("agent") or None)
    return answer(overview=_plain(budget_overview(state.archive, filters)))


def instructions(state: ServerState, request: Request, session_id: str) -> Response:
    """What a session was told; with ``diff`` what changed from there to another."""
    if (other := request.query_params.get("diff")) is not None:
        return answer(files=[_plain(file) for file in compare(state.archive, session_id, other)])
    return answer(instructions=_plain(state.archive.instructions(session_id)))


def outline(state: ServerState, _request: Request, session_id: str) -> Response:
    return answer(**session_pages.outline(state, session_id))


def find(state: ServerState, request: Request, session_id: str) -> Response:
    typed = request.query_params.get("q", "")[:500]
    agent = request.query_params.get("agent") or None
    return answer(**find_in(state.archive, session_id, typed, agent))


def secret(state: ServerState, request: Request, session_id: str) -> Response:
    asked_by_a_person(request)
    number, digest = int(request.path_params["round"]), request.path_params["digest"]
    agent = request.query_params.get("agent")
    return answer(secret=session_pages.reveal(state, session_id, number, digest, agent))


def search(state: ServerState, request: Request) -> Response:
    offset, limit = limits(request)
    if (page := request.query_params.get("page")) is not None:
        if "start" in request.query_params:
            raise BadArgument("Give start or page, not both.")
        if not (page.isascii() and page.isdigit() and int(page[:9]) > 0 and len(page) < 9):
            raise BadArgument(f"page is a number from 1 on, not '{page}'.")
        offset = (int(page) - 1) * limit
    asked = asked_of(request.query_params)
    if has_no_word(asked.typed):
        raise BadArgument("The query has no word in it.")
    if not state.is_indexed:
        return answer(503, problem="The search index is still being made. Try again soon.")
    found = asked.answer(state, limit=limit, offset=offset)
    return answer(
        mode=found.mode,
        fresh_at=found.fresh_at,
        total=found.total,
        next=offset + limit if offset + limit < found.total else None,
        capped=found.capped,
        whole=found.whole,
        facets=found.facets,
        ghosts_hidden=found.ghosts_hidden,
        copies_hidden=found.copies_hidden,
        hidden=found.hidden,
        hits=plain_hits(found.hits),
    )


def decisions(state: ServerState, request: Request) -> Response:
    asked = selection(request.query_params)
    rows = [
        {
            "decision": decision.text,
            "at": decision.at,
            "session_id": decision.record.session_id,
            "engagement": decision.engagement.id,
            "topic": decision.engagement.topic,
            "session": name_of(decision.record),
            "project": project_of(decision.record, decision.engagement),
            "where": where_url(decision),
            "url": engagement_url(decision.record, decision.engagement),
        }
        for decision in decisions_of(state, asked, request.query_params.get("q", "")[:200])
    ]
    return listing(rows, request, "decisions")


def timeline_data(state: ServerState, request: Request) -> Response:
    asked = selection(request.query_params)
    board = board_of(state, asked)
    drawn = timeline(
        board.works, shown_range(asked, extent(board.works)), asked.group, whole=asked.lanes
    )
    told = _plain(msgspec.structs.replace(drawn, rows=[]))
    told["rows"] = [
        {
            **_plain(msgspec.structs.replace(row, bars=[], keys=frozenset())),
            "bars": [_bar(bar) for bar in row.bars],
            "active_clock": board.by_the_clock(row.keys),
        }
        for row in drawn.rows
    ]
    for row in told["rows"]:
        del row["keys"]
    return answer(timeline=told)


def _bar(bar: Bar) -> dict[str, Any]:
    work = bar.work
    return {
        "x": bar.x,
        "width": bar.width,
        "lane": bar.lane,
        "start": bar.start,
        "end": bar.end,
        "active_ms": work.active,
        "method": work.method,
        "topic": work.topic,
        "session_id": work.record.session_id,
        "engagement": work.engagement.id if work.engagement else None,
        "url": work.href,
    }
