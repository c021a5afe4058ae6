"""The session page: who, what, when, engagements as a rail, the transcript by rounds."""

from __future__ import annotations

import json
import shlex
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from minutebook.record.markdown import write_body
from minutebook.record.media import MediaStore
from minutebook.record.notation import parse_carrier
from minutebook.record.rounds import KeptRound
from minutebook.derive.plain import clean, one_line
from minutebook.derive.secrets import digest, find_secrets, mask, masked
from minutebook.errors import NotFound
from minutebook.model import Message, Round, Subagent
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.verbs.open_session import OpenSession, shape
from minutebook.web.blocks import Item, items, opened, texts_of, words_of
from minutebook.web.desk import Desk
from minutebook.web.pages import name_of, render, session_url, wants_fragment
from minutebook.web.parts import TOGGLES, Part, part_of, parts_of, show_query, shown_of, totals
from minutebook.web.selection import whole

_MOST_FOUND = 500
_TOGGLE = {"call": "calls", "unanswered": "calls", "result": "results", "notice": ""}
_MEDIA_TYPES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


class Scroll(msgspec.Struct, frozen=True):
    """Something with rounds that can be scrolled: a session, or a subagent of one."""

    base: str
    """Its address."""
    parts: list[Part]
    rounds: dict[int, KeptRound] | OpenSession

    def round(self, number: int) -> KeptRound:
        if isinstance(self.rounds, OpenSession):
            return self.rounds.round(number)
        if number not in self.rounds:
            raise NotFound(f"There is no round {number}.")
        return self.rounds[number]


class Group(msgspec.Struct, frozen=True):
    """The items of one round within a part."""

    round: KeptRound
    begins: bool
    items: list[Item]
    engagement: Engagement | None = None
    """One that begins with this round."""


def scroll_of(desk: Desk, session_id: str, agent_id: str | None = None) -> Scroll:
    session = desk.open(session_id)
    if agent_id is None:
        return Scroll(session_url(session_id), parts_of(session.shapes()), session)
    rounds = {round.round: round for round in session.agent_rounds(agent_id)}
    base = f"{session_url(session_id)}/agents/{quote(agent_id, safe='')}"
    return Scroll(base, parts_of(map(shape, rounds.values())), rounds)


def groups_of(
    scroll: Scroll, index: int, shown: frozenset[str], engagements: tuple[Engagement, ...] = ()
) -> list[Group]:
    """One part of a session, ready for its template."""
    if not 0 <= index < len(scroll.parts):
        return []
    opening = {engagement.turn_range[0]: engagement for engagement in engagements}
    found = []
    for piece in scroll.parts[index].pieces:
        round = scroll.round(piece.round)
        begins = piece.first == 0
        engagement = opening.get(piece.round) if begins else None
        found.append(Group(round, begins, items(round, piece, shown), engagement))
    return found


def session_page(desk: Desk, request: Request, session_id: str) -> Response:
    record = desk.record(session_id)
    scroll = scroll_of(desk, session_id)
    current = next((e for e in record.engagements if e.id == request.query_params.get("e")), None)
    return _page(request, record, scroll, current, desk.transcript(session_id) is not None)


def agent_page(desk: Desk, request: Request, session_id: str, agent_id: str) -> Response:
    record = desk.record(session_id)
    agent = desk.open(session_id).subagent(agent_id)
    scroll = scroll_of(desk, session_id, agent_id)
    return _page(request, record, scroll, None, resumable=False, agent=agent)


def _page(
    request: Request,
    record: SessionRecord,
    scroll: Scroll,
    current: Engagement | None,
    resumable: bool,
    agent: Subagent | None = None,
) -> Response:
    params = request.query_params
    shown = shown_of(params.get("show"))
    wanted = whole(params.get("round"), current.turn_range[0] if current else 0)
    index = part_of(scroll.parts, wanted) if wanted else 0
    index = min(whole(params.get("part"), index), max(0, len(scroll.parts) - 1))
    engagements = record.engagements if agent is None else ()
    last = scroll.parts[-1].pieces[-1].round if scroll.parts else 0
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
        groups=groups_of(scroll, index, shown, engagements),
        engagements=engagements,
        current=current,
        outline=json.dumps(_outline(scroll), separators=(",", ":")),
        rounds=last,
        resume=_resume(record) if resumable else None,
        page="session",
        title=name_of(record),
    )


def _resume(record: SessionRecord) -> str:
    """What to type to go on with a session."""
    command = f"claude --resume {shlex.quote(record.session_id)}"
    return f"cd {shlex.quote(record.cwd)} && {command}" if record.cwd else command


def part_fragment(desk: Desk, request: Request, session_id: str, agent_id: str | None) -> Response:
    scroll = scroll_of(desk, session_id, agent_id)
    index = int(request.path_params["part"])
    if index >= len(scroll.parts):
        raise NotFound("The session has no such part.")
    shown = shown_of(request.query_params.get("show"))
    engagements = () if agent_id else desk.record(session_id).engagements
    groups = groups_of(scroll, index, shown, engagements)
    return render("part.html", groups=groups, scroll=scroll, agent=agent_id)


def outline(desk: Desk, session_id: str) -> dict[str, Any]:
    """What a page needs to know when its session has grown."""
    scroll = scroll_of(desk, session_id)
    return {
        "parts": _outline(scroll),
        "totals": totals(scroll.parts),
    }


def _outline(scroll: Scroll) -> list[tuple[int, int, int, tuple[int, ...]]]:
    """Where each part begins and ends, and what is in it."""
    return [
        (part.pieces[0].round, part.pieces[0].first, part.pieces[-1].round, part.counts)
        for part in scroll.parts
    ]


def block_fragment(desk: Desk, request: Request, session_id: str, agent_id: str | None) -> Response:
    """One block unfolded; as a page of its own where no script asks."""
    scroll = scroll_of(desk, session_id, agent_id)
    number, at = int(request.path_params["round"]), int(request.path_params["block"])
    block = _block(scroll, number, at)
    template = "block.html" if wants_fragment(request.headers) else "block_page.html"
    return render(
        template,
        block=opened(block),
        scroll=scroll,
        number=number,
        at=at,
        session_base=session_url(session_id),
        record=desk.record(session_id),
        page="session",
        title=f"Round {number}",
    )


def raw_block(desk: Desk, request: Request, session_id: str, agent_id: str | None) -> Response:
    """A block as a plain file; secrets masked like everywhere."""
    scroll = scroll_of(desk, session_id, agent_id)
    block = _block(scroll, int(request.path_params["round"]), int(request.path_params["block"]))
    return PlainTextResponse(mask(clean(words_of(block))))


def _block(scroll: Scroll, number: int, at: int) -> Any:
    try:
        return scroll.round(number).blocks[at]
    except (KeyError, IndexError):
        raise NotFound("There is no such block.") from None


def picture(desk: Desk, session_id: str, name: str) -> Response:
    media_type = _MEDIA_TYPES.get(name.rsplit(".", 1)[-1])
    content = desk.open(session_id).picture(name) if media_type else None
    if content is None or media_type is None:
        raise NotFound("This picture is not there (any more).")
    return Response(content, media_type=media_type)


def reveal(desk: Desk, session_id: str, number: int, wanted: str, agent_id: str | None) -> str:
    """A secret of a round, named by its digest: said only when somebody clicked on it."""
    round = scroll_of(desk, session_id, agent_id).round(number)
    for block in round.blocks:
        for piece in (words_of(block), *texts_of(block)):
            # As the page has it: cleaned, and on one line where it was shown on one.
            for text in dict.fromkeys((clean(piece), one_line(piece))):
                for secret in find_secrets(text):
                    found = text[secret.start : secret.end]
                    if digest(found) == wanted:
                        return found
    raise NotFound("There is no such secret in this round.")


def markdown(desk: Desk, session_id: str, rounds: range | None) -> str:
    """Rounds as Markdown, for the clipboard; secrets masked."""
    session = desk.open(session_id)
    numbers = rounds if rounds is not None else range(1, session.count + 1)
    media = MediaStore(session_id)
    body = write_body((_whole(session.round(number)) for number in numbers), media)
    kept = (line for line in body.split("\n") if not parse_carrier(line))
    return "\n".join(kept).strip().removeprefix("---").lstrip() + "\n"


def _whole(kept: KeptRound) -> Round:
    """A kept round as the model has it: one message a side, without secrets."""
    kept = msgspec.convert(masked(msgspec.to_builtins(kept)), KeptRound)
    messages = []
    if kept.asked:
        messages.append(Message("user", kept.asked, at=kept.started, queued=kept.queued))
    if kept.agent:
        messages.append(Message("assistant", kept.agent, at=kept.ended, model=kept.model))
    return Round(kept.round, tuple(messages))


def find(desk: Desk, session_id: str, typed: str) -> dict[str, Any]:
    """Where a text stands in a session, folded or not: (part, round, block, toggle)."""
    wanted = typed.casefold().strip()
    session = desk.open(session_id)
    scroll = scroll_of(desk, session_id)
    places: list[tuple[int, int, int, str]] = []
    if not wanted:
        return {"places": places, "more": False}
    for shaped in session.shapes():
        round = session.round(shaped.number)
        for at, (block, kind) in enumerate(zip(round.blocks, shaped.kinds, strict=False)):
            if wanted in words_of(block).casefold():
                if len(places) >= _MOST_FOUND:
                    return {"places": places, "more": True}
                toggle = _TOGGLE.get(kind, kind)
                places.append((part_of(scroll.parts, round.round, at), round.round, at, toggle))
    return {"places": places, "more": False}
