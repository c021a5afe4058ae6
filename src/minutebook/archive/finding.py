"""Find engagements and turns: "when did I work on X", "what was concluded about Y"."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.facets import EVERYTHING, Counts, Narrowing, narrowed
from minutebook.archive.folding import folded, hidden_once, once, same_label
from minutebook.archive.hit import Hit, iso, resumed, told
from minutebook.archive.masking import hidden
from minutebook.archive.passing import (
    ghosts_of,
    is_hidden,
    is_starred,
    matching,
    parse_where,
    scope_of,
    suits,
)
from minutebook.archive.projects import of_project
from minutebook.archive.refreshing import Refreshed, refresh
from minutebook.archive.remote import engine_of
from minutebook.errors import BadArgument, Locked, MinutebookError
from minutebook.index import database as db
from minutebook.index.clauses import Side
from minutebook.index.engine import Engine, Mode, Ranked, Results, Scope
from minutebook.index.entry import Entry, seconds
from minutebook.index.query import Filters, Query
from minutebook.index.snippet import Snippet
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.record.layout import Layout
from minutebook.sources.registry import SOURCES

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder

Sort = Literal["relevance", "date"]
_NEAR = 800  # passages that are compared
_PATIENCE = 120.0  # seconds to wait for an index that somebody else makes for the first time
_MOMENT = 1.0  # seconds to wait for another process that brings the index up to date


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    hits: list[Hit] = []
    total: int = 0
    """How many there are in all, of which `hits` is a page."""
    whole: int = 0
    """The same before the answer was narrowed."""
    facets: Counts = {}
    """How many hits each value of a facet has."""
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
    copies_hidden: int = 0
    """Engagements of copied conversations that a list leaves out."""
    hidden: int = 0
    """Engagements that a list leaves out because a person hid them."""
    busy: bool = False
    """Whether the index could not be brought up to date: another process is at it, or the
    archive can only be read."""


def _one_of(what: str, word: str, choices: tuple[str, ...]) -> None:
    """Refuse what a program misspelt; a front end has done so before."""
    if word not in choices:
        raise BadArgument(f"'{word}' is not a {what}: choose one of {', '.join(choices)}.")


def search(
    archive: Archive,
    query: Query,
    *,
    where: str = "all",
    side: Side = "both",
    mode: Mode = "hybrid",
    limit: int = 10,
    offset: int = 0,
    sort: Sort = "relevance",
    fresh: bool = True,
    embedder: Callable[[], Embedder] | None = None,
    ready: Callable[[Engine], int] | None = None,
    narrowing: Narrowing = EVERYTHING,
) -> Answer:
    """Answer a query; the index is brought up to date first, which is cheap.

    `ready` embeds what is missing, and says how much still is. Without words, what passes the
    filters is listed, the newest first. `narrowing` chooses among what was found.
    """
    _one_of("mode", mode, get_args(Mode))
    _one_of("sort", sort, get_args(Sort))
    page = slice(offset, offset + limit)
    query = msgspec.structs.replace(query, filters=of_project(archive, query.filters))
    refreshed, busy = bring_up_to_date(archive) if fresh else (None, False)
    at = fresh_at(archive.layout) if archive.remote is None else None
    answer = Answer(query=query, mode=mode, refreshed=refreshed, fresh_at=at, busy=busy)
    records = archive.minutes.records()
    there = present(archive)
    places = parse_where(where)
    if query.is_empty and not query.filters.of_rounds:
        if places - {"engagements", "all"}:
            raise BadArgument(
                f"Without words, only engagements can be listed, not {where}.",
                remedy="where",
                where=where,
            )
        return _list(archive, answer, there, page, narrowing)
    engine = engine_of(archive)
    waiting = ready(engine) if ready is not None and mode != "lexical" else 0
    scope = scope_of(records, query.filters, places)
    results = Results([])
    if scope is not None:
        results = _looked_up(engine, query, scope, mode, side, sort, embedder)
    ranked = results.ranked
    found = [hit for item in ranked if (hit := hit_of(item, records, query, there)) is not None]
    items = {item.row: item for item in ranked}
    if not query.is_empty:  # else each round is a hit of its own
        found = _ordered(found, places, query, {row for row, item in items.items() if item.whole})

    def opened(hit: Hit, place: tuple[str, int]) -> Hit | None:
        """The same words, or the same label, in another session."""
        first = items[hit.row]
        if hit.is_label:
            item = same_label(engine, records, query, hit, place)
        else:
            item = engine.turn(*place)
        if item is None:
            return None
        item = msgspec.structs.replace(item, score=hit.score, done=first.done, typed=first.typed)
        items[item.row] = item
        return hit_of(item, records, query, there)

    hits = folded(
        archive,
        engine,
        found,
        opened,
        by_session=not query.is_empty,
        anywhere=query.filters == Filters(),
    )
    if sort == "date":
        hits.sort(key=_newest, reverse=True)
    whole = len(hits)
    hits, facets = narrowed(hits, narrowing)
    full = engine.filled([items[hit.row] for hit in hits[page]])
    return msgspec.structs.replace(
        answer,
        hits=[
            told(archive, hit, full[hit.row], query, side, scope.surfaces if scope else ())
            for hit in hits[page]
            if hit.row in full
        ],
        total=len(hits),
        whole=whole,
        facets=facets,
        capped=results.capped,
        waiting=waiting,
    )


def _looked_up(
    engine: Engine,
    query: Query,
    scope: Scope,
    mode: Mode,
    side: Side,
    sort: Sort,
    embedder: Callable[[], Embedder] | None,
) -> Results:
    """What the index has: a list, all that has every word by date, or the best."""
    if not scope.said and (side != "both" or mode == "semantic"):
        raise BadArgument(
            "What tools did is found by words only, and has no sides: leave out the mode and the "
            "side, or search turns, too."
        )
    if query.is_empty:
        return engine.listed(query, scope)
    if sort == "date" and mode != "semantic":
        newest = engine.newest(query, side, scope)
        if newest.ranked:
            return newest
    return engine.results(
        query,
        mode=mode,
        side=side,
        scope=scope,
        embedder=embedder,
        depth=engine.depth,
        near=_NEAR,
    )


def _newest(hit: Hit) -> tuple[int, str, int]:
    return seconds(hit.at), hit.session_id, hit.round


def present(archive: Archive) -> set[str]:
    """Sessions whose transcripts are still there."""
    return {transcript.session_id for transcript in archive.library.transcripts}


def bring_up_to_date(archive: Archive) -> tuple[Refreshed | None, bool]:
    """Bring the index up to date, or use the old one where it cannot be written.

    The archive may be read-only, or another process may be writing the index: that is waited for
    a moment, so that what was just said is found beside a server, and for longer where there is
    no index yet. A read-only archive without one gets it in a temporary folder, for as long as
    it is open (ARC-09).
    """
    if archive.remote is not None:
        return None, False  # whoever pushes keeps it up to date
    began = time.monotonic()
    while True:
        try:
            return refresh(archive), False
        except (Locked, OSError) as error:
            waited = time.monotonic() - began
            if isinstance(error, Locked) and waited < _MOMENT:
                time.sleep(0.05)
            elif _is_whole(archive):
                return None, True
            elif isinstance(error, Locked) and waited < _PATIENCE:
                time.sleep(0.1)
            elif isinstance(error, Locked) or os.access(archive.root, os.W_OK):
                raise
            else:
                archive.layout.search_aside()


def _is_whole(archive: Archive) -> bool:
    """Whether there is an index that can be searched."""
    try:
        engine_of(archive)
    except (MinutebookError, OSError):
        return False
    return True


def fresh_at(layout: Layout) -> float | None:
    if not layout.search_database.exists():
        return None
    with db.open_search(layout.search_database, readonly=True) as connection:
        known = db.fact(connection, "refreshed")
    return float(known) if known else None


# -- lists


def _list(
    archive: Archive, answer: Answer, there: set[str], page: slice, narrowing: Narrowing
) -> Answer:
    """An answer without words: engagements, and what is left out of their list."""
    filters, records = answer.query.filters, archive.minutes.records()
    if filters.tools is not None:
        raise BadArgument(
            "A filter about rounds, such as tool calls, needs words: say what to look for.",
            remedy="has-tools",
        )
    every, ghosts, copies = _listed(archive, records, filters, there)
    hits, facets = narrowed(every, narrowing)
    return msgspec.structs.replace(
        answer,
        hits=[hidden(resumed(archive, hit), archive.hide) for hit in hits[page]],
        total=len(hits),
        whole=len(every),
        facets=facets,
        ghosts_hidden=ghosts,
        copies_hidden=copies,
        hidden=hidden_once(archive, records, filters),
    )


def _listed(
    archive: Archive, records: dict[str, SessionRecord], filters: Filters, there: set[str]
) -> tuple[list[Hit], int, int]:
    """Engagements without a query: all that pass, newest first (SRCH-11)."""
    pairs, copies = list(matching(records, filters)), 0
    if not filters.copies:
        pairs, copies = once(archive, pairs)
    hits = [_engagement_hit(record, engagement, there) for record, engagement in pairs]
    ghosts = ghosts_of(records, filters)
    if filters.ghosts:
        hits += [_ghost_hit(record) for record in ghosts]
    newest = sorted(hits, key=_newest, reverse=True)
    return newest, 0 if filters.ghosts else len(ghosts), copies


# -- hits


def hit_of(
    item: Ranked,
    records: dict[str, SessionRecord],
    query: Query,
    there: set[str],
) -> Hit | None:
    entry = item.entry
    record = records.get(entry.session_id)
    engagement = _engagement_of(entry, record)
    if not suits(record, engagement, query.filters):
        return None
    at = engagement.started if entry.kind == "engagement" and engagement else None
    return Hit(
        kind="engagement" if entry.kind == "engagement" else "turn",
        session_id=entry.session_id,
        round=entry.round,
        at=at or iso(entry.at),
        name=record.called if record else None,
        agent=record.agent_name if record else None,
        program=SOURCES.program_of(record.source) if record else None,
        project=(engagement.project if engagement else None) or entry.project or None,
        branch=entry.branch.partition("\n")[0] or None,
        model=entry.model or None,
        engagement=engagement,
        starred=is_starred(record, engagement),
        hidden=is_hidden(record, engagement),
        score=round(item.score, 6),
        row=item.row,
        is_label=entry.kind != "turn",
        resumable=entry.session_id in there,
    )


def _engagement_of(entry: Entry, record: SessionRecord | None) -> Engagement | None:
    if record is None:
        return None
    id = entry.key.removeprefix("engagement:") if entry.kind == "engagement" else None
    for engagement in record.engagements:
        if engagement.id == id or (id is None and engagement.covers(entry.round)):
            return engagement
    return None


def _ordered(found: list[Hit], where: frozenset[str], query: Query, whole: set[int]) -> list[Hit]:
    """The best hit of each session; engagements that have every word before turns."""
    if where == {"engagements"}:
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
    if "all" not in where:
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


def _engagement_hit(record: SessionRecord, engagement: Engagement, there: set[str]) -> Hit:
    return Hit(
        kind="engagement",
        session_id=record.session_id,
        round=engagement.turn_range[0],
        at=engagement.started or record.started,
        name=record.called,
        agent=record.agent_name,
        program=SOURCES.program_of(record.source),
        project=engagement.project or record.cwd,
        branch=next(iter(record.branches_of(engagement)), None),
        model=record.model,
        engagement=engagement,
        starred=is_starred(record, engagement),
        hidden=is_hidden(record, engagement),
        snippet=Snippet(engagement.outcome),
        resumable=record.session_id in there,
    )


def _ghost_hit(record: SessionRecord) -> Hit:
    return Hit(
        kind="turn",
        session_id=record.session_id,
        round=1,
        at=record.started,
        name=record.called,
        agent=record.agent_name,
        program=SOURCES.program_of(record.source),
        project=record.cwd,
        branch=record.git_branch,
        model=record.model,
        starred=record.starred,
        hidden=record.hidden,
    )
