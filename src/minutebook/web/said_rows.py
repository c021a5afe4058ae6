"""What a person said of a session, as pages list it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from minutebook.archive.masking import unmarked
from minutebook.archive.saying import Spoken
from minutebook.derive.wording import rounds_text as spans
from minutebook.model.engagement import SessionRecord
from minutebook.model.said import Renumber, Said, Undo, Unread
from minutebook.verbs.correct import in_words
from minutebook.web.pages import line, rounds_text
from minutebook.web.state import ServerState


class SaidRow(msgspec.Struct, frozen=True):
    """One thing that was said, as a page lists it."""

    id: str
    at: str | None
    words: str
    undone: bool
    last: bool
    """Whether `undo` takes back this one."""
    said_of: str | None
    """The copy of the session that it was said of."""


def said_rows(state: ServerState, session_id: str) -> list[SaidRow]:
    """What was said of a session, newest first."""
    said = [s for s in state.archive.said(session_id) if not isinstance(s.statement, Undo)]
    holding = [
        s.id for s in said if not s.undone and not isinstance(s.statement, Renumber | Unread)
    ]
    names = names_of(state.archive.record(session_id))
    last = holding[-1] if holding else ""
    return [
        SaidRow(s.id, s.at, words_of(s, names), s.undone, s.id == last, s.said_of)
        for s in reversed(said)
    ]


def names_of(record: SessionRecord) -> dict[str, str]:
    """Engagements as pages call them: their rounds, since ids are not shown (VIEW-13)."""
    return {unmarked(e.id): rounds_text(e) for e in record.engagements}


def recut_words(spoken: Spoken) -> list[str]:
    """Other engagements that have other rounds since, or none, and rounds that are hidden now."""
    changed = [f"also changed: {e.topic} ({rounds_text(e)})" for e in spoken.changed]
    if spoken.hidden_rounds:
        changed.append(f"lists leave out {spans(spoken.hidden_rounds)} now")
    gone = [f"no round is left of {e.topic} ({rounds_text(e)})" for e in spoken.gone]
    return [line(words) for words in (*changed, *gone)]


def words_of(said: Said, names: Mapping[str, str]) -> str:
    """One thing that was said, on one line."""
    return line(in_words(said, names))
