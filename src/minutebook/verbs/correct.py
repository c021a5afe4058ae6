"""A person's word on sessions and engagements, as people type it and read it (UND-07)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.saying import Spoken, find_engagement
from minutebook.derive.wording import rounds_text
from minutebook.errors import BadArgument
from minutebook.model.engagement import Engagement
from minutebook.model.said import (
    ENGAGEMENT_FIELDS,
    SESSION_FIELDS,
    Hide,
    Join,
    Move,
    Note,
    Ranges,
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

_FIELDS = (*ENGAGEMENT_FIELDS, *SESSION_FIELDS)
_SPAN = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_SEMICOLON = re.compile(r"(?<!\\);")


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
        if not settings and ("=" in engagement or engagement in _FIELDS):
            raise BadArgument(_no_setting(engagement, SESSION_FIELDS))
    fields = ENGAGEMENT_FIELDS if engagement else SESSION_FIELDS
    if not settings:
        raise BadArgument(f"Write field=value; the fields are {', '.join(fields)}.")
    given: dict[str, list[str]] = {}
    for setting in settings:
        field, text = parse_setting(setting, fields)
        given.setdefault(field, []).append(text)
    values = {field: _parsed(field, texts) for field, texts in given.items()}
    statement = Set(engagement, values=values)
    refuse_nothing(archive, session, statement)
    return archive.say(session, statement)


def is_setting(word: str) -> bool:
    """Whether a word is ``field=value``, and not an engagement's id."""
    field, equals, _ = word.partition("=")
    return bool(equals) and field.strip() in _FIELDS


def parse_setting(setting: str, fields: Sequence[str]) -> tuple[str, str]:
    """``field=value`` as a field and what is said of it."""
    field, equals, text = setting.partition("=")
    if not equals or field.strip() not in fields:
        raise BadArgument(_no_setting(setting, fields))
    return field.strip(), text


def _parsed(field: str, texts: Sequence[str]) -> str | tuple[str | int, ...]:
    """What is said of a field as its value; the archive checks whether that makes sense.

    Of decisions each text is one; a single text may hold several, with semicolons between them.
    """
    if field == "key_decisions":
        parts = _SEMICOLON.split(texts[0]) if len(texts) == 1 else texts
        return tuple(text for part in parts if (text := part.replace(r"\;", ";").strip()))
    if len(texts) > 1:
        raise BadArgument(f"There are two values for {field}: give one.")
    return parse_span(texts[0]) if field == "turn_range" else texts[0]


def _no_setting(setting: str, fields: Sequence[str]) -> str:
    """What is wrong with a setting, and how it would be right."""
    field, equals, _ = setting.partition("=")
    field = field.strip()
    if field in fields and not equals:
        return f"Write {field}=VALUE."
    if field in ENGAGEMENT_FIELDS:
        return (
            f"{field} is a field of an engagement: name the engagement, or a round in it, before "
            f"it (correct SESSION 1 {field}=…)."
        )
    if field in SESSION_FIELDS:
        return f"{field} is a field of the session: leave out the engagement."
    known = f"the fields are {', '.join(fields)}"
    return f"'{field}' is not a field; {known}." if field else f"Write field=value; {known}."


def parse_note(archive: Archive, session: str, words: Sequence[str]) -> Note:
    """A note as it is typed: its text, after an engagement or alone.

    What can only be the engagement is not taken for the text: that was forgotten.
    """
    text = words[-1]
    if len(words) > 1:
        return Note(words[0], text=text)
    word = text.strip()
    ids = [e.id for e in archive.record(archive.resolve(session)).engagements]
    if (
        (word.isascii() and word.isdecimal())
        or word in ids
        or ("-" in word and any(id.startswith(word) for id in ids))
    ):
        raise BadArgument(
            f"'{word}' names an engagement: write the note after it. Write '' before it if it is "
            "a note on the session."
        )
    return Note(text=text)


def refuse_nothing(archive: Archive, session: str, statement: Statement) -> None:
    """Refuse to take off what is not there: it would be one more thing to undo."""
    nothing: object = False
    match statement:
        case Unstar():
            field, what = "starred", "star"
        case Unhide():
            field, what = "hidden", "mark that hides it"
        case Note(text=text) if not text.strip():
            field, what, nothing = "note", "note", ""
        case Unthread():
            field, what, nothing = "said_thread", "thread that you named", None
        case Set(engagement="", values=values) if not any(str(v).strip() for v in values.values()):
            field, what, nothing = "corrected", f"{' or '.join(values)} that you gave", ()
        case _:
            return
    record = archive.stored_record(archive.resolve(session))
    engagement = statement.engagement
    meant = find_engagement(record, engagement) if engagement else record
    found = getattr(meant, field)
    if isinstance(statement, Set):
        found = tuple(name for name in statement.values if name in record.corrected)
    if found == nothing:
        name = f"'{engagement}'" if engagement else "The session"
        raise BadArgument(f"{name} has no {what}: nothing was changed.")


def parse_span(text: str) -> tuple[int, int]:
    """``3-7`` as first and last round."""
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        raise BadArgument(f"'{text}' is not a range of rounds: write it like 3-7.")
    return int(match[1]), int(match[2] or match[1])


def in_words(said: Said, names: Mapping[str, str] | None = None) -> str:
    """One thing that was said, in a line; `names` are what a reader calls engagements, by their
    ids: else they are called by their first round, as it was then (``#3``)."""

    def called(id: str, rounds: Ranges) -> str:
        return (names or {}).get(id) or (f"#{rounds[0][0]}" if rounds else f"'{id}'")

    statement = said.statement
    about, rounds = getattr(statement, "engagement", ""), getattr(statement, "rounds", ())
    what = called(about, rounds) if about else "the session"
    match statement:
        case Set(values=values):
            empty = "emptied" if about else "as recorded"
            told = ", ".join(
                f"{field}={value_in_words(value)}" if value else f"{field} {empty}"
                for field, value in values.items()
            )
            return f"{what}: {told}" if about else told
        case Split(round=round, made=made):
            return f"split {what} at round {round}: {called(made, ((round, round),))} begins there"
        case Join(other=other, other_rounds=others):
            return f"joined {called(other, others)} to {what}"
        case Move(first=first, last=last):
            return f"moved {what} to {rounds_text([(first, last)])}"
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
            tagged = rounds_text([(first, last)]) if last else f"rounds {first} to the end"
            return f"tagged {tagged} with '{engagement}'" if engagement else f"untagged {tagged}"
        case Undo(of=of):
            return f"took back {of}"
        case Renumber():
            return "(rounds got other numbers by an upgrade)"
        case Unread(what=kind):
            return f"(a newer minutebook wrote this: {kind or 'unknown'})"


def with_words(said: Said | None) -> dict[str, Any] | None:
    """One thing that was said as plain values, and as a sentence; None for nothing."""
    if said is None:
        return None
    fields = ((name, getattr(said, name)) for name in Said.__struct_fields__)
    return {**msgspec.to_builtins(dict(fields)), "words": in_words(said)}


def value_in_words(value: str | tuple[str | int, ...]) -> str:
    """A value that was set, as it is typed."""
    if isinstance(value, str):
        return value
    if all(isinstance(part, int) for part in value):
        return "-".join(map(str, dict.fromkeys(value)))
    return "; ".join(str(part).replace(";", r"\;") for part in value)
