"""Mending in place: a page of forms for what a person says of a session (VIEW-20, UND-07).

The forms post as forms do, so they work without a script; with one they stand in a dialog.
Who may post at all is decided before (`security`, `refusal`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from minutebook.archive.masking import unmarked
from minutebook.archive.saying import Spoken, find_engagement, say_all
from minutebook.errors import BadArgument, MinutebookError, NotFound
from minutebook.model.engagement import (
    MOST_DECISIONS,
    PHASES,
    Engagement,
    SessionRecord,
)
from minutebook.model.said import (
    SESSION_FIELDS,
    Hide,
    Join,
    Move,
    Note,
    Set,
    Split,
    Star,
    Statement,
    Undo,
    Unhide,
    Unstar,
)
from minutebook.verbs.correct import parse_span, refuse_nothing
from minutebook.web.api import answer
from minutebook.web.pages import render, session_url, wants_fragment
from minutebook.web.said_rows import names_of, recut_words, said_rows, words_of
from minutebook.web.state import ServerState

_MARKS: dict[str, Callable[[str], Statement]] = {
    "star": Star,
    "unstar": Unstar,
    "hide": Hide,
    "unhide": Unhide,
}
_FIELDS = ("topic", "project", "method", "phase", "outcome")


def mend_page(state: ServerState, request: Request, session_id: str) -> Response:
    """The forms of a session, or with ``e`` of one of its engagements."""
    asked = request.query_params
    fragment = wants_fragment(request.headers)
    return _forms(state, session_id, asked.get("e", ""), fragment, done=asked.get("done", ""))


def mend(state: ServerState, session_id: str, body: bytes, *, fragment: bool) -> Response:
    """Write down what a form says; then the forms again, with a way to take it back."""
    fields = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    given = {name: " ".join(text.split()) for name, text in fields}  # each is a single line
    meant = given.get("engagement", "")
    try:
        statements = _statements(state, session_id, given)
        if not statements:
            raise BadArgument("Nothing was changed: the fields are as they were.")
        for statement in statements:
            refuse_nothing(state.archive, session_id, statement)
        spoken = say_all(state.archive, session_id, statements)
    except MinutebookError as error:
        if fragment:
            raise
        return _forms(state, session_id, meant, fragment, problem=str(error))
    said = spoken[-1]
    if fragment:
        names = names_of(said.session)
        undone = words_of(said.undone, names) if said.undone is not None else None
        words = [words_of(i.said, names) if i.said else "already recorded" for i in spoken]
        words += [text for item in spoken for text in recut_words(item)]
        return answer(words=words, undone=undone)
    back = _still(said, meant)
    done = said.said.id if said.said is not None else ""
    query = urlencode({"done": done, **({"e": back} if back else {})})
    return RedirectResponse(f"{session_url(session_id)}/mend?{query}", 303)


def _still(spoken: Spoken, meant: str) -> str:
    """The engagement whose forms to show next, where it is still there."""
    ids = {unmarked(engagement.id) for engagement in spoken.session.engagements}
    return meant if meant in ids else ""


def _forms(
    state: ServerState,
    session_id: str,
    meant: str,
    fragment: bool,
    *,
    done: str = "",
    problem: str = "",
) -> Response:
    record = state.archive.record(session_id)
    engagement = None
    if meant:
        try:
            engagement = find_engagement(record, meant)
        except NotFound:
            if not problem:
                raise
    rows = said_rows(state, session_id)
    return render(
        "mend_form.html" if fragment else "mend.html",
        400 if problem else 200,
        record=record,
        engagement=engagement,
        others=[e for e in record.engagements if engagement is None or e.id != engagement.id],
        values=shown_values(record, engagement),
        decisions=_decisions(engagement),
        said=rows,
        done=next((row for row in rows if row.id == done), None),
        was_undone=bool(done) and not any(row.id == done for row in rows),
        problem=problem,
        PHASES=PHASES,
        action=f"{session_url(session_id)}/mend",
        page="mend",
        title="Correct",
    )


def shown_values(record: SessionRecord, engagement: Engagement | None) -> dict[str, str]:
    """Fields as the forms show them: masked, so an untouched one says nothing."""
    if engagement is not None:
        found = {name: getattr(engagement, name) for name in _FIELDS}
        return {name: unmarked(text or "") for name, text in found.items()}
    summary = {"summary": record.session_summary}
    found = {n: getattr(record, n) for n in SESSION_FIELDS if n != "summary"} | summary
    return {name: unmarked(text or "") for name, text in found.items()}


def _decisions(engagement: Engagement | None) -> list[str]:
    known = [unmarked(text) for text in engagement.key_decisions] if engagement else []
    return [*known, *[""] * MOST_DECISIONS][:MOST_DECISIONS]


# -- what a form says


def _statements(
    state: ServerState, session_id: str, given: Mapping[str, str]
) -> Sequence[Statement]:
    kind, meant = given.get("kind", ""), given.get("engagement", "")
    match kind:
        case "undo":
            return [Undo()]
        case "star" | "unstar" | "hide" | "unhide":
            return [_MARKS[kind](meant)]
        case "split":
            return [Split(meant, round=_number(given.get("round", "")))]
        case "join":
            return [Join(meant, other=given.get("other", ""))]
        case "move":
            first, last = parse_span(f"{given.get('first', '')}-{given.get('last', '')}")
            return [Move(meant, first=first, last=last)]
        case "set":
            return list(_changes(state, session_id, meant, given))
    raise BadArgument(f"'{kind}' is not something a form here says.")


def _changes(
    state: ServerState, session_id: str, meant: str, given: Mapping[str, str]
) -> Iterable[Statement]:
    """What differs from what the form showed: fields as one statement, the note as another."""
    record = state.archive.record(session_id)
    engagement = find_engagement(record, meant) if meant else None
    shown = shown_values(record, engagement)
    values: dict[str, str | tuple[str | int, ...]] = {
        name: given[name].strip()
        for name, text in shown.items()
        if name in given and given[name].strip() != " ".join(text.split())
    }
    if engagement is not None and "decision1" in given:
        names = (f"decision{at}" for at in range(1, MOST_DECISIONS + 1))
        said = [text for name in names if (text := given.get(name, "").strip())]
        if said != [text for text in _decisions(engagement) if text]:
            values["key_decisions"] = tuple(said)
    if values:
        yield Set(meant, values=values)
    note = unmarked((engagement.note if engagement is not None else record.note) or "")
    if "note" in given and given["note"].strip() != note:
        yield Note(meant, text=given["note"].strip())


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadArgument("Name the round at which the new engagement begins.")
    return int(text)
