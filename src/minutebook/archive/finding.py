"""Find engagements and turns: "when did I work on X", "what was concluded about Y"."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.folding import folded
from minutebook.archive.masking import Hide, hidden
from minutebook.archive.refreshing import Refreshed, refresh
from minutebook.errors import BadArgument, Locked, NotFound
from minutebook.index import database as db
from minutebook.index.engine import DEPTH, Engine, Mode, Ranked, Scope
from minutebook.index.entry import Entry, seconds
from minutebook.index.lexical import Side
from minutebook.index.query import Filters, Query
from minutebook.index.snippet import Snippet, snippet
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.record.layout import Layout
from minutebook.sources.registry import SOURCES

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder

In = Literal["engagements", "turns", "all"]
Sort = Literal["relevance", "date"]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """Something found: a session, the round to open, and the engagement it belongs to."""

    kind: Literal["engagement", "turn"]
    session_id: str
    round: int
    at: str | None
    name: str | None
    agent: str | None
    project: str | None
    branch: str | None = None
    model: str | None = None
    engagement: Engagement | None = None
    snippet: Snippet = Snippet("")
    side: str | None = None
    """Where the snippet is from: ``asked`` or ``answered`` by somebody; or a label, ``topic``,
    ``outcome`` or ``title``, which nobody said."""
    score: float = 0.0
    row: int = 0
    resumable: bool = False
    resume: str | None = None
    """What to type to go on with the session, where its transcript is still there."""
    document: str | None = None
    """Its document, where it is archived."""
    copies: tuple[str, ...] = ()
    """Other sessions that have the same words: forks, and copies made on resume."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    hits: list[Hit] = []
    total: int = 0
    """How many there are in all, of which `hits` is a page."""
    capped: bool = False
    """Whether there may be more than `total`: looking stopped there."""
    query: Query
    mode: Mode
    refreshed: Refreshed | None
    """What was brought up to date for this answer; None with ``--no-refresh``."""
    fresh_at: float | None
    """When the index was last compared with the transcripts."""
    waiting: int = 0
    """Entries whose meaning is not known yet."""
    ghosts_hidden: int = 0
    busy: bool = False
    """Whether the index could not be brought up to date: another process is at it, or the
    archive can only be read."""


def search(
    archive: Archive,
    query: Query,
    *,
    where: In = "all",
    side: Side = "both",
    mode: Mode = "hybrid",
    limit: int = 10,
    offset: int = 0,
    sort: Sort = "relevance",
    fresh: bool = True,
    embedder: Callable[[], Embedder] | None = None,
    ready: Callable[[Engine], int] | None = None,
) -> Answer:
    """Answer a query; the index is brought up to date first, which is cheap.

    `ready` embeds what is missing, and says how much still is. Without words, what passes the
    filters is listed, the newest first.
    """
    page = slice(offset, offset + limit)
    layout = archive.layout
    refreshed, busy = bring_up_to_date(archive) if fresh else (None, False)
    answer = Answer(
        query=query, mode=mode, refreshed=refreshed, fresh_at=fresh_at(layout), busy=busy
    )
    records = archive.minutes.records()
    present = _present(archive)
    if query.is_empty:
        if where == "turns":
            raise BadArgument("Say what to look for, or leave out --in turns.")
        if query.filters.tools is not None:
            raise BadArgument("--has-tools is about turns: say what to look for.")
        hits, ghosts = _listed(records, query.filters, present)
        shown = [hidden(_resumed(archive, hit), archive.hide) for hit in hits[page]]
        return msgspec.structs.replace(answer, hits=shown, total=len(hits), ghosts_hidden=ghosts)
    engine = Engine(layout.search_database, layout.search)
    waiting = ready(engine) if ready is not None and mode != "lexical" else 0
    scope = _scope(records, query.filters, where)
    depth = max(DEPTH, page.stop * 4)
    ranked = (
        engine.search(query, mode=mode, side=side, scope=scope, embedder=embedder, depth=depth)
        if scope is not None
        else []
    )
    found = [hit for item in ranked if (hit := _hit(item, records, query, present)) is not None]
    whole = {item.row for item in ranked if item.whole}
    entries = {item.row: item.entry for item in ranked}
    hits = folded(archive, _ordered(found, where, query, whole), entries)
    if sort == "date":
        hits.sort(key=_newest, reverse=True)
    return msgspec.structs.replace(
        answer,
        hits=[_told(archive, hit, entries[hit.row], query, side) for hit in hits[page]],
        total=len(hits),
        capped=len(ranked) >= depth,
        waiting=waiting,
    )


def _newest(hit: Hit) -> tuple[int, str, int]:
    return seconds(hit.at), hit.session_id, hit.round


def _present(archive: Archive) -> set[str]:
    """Sessions whose transcripts are still there."""
    return {transcript.session_id for transcript in archive.library.transcripts}


def bring_up_to_date(archive: Archive) -> tuple[Refreshed | None, bool]:
    """Bring the index up to date, or use the old one where it cannot be written.

    Another process may be writing it, or the archive may be read-only.
    """
    try:
        return refresh(archive), False
    except (Locked, OSError):
        if not archive.layout.search_database.exists():
            raise
        return None, True


_LABELS = {
    ("engagement", "asked"): "topic",
    ("engagement", "answered"): "outcome",
    ("title", "asked"): "title",
}


def _told(archive: Archive, hit: Hit, entry: Entry, query: Query, side: Side) -> Hit:
    """A hit with why it was found, and where to read it; without secrets.

    They are hidden before the line is cut: half a secret would be taken for a word.
    """
    shown, where = snippet(_hidden_entry(entry, archive.hide), query, side)
    found = archive.ledger().sessions.get(hit.session_id)
    document = archive.layout.document(found.agent_id, hit.session_id) if found else None
    told = msgspec.structs.replace(
        _resumed(archive, hit),
        snippet=Snippet(""),
        side=_LABELS.get((entry.kind, where), where),
        document=str(document) if document else None,
    )
    return msgspec.structs.replace(hidden(told, archive.hide), snippet=shown)


def _resumed(archive: Archive, hit: Hit) -> Hit:
    """A hit with the command that goes on with its session."""
    transcript = archive.transcript(hit.session_id) if hit.resumable else None
    if transcript is None:
        return hit
    command = SOURCES[transcript.source].resume_command(hit.session_id, None)
    return msgspec.structs.replace(hit, resume=command)


def _hidden_entry(entry: Entry, by: Hide) -> Entry:
    return msgspec.structs.replace(
        entry, asked=by(entry.asked), answered=by(entry.answered), rest=by(entry.rest)
    )


def fresh_at(layout: Layout) -> float | None:
    if not layout.search_database.exists():
        return None
    with db.open_search(layout.search_database, readonly=True) as connection:
        known = db.fact(connection, "refreshed")
    return float(known) if known else None


# -- filters on engagements


def matching(
    records: dict[str, SessionRecord], filters: Filters
) -> Iterator[tuple[SessionRecord, Engagement]]:
    """Engagements that pass all filters (SRCH-02 … SRCH-08)."""
    for record in records.values():
        if not passes(record, filters):
            continue
        for engagement in record.engagements:
            at = seconds(engagement.started or record.started)
            if filters.method and engagement.method != filters.method:
                continue
            if filters.phase and engagement.phase != filters.phase:
                continue
            if filters.after is not None and at < filters.after:
                continue
            if filters.before is not None and at >= filters.before:
                continue
            if filters.project and not within(filters.project, engagement.project or record.cwd):
                continue
            yield record, engagement


def passes(record: SessionRecord, filters: Filters) -> bool:
    """What can be said of a session as a whole."""
    if filters.agent and not within(
        filters.agent, record.agent_name, record.agent_role, record.slug
    ):
        return False
    if filters.branch and not within(filters.branch, record.git_branch):
        return False
    if filters.model and not within(filters.model, record.model):
        return False
    return not filters.session or record.session_id.startswith(filters.session)


def within(part: str, *texts: str | None) -> bool:
    """Whether one of some texts has a part, in letters of either size."""
    return any(part.lower() in text.lower() for text in texts if text)


def _listed(
    records: dict[str, SessionRecord], filters: Filters, present: set[str]
) -> tuple[list[Hit], int]:
    """Engagements without a query: all that pass, newest first (SRCH-11)."""
    hits = [_engagement_hit(record, e, present) for record, e in matching(records, filters)]
    ghosts = ghosts_of(records, filters)
    if filters.ghosts and not (filters.method or filters.phase or filters.project):
        hits += [_ghost_hit(record) for record in ghosts]
    newest = sorted(hits, key=_newest, reverse=True)
    return newest, 0 if filters.ghosts else len(ghosts)


def ghosts_of(records: dict[str, SessionRecord], filters: Filters) -> list[SessionRecord]:
    """Sessions without engagements, of those that pass what filters can say of a session."""
    return [r for r in records.values() if r.ghost and passes(r, filters) and _in_time(r, filters)]


def _in_time(record: SessionRecord, filters: Filters) -> bool:
    at = seconds(record.started)
    return (filters.after is None or at >= filters.after) and (
        filters.before is None or at < filters.before
    )


def _scope(records: dict[str, SessionRecord], filters: Filters, where: In) -> Scope | None:
    """Where the engine may look; None where nothing can pass."""
    kinds = {"engagements": ("engagement",), "turns": ("turn",), "all": ()}[where]
    if filters.tools is not None:
        if where == "engagements":
            raise BadArgument("--has-tools is about turns: leave --in engagements out.")
        kinds = ("turn",)
    sessions: set[str] | None = None
    if filters.method or filters.phase or filters.agent:
        # Dates and projects are the turns' own affair: an engagement may have begun before.
        own = msgspec.structs.replace(filters, after=None, before=None, project=None)
        sessions = {record.session_id for record, _ in matching(records, own)}
        if not (filters.method or filters.phase):
            sessions |= {id for id, record in records.items() if passes(record, own)}
    if sessions is not None and not sessions:
        return None
    return Scope(kinds, tuple(sorted(sessions)) if sessions is not None else None)


# -- hits


def _hit(
    item: Ranked,
    records: dict[str, SessionRecord],
    query: Query,
    present: set[str],
) -> Hit | None:
    entry = item.entry
    record = records.get(entry.session_id)
    engagement = _engagement_of(entry, record)
    filters = query.filters
    if (filters.method or filters.phase) and (
        engagement is None
        or (filters.method and engagement.method != filters.method)
        or (filters.phase and engagement.phase != filters.phase)
    ):
        return None
    at = engagement.started if entry.kind == "engagement" and engagement else None
    return Hit(
        kind="engagement" if entry.kind == "engagement" else "turn",
        session_id=entry.session_id,
        round=entry.round,
        at=at or iso(entry.at),
        name=(record.agent_name or record.title) if record else None,
        agent=record.agent_name if record else None,
        project=(engagement.project if engagement else None) or entry.project or None,
        branch=entry.branch or None,
        model=entry.model or None,
        engagement=engagement,
        score=round(item.score, 6),
        row=item.row,
        resumable=entry.session_id in present,
    )


def _engagement_of(entry: Entry, record: SessionRecord | None) -> Engagement | None:
    if record is None:
        return None
    id = entry.key.removeprefix("engagement:") if entry.kind == "engagement" else None
    for engagement in record.engagements:
        if engagement.id == id or (id is None and engagement.covers(entry.round)):
            return engagement
    return None


def _ordered(found: list[Hit], where: In, query: Query, whole: set[int]) -> list[Hit]:
    """The best hit of each session; engagements that have every word before turns."""
    if where == "engagements":
        if not any(hit.row in whole for hit in found):
            return found
        found = [hit for hit in found if hit.row in whole]
        unique = {
            (hit.session_id, hit.engagement.id if hit.engagement else ""): hit for hit in found
        }
        return sorted(unique.values(), key=_newest, reverse=True)
    best: dict[str, Hit] = {}
    for hit in found:
        best.setdefault(hit.session_id, hit)
    if where == "turns":
        return list(best.values())
    telling = [word.lower() for word in query.telling]

    def is_about(hit: Hit) -> bool:
        engagement = hit.engagement
        if hit.kind != "engagement" or engagement is None:
            return False
        text = " ".join((engagement.topic, engagement.outcome, *engagement.key_decisions)).lower()
        return all(word in text for word in telling)

    about = [hit for hit in best.values() if is_about(hit)]
    return [*about, *(hit for hit in best.values() if hit not in about)]


def _engagement_hit(record: SessionRecord, engagement: Engagement, present: set[str]) -> Hit:
    return Hit(
        kind="engagement",
        session_id=record.session_id,
        round=engagement.turn_range[0],
        at=engagement.started or record.started,
        name=record.agent_name or record.title,
        agent=record.agent_name,
        project=engagement.project or record.cwd,
        branch=record.git_branch,
        model=record.model,
        engagement=engagement,
        snippet=Snippet(engagement.outcome),
        resumable=record.session_id in present,
    )


def _ghost_hit(record: SessionRecord) -> Hit:
    return Hit(
        kind="turn",
        session_id=record.session_id,
        round=1,
        at=record.started,
        name=record.agent_name or record.title,
        agent=record.agent_name,
        project=record.cwd,
        branch=record.git_branch,
        model=record.model,
    )


def similar(
    archive: Archive,
    session_id: str,
    round: int,
    embedder: Callable[[], Embedder],
    *,
    limit: int = 10,
    ready: Callable[[Engine], int] | None = None,
) -> list[Hit]:
    """Turns of other sessions that are about the same as one."""
    bring_up_to_date(archive)
    engine = Engine(archive.layout.search_database, archive.layout.search)
    if ready is not None:
        ready(engine)
    entry = engine.entry(session_id, round)
    if entry is None:
        raise NotFound(f"Session {session_id[:8]} has no round {round} with words in it.")
    records, present = archive.minutes.records(), _present(archive)
    found: dict[str, Hit] = {}
    for item in engine.like(entry, embedder):
        if item.entry.session_id != session_id and item.entry.kind == "turn":
            hit = _hit(item, records, Query(), present)
            if hit is not None and hit.session_id not in found and len(found) < limit:
                found[hit.session_id] = _told(archive, hit, item.entry, Query(), "both")
    return list(found.values())


def relevant_rounds(
    archive: Archive,
    query: Query,
    sessions: Sequence[str],
    *,
    embedder: Callable[[], Embedder] | None = None,
    ready: Callable[[Engine], int] | None = None,
    most: int = 200,
) -> list[tuple[str, int]]:
    """Rounds that are about a query, best first: of some sessions, or of all."""
    bring_up_to_date(archive)
    engine = Engine(archive.layout.search_database, archive.layout.search)
    if ready is not None:
        ready(engine)
    scope = Scope(("turn",), tuple(sorted(sessions)) if sessions else None)
    mode: Mode = "hybrid" if embedder is not None else "lexical"
    ranked = engine.search(query, mode=mode, scope=scope, embedder=embedder, depth=most)
    return [(item.entry.session_id, item.entry.round) for item in ranked[:most]]


def iso(at: int) -> str | None:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) if at else None
