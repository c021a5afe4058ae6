"""``/api/v1/``: the same data for programs (docs/viewer.md)."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.derive.secrets import masked
from minutebook.errors import BadArgument, MinutebookError, NotFound
from minutebook.verbs.find import parse_address
from minutebook.web import session as session_pages
from minutebook.web.board import board_of, shown_range
from minutebook.web.decisions import decisions_of
from minutebook.web.desk import Desk
from minutebook.web.pages import engagement_url
from minutebook.web.selection import selection
from minutebook.web.timeline import Bar, timeline

VERSION = 1
_MOST = 500


def answer(status: int = 200, /, **values: Any) -> Response:
    """Every answer says which version of the API it is of."""
    content = msgspec.json.encode({"version": VERSION, **values})
    return Response(content, status, media_type="application/json")


def sorry(error: MinutebookError) -> Response:
    return answer(404 if isinstance(error, NotFound) else 400, problem=str(error))


def limits(request: Request) -> tuple[int, int]:
    """``start`` and ``limit`` of a listing."""
    found = []
    for name, usual in (("start", 0), ("limit", 100)):
        text = request.query_params.get(name, str(usual))
        if not (text.isascii() and text.isdigit() and len(text) < 9):
            raise BadArgument(f"{name} is a number; not '{text}'.")
        found.append(int(text))
    return found[0], min(found[1], _MOST)


def listing(items: list[Any], request: Request, name: str) -> Response:
    start, limit = limits(request)
    following = start + limit if start + limit < len(items) else None
    page = {name: masked(items[start : start + limit])}
    return answer(total=len(items), next=following, **page)


def stats(desk: Desk, request: Request) -> Response:
    found = board_of(desk, selection(request.query_params)).stats
    return answer(stats=masked(_plain(found)))


def engagements(desk: Desk, request: Request) -> Response:
    asked = selection({**request.query_params, "view": "engagements"})
    rows = [
        {"session_id": row.record.session_id, "agent": row.record.agent_name, **_plain(e)}
        for row in board_of(desk, asked).rows
        if (e := row.engagement) is not None
    ]
    return listing(rows, request, "engagements")


def sessions(desk: Desk, request: Request) -> Response:
    asked = selection({**request.query_params, "view": "sessions"})
    rows = [
        {**_plain(row.record), "engagements": len(row.engagements)}
        for row in board_of(desk, asked).rows
    ]
    return listing(rows, request, "sessions")


def _plain(value: msgspec.Struct) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(value)
    return plain


def session(desk: Desk, session_id: str) -> Response:
    opened = desk.open(session_id)
    return answer(session=masked(_plain(desk.record(session_id))), rounds=opened.count)


def rounds(desk: Desk, request: Request, session_id: str) -> Response:
    """Some rounds in full: ``rounds=3-17``; secrets masked unless ``reveal=1``."""
    opened = desk.open(session_id)
    _, wanted = parse_address(f"x#{request.query_params.get('rounds', '1')}")
    if wanted is None:
        raise BadArgument("rounds is a round or a range of them, like 3 or 3-17.")
    numbers = [number for number in wanted[:_MOST] if number <= opened.count]
    found = [msgspec.to_builtins(opened.round(number)) for number in numbers]
    if request.query_params.get("reveal") != "1":
        found = masked(found)
    return answer(count=opened.count, rounds=found)


def outline(desk: Desk, session_id: str) -> Response:
    return answer(**session_pages.outline(desk, session_id))


def find(desk: Desk, request: Request, session_id: str) -> Response:
    typed = request.query_params.get("q", "")[:500]
    return answer(**session_pages.find(desk, session_id, typed))


def secret(desk: Desk, request: Request, session_id: str) -> Response:
    number, digest = int(request.path_params["round"]), request.path_params["digest"]
    agent = request.query_params.get("agent")
    return answer(secret=session_pages.reveal(desk, session_id, number, digest, agent))


def search(desk: Desk, request: Request) -> Response:
    _, limit = limits(request)
    where = request.query_params.get("in", "all")
    mode = request.query_params.get("mode", "hybrid")
    if where not in ("all", "engagements", "turns"):
        raise BadArgument(f"in is all, engagements or turns; not '{where}'.")
    if mode not in ("hybrid", "lexical", "semantic"):
        raise BadArgument(f"mode is hybrid, lexical or semantic; not '{mode}'.")
    if not desk.is_indexed:
        return answer(503, problem="The search index is still being made. Try again soon.")
    found = desk.search(
        request.query_params.get("q", ""),
        where=where,  # type: ignore[arg-type]  # checked above
        mode=mode,  # type: ignore[arg-type]  # likewise
        limit=limit,
    )
    hits = masked(msgspec.to_builtins(found.hits))
    return answer(mode=found.mode, fresh_at=found.fresh_at, hits=hits)


def decisions(desk: Desk, request: Request) -> Response:
    asked = selection(request.query_params)
    rows = [
        {
            "decision": decision.text,
            "at": decision.at,
            "session_id": decision.record.session_id,
            "engagement": decision.engagement.id,
            "topic": decision.engagement.topic,
            "url": engagement_url(decision.record, decision.engagement),
        }
        for decision in decisions_of(desk, asked, request.query_params.get("q", "")[:200])
    ]
    return listing(rows, request, "decisions")


def timeline_data(desk: Desk, request: Request) -> Response:
    asked = selection(request.query_params)
    board = board_of(desk, asked)
    drawn = timeline(board.works, shown_range(board, board.works), asked.group)
    told = _plain(msgspec.structs.replace(drawn, rows=[]))
    told["rows"] = [
        {**_plain(msgspec.structs.replace(row, bars=[])), "bars": [_bar(bar) for bar in row.bars]}
        for row in drawn.rows
    ]
    return answer(timeline=masked(told))


def _bar(bar: Bar) -> dict[str, Any]:
    work = bar.work
    return {
        "x": bar.x,
        "width": bar.width,
        "lane": bar.lane,
        "start": work.start,
        "end": work.end,
        "method": work.method,
        "topic": work.topic,
        "session_id": work.record.session_id,
        "engagement": work.engagement.id if work.engagement else None,
        "url": work.href,
    }
