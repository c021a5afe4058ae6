"""Lines of a session's file, as far as they are read."""

from __future__ import annotations

from typing import Any

import msgspec

from minutebook.sources.assembly.parts import Part, Tokens


class Content(msgspec.Struct, gc=False):
    role: str | None = None
    parts: list[Part] | None = None


class UsageFields(msgspec.Struct, gc=False):
    """`promptTokenCount` includes what was cached."""

    promptTokenCount: Tokens | None = None
    candidatesTokenCount: Tokens | None = None
    thoughtsTokenCount: Tokens | None = None
    cachedContentTokenCount: Tokens | None = None
    totalTokenCount: Tokens | None = None


class Display(msgspec.Struct, gc=False):
    """What the terminal showed of a result."""

    type: str | None = None
    exitCode: int | None = None
    fileDiff: str | None = None


class CallResult(msgspec.Struct, gc=False):
    callId: str | None = None
    status: str | None = None
    resultDisplay: str | Display | None = None
    durationMs: float | None = None


class UiEvent(msgspec.Struct, gc=False):
    name: str = msgspec.field(name="event.name", default="")
    model: str | None = None
    prompt_id: str | None = None
    input_token_count: Tokens | None = None
    output_token_count: Tokens | None = None
    cached_content_token_count: Tokens | None = None
    thoughts_token_count: Tokens | None = None
    total_token_count: Tokens | None = None
    error_message: str | None = None


class CompressionInfo(msgspec.Struct, gc=False):
    originalTokenCount: Tokens | None = None
    triggerReason: str | None = None


class Payload(msgspec.Struct, gc=False):
    """What a record says beside its message; which fields there are depends on its subtype."""

    displayText: str | None = None
    userText: str | None = None
    status: str | None = None
    uiEvent: UiEvent | None = None
    info: CompressionInfo | None = None
    compressedHistory: list[Content] | None = None
    customTitle: str | None = None
    titleSource: str | None = None
    phase: str | None = None
    rawCommand: str | None = None
    outputHistoryItems: list[Any] | None = None
    parentSessionId: str | None = None


class Fork(msgspec.Struct, gc=False):
    sessionId: str | None = None


class Line(msgspec.Struct):
    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    provenance: str | None = None
    cwd: str | None = None
    gitBranch: str | None = None
    version: str | None = None
    model: str | None = None
    message: Content | None = None
    usageMetadata: UsageFields | None = None
    toolCallResult: CallResult | None = None
    systemPayload: Payload | None = None
    forkedFrom: Fork | None = None
