"""Rounds that are about the same: as another round, or as a query that wants a context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.finding import bring_up_to_date, hit_of, present
from minutebook.archive.folding import kept_places
from minutebook.archive.hit import Hit, told
from minutebook.archive.passing import scope_of
from minutebook.archive.projects import of_project
from minutebook.archive.remote import engine_of
from minutebook.errors import NotFound
from minutebook.index.engine import Engine, Mode, Ranked, Scope
from minutebook.index.query import Query

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder


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
    engine = engine_of(archive)
    if ready is not None:
        ready(engine)
    asked = engine.turn(session_id, round)
    if asked is None or not (asked.entry.asked or asked.entry.answered):
        raise NotFound(
            f"Session {archive.short(session_id)} has no round {round} with words in it."
        )
    records, there = archive.minutes.records(), present(archive)
    least = embedder().related  # below that, everything is like everything
    near = [i for i in engine.like(asked.entry, embedder) if i.score >= least]
    holders = engine.holders([(item.entry.session_id, item.entry.round) for item in near])
    found: dict[str, tuple[Hit, Ranked]] = {}
    for item in near:
        entry = item.entry
        places = holders.get((entry.session_id, entry.round), ())
        if entry.kind != "turn" or any(id == session_id for id, _ in places):
            continue  # this session's own round, in a copy of it
        hit = hit_of(item, records, Query(), there)
        if hit is not None:
            found.setdefault(hit.session_id, (hit, item))
    hits = list(found.values())
    kept = kept_places(
        archive, engine, [(hit.session_id, hit.round) for hit, _ in hits], by_session=True
    )
    return [told(archive, *hits[at], Query(), "both") for at, _, _ in kept[:limit]]


class Relevant(msgspec.Struct, frozen=True):
    """A round that is about a query."""

    session_id: str
    round: int
    score: float = 0.0
    """Only good for comparing: what speaks for the round and for its session."""
    passage: int | None = None
    """Its passage that is most like the query (`passages_of`), where meanings were compared."""
    printed: bool = False
    """Whether tools did what was typed, and nobody said it."""


def relevant_rounds(
    archive: Archive,
    query: Query,
    sessions: Sequence[str],
    *,
    embedder: Callable[[], Embedder] | None = None,
    ready: Callable[[Engine], int] | None = None,
    most: int = 200,
) -> list[Relevant]:
    """Rounds that are about a query, best first: of some sessions, or of all.

    What speaks for a round and what speaks for its session as a whole count the same: words of
    a query are often spread over several rounds of the session that is meant. A round that
    copies of a conversation share comes once, unless sessions are named.
    """
    bring_up_to_date(archive)
    query = msgspec.structs.replace(query, filters=of_project(archive, query.filters))
    engine = engine_of(archive)
    if ready is not None:
        ready(engine)
    within = tuple(sorted(sessions)) if sessions else None
    mode: Mode = "hybrid" if embedder is not None else "lexical"
    allowed = scope_of(archive.minutes.records(), query.filters, frozenset({"all"}))
    if allowed is None:
        return []
    if within is not None and allowed.sessions is not None:
        within = tuple(sorted({*within} & {*allowed.sessions}))
    within = within if within is not None else allowed.sessions

    def found_by(scope: Scope, by_session: bool) -> list[Ranked]:
        return engine.search(
            query, mode=mode, scope=scope, embedder=embedder, depth=most, by_session=by_session
        )

    rounds = found_by(Scope(("turn",), within, surfaces=()), False)
    whole = found_by(Scope((), within, surfaces=()), True)
    scores: dict[str, float] = {}
    for item in whole:
        scores.setdefault(item.entry.session_id, item.score)
    least = min(scores.values(), default=0.0)
    found = [
        Relevant(e.session_id, e.round, item.score + scores.get(e.session_id, least), item.passage)
        for item in rounds
        for e in (item.entry,)
    ]
    if not any(item.whole for item in rounds):
        found += _printed(found_by(Scope((), within, said=False), False), found)
    found.sort(key=lambda item: -item.score)
    return found[:most] if sessions else _without_copies(archive, engine, found)[:most]


def _printed(items: Sequence[Ranked], said: Sequence[Relevant]) -> Iterator[Relevant]:
    """Rounds in which tools did what nobody said: a line of a log, word by word."""
    best = max((item.score for item in said), default=1.0)
    for item in items:
        if item.typed:
            entry = item.entry
            yield Relevant(entry.session_id, entry.round, best + 1 + item.score, printed=True)


def _without_copies(archive: Archive, engine: Engine, found: Sequence[Relevant]) -> list[Relevant]:
    """Each round once, in the longest of the sessions that have it."""
    places = [(item.session_id, item.round) for item in found]
    return [
        msgspec.structs.replace(found[at], session_id=own[0], round=own[1])
        for at, own, _ in kept_places(archive, engine, places, by_session=False)
    ]
