"""A person's word on sessions and engagements, as people type it and read it (UND-07)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.saying import Spoken, find_engagement
from minutebook.errors import BadArgument
from minutebook.model.engagement import Engagement
from minutebook.model.said import (
    ENGAGEMENT_FIELDS,
    SESSION_FIELDS,
    Hide,
    Join,
    Move,
    Note,
    Renumber,
    Said,
    Set,
    Split,
    Star,
    Statement,
    Tag,
    Thread,
    Undo,
    Unhide,
    Unread,
    Unstar,
    Unthread,
)

_SPAN = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def correct(archive: Archive, session: str, engagement: str, *settings: str) -> Engagement:
    """Set fields of an engagement: ``topic=…``, ``method=debug``, ``turn_range=3-7``."""
    found = set_fields(archive, session, [engagement, *settings]).engagement
    assert found is not None
    return found


def set_fields(archive: Archive, session: str, words: Sequence[str]) -> Spoken:
    """Set fields as they are typed: an engagement first, or settings of the session alone."""
    engagement, settings = "", list(words)
    if settings and not is_setting(settings[0]):
        engagement = settings.pop(0)
        if "=" in engagement and not settings:
            raise BadArgument(_no_field(engagement.partition("=")[0].strip(), SESSION_FIELDS))
    fields = ENGAGEMENT_FIELDS if engagement else SESSION_FIELDS
    if not settings:
        raise BadArgument(f"Write field=value; the fields are {', '.join(fields)}.")
    values: dict[str, str | tuple[str | int, ...]] = {}
    for setting in settings:
        field, value = parse_setting(setting, fields)
        if field in values:
            raise BadArgument(f"There are two values for {field}: give one.")
        values[field] = value
    return archive.say(session, Set(engagement, values=values))


def is_setting(word: str) -> bool:
    """Whether a word is ``field=value``, and not an engagement's id."""
    field, equals, _ = word.partition("=")
    return bool(equals) and field.strip() in (*ENGAGEMENT_FIELDS, *SESSION_FIELDS)


def parse_setting(setting: str, fields: Sequence[str]) -> tuple[str, str | tuple[str | int, ...]]:
    """``field=value`` as a field and its value; the archive checks whether that makes sense."""
    field, equals, text = setting.partition("=")
    field = field.strip()
    if not equals or field not in fields:
        raise BadArgument(_no_field(field, fields))
    if field == "key_decisions":
        return field, tuple(part.strip() for part in text.split(";") if part.strip())
    if field == "turn_range":
        return field, parse_span(text)
    return field, text


def _no_field(field: str, fields: Sequence[str]) -> str:
    """What is wrong with a setting, and how it would be right."""
    if field in ENGAGEMENT_FIELDS:
        return (
            f"{field} is a field of an engagement: name the engagement, or a round in it, before "
            f"it (correct SESSION 1 {field}=…)."
        )
    if field in SESSION_FIELDS:
        return f"{field} is a field of the session: leave out the engagement."
    known = f"the fields are {', '.join(fields)}"
    return f"'{field}' is not a field; {known}." if field else f"Write field=value; {known}."


def refuse_nothing(archive: Archive, session: str, statement: Statement) -> None:
    """Refuse to take off what is not there: it would be one more thing to undo."""
    match statement:
        case Unstar():
            field, what = "starred", "star"
        case Unhide():
            field, what = "hidden", "mark that hides it"
        case Note(text=text) if not text.strip():
            field, what = "note", "note"
        case _:
            return
    record = archive.stored_record(archive.resolve(session))
    engagement = statement.engagement
    meant = find_engagement(record, engagement) if engagement else record
    if not getattr(meant, field):
        name = f"'{engagement}'" if engagement else "The session"
        raise BadArgument(f"{name} has no {what}: nothing was changed.")


def parse_span(text: str) -> tuple[int, int]:
    """``3-7`` as first and last round."""
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        raise BadArgument(f"'{text}' is not a range of rounds: write it like 3-7.")
    return int(match[1]), int(match[2] or match[1])


def in_words(said: Said, names: Mapping[str, str] | None = None) -> str:
    """One thing that was said, as a sentence without its subject; `names` are what a reader calls
    engagements, by their ids."""

    def called(id: str) -> str:
        return (names or {}).get(id) or f"'{id}'"

    statement = said.statement
    what = called(about) if (about := getattr(statement, "engagement", "")) else "the session"
    match statement:
        case Set(values=values):
            told = ", ".join(f"{field}={_value(value)}" for field, value in values.items())
            return f"set {told} of {what}"
        case Split(round=round, made=made):
            return f"split {what} at round {round}: {called(made)} begins there"
        case Join(other=other):
            return f"joined {called(other)} to {what}"
        case Move(first=first, last=last):
            return f"moved {what} to rounds {first}-{last}"
        case Star():
            return f"starred {what}"
        case Unstar():
            return f"took the star off {what}"
        case Hide():
            return f"hid {what}"
        case Unhide():
            return f"showed {what} again"
        case Note(text=text):
            return f"noted on {what}: {text}" if text else f"took the note off {what}"
        case Thread(name=name):
            return f"put {what} into thread '{name}'" if name else f"put {what} into no thread"
        case Unthread():
            return f"removed what was said of the thread of {what}"
        case Tag(first=first, last=last, engagement=engagement):
            rounds = f"{first} to the end" if last is None else f"{first}-{last}"
            name = f"tagged rounds {rounds} with '{engagement}'"
            return name if engagement else f"took the tag off rounds {rounds}"
        case Undo(of=of):
            return f"took back {of}"
        case Renumber():
            return "(rounds got other numbers by an upgrade)"
        case Unread(what=kind):
            return f"(a newer minutebook wrote this: {kind or 'unknown'})"


def with_words(said: Said) -> dict[str, Any]:
    """One thing that was said as plain values, and as a sentence."""
    fields = ((name, getattr(said, name)) for name in Said.__struct_fields__)
    return {**msgspec.to_builtins(dict(fields)), "words": in_words(said)}


def _value(value: str | tuple[str | int, ...]) -> str:
    if isinstance(value, str):
        return value
    if all(isinstance(part, int) for part in value):
        return "-".join(map(str, value))
    return "; ".join(map(str, value))
