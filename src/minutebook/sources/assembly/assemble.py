"""Records → rounds.

One assembler serves both depths and both kinds of file (main sessions and subagents).
It holds a few rounds at most: the one that grows, and those before it that still wait for
a tool result. A round that has been handed out never changes again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import cast

import msgspec
from msgspec.structs import replace

from minutebook.derive.replies import accounted_key, reply_key
from minutebook.model import (
    Billing,
    Compaction,
    Loose,
    Reply,
    Round,
    StrayResult,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from minutebook.sources.assembly.opened import (
    OpenCall,
    OpenMessage,
    OpenRound,
    OpenState,
    frozen,
    thawed,
)

_HELD = 4  # closed rounds that may wait for results
_RECENT = 256  # replies that may still go on in a later round


class AssemblerState(msgspec.Struct):
    """All an assembler knows between two lines."""

    number: int
    prompt_ids: list[str]
    prompts: int
    calls: int
    answer_chars: int
    usage: Usage
    opened: bool
    counted: dict[str, Usage]
    rounds: list[OpenState]


class RoundAssembler:
    """Takes messages, replies and results in file order; `done` collects finished rounds."""

    def __init__(self, first_number: int = 1) -> None:
        self.done: list[Round] = []
        self.prompts = 0
        self.prompt_ids: list[str] = []
        self.calls = 0
        self.answer_chars = 0
        self.usage = Usage()
        self._opened = False  # the round was begun, and its prompt is still to come
        self.homeless = 0
        """Notices that, at the end of the file, belong to no round."""
        self.loose = Loose()
        """What else, at the end of the file, belongs to no round."""
        self._number = first_number
        self.round = OpenRound()
        """The one that is open."""
        self._held: list[OpenRound] = []
        self._counted: dict[str, Usage] = {}
        """By reply, what earlier rounds carry of it."""

    def state(self) -> AssemblerState:
        """What would be needed to go on from here."""
        return AssemblerState(
            self._number,
            self.prompt_ids,
            self.prompts,
            self.calls,
            self.answer_chars,
            self.usage,
            self._opened,
            self._counted,
            [frozen(round) for round in (*self._held, self.round)],
        )

    def restore(self, state: AssemblerState) -> None:
        """Go on from there."""
        self._number, self.prompts, self.calls = state.number, state.prompts, state.calls
        self.prompt_ids, self.answer_chars = state.prompt_ids, state.answer_chars
        self.usage, self._opened = state.usage, state.opened
        self._counted = state.counted
        *self._held, self.round = (thawed(round) for round in state.rounds)

    # -- what comes in

    def prompt(self, message: OpenMessage, cwd: str | None, branch: str | None) -> None:
        """A real user message: it opens the next round."""
        if self.round.started and not self._opened:
            self._close()
        self._opened = False
        current = self.round
        current.started = True
        current.cwd, current.branch = cwd, branch
        current.messages.append(message)
        self.prompts += 1
        if message.id:
            self.prompt_ids.append(message.id)

    def begin(self, cwd: str | None, branch: str | None, *, prompted: bool) -> None:
        """A round that does not open with its prompt: an export says where it begins."""
        if self.round.started:
            self._close()
        self.round.started = True
        self.round.cwd, self.round.branch = cwd, branch
        self._opened = prompted

    def notice(self, message: OpenMessage) -> None:
        """Something the harness said: it stays with the round it falls into."""
        self.round.messages.append(message)

    def open_reply(self, reply_id: str | None) -> OpenMessage | None:
        """The message of this round a line belongs to, whatever stands between (FMT-12)."""
        return None if reply_id is None else self.round.replies.get(reply_id)

    def reply(
        self, message: OpenMessage, reply_id: str | None, cwd: str | None, branch: str | None
    ) -> OpenMessage:
        """A new assistant message."""
        current = self.round
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
        early = self.round.strays.pop(call.id, None)
        if early is None:
            self.round.waiting[call.id] = call
            return
        self.round.messages.remove(early)
        (block,) = early.blocks
        call.result = cast(StrayResult, block).result

    def called(self, count: int) -> None:
        """Tool calls of this round that are counted, whether or not they are kept."""
        self.calls += count
        self.round.tools += count

    def waiting_call(self, call_id: str) -> OpenCall | None:
        """The unanswered call with this id."""
        for open in (self.round, *self._held):
            if (call := open.waiting.get(call_id)) is not None:
                return call
        return None

    def waiting_calls(self) -> list[OpenCall]:
        """All unanswered calls, oldest first."""
        return [call for open in (*self._held, self.round) for call in open.waiting.values()]

    def last_waiting(self, name: str | None) -> OpenCall | None:
        """The latest unanswered call of a tool; for records that carry no ids (FMT-07)."""
        calls = [c for c in self.round.waiting.values() if name is None or c.name == name]
        return calls[-1] if calls else None

    def answer(self, call: OpenCall, result: ToolResult) -> None:
        call.result = result
        for open in (self.round, *self._held):
            if open.waiting.get(call.id) is call:
                del open.waiting[call.id]
                break
        self._release()

    def amend(self, call_id: str, change: Callable[[ToolResult], ToolResult]) -> bool:
        """Change the answer of a call; False where its round is handed out."""
        for open in (self.round, *self._held):
            for message in reversed(open.messages):
                for at, block in enumerate(message.blocks):
                    if not isinstance(block, OpenCall | ToolCall) or block.id != call_id:
                        continue
                    if block.result is None:
                        return False
                    if isinstance(block, OpenCall):
                        block.result = change(block.result)
                    else:
                        message.blocks[at] = replace(block, result=change(block.result))
                    return True
        return False

    def withdraw(self, message: OpenMessage) -> None:
        """A reply of the open round was none; what it used stays."""
        self.round.messages.remove(message)
        if message.reply_id is not None:
            self.round.replies.pop(message.reply_id, None)
        if message.usage is not None:
            id = accounted_key(message.reply_id, message.id, message.at, message.usage)
            self.repeated(
                Reply(id, message.at, message.model, message.usage, message.stop, message.billing)
            )

    def stray(self, call_id: str, result: ToolResult, id: str | None, at: str | None) -> None:
        """A result without its call: kept, in the round where it arrived."""
        message = OpenMessage("user", id, at)
        message.blocks.append(StrayResult(call_id, result))
        self.round.messages.append(message)
        self.round.strays.setdefault(call_id, message)

    def duration(self, milliseconds: float) -> None:
        self.round.duration_ms = (self.round.duration_ms or 0) + round(milliseconds)

    # -- what a round knows beside its messages

    def repeated(self, reply: Reply) -> None:
        """A reply whose accounting is all that is to be had here.

        A line of a reply that is still open counts there; one an earlier round holds needs no
        second mention, unless it says more.
        """
        known = self._counted.get(reply.id)
        if known is None or reply.usage.total > known.total:
            self.round.repeat(reply)

    def compacted(self, compaction: Compaction) -> None:
        self.round.compactions.append(compaction)

    def facts(
        self, clock: str, progress: Iterable[Reply], compactions: Iterable[Compaction]
    ) -> None:
        """What an export says of the open round."""
        self.round.clocks.append(clock)
        self.round.progress.update((reply.id, reply) for reply in progress)
        self.round.compactions.extend(compactions)

    # -- what goes out

    def finish(self) -> None:
        """The file has ended: hand out what is left, growing or not.

        Notices with neither a prompt nor a reply near them are no round (FMT-11).
        """
        if self.round.started:
            self._close()
        left = self.round
        self.homeless = len(left.messages)
        self.loose = Loose(left.clock, tuple(left.progress.values()))
        self._release(everything=True)

    def _close(self) -> None:
        self._held.append(self.round)
        self.round = OpenRound()
        self._release()

    def _release(self, everything: bool = False) -> None:
        """Hand out closed rounds from the front, as far as none waits for a result."""
        while self._held and (everything or not self._held[0].waiting or len(self._held) > _HELD):
            self._emit(self._held.pop(0))

    def _emit(self, done: OpenRound) -> None:
        for message in done.messages:
            if message.role == "assistant":
                self._count(message)
                self.answer_chars += sum([len(b.text) for b in message.blocks if type(b) is Text])
        self.done.append(done.freeze(self._number))
        self._number += 1

    def _count(self, message: OpenMessage) -> None:
        """Add a reply's usage, less what earlier rounds have of it (FMT-26)."""
        usage, billing = message.usage, message.billing
        if usage is None:
            return
        reply_id = message.reply_id or reply_key(None, message.id)
        if not reply_id:
            self.usage += usage
            return
        whole = billing.usage if billing is not None and billing.usage is not None else usage
        before = self._counted.setdefault(reply_id, whole)
        if before is not whole:
            if whole.total > before.total:
                self._counted[reply_id] = whole
            if not message.whole and not message.settled:
                usage = message.usage = whole.beyond(before)
                if usage != whole:
                    message.billing = replace(billing or Billing(), usage=whole)
        elif len(self._counted) > 2 * _RECENT:
            self._counted = dict(islice(self._counted.items(), _RECENT, None))
        self.usage += usage
