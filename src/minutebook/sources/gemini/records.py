"""Messages of a session, lines of its log, and the file that older versions wrote as a whole."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from minutebook.sources.assembly.parts import Part, Tokens
from minutebook.sources.assembly.repair import coerce, rescue, verbatim

Content = str | Part | list[str | Part]
S = TypeVar("S", bound=msgspec.Struct)


class Thought(msgspec.Struct, gc=False):
    subject: str | None = None
    description: str | None = None


class TokenFields(msgspec.Struct, gc=False):
    """`input` includes what was cached; `output` is without `thoughts`."""

    input: Tokens | None = None
    output: Tokens | None = None
    cached: Tokens | None = None
    thoughts: Tokens | None = None
    tool: Tokens | None = None
    total: Tokens | None = None


class Display(msgspec.Struct, gc=False):
    """What the terminal showed of a result."""

    fileDiff: str | None = None


class CallHead(msgspec.Struct, gc=False):
    """As much of a call as counts and dates it."""

    id: str | None = None
    timestamp: str | None = None


class Call(CallHead, gc=False):
    name: str | None = None
    args: Any = None
    result: list[Part] | Part | str | None = None
    status: str | None = None
    resultDisplay: str | Display | None = None
    agentId: str | None = None


class MessageHead(msgspec.Struct, gc=False):
    id: str | None = None


class Message(msgspec.Struct):
    id: str | None = None
    timestamp: str | None = None
    type: str | None = None
    content: Content | None = None
    displayContent: Content | None = None
    thoughts: list[Thought] | None = None
    tokens: TokenFields | None = None
    model: str | None = None
    toolCalls: list[msgspec.Raw] | None = None
    role: str | None = None
    """In place of `type`, in files that others made."""
    parts: list[str | Part] | None = None
    """In place of `content`, there."""


class Change(msgspec.Struct):
    """Fields of the session that a line sets."""

    messages: list[msgspec.Raw] | None = None
    lastUpdated: str | None = None
    summary: str | None = None
    directories: list[str] | None = None


class Line(Message):
    """A message, a header, or an operation."""

    sessionId: str | None = None
    projectHash: str | None = None
    startTime: str | None = None
    kind: str | None = None
    summary: str | None = None
    directories: list[str] | None = None
    set: Change | None = msgspec.field(name="$set", default=None)
    rewind_to: str | None = msgspec.field(name="$rewindTo", default=None)


class Whole(msgspec.Struct):
    """A file of older versions."""

    sessionId: str | None = None
    projectHash: str | None = None
    startTime: str | None = None
    kind: str | None = None
    summary: str | None = None
    directories: list[str] | None = None
    messages: list[msgspec.Raw] | None = None
    history: list[msgspec.Raw] | None = None


def typed(raw: msgspec.Raw | bytes, kind: type[S]) -> S:
    """A value, with every field that does not fit left at its default (FMT-04). Raises
    `Unreadable` where there is none."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value, _ = next(rescue(bytes(raw)))
        fitted: S = coerce(value, kind)
        return fitted


def as_written(raw: msgspec.Raw | bytes) -> Any:
    """A value as it stands in the file."""
    try:
        return verbatim(bytes(raw))
    except (ValueError, RecursionError):
        return None
