"""A person's word on an engagement: it wins over every later extraction (ING-33)."""

from __future__ import annotations

from difflib import get_close_matches

import msgspec

from minutebook.record.engagements import (
    add_correction,
    append_record,
    read_records,
)
from minutebook.record.layout import Layout
from minutebook.record.reading import read_inscription
from minutebook.record.store import writing
from minutebook.derive.activity import Activity, activity
from minutebook.errors import Ambiguous, BadArgument, NotFound
from minutebook.extract.corrections import FIELDS, corrected
from minutebook.extract.validation import one_line
from minutebook.model.engagement import (
    METHODS,
    MOST_DECISIONS,
    PHASES,
    Correction,
    Engagement,
    SessionRecord,
)
from minutebook.verbs.index_engagements import index_engagements
from minutebook.verbs.tag import parse_rounds

_VALUES = {"method": METHODS, "phase": PHASES}


def correct(layout: Layout, session: str, engagement: str, setting: str) -> Engagement:
    """Set a field of an engagement: ``topic=…``, ``method=debug``, ``turn_range=3-7``."""
    if not layout.engagements.exists():
        raise NotFound(f"Nothing is ingested at {layout.root} yet: `minutebook ingest`.")
    with writing(layout.ingest_lock, "correct"):
        records = read_records(layout)
        record = find_record(records, session)
        chosen = _find_engagement(record, engagement)
        field, value = _parse(setting, record.rounds)
        correction = Correction(record.session_id, chosen.id, chosen.turn_range, field, value)
        rounds = _rounds(layout, record) if field == "turn_range" else []
        after = corrected(record, [correction], rounds)
        names = {*record.corrected, *after.corrected}
        after = msgspec.structs.replace(after, corrected=tuple(sorted(names)))
        add_correction(layout, correction)
        append_record(layout, after)
        records[record.session_id] = after
        index_engagements(layout, records, [record.session_id])
        return next(e for e in after.engagements if e.id == chosen.id)


def find_record(records: dict[str, SessionRecord], name: str) -> SessionRecord:
    """The record a person means: by id prefix, agent's name or title."""
    wanted = name.strip().lower()
    if not wanted:
        raise BadArgument("Name a session: a UUID prefix, a name or a title.")
    fitting = [r for r in records.values() if r.session_id.lower().startswith(wanted)]
    if not fitting:
        fitting = [
            record
            for record in records.values()
            if wanted in {(text or "").lower() for text in (record.agent_name, record.title)}
        ]
    if not fitting:
        raise NotFound(
            f"No ingested session fits '{name}': `minutebook ingest` first, or see "
            "`minutebook sessions`."
        )
    if len(fitting) > 1:
        ids = ", ".join(sorted(record.session_id[:8] for record in fitting)[:8])
        raise Ambiguous(f"'{name}' fits several sessions: {ids}.")
    return fitting[0]


def _find_engagement(record: SessionRecord, name: str) -> Engagement:
    ids = [engagement.id for engagement in record.engagements]
    fitting = [e for e in record.engagements if e.id == name]
    fitting = fitting or [e for e in record.engagements if e.id.startswith(name)]
    if name.isdecimal() and not fitting:
        number = int(name)
        fitting = [e for e in record.engagements if e.turn_range[0] <= number <= e.turn_range[1]]
    if len(fitting) == 1:
        return fitting[0]
    if not ids:
        raise NotFound(f"Session {record.session_id[:8]} has no engagements.")
    near = get_close_matches(name, ids, 1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise NotFound(
        f"Session {record.session_id[:8]} has no engagement '{name}'.{hint} "
        f"It has: {', '.join(ids)}."
    )


def _parse(setting: str, rounds: int) -> tuple[str, str | tuple[str | int, ...]]:
    field, equals, text = setting.partition("=")
    field, text = field.strip(), one_line(text)
    if not equals or field not in FIELDS:
        raise BadArgument(f"Write field=value; the fields are {', '.join(FIELDS)}.")
    if field in _VALUES and text not in _VALUES[field]:
        raise BadArgument(f"'{text}' is no {field}: it is one of {', '.join(_VALUES[field])}.")
    if field == "key_decisions":
        decisions = tuple(part.strip() for part in text.split(";") if part.strip())
        if len(decisions) > MOST_DECISIONS:
            raise BadArgument(f"At most {MOST_DECISIONS} decisions, separated by semicolons.")
        return field, decisions
    if field == "turn_range":
        first, last = parse_rounds(text)
        if last is None or last > rounds:
            raise BadArgument(f"The session has rounds 1 to {rounds}: write turn_range=3-7.")
        return field, (first, last)
    if not text and field in ("topic", "project"):
        raise BadArgument(f"The {field} cannot be empty.")
    return field, text


def _rounds(layout: Layout, record: SessionRecord) -> list[Activity]:
    """What was done in each round, from the inscription."""
    document = layout.document(record.agent_id or "", record.session_id)
    if not document.exists():
        return []
    return [activity(round) for round in read_inscription(document, pictures=False).rounds]
