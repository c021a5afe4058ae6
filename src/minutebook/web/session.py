"""The session page: who, what, when, engagements as a rail, the transcript by rounds."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from minutebook.archive.budgets import peaks_of
from minutebook.archive.folding import stands_for
from minutebook.archive.masking import secrets_of, unmarked
from minutebook.archive.names import parse_rounds
from minutebook.archive.remote import person_of
from minutebook.errors import NotFound
from minutebook.html.opened import opened, words_of
from minutebook.model import Block, StrayResult, Subagent, ToolCall
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.sources.registry import SOURCES
from minutebook.verbs.lineage import Relative, named, relatives
from minutebook.verbs.share_text import rounds_markdown
from minutebook.web.kept import kept_rows
from minutebook.web.pages import archive_note, name_of, render, session_url, wants_fragment
from minutebook.web.parts import TOGGLES, part_of, show_query, shown_of, totals
from minutebook.web.said_rows import said_rows
from minutebook.web.scroll import Scroll, groups_of, scroll_of
from minutebook.web.selection import whole
from minutebook.web.state import ServerState

_MEDIA_TYPES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


def session_page(state: ServerState, request: Request, session_id: str) -> Response:
    record = state.archive.record(session_id)
    scroll = scroll_of(state.archive, session_id)
    asked = request.query_params.get("e")
    current = next((e for e in record.engagements if unmarked(e.id) == asked), None)
    return _page(state, request, record, scroll, current)


def agent_page(
    state: ServerState, request: Request, session_id: str, agent_id: str | None
) -> Response:
    assert agent_id is not None
    record = state.archive.record(session_id)
    agent = state.archive.open(session_id).subagent(agent_id)
    scroll = scroll_of(state.archive, session_id, agent_id)
    return _page(state, request, record, scroll, None, agent)


def _page(
    state: ServerState,
    request: Request,
    record: SessionRecord,
    scroll: Scroll,
    current: Engagement | None,
    agent: Subagent | None = None,
) -> Response:
    params = request.query_params
    shown = shown_of(params.get("show"))
    wanted = whole(params.get("round"), current.turn_range[0] if current else 0)
    index = part_of(scroll.parts, wanted) if wanted else 0
    index = min(whole(params.get("part"), index), max(0, len(scroll.parts) - 1))
    engagements = record.engagements if agent is None else ()
    groups = groups_of(scroll, index, shown, engagements)
    return render(
        "session.html",
        record=record,
        agent=agent,
        scroll=scroll,
        shown=shown,
        show=show_query(shown) if params.get("show") is not None else "",
        toggled={name: show_query(shown ^ {name}) for name in TOGGLES},
        totals=totals(scroll.parts),
        index=index,
        groups=groups,
        within="",
        engagements=engagements,
        kept=kept_rows(state.archive, record.session_id) if agent is None else [],
        current=current,
        outline=json.dumps(scroll.outline, separators=(",", ":")),
        rounds=scroll.parts[-1].pieces[-1].round if scroll.parts else 0,
        relatives=_relatives(state, record.session_id) if agent is None else (),
        resume=_resume(state, record) if agent is None else None,
        copy_of=_stands_for(state, record.session_id) if agent is None else None,
        filled=peaks_of(state.archive, record.session_id) if agent is None else {},
        compactions=_compactions(state, record) if agent is None else 0,
        note=archive_note(state),
        said=said_rows(state, record.session_id) if agent is None else [],
        person=person_of(state.archive, record.session_id),
        withheld=state.archive.open(record.session_id).withheld,
        page="session",
        title=name_of(record),
        named=named,
    )


def _stands_for(state: ServerState, session_id: str) -> SessionRecord | None:
    id = stands_for(state.archive, session_id)
    return state.archive.record(id) if id is not None else None


def _relatives(state: ServerState, session_id: str) -> list[Relative]:
    """The sessions this one comes from, and those that came from it; none by its id (VIEW-13)."""

    def short(id: str) -> str:
        return "here" if id == session_id else "there"

    return relatives(state.archive.lineage(session_id), session_id, short)


def _compactions(state: ServerState, record: SessionRecord) -> int:
    try:
        return state.archive.stored_summary(record.session_id).info.compactions
    except NotFound:
        return 0


def _resume(state: ServerState, record: SessionRecord) -> str | None:
    """What to type to go on with a session; None where its transcript is gone."""
    source = SOURCES.get(record.source)
    if source is None or state.archive.transcript(record.session_id) is None:
        return None
    return source.resume_command(record.session_id, record.cwd)


def part_fragment(
    state: ServerState, request: Request, session_id: str, agent_id: str | None
) -> Response:
    scroll = scroll_of(state.archive, session_id, agent_id)
    index = int(request.path_params["part"])
    if index >= len(scroll.parts):
        raise NotFound(f"The session has no part {index}.")
    shown = shown_of(request.query_params.get("show"))
    engagements = () if agent_id else state.archive.record(session_id).engagements
    groups = groups_of(scroll, index, shown, engagements)
    filled = {} if agent_id else peaks_of(state.archive, session_id)
    # In place, under the call that started it: its rounds are not those of this page.
    within = agent_id if agent_id and request.query_params.get("within") else ""
    return render("part.html", groups=groups, scroll=scroll, filled=filled, within=within)


def outline(state: ServerState, session_id: str) -> dict[str, Any]:
    """What a page needs to know when its session has grown."""
    scroll = scroll_of(state.archive, session_id)
    return {"parts": scroll.outline, "totals": totals(scroll.parts)}


def block_fragment(
    state: ServerState, request: Request, session_id: str, agent_id: str | None
) -> Response:
    """One block unfolded; as a page of its own where no script asks."""
    scroll = scroll_of(state.archive, session_id, agent_id)
    number, at = int(request.path_params["round"]), int(request.path_params["block"])
    block, typed = scroll.block(number, at)
    template = "block.html" if wants_fragment(request.headers) else "block_page.html"
    return render(
        template,
        block=opened(block, typed=typed, kept=_kept(state, session_id, agent_id, number, at)),
        agent_parts=_agent_parts(state, session_id, block),
        scroll=scroll,
        number=number,
        at=at,
        session_base=session_url(session_id),
        record=state.archive.record(session_id),
        page="session",
        title=f"Round {number}",
    )


def _kept(
    state: ServerState, session_id: str, agent_id: str | None, number: int, at: int
) -> str | None:
    """What a tool answered, as it was recorded; None where there is no such answer."""
    session = state.archive.open(session_id)
    if agent_id is None:
        rounds = [session.stored(number)]
    else:
        rounds = [r for r in session.stored_subagent(agent_id).rounds if r.number == number]
    block = rounds[0].blocks[at] if rounds and at < len(rounds[0].blocks) else None
    if not isinstance(block, ToolCall | StrayResult) or block.result is None:
        return None
    return block.result.text


def _agent_parts(state: ServerState, session_id: str, block: Block) -> int:
    """In how many parts the transcript of the subagent comes that a call started; 0 without."""
    if not isinstance(block, ToolCall) or block.agent is None:
        return 0
    try:
        return len(scroll_of(state.archive, session_id, unmarked(block.agent)).parts)
    except NotFound:
        return 0


def raw_block(
    state: ServerState, request: Request, session_id: str, agent_id: str | None
) -> Response:
    """A block as a plain file; secrets masked as everywhere."""
    scroll = scroll_of(state.archive, session_id, agent_id)
    number, at = int(request.path_params["round"]), int(request.path_params["block"])
    return PlainTextResponse(words_of(scroll.block(number, at)[0]))


def picture(state: ServerState, request: Request, session_id: str) -> Response:
    name = request.path_params["name"]
    media_type = _MEDIA_TYPES.get(name.rsplit(".", 1)[-1])
    content = state.archive.open(session_id).picture(name) if media_type else None
    if content is None or media_type is None:
        raise NotFound("This picture is not there (any more).")
    return Response(content, media_type=media_type)


def reveal(
    state: ServerState, session_id: str, number: int, digest: str, agent_id: str | None
) -> str:
    """A secret of a round, named by its digest: told only when somebody clicked on it."""
    session = state.archive.open(session_id)
    if agent_id is None:
        rounds = [session.stored(number)]
    else:
        rounds = [r for r in session.stored_subagent(agent_id).rounds if r.number == number]
    found = [secrets_of(round).get(digest) for round in rounds]
    if not found or found[0] is None:
        raise NotFound(f"There is no such secret in round {number}.")
    return found[0]


def markdown(state: ServerState, request: Request, session_id: str) -> Response:
    """Rounds (``rounds=3-5,9``, or all) as Markdown, for the clipboard; secrets masked."""
    session = state.archive.open(session_id)
    numbers = parse_rounds(request.query_params.get("rounds") or "all", session.count)
    text = rounds_markdown(session.rounds(numbers), session_id)
    return PlainTextResponse(f"{unmarked(text)}\n")
