"""Lines of a session's file, as far as they are read."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Tokens = Annotated[int, msgspec.Meta(ge=0, le=10**12)]


class Cost(msgspec.Struct, gc=False):
    total: float | None = None


class UsageFields(msgspec.Struct, gc=False):
    """`input` is without what was cached."""

    input: Tokens | None = None
    output: Tokens | None = None
    cacheRead: Tokens | None = None
    cacheWrite: Tokens | None = None
    cacheWrite1h: Tokens | None = None
    cost: Cost | None = None


class Piece(msgspec.Struct, gc=False):
    """A piece of a message's content."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    thinkingSignature: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    data: str | None = None
    mimeType: str | None = None


class Details(msgspec.Struct, gc=False):
    """What a tool's result says beside its text."""

    patch: str | None = None
    diff: str | None = None


class MessageFields(msgspec.Struct):
    role: str = ""
    content: str | list[Piece] | None = None
    model: str | None = None
    usage: UsageFields | None = None
    stopReason: str | None = None
    errorMessage: str | None = None
    responseId: str | None = None
    toolCallId: str | None = None
    toolName: str | None = None
    isError: bool | None = None
    details: Details | None = None
    command: str | None = None
    output: str | None = None
    exitCode: int | None = None
    summary: str | None = None
    sections: dict[str, Any] | None = None


class Line(msgspec.Struct):
    type: str = ""
    id: str | None = None
    timestamp: str | None = None
    message: MessageFields | None = None
    cwd: str | None = None
    parentSession: str | None = None
    name: str | None = None
    summary: str | None = None
    tokensBefore: int | None = None
    usage: UsageFields | None = None
    modelId: str | None = None
