"""Events of a session's file, as far as they are read.

An event's `data` has another shape for each type: it is decoded once its type is known, and
that of the many events that are only bookkeeping never is.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, TypeVar

import msgspec

from minutebook.sources.assembly.lines import DECODE_ERRORS
from minutebook.sources.assembly.repair import coerce, verbatim

Tokens = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
_NOTHING = msgspec.Raw(b"{}")


class Event(msgspec.Struct):
    type: str = ""
    id: str | None = None
    timestamp: str | None = None
    agentId: str | None = None
    """The subagent whose event it is."""
    data: msgspec.Raw = _NOTHING

    @property
    def at(self) -> str | None:
        """When it was written; None where that is not a time."""
        stamp = self.timestamp
        return stamp if stamp and stamp[:4].isdigit() and stamp[4:5] == "-" else None


class Data(msgspec.Struct):
    parentToolCallId: str | None = None
    """In a subagent's events: the call that started it."""


class Context(msgspec.Struct):
    cwd: str | None = None
    branch: str | None = None


class Start(Data):
    """``session.start``, ``session.resume``, ``session.context_changed``."""

    copilotVersion: str | None = None
    selectedModel: str | None = None
    context: Context | None = None
    cwd: str | None = None
    branch: str | None = None


class ModelChange(Data):
    newModel: str | None = None


class Attached(msgspec.Struct):
    """Something that was given along with a prompt."""

    type: str = ""
    path: str | None = None
    displayName: str | None = None
    assetId: str | None = None
    mimeType: str | None = None
    data: str | None = None


class UserMessage(Data):
    content: str | None = None
    """As it was typed."""
    transformedContent: str | None = None
    """As the model got it."""
    attachments: list[Attached] | None = None
    source: str | None = None


class Request(msgspec.Struct):
    toolCallId: str | None = None
    name: str | None = None
    arguments: Any = None


class AssistantMessage(Data):
    messageId: str | None = None
    apiCallId: str | None = None
    model: str | None = None
    content: str | None = None
    toolRequests: list[Request] | None = None
    reasoningText: str | None = None
    reasoningOpaque: str | None = None
    encryptedContent: str | None = None
    outputTokens: Tokens | None = None


class ExecutionStart(Data):
    toolCallId: str | None = None
    toolName: str | None = None
    arguments: Any = None
    model: str | None = None


class Piece(msgspec.Struct):
    type: str = ""
    data: str | None = None
    mimeType: str | None = None


class Result(msgspec.Struct):
    content: str | None = None
    detailedContent: str | None = None
    contents: list[Piece] | None = None


class Failure(msgspec.Struct):
    message: str | None = None


class Shell(msgspec.Struct):
    exitCode: Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**32)] | None = None


class ExecutionComplete(Data):
    toolCallId: str | None = None
    success: bool | None = None
    result: Result | None = None
    error: Failure | None = None
    shellExecution: Shell | None = None


class UsageFields(msgspec.Struct):
    """`inputTokens` is with what was read from and written to the cache."""

    model: str | None = None
    inputTokens: Tokens | None = None
    outputTokens: Tokens | None = None
    cacheReadTokens: Tokens | None = None
    cacheWriteTokens: Tokens | None = None
    apiCallId: str | None = None
    finishReason: str | None = None


class UsageRecord(Data):
    usage: UsageFields | None = None


class CompactionDone(Data):
    success: bool | None = None
    summaryContent: str | None = None
    preCompactionTokens: Tokens | None = None
    trigger: str | None = None
    compactionTokensUsed: UsageFields | None = None
    error: Any = None


class Words(Data):
    """Events that only say something, each in a field of its own."""

    message: str | None = None
    reason: str | None = None
    content: str | None = None
    summary: str | None = None

    @property
    def text(self) -> str:
        return self.message or self.content or self.summary or self.reason or ""


class HookEnd(Data):
    error: Failure | None = None
    output: Any = None


class AgentStarted(Data):
    toolCallId: str | None = None
    agentName: str | None = None
    agentDisplayName: str | None = None
    agentDescription: str | None = None


class Shutdown(Data):
    modelMetrics: dict[str, Any] | None = None


class Asset(Data):
    assetId: str | None = None
    mimeType: str | None = None
    data: str | None = None


D = TypeVar("D", bound=msgspec.Struct)


@cache
def _decoder(kind: type[D]) -> msgspec.json.Decoder[D]:
    return msgspec.json.Decoder(kind)


def data_of(event: Event, kind: type[D]) -> tuple[D, bool]:
    """An event's data, and whether something in it had to be left out to read it."""
    try:
        return _decoder(kind).decode(event.data), False
    except DECODE_ERRORS:
        pass
    try:
        found = coerce(verbatim(bytes(event.data)), kind)
    except (ValueError, RecursionError):
        found = None
    return (found if found is not None else kind()), True
