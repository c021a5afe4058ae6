"""Which rounds belong to an engagement: what was extracted, and on top what a person tagged."""

from __future__ import annotations

from minutebook.record.engagements import engagement_ranges
from minutebook.record.layout import Layout
from minutebook.record.tags import read_tags
from minutebook.errors import NotFound
from minutebook.verbs.name_session import nearest

_END = 1 << 30


def rounds_of_engagement(
    layout: Layout, engagement_id: str, sessions: set[str] | None = None
) -> dict[str, list[tuple[int, int]]]:
    """Session → ranges of rounds of an engagement; an engagement may go over several sessions."""
    found: dict[str, list[tuple[int, int]]] = {}
    known: set[str] = set()
    for session_id, ranges in _ranges(layout).items():
        if sessions is not None and session_id not in sessions:
            continue
        known |= {id for _, _, id in ranges}
        own = [(first, last) for first, last, id in ranges if id == engagement_id]
        if own:
            found[session_id] = own
    if not found:
        raise NotFound(
            f"There is no engagement '{engagement_id}'.{nearest(engagement_id, sorted(known))} "
            "`minutebook search --in engagements --json` has their ids."
        )
    return found


def _ranges(layout: Layout) -> dict[str, list[tuple[int, int, str]]]:
    """First round, last round and engagement, of every session; the person's tags win."""
    found = {id: list(ranges) for id, ranges in engagement_ranges(layout).items()}
    for tag in read_tags(layout):
        last = tag.last if tag.last is not None else _END
        kept: list[tuple[int, int, str]] = []
        for first, end, id in found.get(tag.session_id, []):
            if first < tag.first:
                kept.append((first, min(end, tag.first - 1), id))
            if end > last:
                kept.append((max(first, last + 1), end, id))
        if tag.engagement_id is not None:
            kept.append((tag.first, last, tag.engagement_id))
        found[tag.session_id] = sorted(kept)
    return found


def numbers(ranges: list[tuple[int, int]], count: int) -> list[int]:
    """The rounds of some ranges that a session of so many rounds has."""
    return [n for first, last in ranges for n in range(first, min(last, count) + 1)]
