"""Copies of one conversation are one hit, the most complete (SRCH-20).

A fork, or a transcript that was copied on resume, holds the same messages, under the same ids or,
as the lineage of sessions tells, under others.
What was said in both is found once; what only one of them has is found there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.passing import hidden_of
from minutebook.derive.genealogy import (
    Pair,
    Place,
    copies_as_one,
    is_one,
    with_copies,
    without_copies,
)
from minutebook.errors import MinutebookError
from minutebook.model.engagement import SessionRecord

if TYPE_CHECKING:
    from minutebook.archive.hit import Hit
    from minutebook.index.engine import Engine, Ranked
    from minutebook.index.query import Filters, Query


def folded(
    archive: Archive,
    engine: Engine,
    hits: list[Hit],
    opened: Callable[[Hit, Place], Hit | None],
    *,
    by_session: bool = True,
    anywhere: bool = True,
) -> list[Hit]:
    """Hits in their order, each conversation once, with the sessions that also have it.

    `opened` gives the hit for the same words in another session, or for the same label, where
    that has it. Where filters hold, only sessions that were found may stand for others (not
    `anywhere`).
    """
    found = []
    places = [(hit.session_id, hit.round) for hit in hits]
    within = None if anywhere else {id for id, _ in places}

    @cache
    def elsewhere(at: int, place: Place) -> Hit | None:
        return opened(hits[at], place)

    def fits(at: int, place: Place) -> bool:
        return not hits[at].is_label or elsewhere(at, place) is not None

    for at, own, others in kept_places(
        archive, engine, places, within, by_session=by_session, fits=fits
    ):
        hit = hits[at]
        if places[at] != own and (other := elsewhere(at, own)) is not None:
            hit = other
        elif places[at] != own:
            others = tuple(id for id in (own[0], *others) if id != hit.session_id)
        found.append(msgspec.structs.replace(hit, copies=others) if others else hit)
    return found


def kept_places(
    archive: Archive,
    engine: Engine,
    places: list[Place],
    within: Collection[str] | None = None,
    *,
    by_session: bool,
    fits: Callable[[int, Place], bool] = lambda _at, _place: True,
) -> list[tuple[int, Place, tuple[str, ...]]]:
    """Rounds without copies of them: which of some, where they are best read, who else has them."""

    def length(session_id: str) -> int:
        if within is not None and session_id not in within:
            return -1
        try:
            return archive.open(session_id).count
        except MinutebookError:
            return -1  # gone since the index was made

    from minutebook.archive.lineage import ties

    holders = with_copies(engine.holders(places), places, ties(archive))
    return copies_as_one(places, holders, length, by_session=by_session, fits=fits)


def same_label(
    engine: Engine,
    records: Mapping[str, SessionRecord],
    query: Query,
    hit: Hit,
    place: Place,
) -> Ranked | None:
    """The label of a hit in a copy: its title, or the same engagement at a place there; None where
    the copy's has not all words of the query that the hit's has."""
    from minutebook.index.entry import TITLE
    from minutebook.index.snippet import words_in

    session_id, round = place
    key = TITLE
    if hit.kind == "engagement":
        record = records.get(session_id)
        here = [e for e in record.engagements if e.covers(round)] if record is not None else []
        if hit.engagement is None or not here or not is_one(hit.engagement, here[0]):
            return None
        key = f"engagement:{here[0].id}"
    both = engine.beside(hit.row, session_id, key)
    if both is None:
        return None
    own, other = both
    told, there = (words_in(f"{e.asked}\n{e.full}", query) for e in (own, other.entry))
    return other if told <= there else None


def once(archive: Archive, pairs: Iterable[Pair]) -> tuple[list[Pair], int]:
    """Engagements without those of copies, and how many those are (UND-08)."""
    kept, left_out = apart(archive, pairs)
    return kept, len(left_out)


def apart(archive: Archive, pairs: Iterable[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Engagements without those of copies, and those of copies (UND-08).

    A session that is nothing but a copy of another of them is not in the list of sessions, and
    neither are its engagements, however they were cut; unless a person spoke of them, and what
    they said does not hold for the other.
    """
    found: dict[str, set[str]] | None = None

    def kin(session_id: str) -> set[str]:
        nonlocal found
        if found is None:
            from minutebook.archive.lineage import copies  # most runs of `ingest` need none of it

            found = copies(archive)
        return found.get(session_id, set())

    kept, copies = without_copies(pairs, kin)
    records = {record.session_id: record for record, _ in kept}
    stands = archive.mere_copies(records) if len(records) > 1 else {}

    mere = {id for id, best in stands.items() if not _spoken_of(archive, id, best)}
    copies += [pair for pair in kept if pair[0].session_id in mere]
    return [pair for pair in kept if pair[0].session_id not in mere], copies


def _spoken_of(archive: Archive, session_id: str, best: str) -> bool:
    """Whether a person said something of a copy's engagements that its best copy never heard."""
    known = {item.id for item in archive.minutes.heard(best)}
    return any(
        not item.undone and item.id not in known and getattr(item.statement, "engagement", None)
        for item in archive.minutes.said(session_id)
    )


def hidden_once(archive: Archive, records: dict[str, SessionRecord], filters: Filters) -> int:
    """How many engagements a list leaves out because a person hid them; copies count once."""
    found = hidden_of(records, filters)
    return len(found) if filters.copies else len(once(archive, found)[0])


def every(archive: Archive, *, hidden: bool, copies: bool) -> list[Pair]:
    """All engagements in the order of their records; hidden ones and copies if asked for."""
    pairs = [
        (record, engagement)
        for record in archive.records().values()
        for engagement in record.engagements
        if hidden or not (record.hidden or engagement.hidden)
    ]
    return pairs if copies else once(archive, pairs)[0]


def visible(records: Iterable[SessionRecord], *, hidden: bool = False) -> list[Pair]:
    """The engagements of records that a person has not hidden; or those they have."""
    return [
        (record, engagement)
        for record in records
        for engagement in record.engagements
        if (record.hidden or engagement.hidden) == hidden
    ]


def stands_for(archive: Archive, session_id: str) -> str | None:
    """The session that this one is nothing but a copy of (UND-08)."""
    return archive.mere_copies(archive.ids()).get(session_id)
