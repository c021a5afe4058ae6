"""Messages and rounds that still grow, and what they are as values between two lines."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from minutebook.derive.replies import better_reply
from minutebook.model import (
    Billing,
    Block,
    Compaction,
    Message,
    Reply,
    Role,
    Round,
    StrayResult,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
)
from minutebook.sources.assembly.clocks import clock_of, joined_clocks


class OpenCall:
    """A tool call that may still get its result."""

    __slots__ = ("agent", "at", "id", "input", "kind", "name", "result")

    def __init__(
        self, id: str, name: str, input: Any, at: str | None, kind: ToolKind = "other"
    ) -> None:
        self.id = id
        self.name = name
        self.input = input
        self.at = at
        self.agent: str | None = None
        self.result: ToolResult | None = None
        self.kind: ToolKind = kind

    @classmethod
    def thaw(cls, call: ToolCall) -> OpenCall:
        opened = cls(call.id, call.name, call.input, call.at, call.kind)
        opened.agent = call.agent
        return opened

    def freeze(self) -> ToolCall:
        return ToolCall(self.id, self.name, self.input, self.result, self.at, self.agent, self.kind)


class OpenMessage:
    """A message that may still get blocks."""

    __slots__ = (
        "at",
        "billing",
        "blocks",
        "id",
        "model",
        "queued",
        "reply_id",
        "role",
        "settled",
        "stop",
        "usage",
        "whole",
    )

    def __init__(self, role: Role, id: str | None, at: str | None) -> None:
        self.role: Role = role
        self.id = id
        self.at = at
        self.blocks: list[Block | OpenCall] = []
        self.reply_id: str | None = None
        self.model: str | None = None
        self.usage: Usage | None = None
        self.billing: Billing | None = None
        self.stop: str | None = None
        self.queued = False
        self.whole = False  # came as one value: nothing of it is to be worked out again
        self.settled = False  # an export said what its usage is

    @classmethod
    def thaw(cls, message: Message) -> OpenMessage:
        """A message that came whole."""
        opened = cls(message.role, message.id, message.at)
        opened.blocks.extend(message.blocks)
        opened.reply_id, opened.model, opened.usage = message.reply_id, message.model, message.usage
        opened.stop, opened.queued, opened.billing = message.stop, message.queued, message.billing
        opened.whole = True
        return opened

    def freeze(self) -> Message:
        return Message(
            self.role,
            tuple([b.freeze() if type(b) is OpenCall else cast(Block, b) for b in self.blocks]),
            self.id,
            self.at,
            self.reply_id,
            self.model,
            self.usage,
            self.stop,
            self.queued,
            self.billing,
        )


class OpenRound:
    """A round that still grows."""

    __slots__ = (
        "branch",
        "clocks",
        "compactions",
        "cwd",
        "duration_ms",
        "makers",
        "messages",
        "progress",
        "replies",
        "stamps",
        "started",
        "strays",
        "tools",
        "waiting",
    )

    def __init__(self) -> None:
        self.messages: list[OpenMessage] = []
        self.replies: dict[str, OpenMessage] = {}
        self.waiting: dict[str, OpenCall] = {}
        self.strays: dict[str, OpenMessage] = {}
        self.started = False  # a prompt or a reply is in; until then only notices
        self.cwd: str | None = None
        self.branch: str | None = None
        self.duration_ms: int | None = None
        self.tools = 0
        self.stamps: list[str | None] = []  # when records were written …
        self.makers: list[str] = []  # … and what made each, as a clock's letter
        self.clocks: list[str] = []  # of what was read, or exported, before
        self.progress: dict[str, Reply] = {}
        self.compactions: list[Compaction] = []

    def repeat(self, reply: Reply) -> None:
        """A reply known only by its accounting: the best sighting of each is kept."""
        self.progress[reply.id] = better_reply(reply, self.progress.get(reply.id))

    @property
    def clock(self) -> str:
        """What was written so far; asked for again, nothing is worked out twice."""
        if self.stamps:
            self.clocks.append(clock_of(self.stamps, self.makers))
            self.stamps, self.makers = [], []
        if len(self.clocks) > 1:
            self.clocks = [joined_clocks(self.clocks)]
        return self.clocks[0] if self.clocks else ""

    def freeze(self, number: int) -> Round:
        return Round(
            number,
            tuple([message.freeze() for message in self.messages]),
            self.cwd,
            self.branch,
            self.duration_ms,
            self.tools,
            self.clock,
            tuple(self.progress.values()),
            tuple(self.compactions),
        )


class OpenState(msgspec.Struct, omit_defaults=True):
    """A round that still grows, as a value."""

    messages: list[Message]
    whole: list[int] = []
    settled: list[int] = []
    started: bool = False
    cwd: str | None = None
    branch: str | None = None
    duration_ms: int | None = None
    tools: int = 0
    clock: str = ""
    progress: list[Reply] = []
    compactions: list[Compaction] = []


def frozen(round: OpenRound) -> OpenState:
    return OpenState(
        [message.freeze() for message in round.messages],
        [index for index, message in enumerate(round.messages) if message.whole],
        [index for index, message in enumerate(round.messages) if message.settled],
        round.started,
        round.cwd,
        round.branch,
        round.duration_ms,
        round.tools,
        round.clock,
        list(round.progress.values()),
        round.compactions,
    )


def thawed(state: OpenState) -> OpenRound:
    round = OpenRound()
    round.started, round.cwd, round.branch = state.started, state.cwd, state.branch
    round.duration_ms, round.tools = state.duration_ms, state.tools
    round.clocks = [state.clock] if state.clock else []
    round.progress = {reply.id: reply for reply in state.progress}
    round.compactions = list(state.compactions)
    for index, message in enumerate(state.messages):
        opened = OpenMessage.thaw(message)
        opened.whole, opened.settled = index in state.whole, index in state.settled
        round.messages.append(opened)
        if opened.whole:
            continue
        if opened.role == "assistant" and opened.reply_id is not None:
            round.replies[opened.reply_id] = opened
        for at, block in enumerate(opened.blocks):
            if isinstance(block, ToolCall) and block.result is None:
                call = OpenCall.thaw(block)
                opened.blocks[at] = round.waiting[call.id] = call
            elif isinstance(block, StrayResult):
                round.strays.setdefault(block.call_id, opened)
    return round
