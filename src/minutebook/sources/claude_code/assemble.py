"""Records → rounds.

One assembler serves both depths and both kinds of file (main sessions and subagents).
It holds a few rounds at most: the one that grows, and those before it that still wait for
a tool result. A round that has been handed out never changes again.
"""

from __future__ import annotations

from typing import cast

import msgspec

from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    Block,
    Document,
    Image,
    Message,
    Notice,
    Role,
    Round,
    StrayResult,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from minutebook.sources.claude_code.blocks import OpenCall

SYNTHETIC_MODEL = "<synthetic>"
_HELD = 4  # closed rounds that may wait for results
_RECENT = 64  # replies that may still go on in a later round


class OpenMessage:
    """A message that may still get blocks."""

    __slots__ = (
        "at",
        "blocks",
        "id",
        "model",
        "queued",
        "reply_id",
        "role",
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
        self.stop: str | None = None
        self.queued = False
        self.whole = False  # came as one value: nothing of it is to be worked out again

    @classmethod
    def thaw(cls, message: Message) -> OpenMessage:
        """A message that came whole."""
        opened = cls(message.role, message.id, message.at)
        opened.blocks.extend(message.blocks)
        opened.reply_id, opened.model, opened.usage = message.reply_id, message.model, message.usage
        opened.stop, opened.queued = message.stop, message.queued
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
        )


class _OpenRound:
    __slots__ = (
        "branch",
        "cwd",
        "duration_ms",
        "messages",
        "replies",
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


class OpenState(msgspec.Struct, omit_defaults=True):
    """A round that still grows, as a value."""

    messages: list[Message]
    whole: list[int] = []
    started: bool = False
    cwd: str | None = None
    branch: str | None = None
    duration_ms: int | None = None
    tools: int = 0


class AssemblerState(msgspec.Struct):
    """All an assembler knows between two lines."""

    number: int
    prompts: int
    calls: int
    usage: Usage
    opened: bool
    counted: dict[str, Usage]
    rounds: list[OpenState]


def _frozen(round: _OpenRound) -> OpenState:
    return OpenState(
        [message.freeze() for message in round.messages],
        [index for index, message in enumerate(round.messages) if message.whole],
        round.started,
        round.cwd,
        round.branch,
        round.duration_ms,
        round.tools,
    )


def _thawed(state: OpenState) -> _OpenRound:
    round = _OpenRound()
    round.started, round.cwd, round.branch = state.started, state.cwd, state.branch
    round.duration_ms, round.tools = state.duration_ms, state.tools
    for index, message in enumerate(state.messages):
        opened = OpenMessage.thaw(message)
        opened.whole = index in state.whole
        round.messages.append(opened)
        if opened.whole:
            continue
        if opened.role == "assistant" and opened.reply_id is not None:
            round.replies[opened.reply_id] = opened
        for at, block in enumerate(opened.blocks):
            if isinstance(block, ToolCall) and block.result is None:
                call = OpenCall(block.id, block.name, block.input, block.at)
                call.agent = block.agent
                opened.blocks[at] = round.waiting[call.id] = call
            elif isinstance(block, StrayResult):
                round.strays.setdefault(block.call_id, opened)
    return round


class RoundAssembler:
    """Takes messages, replies and results in file order; `done` collects finished rounds."""

    def __init__(self, first_number: int = 1) -> None:
        self.done: list[Round] = []
        self.prompts = 0
        self.calls = 0
        self.usage = Usage()
        self._opened = False  # the round was begun, and its prompt is still to come
        self.homeless = 0
        """Notices that, at the end of the file, belong to no round."""
        self._number = first_number
        self._round = _OpenRound()
        self._held: list[_OpenRound] = []
        self._counted: dict[str, Usage] = {}  # by reply id, what earlier rounds carry of it

    def state(self) -> AssemblerState:
        """What would be needed to go on from here."""
        recent = dict(list(self._counted.items())[-_RECENT:])
        rounds = [_frozen(round) for round in (*self._held, self._round)]
        return AssemblerState(
            self._number, self.prompts, self.calls, self.usage, self._opened, recent, rounds
        )

    def restore(self, state: AssemblerState) -> None:
        """Go on from there."""
        self._number, self.prompts, self.calls = state.number, state.prompts, state.calls
        self.usage, self._opened, self._counted = state.usage, state.opened, state.counted
        *self._held, self._round = (_thawed(round) for round in state.rounds)

    # -- what comes in

    def prompt(self, message: OpenMessage, cwd: str | None, branch: str | None) -> None:
        """A real user message: it opens the next round."""
        if self._round.started and not self._opened:
            self._close()
        self._opened = False
        current = self._round
        current.started = True
        current.cwd, current.branch = cwd, branch
        current.messages.append(message)
        self.prompts += 1

    def begin(self, cwd: str | None, branch: str | None, *, prompted: bool) -> None:
        """A round that does not open with its prompt: an export says where it begins."""
        if self._round.started:
            self._close()
        self._round.started = True
        self._round.cwd, self._round.branch = cwd, branch
        self._opened = prompted

    def notice(self, message: OpenMessage) -> None:
        """Something the harness said: it stays with the round it falls into."""
        self._round.messages.append(message)

    def open_reply(self, reply_id: str | None) -> OpenMessage | None:
        """The message of this round a line belongs to, whatever stands between (FMT-12)."""
        return None if reply_id is None else self._round.replies.get(reply_id)

    def reply(
        self, message: OpenMessage, reply_id: str | None, cwd: str | None, branch: str | None
    ) -> OpenMessage:
        """A new assistant message."""
        current = self._round
        message.reply_id = reply_id
        if not current.started:
            current.started = True
            current.cwd, current.branch = cwd, branch
        if reply_id is not None:
            current.replies[reply_id] = message
        current.messages.append(message)
        return message

    def call(self, call: OpenCall) -> None:
        """Remember a call until its result comes; now and then it was written before."""
        self.called(1)
        early = self._round.strays.pop(call.id, None)
        if early is None:
            self._round.waiting[call.id] = call
            return
        self._round.messages.remove(early)
        (block,) = early.blocks
        call.result = cast(StrayResult, block).result

    def called(self, count: int) -> None:
        """Tool calls of this round that are counted, whether or not they are kept."""
        self.calls += count
        self._round.tools += count

    def waiting_call(self, call_id: str) -> OpenCall | None:
        """The unanswered call with this id."""
        for open in (self._round, *self._held):
            if (call := open.waiting.get(call_id)) is not None:
                return call
        return None

    def waiting_calls(self) -> list[OpenCall]:
        """All unanswered calls, oldest first."""
        return [call for open in (*self._held, self._round) for call in open.waiting.values()]

    def last_waiting(self, name: str | None) -> OpenCall | None:
        """The latest unanswered call of a tool; for records that carry no ids (FMT-07)."""
        calls = [c for c in self._round.waiting.values() if name is None or c.name == name]
        return calls[-1] if calls else None

    def answer(self, call: OpenCall, result: ToolResult) -> None:
        call.result = result
        for open in (self._round, *self._held):
            if open.waiting.get(call.id) is call:
                del open.waiting[call.id]
                break
        self._release()

    def stray(self, call_id: str, result: ToolResult, id: str | None, at: str | None) -> None:
        """A result without its call: kept, in the round where it arrived."""
        message = OpenMessage("user", id, at)
        message.blocks.append(StrayResult(call_id, result))
        self._round.messages.append(message)
        self._round.strays.setdefault(call_id, message)

    def duration(self, milliseconds: float) -> None:
        self._round.duration_ms = (self._round.duration_ms or 0) + round(milliseconds)

    # -- what goes out

    def finish(self) -> None:
        """The file has ended: hand out what is left, growing or not.

        Notices with neither a prompt nor a reply near them are no round (FMT-11).
        """
        if self._round.started:
            self._close()
        self.homeless = len(self._round.messages)
        self._release(everything=True)

    def _close(self) -> None:
        self._held.append(self._round)
        self._round = _OpenRound()
        self._release()

    def _release(self, everything: bool = False) -> None:
        """Hand out closed rounds from the front, as far as none waits for a result."""
        while self._held and (everything or not self._held[0].waiting or len(self._held) > _HELD):
            self._emit(self._held.pop(0))

    def _emit(self, done: _OpenRound) -> None:
        for reply_id, message in done.replies.items():
            if message.usage is None:
                continue
            before = self._counted.get(reply_id)
            self._counted[reply_id] = message.usage
            if (
                before is not None and not message.whole
            ):  # an earlier round carries a part of this reply
                message.usage = message.usage.beyond(before)
            self.usage += message.usage
        self.done.append(
            Round(
                self._number,
                tuple([message.freeze() for message in done.messages]),
                done.cwd,
                done.branch,
                done.duration_ms,
                done.tools,
            )
        )
        self._number += 1


def user_blocks(
    pieces: list[Block], *, meta: bool, compaction: bool, origin: str | None
) -> tuple[list[Block], bool]:
    """Blocks of a user record with each text sorted by whose it is; and: is it a real message?"""
    blocks: list[Block] = []
    real = False
    for piece in pieces:
        if isinstance(piece, Text):
            kind = kinds.classify(piece.text, meta=meta, compaction=compaction)
            if kind is kinds.PROMPT and origin not in (None, "human"):
                kind = kinds.TASK if origin == "task-notification" else kinds.TEAMMATE
            if kind is not kinds.PROMPT:
                blocks.append(Notice(kind, piece.text))
                continue
            real = real or bool(piece.text.strip())
        elif isinstance(piece, Image | Document):
            if meta or compaction or origin not in (None, "human"):
                # A picture the harness put there must not make the message look typed.
                kind = "image" if isinstance(piece, Image) else "document"
                data = {"media_type": piece.media_type, "data": piece.data}
                blocks.append(Attachment(kind, data))
                continue
            real = True
        blocks.append(piece)
    if not real:
        blocks = [Notice(kinds.META, b.text) if isinstance(b, Text) else b for b in blocks]
    return blocks, real
