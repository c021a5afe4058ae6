"""Which rounds belong to an engagement, wherever they are."""

from __future__ import annotations

from collections.abc import Collection

from minutebook.archive.archive import Archive
from minutebook.archive.names import nearest
from minutebook.errors import NotFound


def rounds_of_engagement(
    archive: Archive, engagement_id: str, sessions: Collection[str] | None = None
) -> dict[str, list[int]]:
    """Session → numbers of an engagement's rounds; it may go over several sessions."""
    found: dict[str, list[int]] = {}
    known: set[str] = set()
    for session_id, record in archive.minutes.records().items():
        if sessions is not None and session_id not in sessions:
            continue
        known |= {archive.hide(engagement.id) for engagement in record.engagements}
        ranges = [
            r
            for e in record.engagements
            if engagement_id in (e.id, e.prospective)
            for r in e.ranges
        ]
        if ranges and (archive.transcript(session_id) or session_id in archive.ledger().sessions):
            count = archive.open(session_id).count
            found[session_id] = [
                number for first, last in ranges for number in range(first, min(last, count) + 1)
            ]
    for session_id in list(found):
        # The rounds of a copy are in the session it is a copy of (UND-08).
        record = archive.minutes.records()[session_id]
        if record.copy_of in found:
            found[session_id] = [n for n in found[session_id] if n > record.copied]
    found = {id: numbers for id, numbers in found.items() if numbers}
    if not found:
        raise NotFound(
            f"There is no engagement '{engagement_id}'.{nearest(engagement_id, sorted(known))}",
            remedy="engagements",
        )
    return found
