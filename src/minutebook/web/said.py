"""``/api/v1/sessions/<id>/said``: what a person said of a session, and saying more (UND-07)."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from minutebook.errors import BadArgument
from minutebook.model.said import Statement
from minutebook.verbs.correct import with_words
from minutebook.web.api import answer
from minutebook.web.state import ServerState

_MOST = 64 * 1024  # bytes of a statement
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
_decoder = msgspec.json.Decoder(Statement)


def listed(state: ServerState, _request: Request, session_id: str) -> Response:
    """Everything that was said, oldest first."""
    return answer(said=[with_words(item) for item in state.archive.said(session_id)])


def say(state: ServerState, session_id: str, body: bytes) -> Response:
    """Write down one statement: an object with a ``kind``, as docs/json.md has them."""
    try:
        statement = _decoder.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadArgument(f"This is not a correction: {error}.") from None
    spoken = state.archive.say(session_id, statement)
    return answer(
        said=with_words(spoken.said),
        undone=with_words(spoken.undone),
        engagement=_builtins(spoken.engagement),
        made=_builtins(spoken.made),
        gone=[_builtins(engagement) for engagement in spoken.gone],
        changed=[_builtins(engagement) for engagement in spoken.changed],
        hidden_rounds=spoken.hidden_rounds,
        thread=spoken.thread,
        session=_builtins(spoken.session),
    )


def refusal(request: Request, wanted: str, *, read_only: bool) -> tuple[int, str] | None:
    """Why nothing can be said by this request; that it comes from our own pages is known."""
    if read_only:
        return 403, "This viewer is read-only."
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != wanted:
        return 415, f"Send a statement as {wanted}."
    return None


async def body_of(request: Request) -> bytes | None:
    """The body of a request; None where it is too long."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST:
            return None
    return bytes(body)


def _builtins(value: msgspec.Struct | None) -> Any:
    return msgspec.to_builtins(value) if value is not None else None
