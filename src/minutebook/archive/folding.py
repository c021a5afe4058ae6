"""Copies of one conversation are one hit, the most complete (SRCH-20).

A fork, or a transcript that was copied on resume, holds the same messages, under the same ids or,
as the lineage of sessions tells, under others.
What was said in both is found once; what only one of them has is found there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable
from typing import TYPE_CHECKING

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.passing import hidden_of
from minutebook.derive.genealogy import (
    Pair,
    Place,
    copies_as_one,
    with_copies,
    without_copies,
)
from minutebook.errors import MinutebookError
from minutebook.model.engagement import SessionRecord

if TYPE_CHECKING:
    from minutebook.archive.hit import Hit
    from minutebook.index.engine import Engine
    from minutebook.index.query import Filters


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

    `opened` gives the hit for the same words in another session. Where filters hold, only
    sessions that were found may stand for others (not `anywhere`). Labels are a session's own.
    """
    found = []
    places = [(hit.session_id, hit.round) for hit in hits]
    within = None if anywhere else {id for id, _ in places}
    labels = {at for at, hit in enumerate(hits) if hit.is_label}
    for at, own, others in kept_places(
        archive, engine, places, within, by_session=by_session, fixed=labels
    ):
        hit = hits[at]
        if places[at] != own and (other := opened(hit, own)) is not None:
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
    fixed: Container[int] = (),
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
    return copies_as_one(places, holders, length, by_session=by_session, fixed=fixed)


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
