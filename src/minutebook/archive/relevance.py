"""Rounds that are about the same: as another round, or as a query that wants a context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.finding import bring_up_to_date, hit_of, present
from minutebook.archive.hit import Hit, told
from minutebook.derive.genealogy import LEAST_ID
from minutebook.errors import NotFound
from minutebook.index.engine import Engine, Mode, Scope
from minutebook.index.entry import Entry
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
    engine = Engine(archive.layout.search_database, archive.layout.search)
    if ready is not None:
        ready(engine)
    entry = engine.entry(session_id, round)
    if entry is None or not (entry.asked or entry.answered):
        raise NotFound(f"Session {session_id[:8]} has no round {round} with words in it.")
    records, there = archive.minutes.records(), present(archive)
    found: dict[str, Hit] = {}
    least = embedder().related  # below that, everything is like everything
    for item in engine.like(entry, embedder):
        if item.score < least:
            break
        if item.entry.kind == "turn" and not _is_same(item.entry, entry):
            hit = hit_of(item, records, Query(), there)
            if hit is not None and hit.session_id not in found and len(found) < limit:
                found[hit.session_id] = told(archive, hit, item, Query(), "both")
    return list(found.values())


def _is_same(one: Entry, other: Entry) -> bool:
    """Rounds of one session, or copies of one round in two."""
    is_copied = one.key == other.key and len(one.key) >= LEAST_ID
    return one.session_id == other.session_id or is_copied


class Relevant(msgspec.Struct, frozen=True):
    """A round that is about a query."""

    session_id: str
    round: int
    score: float = 0.0
    """Only good for comparing: what speaks for the round and for its session."""
    passage: int | None = None
    """Its passage that is most like the query (`passages_of`), where meanings were compared."""


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
    engine = Engine(archive.layout.search_database, archive.layout.search)
    if ready is not None:
        ready(engine)
    within = tuple(sorted(sessions)) if sessions else None
    mode: Mode = "hybrid" if embedder is not None else "lexical"
    rounds, whole = (
        engine.search(
            query, mode=mode, scope=scope, embedder=embedder, depth=most, by_session=by_session
        )
        for scope, by_session in (
            (Scope(("turn",), within, surfaces=()), False),
            (Scope((), within, surfaces=()), True),
        )
    )
    scores: dict[str, float] = {}
    for item in whole:
        scores.setdefault(item.entry.session_id, item.score)
    least = min(scores.values(), default=0.0)
    found: dict[object, Relevant] = {}
    for item in rounds:
        entry = item.entry
        score = item.score + scores.get(entry.session_id, least)
        relevant = Relevant(entry.session_id, entry.round, score, item.passage)
        is_copied = within is None and len(entry.key) >= LEAST_ID
        what = entry.key if is_copied else (entry.session_id, entry.round)
        if what not in found or found[what].score < score:
            found[what] = relevant
    return sorted(found.values(), key=lambda item: -item.score)[:most]
