"""Copies of one conversation are one hit, the most complete (SRCH-20).

A fork, or a transcript that was copied on resume, holds the same messages under the same ids.
What was said in both is found once; what only one of them has is found there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from minutebook.archive.archive import Archive
from minutebook.derive.genealogy import LEAST_ID, Pair, shared_history, without_copies
from minutebook.index.entry import Entry
from minutebook.model.engagement import SessionRecord

if TYPE_CHECKING:
    from minutebook.archive.hit import Hit


def folded(archive: Archive, hits: list[Hit], entries: Mapping[int, Entry]) -> list[Hit]:
    """Hits in their order, each conversation once, with the sessions that also have it."""
    titled = Counter(_title(entries[hit.row]) for hit in hits)
    found: dict[Hashable, list[Hit]] = {}
    taken = _taken(archive, hits)
    for hit in hits:
        entry = entries[hit.row]
        what: Hashable = hit.row
        if hit.row in taken:
            what = taken[hit.row]
        elif entry.kind == "turn" and len(entry.key) >= LEAST_ID:
            what = entry.key
        elif entry.kind != "turn" and titled[_title(entry)] > 1:
            what = (*_title(entry), _family(archive, hit.session_id))
        found.setdefault(what, []).append(hit)
    return [_fullest(archive, same) if len(same) > 1 else same[0] for same in found.values()]


def _taken(archive: Archive, hits: list[Hit]) -> dict[int, Hashable]:
    """Hits in an engagement that one session took from another (`copy_of`): a name for both.

    Where a session has several hits in it, each of them is one.
    """
    records = archive.minutes.records()
    groups: dict[Hashable, list[Hit]] = {}
    for hit in hits:
        if hit.engagement is None:
            continue
        record, origin = records.get(hit.session_id), hit.session_id
        if record is not None and record.copy_of and hit.engagement.turn_range[0] <= record.copied:
            origin = record.copy_of
        what = (hit.engagement.id, hit.engagement.started, origin)
        groups.setdefault(what, []).append(hit)
    return {
        hit.row: what
        for what, same in groups.items()
        if len({hit.session_id for hit in same}) == len(same) > 1
        for hit in same
    }


def once(archive: Archive, pairs: Iterable[Pair]) -> tuple[list[Pair], int]:
    """Engagements without those of copies, and how many those are (UND-08)."""

    def kin(session_id: str) -> set[str]:
        return {link.session_id for link in archive.links(session_id)}

    kept, copies = without_copies(pairs, kin)
    return kept, len(copies)


def archived_once(archive: Archive, records: Iterable[SessionRecord]) -> tuple[list[Pair], int]:
    """The same of all these records have, from the archive alone: transcripts that are not
    archived have no engagements."""
    pairs = [(record, engagement) for record in records for engagement in record.engagements]
    families: dict[str, set[str]] = {}

    def kin(session_id: str) -> set[str]:
        if not families:
            entries = archive.ledger().sessions.items()
            shared = shared_history((id, entry.info.prompt_ids) for id, entry in entries)
            families.update({id: {ln.session_id for ln in links} for id, links in shared.items()})
            families.setdefault("", set())
        return families.get(session_id, set())

    kept, copies = without_copies(pairs, kin)
    return kept, len(copies)


def _title(entry: Entry) -> tuple[str, str]:
    return entry.kind, entry.asked.lower()


def _family(archive: Archive, session_id: str) -> str:
    """A name that sessions with the same messages share."""
    return min([session_id, *(link.session_id for link in archive.links(session_id))])


def _fullest(archive: Archive, same: list[Hit]) -> Hit:
    """The hit of the session that goes on longest; the others are named."""
    chosen = max(same, key=lambda hit: archive.open(hit.session_id).count)
    others = tuple(hit.session_id for hit in same if hit is not chosen)
    return msgspec.structs.replace(chosen, score=same[0].score, copies=others)
