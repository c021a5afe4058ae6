"""What an engagement covers: the extractor's record, a person's corrections, a person's tags.

One function for everybody (ARC-05). What a person said wins; the later word over the earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from minutebook.derive.activity import Activity
from minutebook.extract.corrections import corrected
from minutebook.extract.records import with_facts
from minutebook.model.engagement import Correction, Engagement, SessionRecord
from minutebook.record.tags import Tag

SUMMARY = "summary"
"""Field of a correction of a session's summary."""
Ranges = list[tuple[int, int, str]]
"""First round, last round and id of engagements."""
Activities = Callable[[], Sequence[Activity]]


def covered(
    record: SessionRecord,
    corrections: Sequence[Correction],
    tags: Sequence[Tag],
    activities: Activities,
) -> SessionRecord:
    """A record with everything a person said of its session."""
    own = [correction for correction in corrections if correction.engagement_id]
    extracted = {engagement.id for engagement in record.engagements}
    made = {tag.engagement_id for tag in tags} - extracted
    record = _corrected(record, [c for c in own if c.engagement_id not in made], activities)
    for correction in corrections:
        if correction.field == SUMMARY and isinstance(correction.value, str):
            record = msgspec.structs.replace(record, session_summary=correction.value)
    if tags:
        record = _tagged(record, tags, activities)
    # What somebody made by a tag is there to be corrected only now, and while the tag holds.
    made &= {engagement.id for engagement in record.engagements}
    return _corrected(record, [c for c in own if c.engagement_id in made], activities)


def _corrected(
    record: SessionRecord, corrections: Sequence[Correction], activities: Activities
) -> SessionRecord:
    if not corrections:
        return record
    moved = any(correction.field == "turn_range" for correction in corrections)
    now = corrected(record, corrections, activities() if moved else ())
    return msgspec.structs.replace(now, corrected=(*record.corrected, *now.corrected))


def ranges_of(record: SessionRecord) -> Ranges:
    """First round, last round and id of what the engagements of a session cover."""
    return [(*part, e.id) for e in record.engagements for part in e.ranges]


def _tagged(record: SessionRecord, tags: Sequence[Tag], activities: Activities) -> SessionRecord:
    before = ranges_of(record)
    ranges, laid = list(before), list[tuple[int, int, str]]()
    for tag in tags:  # the later word wins, and a tag taken off leaves what was found
        last = min(tag.last or record.rounds, record.rounds)
        laid = _overlaid(laid, tag.first, max(last, tag.first), tag.engagement_id)
    for first, last, id in laid:
        ranges = _overlaid(ranges, first, last, id)
    if ranges == before:
        return record
    parts: dict[str, list[tuple[int, int]]] = {}
    for first, last, id in sorted(ranges):
        known = parts.setdefault(id, [])
        if known and known[-1][1] + 1 >= first:
            known[-1] = (known[-1][0], max(last, known[-1][1]))
        else:
            known.append((first, last))
    extracted = {engagement.id: engagement for engagement in record.engagements}
    rounds = activities()
    found = [
        _covering(extracted.get(id) or _from_tag(record, id, pieces[0]), pieces, rounds)
        for id, pieces in parts.items()
    ]
    found.sort(key=lambda engagement: engagement.turn_range)
    return msgspec.structs.replace(record, engagements=tuple(found), ghost=False)


def _overlaid(ranges: Ranges, first: int, last: int, id: str | None) -> Ranges:
    """Ranges with one more laid over them; without an id, cut out of them."""
    kept: Ranges = []
    for start, end, other in ranges:
        if start < first:
            kept.append((start, min(end, first - 1), other))
        if end > last:
            kept.append((max(start, last + 1), end, other))
    if id is not None:
        kept.append((first, last, id))
    return sorted(set(kept))


def _covering(
    engagement: Engagement, parts: list[tuple[int, int]], rounds: Sequence[Activity]
) -> Engagement:
    """An engagement that covers these ranges, with when it was and what it left behind."""
    hull = (parts[0][0], parts[-1][1])
    if engagement.turn_range == hull and len(parts) == 1:
        return engagement
    now = msgspec.structs.replace(
        engagement, turn_range=hull, parts=tuple(parts) if len(parts) > 1 else ()
    )
    own = [round for round in rounds if now.covers(round.number)]
    return with_facts(now, own) if own else now


def _from_tag(record: SessionRecord, id: str, part: tuple[int, int]) -> Engagement:
    """An engagement that a person made by tagging rounds: its id is all they said of it.

    How the work was done is what was found for those rounds.
    """
    under = next((e for e in record.engagements if e.covers(part[0])), None)
    return Engagement(
        id=id,
        topic=" ".join(id.replace("-", " ").replace("_", " ").split()) or id,
        project=(under.project if under else None) or record.cwd or "system",
        method=under.method if under else "discuss",
        phase=under.phase if under else "in-progress",
        turn_range=part,
        tagged=True,
    )
