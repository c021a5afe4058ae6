"""A session while it is read: an adapter tells what it meets, in file order; rounds come out.

An adapter that uses it decides what each of its records means, and nothing else: which is a
prompt, a reply, a call. At the depth ``skim`` only words and counts are kept, so an adapter may
tell the same at both depths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from msgspec.structs import replace

from minutebook.derive import messages as kinds
from minutebook.derive.clock import Class
from minutebook.model import (
    Attachment,
    Billing,
    Block,
    Compaction,
    Document,
    FormatReport,
    Image,
    Message,
    Notice,
    Reply,
    Round,
    Text,
    Thinking,
    ToolKind,
    ToolResult,
    Unknown,
    Usage,
)
from minutebook.sources.assembly.assemble import RoundAssembler
from minutebook.sources.assembly.clocks import LETTERS
from minutebook.sources.assembly.facts import Facts
from minutebook.sources.assembly.opened import OpenCall, OpenMessage

COMPLETED = "completed"
"""How a response ended, of an agent that records usage at its end, and only then."""


class Draft:
    """One conversation: a session's own, or a subagent's."""

    def __init__(
        self,
        facts: Facts,
        report: FormatReport,
        tool_kind: Callable[[str], ToolKind],
        *,
        full: bool = True,
    ) -> None:
        self.facts, self.report, self.full = facts, report, full
        self.assembler = RoundAssembler()
        self._tool_kind = tool_kind
        self.cwd: str | None = None
        """Where the rounds that follow are worked on."""
        self.branch: str | None = None

    @property
    def done(self) -> list[Round]:
        """Rounds that can no longer change; whoever takes them clears the list."""
        return self.assembler.done

    # -- the person

    def prompt(self, blocks: Sequence[Block], *, id: str | None, at: str | None) -> None:
        """A real user message: it opens a round. Words, pictures, and what came with them."""
        message = OpenMessage("user", id, at)
        words = [block for block in blocks if isinstance(block, Text)]
        if not self.full:
            pictures = (b if isinstance(b, Text) else type(b)() for b in blocks if _is_said(b))
            blocks = list(pictures)
        message.blocks.extend(blocks)
        self.assembler.prompt(message, self.cwd, self.branch)
        if not self.facts.first_prompt:
            self.facts.first_prompt = next((w.spoken for w in words if w.spoken.strip()), "")
        self._stamp(at, "prompt")

    def opening(self) -> None:
        """A round begins; what is told until its prompt belongs to it."""
        self.assembler.begin(self.cwd, self.branch, prompted=True)

    def last_prompt(self) -> OpenMessage | None:
        """The prompt of the open round."""
        messages = self.assembler.round.messages
        real = (m for m in messages if m.role == "user" and any(map(_is_said, m.blocks)))
        return next(real, None)

    # -- the model

    def reply(
        self, reply_id: str | None, *, id: str | None, at: str | None, model: str | None = None
    ) -> OpenMessage:
        """The message of a reply; what a round tells under one `reply_id` is one message."""
        message = self.assembler.open_reply(reply_id)
        if message is None:
            message = OpenMessage("assistant", id, at)
            self.assembler.reply(message, reply_id, self.cwd, self.branch)
        message.model = message.model or model
        if model:
            self.facts.saw(model=model)
        self._stamp(at, "reply")
        return message

    def say(self, reply: OpenMessage, text: str) -> None:
        """Words of the model."""
        reply.blocks.append(Text(text))

    def take_back(self, reply: OpenMessage) -> None:
        """The last words of a reply were none of the conversation's."""
        reply.blocks.pop()
        if not reply.blocks:
            self.assembler.withdraw(reply)

    def think(
        self, reply: OpenMessage, text: str, signature: str | None = None, *, redacted: bool = False
    ) -> None:
        """Its reasoning, summarised or not; with `redacted`, `signature` is the ciphertext."""
        if self.full:
            reply.blocks.append(Thinking(text, signature, redacted))

    def show(self, reply: OpenMessage, picture: Image | Document) -> None:
        """A picture or a file in a reply."""
        reply.blocks.append(picture if self.full else type(picture)())

    def bill(
        self,
        reply: OpenMessage,
        usage: Usage,
        *,
        stop: str | None = None,
        billing: Billing | None = None,
    ) -> None:
        """What the reply used, in our terms: `input` without what was cached, `output` with
        reasoning. The last word on it counts."""
        if self.full:
            reply.usage, reply.billing = usage, billing
            reply.stop = stop or reply.stop

    def bill_elsewhere(self, reply: Reply) -> None:
        """Usage of a reply that is not among the messages (a subagent's, repeated here)."""
        if self.full:
            self.assembler.repeated(reply)

    # -- tools

    def call(
        self,
        reply: OpenMessage,
        call_id: str,
        name: str,
        input: Any,
        *,
        at: str | None,
        kind: ToolKind | None = None,
        agent: str | None = None,
    ) -> None:
        """A tool the model calls; `agent` is the id of the subagent it starts."""
        if not self.full:
            self.assembler.called(1)
            return
        call = OpenCall(call_id, name, input, at, kind or self._tool_kind(name))
        call.agent = agent
        reply.blocks.append(call)
        self.assembler.call(call)

    def answer(self, call_id: str, result: ToolResult, *, id: str | None) -> None:
        """What the tool answered; kept as a stray where its call is not known."""
        call = self.assembler.waiting_call(call_id)
        if call is not None:
            self.assembler.answer(call, result)
        elif self.full:
            self.assembler.stray(call_id, result, id, result.at)
        self._stamp(result.at, "result")

    def amend(self, call_id: str, change: Callable[[ToolResult], ToolResult]) -> bool:
        """Something about an answer became known after it; False where its round is closed."""
        return self.assembler.amend(call_id, change)

    def started_by(self, call_id: str, agent: str) -> None:
        """A call that waits for its result started this subagent."""
        if (call := self.assembler.waiting_call(call_id)) is not None:
            call.agent = agent

    # -- the harness

    def notice(self, kind: str, text: str, *, id: str | None, at: str | None) -> None:
        """Words neither side wrote (`derive.messages` has the kinds)."""
        self._aside(Notice(kind, text), id, at)

    def attachment(
        self, kind: str, data: dict[str, Any], *, id: str | None, at: str | None
    ) -> None:
        """Context the model was given: instructions, mentioned files, an environment."""
        self._aside(Attachment(kind, data), id, at)

    def unknown(self, kind: str, data: Any, *, id: str | None, at: str | None) -> None:
        """Something this version does not understand: kept verbatim, counted, named by doctor."""
        if self.full:
            self.report.unknown[kind] += 1
        self._aside(Unknown(kind, data), id, at)

    def _aside(self, block: Notice | Attachment | Unknown, id: str | None, at: str | None) -> None:
        if self.full:
            message = OpenMessage("user", id, at)
            message.blocks.append(block)
            self.assembler.notice(message)
        self._stamp(at, "other")

    def interrupted(self, text: str, *, id: str | None, at: str | None) -> None:
        """The person stopped the model."""
        self.notice(kinds.INTERRUPTION, text, id=id, at=at)

    def compacted(
        self,
        summary: str,
        *,
        id: str | None,
        at: str | None,
        trigger: str | None = None,
        tokens_before: int | None = None,
    ) -> None:
        """The agent replaced what was in its window by a summary."""
        self.facts.compactions += 1
        self.notice(kinds.COMPACTION, summary, id=id, at=at)
        if self.full:
            self.assembler.compacted(Compaction(at, trigger, tokens_before))

    def triggered(self, trigger: str) -> None:
        """Who wanted the last compaction of the open round became known after it."""
        compactions = self.assembler.round.compactions
        if compactions:
            compactions[-1] = replace(compactions[-1], trigger=trigger)

    # -- time

    def lasted(self, milliseconds: int) -> None:
        """How long the agent itself says the turn took."""
        self.assembler.duration(milliseconds)
        self.facts.duration_ms += milliseconds

    def _stamp(self, at: str | None, made_by: Class) -> None:
        self.facts.saw(at)
        if self.full and at:
            self.assembler.round.stamps.append(at)
            self.assembler.round.makers.append(LETTERS[made_by])

    # -- exports

    def begin(self, cwd: str | None, branch: str | None, *, prompted: bool) -> None:
        """A round of an export begins, with its prompt or without."""
        self.cwd, self.branch = cwd, branch
        self.assembler.begin(cwd, branch, prompted=prompted)

    def whole(self, message: Message) -> None:
        """A message as it was before an export."""
        opened = OpenMessage.thaw(message)
        if not self.full:
            said = (b if isinstance(b, Text) else type(b)() for b in message.blocks if _is_said(b))
            opened.blocks = list(said)
        if message.role == "assistant":
            self.assembler.reply(opened, message.reply_id, self.cwd, self.branch)
        elif message.is_real:
            self.assembler.prompt(opened, self.cwd, self.branch)
            self.facts.first_prompt = self.facts.first_prompt or message.said
        elif self.full:
            self.assembler.notice(opened)
        self.facts.saw(message.at, model=message.model)

    # -- the end

    def finish(self) -> None:
        """There are no more records."""
        self.assembler.finish()
        if self.assembler.homeless:
            self.report.left_out["notice outside any round"] += self.assembler.homeless


def _is_said(block: Block | OpenCall) -> TypeGuard[Text | Image | Document]:
    return isinstance(block, Text | Image | Document)
