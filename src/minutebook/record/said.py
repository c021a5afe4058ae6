"""``corrections.jsonl``: everything a person said, in the order it was said; append-only (ING-33).

A line is ``{"version": 2, "at": …, "session_id": …, "said": {"kind": …}}``. Lines without a
version are of the first releases, which kept tags in a file of their own, ``tags.jsonl``: both
are read as if they had been said before everything else. What was said of threads was in
``threads.jsonl``, and held for engagements as everything else had made them: it is read as said
last, and becomes lines of this file before the next one is written.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from minutebook.model.said import (
    Move,
    Said,
    Set,
    Tag,
    Thread,
    Undo,
    Unread,
    Unthread,
    Written,
)
from minutebook.record.layout import Layout
from minutebook.record.lines import Lines, read_lines
from minutebook.record.store import append_line, make_folder

VERSION = 2
NEWER = "of a newer minutebook, kept and not applied"


class _Line(msgspec.Struct, kw_only=True):
    """A line, of whatever version."""

    version: int = 1
    at: str | None = None
    session_id: str
    said: msgspec.Raw = msgspec.Raw(b"null")
    # Version 1:
    engagement_id: str | None = None
    turn_range: tuple[int, int] | None = None
    field: str = ""
    value: str | tuple[str | int, ...] | None = None


class _Tag(msgspec.Struct):
    """A line of ``tags.jsonl``."""

    session_id: str
    first: int
    last: int | None
    engagement_id: str | None


class _ThreadName(msgspec.Struct):
    """A line of ``threads.jsonl``."""

    session_id: str
    engagement_id: str
    turn_range: tuple[int, int]
    name: str | None
    """None: it belongs to no thread; empty: what was said of it is taken back."""


class _Kind(msgspec.Struct):
    kind: str = ""


_decoder = msgspec.json.Decoder(Written)


class SaidLines(msgspec.Struct, frozen=True):
    """What was said, oldest first, and what is wrong with the files."""

    values: list[Said]
    problems: dict[str, str] = {}
    """Path → why it cannot be read as a whole."""


def read_said(layout: Layout) -> SaidLines:
    """Everything that was said; what was taken back is marked."""
    lines, tags = read_lines(layout.corrections, _Line), read_lines(layout.tags, _Tag)
    named = read_lines(layout.threads, _ThreadName)
    names = _Names()
    old: list[Said] = []
    new: list[Said] = []
    for line in (*lines.values, *map(_from_thread_name, named.values)):
        said = _said(line, names)
        (old if said.old else new).append(said)
    for tag in tags.values:
        statement = Tag(tag.first, tag.last, tag.engagement_id)
        id = names.name(tag)
        old.append(Said(id=id, session_id=tag.session_id, statement=statement, old=True))
    undone = {said.statement.of for said in new if isinstance(said.statement, Undo)}
    values = [
        msgspec.structs.replace(said, undone=True) if said.id in undone else said
        for said in (*old, *new)
    ]
    problems = _problems(layout, lines, tags, values)
    if named.problem is not None:
        problems[str(layout.threads)] = named.problem
    return SaidLines(values, problems)


class _Names:
    """An id for each line: a digest of what it says, which is the same at every reading."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def name(self, line: _Line | _Tag) -> str:
        told = hashlib.blake2b(msgspec.json.encode(line), digest_size=6).hexdigest()
        self._seen[told] += 1
        many = self._seen[told]
        return told if many == 1 else f"{told}-{many}"


def _said(line: _Line, names: _Names) -> Said:
    statement = _statement(line) if line.version >= VERSION else _from_version_1(line)
    return Said(
        id=names.name(line),
        session_id=line.session_id,
        at=line.at,
        statement=statement,
        old=line.version < VERSION,
    )


def _statement(line: _Line) -> Written | Unread:
    try:
        statement: Written = _decoder.decode(line.said)
        return statement
    except (msgspec.DecodeError, RecursionError):
        pass  # of a newer version, or edited by hand
    try:
        kind = msgspec.json.decode(line.said, type=_Kind).kind
    except (msgspec.DecodeError, RecursionError):
        kind = ""
    return Unread(kind)


def _from_version_1(line: _Line) -> Written | Unread:
    """A field of an engagement, or the summary of a session."""
    if line.value is None or line.engagement_id is None:
        return Unread(line.field)
    rounds = (line.turn_range,) if line.engagement_id and line.turn_range else ()
    match line.field, line.value:
        case "turn_range", (int(first), int(last)):
            return Move(line.engagement_id, rounds, first=first, last=last)
    return Set(line.engagement_id, rounds, values={line.field: line.value})


def _from_thread_name(old: _ThreadName) -> _Line:
    """A line of ``threads.jsonl`` as it stands in the one file since."""
    statement: Written = Unthread(old.engagement_id, (old.turn_range,))
    if old.name != "":
        statement = Thread(old.engagement_id, (old.turn_range,), name=old.name or "")
    said = msgspec.Raw(msgspec.json.encode(statement))
    return _Line(version=VERSION, session_id=old.session_id, said=said)


def _fold_threads(layout: Layout) -> None:
    """Take ``threads.jsonl`` of an older version into the one file; it is kept under another
    name."""
    if not layout.threads.is_file():
        return
    lines = [
        msgspec.json.encode({"version": VERSION, "session_id": line.session_id, "said": line.said})
        for line in map(_from_thread_name, read_lines(layout.threads, _ThreadName).values)
    ]
    known = layout.corrections.read_bytes() if layout.corrections.exists() else b""
    block = b"\n".join(lines)
    if lines and block not in known:  # else a process was killed between the two steps
        append_line(layout.corrections, block)
    with suppress(FileNotFoundError):  # somebody else did it just now
        layout.threads.replace(layout.threads_folded)


def _problems(
    layout: Layout, lines: Lines[_Line], tags: Lines[_Tag], values: list[Said]
) -> dict[str, str]:
    unread = sum(isinstance(said.statement, Unread) and not said.old for said in values)
    problem = lines.problem
    if unread:
        count = "1 line is" if unread == 1 else f"{unread} lines are"
        newer = f"{count} {NEWER}"
        problem = f"{problem}; {newer}" if problem else newer
    told = ((layout.corrections, problem), (layout.tags, tags.problem))
    return {str(path): why for path, why in told if why is not None}


def add_said(layout: Layout, session_id: str, statement: Written) -> None:
    """Write down what was said; one line, appended in one step."""
    make_folder(layout.sessions)
    _fold_threads(layout)
    at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    line = {"version": VERSION, "at": at, "session_id": session_id, "said": statement}
    append_line(layout.corrections, msgspec.json.encode(line))
