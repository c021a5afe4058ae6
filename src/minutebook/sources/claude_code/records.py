"""Records as Claude Code writes them, decoding only what is needed.

Two depths share one set of types: a *skim* decodes `SkimBlock` (text and tool names;
tool bytes are skipped by the decoder), a *full* read decodes `FullBlock`. Foreign
dicts stop here: what leaves this module is typed, whatever the line looked like.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from minutebook.sources.claude_code.carried import Carried
from minutebook.sources.claude_code.results import ResultExtras
from minutebook.sources.claude_code.usage import UsageFields

M = TypeVar("M")


class SkimBlock(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None


class FullBlock(SkimBlock):
    thinking: str | None = None
    signature: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None
    data: str | None = None
    source: dict[str, Any] | None = None
    title: str | None = None


class OriginFields(msgspec.Struct, gc=False):
    kind: str | None = None


class ForkFields(msgspec.Struct, gc=False):
    sessionId: str | None = None


class SkimMessage(msgspec.Struct, gc=False):
    model: str | None = None
    id: str | None = None
    content: str | list[SkimBlock | str] | None = None
    tool_use: list[SkimBlock] | None = None
    """FMT-08: calls beside the content, in hand-made and very old files."""


class FullMessage(msgspec.Struct, gc=False):
    model: str | None = None
    id: str | None = None
    content: str | list[FullBlock | str] | None = None
    stop_reason: str | None = None
    usage: UsageFields | None = None
    tool_use: list[FullBlock] | None = None


MESSAGES = (FullMessage, SkimMessage)
"""For `isinstance`: a union would be made anew each time."""


class Record(msgspec.Struct, Generic[M], gc=False):
    """A line of the conversation. The fields stand in the order in which versions up to
    2.1.72 write them: the decoder looks for the next key behind the last one it met."""

    parentUuid: str | None = None
    isSidechain: bool | None = None
    cwd: str | None = None
    sessionId: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    slug: str | None = None
    type: str = ""
    message: M | str | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    origin: OriginFields | str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    entrypoint: str | None = None
    forkedFrom: ForkFields | str | None = None
    parentSessionId: str | None = None
    minutebook: Carried | None = None


SkimRecord = Record[SkimMessage]


class RepeatedMessage(msgspec.Struct, gc=False):
    """What a `progress` record is read for in the message it repeats: its accounting."""

    model: str | None = None
    id: str | None = None
    stop_reason: str | None = None
    usage: UsageFields | None = None


class RepeatedRecord(msgspec.Struct, gc=False):
    """A subagent's record, inside the `progress` record of its parent."""

    type: str = ""
    message: RepeatedMessage | str | None = None
    uuid: str | None = None
    timestamp: str | None = None


class ProgressFields(msgspec.Struct, gc=False):
    message: RepeatedRecord | str | None = None


class FullRecord(Record[FullMessage]):
    """A line in full. Decoding these in the same pass is what makes them cheap."""

    toolUseResult: ResultExtras | list[msgspec.Raw] | str | None = None
    data: ProgressFields | list[msgspec.Raw] | str | None = None
    costUSD: Any = None


class AttachmentFields(msgspec.Struct, gc=False):
    type: str = ""
    prompt: str | list[FullBlock | str] | None = None
    commandMode: str | None = None
    isMeta: bool | None = None
    origin: OriginFields | str | None = None


class CompactFields(msgspec.Struct, gc=False):
    trigger: str | None = None
    preTokens: int | None = None


class OtherRecord(msgspec.Struct, gc=False):
    """Any line beside the conversation, and the legacy kinds of FMT-07."""

    type: str = ""
    uuid: str | None = None
    timestamp: str | None = None
    isSidechain: bool | None = None
    cwd: str | None = None
    gitBranch: str | None = None
    parentSessionId: str | None = None
    # system
    subtype: str | None = None
    content: str | list[Any] | None = None
    durationMs: float | None = None
    compactMetadata: CompactFields | None = None
    # attachment
    attachment: AttachmentFields | None = None
    # queue-operation
    operation: str | None = None
    # titles and links
    customTitle: str | None = None
    agentName: str | None = None
    aiTitle: str | None = None
    summary: str | None = None
    leafUuid: str | None = None
    prNumber: int | None = None
    prUrl: str | None = None
    prRepository: str | None = None
    # cost-state
    totalCostUSD: float | None = None
    modelUsage: dict[str, Any] | None = None
    # our own
    minutebook: Carried | None = None
    # legacy tool_use / tool_result
    id: str | None = None
    name: str | None = None
    tool: str | None = None
    tool_use_id: str | None = None
    input: Any = None
    output: Any = None
    is_error: bool | None = None


decode_skim = msgspec.json.Decoder(SkimRecord).decode
decode_full = msgspec.json.Decoder(FullRecord).decode
decode_other = msgspec.json.Decoder(OtherRecord).decode

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
