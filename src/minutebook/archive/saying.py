"""Record a correction: check it, append one line, show the result."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.coverage import session_said
from minutebook.archive.masking import hidden
from minutebook.archive.names import nearest
from minutebook.archive.said_of_copies import affected
from minutebook.archive.upkeep import index_said
from minutebook.derive.threads import is_one_name
from minutebook.derive.wording import plural, rounds_text, spans_text
from minutebook.errors import Ambiguous, BadArgument, Conflict, NotFound
from minutebook.extract.corrections import joined, without
from minutebook.extract.records import free_id
from minutebook.extract.validation import LONGEST_TEXT, one_line
from minutebook.model.engagement import (
    METHODS,
    MOST_DECISIONS,
    PHASES,
    Engagement,
    SessionRecord,
)
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
    Thread,
    Undo,
    Unread,
    Unthread,
)
from minutebook.record.said import add_said
from minutebook.record.store import PATIENCE, patiently

_CHOICES: dict[str, Sequence[str]] = {"method": METHODS, "phase": PHASES}
_OF_ENGAGEMENTS = (Split, Join, Move, Thread, Unthread)
_LONGEST_THREAD = 80
_MAY_BE_EMPTY = ("outcome", "key_decisions", *SESSION_FIELDS)


class Recut(msgspec.Struct, frozen=True):
    """What became of the engagements of a session whose boundaries were moved."""

    gone: tuple[Engagement, ...] = ()
    changed: tuple[Engagement, ...] = ()
    hidden_rounds: Ranges = ()


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """What was written down, and what is shown since."""

    said: Said | None
    """What was written down; None where a person had said so already, and it holds."""
    undone: Said | None = None
    """What was taken back."""
    session: SessionRecord
    engagement: Engagement | None = None
    """The engagement that was meant, or of which something was taken back, as it is now."""
    made: Engagement | None = None
    """What a split made."""
    gone: tuple[Engagement, ...] = ()
    """Engagements that were left without a round, as they were before."""
    changed: tuple[Engagement, ...] = ()
    """Other engagements that have other rounds since, as they are now."""
    hidden_rounds: Ranges = ()
    """Rounds that went to a hidden engagement, and were in none."""
    thread: str | None = None
    """The thread that the engagement belongs to, where that was the question."""
    indexed: bool = True
    """Whether the index page and the databases have it; else a run that is going on sees to it."""


def say(archive: Archive, session: str, statement: Statement) -> Spoken:
    """Write down what a person says of a session; without a session, `Undo` means any."""
    return say_all(archive, session, [statement])[0]


def say_all(archive: Archive, session: str, statements: Sequence[Statement]) -> list[Spoken]:
    """The same of several at once: all are checked before one is written. `Undo` stands alone."""
    layout, (statement, *more) = archive.layout, statements
    taken_back: Said | None = None
    if not archive.exists:
        raise NotFound("There is no archive yet: `minutebook ingest` makes one.")
    session_id = archive.resolve(session) if session or not isinstance(statement, Undo) else None
    with patiently(layout.said_lock, "correct", PATIENCE):
        before: Sequence[Engagement] = ()
        checked: list[Statement]
        if isinstance(statement, Undo):
            assert not more
            taken_back = _last(archive, session_id)
            before = archive.stored_record(taken_back.session_id).engagements
            if statement.of not in ("", taken_back.id):
                raise BadArgument(
                    f"'{statement.of}' is not the last correction; that is '{taken_back.id}'."
                )
            session_id, checked = session_id or taken_back.session_id, [Undo(taken_back.id)]
        else:
            assert session_id is not None
            record = archive.stored_record(session_id)
            before = record.engagements
            checked = [_checked(archive, record, one) for one in statements]
        told: list[Said | None] = []
        of = taken_back.said_of or session_id if taken_back is not None else session_id
        for one in checked:
            if taken_back is None and _is_so(archive, record, one):
                told.append(None)
                continue
            add_said(layout, of, one)
            told.append(archive.minutes.said(of)[-1])
            if taken_back is None:
                record = archive.stored_record(session_id)
    indexed = index_said(archive, session_id)
    return [
        _spoken(archive, session_id, one, said, taken_back, before, indexed)
        for one, said in zip(checked, told, strict=True)
    ]


def recut(
    archive: Archive, session_id: str, before: Sequence[Engagement], meant: Collection[str]
) -> Recut:
    """What became of engagements, beside those that were meant, since some had other rounds."""
    now = archive.stored_record(session_id).engagements
    known, left = {e.id: e.ranges for e in before}, {e.id for e in now}
    unseen = joined(tuple(part for e in now if e.hidden for part in e.ranges))
    were = joined(tuple(part for e in before if e.hidden for part in e.ranges))
    return Recut(
        tuple(hidden(e, archive.hide) for e in before if e.id not in left),
        tuple(
            hidden(e, archive.hide)
            for e in now
            if e.id not in meant and known.get(e.id) != e.ranges
        ),
        without(unseen, were),
    )


def _spoken(
    archive: Archive,
    session_id: str,
    statement: Statement,
    said: Said | None,
    undone: Said | None,
    before: Sequence[Engagement],
    indexed: bool,
) -> Spoken:
    record = archive.record(session_id)
    last = undone.statement if undone is not None else statement
    about = getattr(last, "engagement", "")
    made = statement.made if isinstance(statement, Split) else ""
    found = dict(zip(_ids(archive, record), record.engagements, strict=True))
    is_cut = isinstance(last, Split | Join) or _moves(last)
    cut = recut(archive, session_id, before, (about, made)) if is_cut else Recut()
    if undone is not None:
        undone = hidden(msgspec.structs.replace(undone, undone=True), archive.hide)
    return Spoken(
        said=hidden(said, archive.hide) if said is not None else None,
        undone=undone,
        session=record,
        engagement=found.get(about),
        made=found.get(made),
        gone=cut.gone if _moves(statement) else (),
        changed=cut.changed,
        hidden_rounds=cut.hidden_rounds,
        thread=_thread_of(archive, session_id, last)
        if isinstance(last, Thread | Unthread)
        else None,
        indexed=indexed,
    )


def _is_so(archive: Archive, record: SessionRecord, statement: Statement) -> bool:
    """Whether a person said this before, and it holds. What only an extractor says may change."""
    if isinstance(statement, Undo):
        return False
    if not statement.engagement:
        own = session_said(archive.minutes.said(record.session_id))
        if _is_said_of_copies(archive, record.session_id):
            return False  # it may hold for them again
        match statement:
            case Star():
                return own.starred
            case Hide():
                return own.hidden
            case Note(text=text):
                return bool(text) and own.note == text
            case Set(values=values):
                return all(text and getattr(own, field) == text for field, text in values.items())
        return False
    found = find_engagement(record, statement.engagement)
    match statement:
        case Star():
            return found.starred
        case Hide():
            return found.hidden
        case Note(text=text):
            return bool(text) and found.note == text
        case Thread(name=name):
            return is_one_name(found.said_thread, name)
        case Move(first=first, last=last):
            return _is_set(record, found, "turn_range", (first, last))
        case Set(values=values):
            return all(_is_set(record, found, field, value) for field, value in values.items())
    return False


def _is_said_of_copies(archive: Archive, session_id: str) -> bool:
    """Whether a person spoke of a copy of a session as a whole."""
    copies = affected(session_id, archive.ledger().sessions) - {session_id}
    return any(
        getattr(item.statement, "engagement", None) == ""
        for id in copies
        for item in archive.minutes.said(id)
    )


def _is_set(record: SessionRecord, engagement: Engagement, field: str, value: object) -> bool:
    """Whether a person gave a field this value."""
    if field == "turn_range" and engagement.parts:
        return False
    said = f"{engagement.id}.{field}" in record.corrected
    return said and getattr(engagement, field) == value


def _moves(statement: object) -> bool:
    """Whether a statement moves the boundaries of an engagement."""
    if isinstance(statement, Set):
        return "turn_range" in statement.values
    return isinstance(statement, Move)


def _thread_of(archive: Archive, session_id: str, statement: Thread | Unthread) -> str | None:
    from minutebook.archive.threads import threads

    thread = threads(archive).of(session_id, statement.engagement)
    return thread.id if thread is not None else None


def _ids(archive: Archive, record: SessionRecord) -> list[str]:
    """Ids as they are kept: what is shown of one may be masked."""
    return [engagement.id for engagement in archive.stored_record(record.session_id).engagements]


def _last(archive: Archive, session_id: str | None) -> Said:
    """The last thing said that holds: for a session, or for any."""
    minutes = archive.minutes
    every = minutes.heard(session_id) if session_id is not None else minutes.all_said()
    for said in reversed(every):
        if not said.undone and not isinstance(said.statement, Undo | Renumber | Unread):
            return said
    where = f" of {archive.short(session_id)}" if session_id is not None else ""
    raise NotFound(f"There is no correction{where} to take back.")


# -- checking


def _checked(archive: Archive, record: SessionRecord, statement: Statement) -> Statement:
    """A statement as it is written down: it makes sense, and names an engagement in full."""
    if isinstance(statement, Split | Join) or _moves(statement):
        _refuse_first_release(archive)
    if isinstance(statement, Undo):
        return statement
    meant: Engagement | None = None
    if statement.engagement or isinstance(statement, _OF_ENGAGEMENTS):
        meant = find_engagement(record, statement.engagement)
        statement = msgspec.structs.replace(statement, engagement=meant.id, rounds=meant.ranges)
    else:
        statement = msgspec.structs.replace(statement, rounds=())
    match statement:
        case Set(values=values):
            fields = ENGAGEMENT_FIELDS if meant is not None else SESSION_FIELDS
            now = {name: _value(name, value, fields, record) for name, value in values.items()}
            if not now:
                raise BadArgument(f"Give field=value; the fields are {_list(fields)}.")
            return msgspec.structs.replace(statement, values=now)
        case Note(text=text):
            return msgspec.structs.replace(statement, text=_line("note", text))
        case Thread(name=name):
            return msgspec.structs.replace(statement, name=_thread(name))
        case Move(first=first, last=last):
            span = _span((first, last), record.rounds)
            return msgspec.structs.replace(statement, first=span[0], last=span[1])
        case Split():
            assert meant is not None
            return _split(record, meant, statement)
        case Join():
            other = find_engagement(record, statement.other)
            if meant is not None and other.id == meant.id:
                raise BadArgument("Name two engagements: these are one already.")
            return msgspec.structs.replace(statement, other=other.id, other_rounds=other.ranges)
    return statement


def _split(record: SessionRecord, meant: Engagement, statement: Split) -> Split:
    at = statement.round
    if not meant.covers(at):
        raise BadArgument(
            f"Round {at} is not in '{meant.id}', which covers {rounds_text(meant.ranges)}."
        )
    if at == meant.turn_range[0]:
        raise BadArgument(f"'{meant.id}' begins at round {at} already: name a later one.")
    made = free_id(meant.id, {engagement.id for engagement in record.engagements})
    return msgspec.structs.replace(statement, made=made)


def _thread(name: str) -> str:
    label = " ".join(name.split())
    if not (label.isprintable() and len(label) <= _LONGEST_THREAD):
        raise BadArgument(
            f"A thread's name is a word or slug of at most {_LONGEST_THREAD} characters."
        )
    return label


def _refuse_first_release(archive: Archive) -> None:
    if archive.is_first_release:
        raise Conflict(
            "This archive is in the format of the first release, which numbers rounds "
            "otherwise: run `minutebook ingest` first, which upgrades it."
        )


def _value(
    field: str, value: object, fields: Sequence[str], record: SessionRecord
) -> str | tuple[str | int, ...]:
    if field not in fields:
        what = "an engagement" if fields is ENGAGEMENT_FIELDS else "a session"
        raise BadArgument(f"'{field}' is not a field of {what}; the fields are {_list(fields)}.")
    if field == "turn_range":
        match value:
            case (int(first), int(last)):
                return _span((first, last), record.rounds)
        raise BadArgument(
            f"The session has {plural(record.rounds, 'round')}: write turn_range=3-7."
        )
    if field == "key_decisions":
        if isinstance(value, str) or not isinstance(value, tuple):
            raise BadArgument("key_decisions is a list of sentences.")
        if len(value) > MOST_DECISIONS:
            raise BadArgument(f"At most {MOST_DECISIONS} decisions: these are {len(value)}.")
        return tuple(line for text in value if (line := _line("decision", str(text))))
    if not isinstance(value, str):
        raise BadArgument(f"The {field} is a text.")
    text = _line(field, value)
    choices = _CHOICES.get(field)
    if choices and text not in choices:
        raise BadArgument(f"'{text}' is not a {field}; choose one of {', '.join(choices)}.")
    if not text and field not in _MAY_BE_EMPTY:
        raise BadArgument(f"The {field} cannot be empty; `correct undo` takes back a correction.")
    return text


def _line(what: str, text: str) -> str:
    """A text as it is written down: on one line, and whole."""
    line = one_line(text, len(text))
    if len(line) > LONGEST_TEXT:
        raise BadArgument(
            f"The {what} has {len(line):,} characters: write at most {LONGEST_TEXT:,}."
        )
    return line


def _span(span: tuple[int, int], rounds: int) -> tuple[int, int]:
    first, last = span
    if not 1 <= first <= last <= rounds:
        raise BadArgument(
            f"The session has {plural(rounds, 'round')}: write a range of them, like 3-7."
        )
    return first, last


def _list(fields: Sequence[str]) -> str:
    return ", ".join(fields)


def find_engagement(record: SessionRecord, name: str) -> Engagement:
    """The engagement that is meant: by its id, the start of it, or the number of a round in it."""
    ids = [engagement.id for engagement in record.engagements]
    if not ids:
        none = f"Session {record.session_id} has no engagements"
        if record.ghost:
            raise NotFound(f"{none}: a ghost gets none unless you tag its rounds.")
        raise NotFound(f"{none} (yet): `minutebook ingest` finds them.")
    fitting = [e for e in record.engagements if e.id == name]
    fitting = fitting or [e for e in record.engagements if name and e.id.startswith(name)]
    if name.isascii() and name.isdecimal() and len(name) < 10 and not fitting:
        fitting = [e for e in record.engagements if e.covers(int(name))]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise Ambiguous(f"'{name}' fits {', '.join(e.id for e in fitting)}: write more of it.")
    raise NotFound(
        f"Session {record.session_id} has no engagement '{name}'.{nearest(name, ids)} "
        f"It has: {', '.join(map(_covering, record.engagements))}."
    )


def _covering(engagement: Engagement) -> str:
    """An engagement's id, and the rounds it covers."""
    return f"{engagement.id} (#{spans_text(engagement.ranges)})"
