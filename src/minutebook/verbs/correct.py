"""A person's word on an engagement: it wins over every later extraction (ING-33)."""

from __future__ import annotations

from minutebook.archive.archive import Archive
from minutebook.archive.names import nearest, parse_rounds
from minutebook.archive.upkeep import index_minutes
from minutebook.errors import Ambiguous, BadArgument, Conflict, NotFound
from minutebook.extract.corrections import FIELDS
from minutebook.extract.validation import one_line
from minutebook.model.engagement import (
    METHODS,
    MOST_DECISIONS,
    PHASES,
    Correction,
    Engagement,
    SessionRecord,
)
from minutebook.record.engagements import add_correction
from minutebook.record.store import writing

_VALUES = {"method": METHODS, "phase": PHASES}


def correct(archive: Archive, session: str, engagement: str, setting: str) -> Engagement:
    """Set a field of an engagement: ``topic=…``, ``method=debug``, ``turn_range=3-7``."""
    layout = archive.layout
    session_id = archive.resolve(session)
    with writing(layout.ingest_lock, "correct"):
        record = archive.minutes.records().get(session_id)
        if record is None:
            raise NotFound(
                f"Nobody has taken the minutes of {session_id[:8]} yet: `minutebook ingest`."
            )
        chosen = find_engagement(record, engagement)
        field, value = _parse(setting, record.rounds)
        add_correction(layout, Correction(session_id, chosen.id, chosen.turn_range, field, value))
        index_minutes(archive, {session_id})
    after = archive.record(session_id)
    found = next((e for e in after.engagements if e.id == chosen.id), None)
    if found is None:
        raise Conflict(
            f"The correction is kept, but other engagements cover all rounds of '{chosen.id}': "
            f"`minutebook tag {archive.short(session_id)} ROUNDS {chosen.id}` gives it some."
        )
    return found


def find_engagement(record: SessionRecord, name: str) -> Engagement:
    """The engagement of an id, of the start of one, or of a round."""
    ids = [engagement.id for engagement in record.engagements]
    fitting = [e for e in record.engagements if e.id == name]
    fitting = fitting or [e for e in record.engagements if e.id.startswith(name)]
    if name.isdecimal() and not fitting:
        number = int(name)
        fitting = [e for e in record.engagements if e.turn_range[0] <= number <= e.turn_range[1]]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise Ambiguous(f"'{name}' fits {', '.join(e.id for e in fitting)}: write more of it.")
    if not ids:
        raise NotFound(f"Session {record.session_id[:8]} has no engagements.")
    raise NotFound(
        f"Session {record.session_id[:8]} has no engagement '{name}'.{nearest(name, ids)} "
        f"It has: {', '.join(ids)}."
    )


def _parse(setting: str, rounds: int) -> tuple[str, str | tuple[str | int, ...]]:
    field, equals, text = setting.partition("=")
    field, text = field.strip(), one_line(text)
    if not equals or field not in FIELDS:
        raise BadArgument(f"Write field=value; the fields are {', '.join(FIELDS)}.")
    if field in _VALUES and text not in _VALUES[field]:
        raise BadArgument(f"'{text}' is not a {field}; choose one of {', '.join(_VALUES[field])}.")
    if field == "key_decisions":
        decisions = tuple(part.strip() for part in text.split(";") if part.strip())
        if len(decisions) > MOST_DECISIONS:
            raise BadArgument(f"At most {MOST_DECISIONS} decisions, separated by semicolons.")
        return field, decisions
    if field == "turn_range":
        try:
            numbers = parse_rounds(text, rounds, beyond=False)
        except NotFound:
            numbers = []
        if not numbers or len(numbers) != numbers[-1] - numbers[0] + 1:
            raise BadArgument(f"The session has rounds 1 to {rounds}: write turn_range=3-7.")
        return field, (numbers[0], numbers[-1])
    if not text and field in ("topic", "project"):
        raise BadArgument(f"The {field} cannot be empty.")
    return field, text
