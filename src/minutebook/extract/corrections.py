"""A person's corrections, laid over what an extractor said (ING-33)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from minutebook.derive.activity import Activity
from minutebook.extract.records import free_id, with_facts
from minutebook.extract.validation import one_line
from minutebook.model.engagement import (
    METHODS,
    MOST_DECISIONS,
    PHASES,
    Correction,
    Engagement,
    SessionRecord,
)

FIELDS = ("topic", "project", "method", "phase", "outcome", "key_decisions", "turn_range")


def corrected(
    record: SessionRecord, corrections: Iterable[Correction], rounds: Sequence[Activity]
) -> SessionRecord:
    """A record with the corrections of its session applied, in the order they were made."""
    engagements = list(record.engagements)
    names: dict[str, None] = {}
    for correction in corrections:
        place = find_engagement(engagements, correction)
        if place is None:
            continue
        before = engagements[place]
        after = _set(before, correction, record.rounds)
        if after is None:
            continue
        names[f"{after.id}.{correction.field}"] = None
        engagements[place] = after
        if correction.field == "turn_range":
            engagements = _fitted(engagements, place, before, rounds)
    return msgspec.structs.replace(record, engagements=tuple(engagements), corrected=tuple(names))


def find_engagement(engagements: Sequence[Engagement], correction: Correction) -> int | None:
    """Position of the engagement a correction is about: by id, else by what it covers most."""
    for place, engagement in enumerate(engagements):
        if engagement.id == correction.engagement_id:
            return place
    shared = [_overlap(engagement.turn_range, correction.turn_range) for engagement in engagements]
    best = max(shared, default=0)
    return shared.index(best) if best > 0 else None


def _set(engagement: Engagement, correction: Correction, rounds: int) -> Engagement | None:
    """The engagement with one field set; None where the value makes no sense.

    It was checked when it was typed, but the file may have been edited by hand.
    """
    field, value = correction.field, correction.value
    if field == "turn_range":
        match value:
            case (int(first), int(last)) if 1 <= first <= last <= rounds:
                return msgspec.structs.replace(engagement, turn_range=(first, last), parts=())
        return None
    if field == "key_decisions":
        if isinstance(value, str):
            return None
        said = tuple(one_line(str(decision)) for decision in value[:MOST_DECISIONS])
        return msgspec.structs.replace(engagement, key_decisions=said)
    allowed = {"method": METHODS, "phase": PHASES}.get(field)
    if field not in FIELDS or not isinstance(value, str) or (allowed and value not in allowed):
        return None
    return msgspec.structs.replace(engagement, **{field: one_line(value)})


def _fitted(
    engagements: list[Engagement], place: int, before: Engagement, rounds: Sequence[Activity]
) -> list[Engagement]:
    """Every round stays in an engagement when one range was set by hand.

    Others make room. What the engagement gave up goes to its neighbour there; where there
    is none (the session has grown, or it was moved away), it stays one of its own.
    """
    chosen = engagements[place]
    others = [e for index, e in enumerate(engagements) if index != place]
    kept = [chosen]
    taken = {engagement.id for engagement in engagements}
    for other in others:
        for number, part in enumerate(_without(other.turn_range, chosen.turn_range)):
            id = other.id if number == 0 else free_id(other.id, taken)
            taken.add(id)
            kept.append(msgspec.structs.replace(other, id=id, turn_range=part))
    for part in _without(before.turn_range, chosen.turn_range):
        neighbour = next((e for e in kept if e is not chosen and _touches(e, part, chosen)), None)
        if neighbour is None:
            id = free_id(before.id, taken)
            taken.add(id)
            kept.append(msgspec.structs.replace(before, id=id, turn_range=part))
        else:
            start, end = neighbour.turn_range
            joined = (min(start, part[0]), max(end, part[1]))
            kept[kept.index(neighbour)] = msgspec.structs.replace(neighbour, turn_range=joined)
    ordered = sorted(kept, key=lambda engagement: engagement.turn_range)
    return [with_facts(engagement, rounds) for engagement in ordered] if rounds else ordered


def _touches(engagement: Engagement, part: tuple[int, int], chosen: Engagement) -> bool:
    """Whether an engagement is the neighbour of a part that was given up beside the chosen one."""
    start, end = engagement.turn_range
    first, last = chosen.turn_range
    if part[0] == last + 1:
        return start == part[1] + 1
    if part[1] == first - 1:
        return end == part[0] - 1
    return False


def _without(a: tuple[int, int], b: tuple[int, int]) -> list[tuple[int, int]]:
    """What is left of one range when another is taken out of it."""
    parts = [(a[0], min(a[1], b[0] - 1)), (max(a[0], b[1] + 1), a[1])]
    return [part for part in dict.fromkeys(parts) if part[0] <= part[1]]


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> int:
    return max(0, min(a[1], b[1]) - max(a[0], b[0]) + 1)
