"""A person's corrections, laid over what an extractor said (ING-33)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from minutebook.derive.activity import Activity
from minutebook.extract.records import with_facts
from minutebook.model.engagement import Correction, Engagement, SessionRecord

FIELDS = ("topic", "project", "method", "phase", "outcome", "key_decisions", "turn_range")


def corrected(
    record: SessionRecord, corrections: Iterable[Correction], rounds: Sequence[Activity]
) -> SessionRecord:
    """A record with the corrections of its session applied, in the order they were made."""
    engagements = list(record.engagements)
    names: dict[str, None] = {}
    for correction in corrections:
        place = find_engagement(engagements, correction)
        if place is None or correction.field not in FIELDS:
            continue
        engagement = _set(engagements[place], correction)
        engagements[place] = engagement
        names[f"{engagement.id}.{correction.field}"] = None
        if correction.field == "turn_range":
            engagements = _fitted(engagements, place, rounds)
    return msgspec.structs.replace(record, engagements=tuple(engagements), corrected=tuple(names))


def find_engagement(engagements: Sequence[Engagement], correction: Correction) -> int | None:
    """Position of the engagement a correction is about: by id, else by what it covers most."""
    for place, engagement in enumerate(engagements):
        if engagement.id == correction.engagement_id:
            return place
    shared = [_overlap(engagement.turn_range, correction.turn_range) for engagement in engagements]
    best = max(shared, default=0)
    return shared.index(best) if best > 0 else None


def _set(engagement: Engagement, correction: Correction) -> Engagement:
    changes = {correction.field: correction.value}
    # The value was checked when it was typed; a file edited by hand is checked here.
    raw = msgspec.to_builtins(msgspec.structs.replace(engagement, **changes))
    try:
        return msgspec.convert(raw, Engagement)
    except msgspec.ValidationError:
        return engagement


def _fitted(
    engagements: list[Engagement], place: int, rounds: Sequence[Activity]
) -> list[Engagement]:
    """The others make room for the one whose range was set; one left without rounds goes."""
    chosen = engagements[place]
    first, last = chosen.turn_range
    kept: list[Engagement] = []
    for other in engagements:
        start, end = other.turn_range
        if other is not chosen and _overlap((start, end), (first, last)):
            if start < first:
                end = first - 1
            else:
                start = last + 1
            if start > end:
                continue
            other = msgspec.structs.replace(other, turn_range=(start, end))
        kept.append(with_facts(other, rounds) if rounds else other)
    return sorted(kept, key=lambda engagement: engagement.turn_range)


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> int:
    return max(0, min(a[1], b[1]) - max(a[0], b[0]) + 1)
