"""Hits: what was found, and how to open it."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import Literal

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.masking import hidden
from minutebook.archive.remote import person_of
from minutebook.derive.surfaces import (
    SURFACES,
    Piece,
    Surface,
    surfaces_of,
    surfaces_of_agent,
)
from minutebook.errors import MinutebookError
from minutebook.index.clauses import Side
from minutebook.index.engine import Ranked
from minutebook.index.query import Query
from minutebook.index.snippet import Shown, Snippet, snippet, snippet_of_labels, snippet_of_work
from minutebook.model import ToolCall
from minutebook.model.engagement import Engagement
from minutebook.sources.registry import SOURCES


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """Something found: a session, the round to open, and the engagement it belongs to."""

    kind: Literal["engagement", "turn"]
    session_id: str
    round: int
    at: str | None
    name: str | None
    agent: str | None
    """The persona, where it has a name."""
    program: str | None = None
    """The coding agent that held the conversation, by its command: ``codex``."""
    project: str | None
    branch: str | None = None
    model: str | None = None
    engagement: Engagement | None = None
    starred: bool = False
    """Whether a person marked the engagement, or its session, with a star."""
    hidden: bool = False
    """Whether a person hid the engagement, or its session."""
    snippet: Snippet = Snippet("")
    side: str | None = None
    """Where the snippet is from: ``asked`` or ``answered`` by somebody; a label, ``topic``,
    ``outcome``, ``decision``, ``title``, ``note``, ``summary``, ``method``, ``phase``,
    ``project``, ``agent``, ``role`` or ``name``, which nobody said; or what was done:
    ``command``, ``output``, ``error``, ``edit``, ``file``, ``thinking``, ``subagent``,
    ``notice``."""
    block: int | None = None
    """The block of the round it is in, where that is known (`show 3a4d#12.7`)."""
    window: float | None = None
    """Of a round: how full the model's window was at its fullest, in percent, where known."""
    score: float = 0.0
    row: int = 0
    resumable: bool = False
    resume: str | None = None
    """What to type to go on with the session, where its transcript is still there."""
    restore: str | None = None
    """What to type to have a transcript again, where it is gone and the session is archived."""
    document: str | None = None
    """Its document, where it is archived."""
    is_label: bool = False
    """Whether a title or an engagement was found, rather than what was said or done."""
    thread: str | None = None
    """The piece of work over several sessions that its engagement belongs to."""
    copies: tuple[str, ...] = ()
    """Other sessions that have the same words: forks, and copies made on resume."""
    person: str | None = None
    """Whose session it is, in a team's archive."""


_LABELS = {
    ("engagement", "asked"): "topic",
    ("engagement", "answered"): "outcome",
    ("title", "asked"): "title",
}


def told(
    archive: Archive,
    hit: Hit,
    item: Ranked,
    query: Query,
    side: Side,
    surfaces: Collection[Surface] = SURFACES,
) -> Hit:
    """A hit with why it was found, and where to read it; without secrets."""
    entry = item.entry
    shown = _of_work(archive, hit, query, surfaces) if item.done else None
    if entry.kind == "engagement":
        shown = _of_labels(archive, hit, query, side)
        entry = msgspec.structs.replace(entry, rest="")  # fields, which are no sentence
    if shown is None:
        shown = snippet(entry, query, side, item.passage, archive.hide)
        if entry.kind == "engagement" and hit.engagement is not None:
            shown = _beginning(archive, hit.engagement, shown)
    found = archive.ledger().sessions.get(hit.session_id)
    document = None
    if found is not None and archive.remote is None:
        document = archive.layout.document(found.agent_id, hit.session_id)
    line = msgspec.structs.replace(
        resumed(archive, hit),
        snippet=Snippet(""),
        side=_LABELS.get((entry.kind, shown.side), shown.side),
        block=shown.block if entry.kind == "turn" else None,
        window=entry.budget / 10 if entry.kind == "turn" and entry.budget >= 0 else None,
        document=str(document) if document else None,
    )
    return msgspec.structs.replace(hidden(line, archive.hide), snippet=shown.snippet)


def _of_labels(archive: Archive, hit: Hit, query: Query, side: Side) -> Shown | None:
    """Which field of an engagement has most of the words; without secrets."""
    engagement = hit.engagement
    record = archive.minutes.records().get(hit.session_id)
    if engagement is None or record is None or side == "asked":
        return None
    fields = [
        *([("topic", engagement.topic)] if side == "both" else []),
        *(*_came_to(engagement), ("note", engagement.note), ("note", record.note)),
        *(("summary", record.session_summary), ("project", engagement.project)),
        *(("agent", record.agent_name), ("role", record.agent_role), ("name", record.slug)),
        *(("method", engagement.method), ("phase", engagement.phase)),
    ]
    return snippet_of_labels(((label, archive.hide(text)) for label, text in fields if text), query)


def _came_to(engagement: Engagement) -> list[tuple[str, str]]:
    """What came of an engagement, by label."""
    decisions = (("decision", text) for text in engagement.key_decisions)
    return [("outcome", engagement.outcome), *decisions]


def _beginning(archive: Archive, engagement: Engagement, shown: Shown) -> Shown:
    """A passage of what came of an engagement, as far as its first label goes."""
    if shown.side != "answered":
        return shown
    passage = shown.snippet.text
    for label, text in _came_to(engagement):
        line = " ".join(archive.hide(text).split())
        if line and (passage.startswith(line) or line.startswith(passage)):
            return Shown(Snippet(line[: len(passage)]), label)
    return shown


def _of_work(
    archive: Archive, hit: Hit, query: Query, surfaces: Collection[Surface]
) -> Shown | None:
    """Where in a round something was done; its texts are read again, without secrets."""
    if query.is_empty and not (query.filters.command or query.filters.error):
        return None  # a list of rounds, whatever was done in them
    if query.is_empty:  # a list of what ran, or failed
        listed: Surface = "commands" if query.filters.command else "errors"
        surfaces = (listed,)
    try:
        work = (piece for piece in _work(archive, hit) if piece.surface in surfaces)
        return snippet_of_work(work, query)
    except (MinutebookError, OSError):
        return None  # lost since it was indexed


def _work(archive: Archive, hit: Hit) -> Iterator[Piece]:
    session = archive.open(hit.session_id)
    round = session.round(hit.round)
    yield from surfaces_of(round)
    for at, block in enumerate(round.blocks, 1):
        if isinstance(block, ToolCall) and block.agent and archive.remote is None:
            yield from surfaces_of_agent(session.subagent(block.agent), at)
    if archive.remote is not None:
        callers = [
            at for at, b in enumerate(round.blocks, 1) if isinstance(b, ToolCall) and b.agent
        ]
        for text in archive.remote.said_by_agents(hit.session_id, hit.round):
            yield Piece(callers[0] if callers else 1, "subagents", text, "subagent")


def resumed(archive: Archive, hit: Hit) -> Hit:
    """A hit with whose session it is, and the command that goes on with it."""
    if archive.remote is not None:
        hit = msgspec.structs.replace(hit, person=person_of(archive, hit.session_id))
    transcript = archive.transcript(hit.session_id) if hit.resumable else None
    if transcript is None:
        archived = archive.remote is None and hit.session_id in archive.ledger().sessions
        again = f"minutebook export-claude {archive.short(hit.session_id)}" if archived else None
        return msgspec.structs.replace(hit, restore=again)
    command = SOURCES[transcript.source].resume_command(hit.session_id, None)
    return msgspec.structs.replace(hit, resume=command)


def iso(at: int) -> str | None:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) if at else None
