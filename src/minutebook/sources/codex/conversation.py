"""Response items: what was said and called, told to the draft."""

from __future__ import annotations

from typing import Any

from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    Billing,
    Block,
    Image,
    Notice,
    Reply,
    Text,
    ToolResult,
    Usage,
)
from minutebook.sources.assembly.draft import COMPLETED, Draft
from minutebook.sources.assembly.opened import OpenMessage
from minutebook.sources.codex import context
from minutebook.sources.codex.memory import Memory
from minutebook.sources.codex.records import Payload, Piece, UsageFields
from minutebook.sources.codex.results import (
    End,
    agent_of,
    amended,
    json_or_text,
    part_of,
    picture,
    result_of,
)
from minutebook.sources.codex.tools import SCRIPTS, kind_of, patch_of, tool_kind


class Conversation:
    """One rollout's items, in file order."""

    def __init__(self, draft: Draft, memory: Memory) -> None:
        self.draft, self.memory = draft, memory
        known = memory.reply
        self._reply: OpenMessage | None = draft.assembler.open_reply(known) if known else None

    # -- the person

    def heard(self, item: Payload, at: str | None) -> None:
        """A message in the user's name: a prompt, context, or both."""
        labels = context.labels(item)
        blocks: list[Block] = []
        for number, piece in enumerate(pieces_of(item.content)):
            label = labels[number] if number < len(labels) else None
            if context.is_persons(piece, label):
                blocks += [block] if (block := context.prompt_block(piece)) is not None else []
            else:
                self._given(piece, item.role or "user", at)
        if any(isinstance(block, Text | Image) for block in blocks):
            self._typed(blocks, at)

    def given(self, item: Payload, at: str | None) -> None:
        """A message of the developer: instructions that no person wrote here."""
        for piece in pieces_of(item.content):
            self._given(piece, item.role or "developer", at)

    def _given(self, piece: Piece, role: str, at: str | None) -> None:
        text = piece.text or ""
        if (ran := context.shell_command(text)) is not None:
            self._prompt([Text(f"! {ran[0]}")], at)
            self.draft.notice(kinds.COMMAND_OUTPUT, ran[1], id=self.memory.aside(), at=at)
            return
        aside = context.aside_of(text, role)
        if isinstance(aside, Attachment):
            self.memory.context.append((aside, at))
            return
        if aside.kind == kinds.INTERRUPTION:
            self.memory.aborted = True
        self.notice(aside, at)

    def _typed(self, blocks: list[Block], at: str | None) -> None:
        memory, text = self.memory, _words(blocks)
        if memory.announced is not None and _same(memory.announced, text):
            memory.announced = None
            pictures = [block for block in blocks if isinstance(block, Image)]
            if pictures and self.draft.full and (prompt := self.draft.last_prompt()) is not None:
                prompt.blocks.extend(pictures)
            return
        self._prompt(blocks, at)
        memory.told = text

    def announced(self, text: str, at: str | None) -> None:
        """An event says what was typed: most often again."""
        memory = self.memory
        if memory.told is not None and _same(memory.told, text):
            memory.told = None
            return
        for number, (aside, _) in enumerate(memory.context):
            if aside.data.get("text") == text:  # typed, though it looks like context
                del memory.context[number]
                self._prompt([Text(text)], at)
                return
        if text.strip():
            self._prompt([Text(text)], at)
            memory.announced = text

    def _prompt(self, blocks: list[Block], at: str | None) -> None:
        memory, draft = self.memory, self.draft
        self.decide("auto")
        memory.prompted, memory.aborted = True, False
        memory.told = memory.announced = None
        self._reply, memory.reply, memory.is_open = None, None, False
        if memory.context:
            draft.opening()
            self.settle()
        draft.prompt(blocks, id=memory.advance("prompt", _words(blocks)), at=at)

    # -- the harness

    def notice(self, notice: Notice, at: str | None) -> None:
        self.draft.notice(notice.kind, notice.text, id=self.memory.aside(), at=at)

    def told_by_agent(self, item: Payload, at: str | None) -> None:
        """Another agent wrote to this one; what it wrote may be only for the provider to read."""
        texts = [piece.text for piece in pieces_of(item.content) if piece.text]
        self.notice(Notice(kinds.TEAMMATE, "\n\n".join(texts)), at)

    def settle(self) -> None:
        """Context that waited for a prompt is told now."""
        for aside, at in self.memory.context:
            self.draft.attachment(aside.kind, aside.data, id=self.memory.aside(), at=at)
        self.memory.context = []

    def decide(self, trigger: str) -> None:
        """It is seen now who wanted the last compaction."""
        if self.memory.undecided:
            self.draft.triggered(trigger)
            self.memory.undecided = False

    def compacted(self, summary: str, at: str | None) -> None:
        """The summary was asked for like an answer, and is none."""
        memory, reply = self.memory, self._reply
        self.settle()
        before = memory.window
        last = reply.blocks[-1] if reply is not None and reply.blocks else None
        if reply is not None and isinstance(last, Text) and _ends_with(summary, last.text):
            self.draft.take_back(reply)
            before = memory.window_before
        self._reply, memory.reply, memory.is_open = None, None, False
        self.draft.compacted(
            summary,
            id=memory.aside(),
            at=at,
            trigger="auto" if memory.prompted else None,
            tokens_before=before or None,
        )
        memory.undecided = memory.prompted is False

    # -- the model

    def said(self, item: Payload, at: str | None) -> None:
        for piece in pieces_of(item.content):
            if piece.text:
                reply = self._replying(at)
                self.memory.advance("text", piece.text)
                self.draft.say(reply, piece.text)
            elif isinstance(part := part_of(piece), Image):
                self.draft.show(self._replying(at), part)

    def thought(self, item: Payload, at: str | None) -> None:
        """A summary, else the words themselves, else what only the provider can read."""
        texts = [p.text for p in (*pieces_of(item.summary), *pieces_of(item.content)) if p.text]
        if not texts and not item.encrypted_content:
            self.draft.report.left_out["reasoning that is not recorded"] += 1
            return
        text = "\n\n".join(texts)
        self.draft.think(self._replying(at), text, item.encrypted_content, redacted=not text)

    def called(self, item: Payload, at: str | None) -> None:
        """A tool; its name and what it was given stay as they are."""
        name, given = item.name or "", item.input
        if item.type == "local_shell_call":
            name, given = "local_shell", item.action
        elif item.type == "tool_search_call":
            name, given = "tool_search", item.arguments
        elif item.type == "function_call":
            given = json_or_text(item.arguments) if self.draft.full else None
        self._call(item.call_id or item.id, name, given, at)

    def called_itself(self, item: Payload, at: str | None) -> None:
        """What the provider ran: there is nothing more to come."""
        name = item.type.removesuffix("_call")
        id = self._call(item.call_id or item.id, name, item.action, at)
        failed = item.status == "failed"
        content: Any = self.memory.found or ""
        if name == "image_generation" and isinstance(item.result, str):
            content = (picture(f"data:image/png;base64,{item.result}"),)
        self.memory.found = None
        self.draft.answer(id, ToolResult(content, failed, at), id=self.memory.aside())

    def _call(self, id: str | None, name: str, given: Any, at: str | None) -> str:
        reply = self._replying(at)
        chain = self.memory.advance("call", id or name)
        id = id or f"call-{chain}"
        self.draft.call(reply, id, name, given, at=at, kind=kind_of(name, given))
        return id

    def _replying(self, at: str | None) -> OpenMessage:
        """The reply that is being written: all of a response until its usage or an answer."""
        memory = self.memory
        self.settle()
        memory.told = memory.announced = None
        if self._reply is None or not memory.is_open:
            memory.reply = memory.next_reply()
            memory.is_open, memory.is_billed = True, False
            self._reply = self.draft.reply(memory.reply, id=memory.reply, at=at, model=memory.model)
        return self._reply

    # -- answers

    def answered(self, item: Payload, at: str | None) -> None:
        memory, draft, call_id = self.memory, self.draft, item.call_id or ""
        memory.is_open = False
        call = draft.assembler.waiting_call(call_id)
        name, given = (call.name, call.input) if call is not None else (item.name or "", None)
        output = item.output
        if item.type == "tool_search_output":
            output = bytes(item.tools).decode("utf-8", "replace")
        if tool_kind(name) == "delegate" and (agent := agent_of(output)) is not None:
            self.started(call_id, agent)
        kind = call.kind if call is not None else tool_kind(name)
        end = memory.ends.pop(call_id, None)
        result = result_of(output, at, kind, end, patch_of(name, given))
        if call is not None:
            memory.passed_aside()
        draft.answer(call_id, result, id=memory.aside() if call is None else None)

    def started(self, call_id: str, agent: str) -> None:
        """A call started a subagent."""
        self.draft.started_by(call_id, agent)
        self.memory.spawned.setdefault(agent, call_id)

    def ended(self, call_id: str, end: End) -> None:
        """An event says how a call ended: before its answer, or long after."""
        memory, waiting = self.memory, self.draft.assembler
        if waiting.waiting_call(call_id) is None:
            if self.draft.amend(call_id, lambda result: amended(result, end)):
                return
            script = next((c for n in SCRIPTS if (c := waiting.last_waiting(n))), None)
            if script is None or not end.patch:
                self.draft.report.left_out["end of a command without its call"] += 1
                return
            call_id, end = script.id, End(patch=end.patch)  # a tool that a script called
        known = memory.ends.get(call_id, End())
        memory.ends[call_id] = End(
            end.exit_code if end.exit_code is not None else known.exit_code,
            end.error or known.error,
            known.patch + end.patch,
        )

    # -- usage

    def used(self, fields: UsageFields, at: str | None) -> None:
        """What one response used."""
        memory, usage = self.memory, usage_of(fields)
        memory.is_open = False
        if not usage.total:
            return
        memory.window_before, memory.window = memory.window, usage.total
        if self._reply is not None and not memory.is_billed:
            billing = Billing(window=memory.limit) if memory.limit else None
            self.draft.bill(self._reply, usage, stop=COMPLETED, billing=billing)
            memory.is_billed = True
        else:
            self.draft.bill_elsewhere(Reply(memory.aside(), at, memory.model, usage, COMPLETED))

    def counted(self, total: UsageFields, last: UsageFields | None, at: str | None) -> None:
        """The sum so far: it is repeated, and only a new one tells of a response."""
        memory = self.memory
        now = (total.input_tokens or 0, total.cached_input_tokens or 0, total.output_tokens or 0)
        if now != memory.total and any(now):
            if not memory.recorded and last is not None:
                self.used(last, at)
            memory.total, memory.recorded = now, False

    def done(self) -> None:
        """The response is complete."""
        self.memory.is_open = False


def pieces_of(content: str | list[Piece] | None) -> list[Piece]:
    if isinstance(content, str):
        return [Piece("text", content)] if content else []
    return content or []


def usage_of(fields: UsageFields) -> Usage:
    """In our terms: what was read from the cache is not among the input."""
    read, write = fields.cached_input_tokens or 0, fields.cache_write_input_tokens or 0
    return Usage(
        max(0, (fields.input_tokens or 0) - read - write), fields.output_tokens or 0, read, write
    )


def _words(blocks: list[Block]) -> str:
    return "\n".join(block.text for block in blocks if isinstance(block, Text))


def _same(one: str, other: str) -> bool:
    """Whether an event and an item tell of one prompt; either may have more around it."""
    one, other = one.strip(), other.strip()
    return one == other or (bool(one) and one in other) or (bool(other) and other in one)


def _ends_with(summary: str, text: str) -> bool:
    return bool(text.strip()) and summary.rstrip().endswith(text.strip())
