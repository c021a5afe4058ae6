"""User and assistant records → messages of one conversation.

A session's main chain, each inline sidechain and each subagent file is a conversation
of its own; the same code reads all three.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from minutebook.model import Attachment, Block, FormatReport, Notice, Text, Unknown, Usage
from minutebook.sources.claude_code.assemble import OpenMessage, RoundAssembler, user_blocks
from minutebook.sources.claude_code.blocks import OpenCall, converted, result_of, skimmed
from minutebook.sources.claude_code.records import (
    FullBlock,
    FullMessage,
    OriginFields,
    OtherRecord,
    Record,
    SkimMessage,
    UsageFields,
)
from minutebook.sources.claude_code.stream import RecordStream

SPAWNING_TOOLS = frozenset({"Task", "Agent"})
_SPILLED = "<persisted-output>"
_SPILLED_PATH = re.compile(r"saved to:([^\n]*)")


class Links(NamedTuple):
    """Which subagent a call spawned, as far as the subagents' own files tell."""

    by_call: dict[str, str]
    by_prompt: dict[str, list[str]]


class Stamped(Protocol):
    """Any record, as far as its identity and time go."""

    uuid: str | None
    timestamp: str | None


class Conversation:
    def __init__(self, stream: RecordStream, links: Links, spill_folder: Path) -> None:
        self.assembler = RoundAssembler()
        self.agent_calls: dict[str, str] = {}
        """Call id by the subagent it spawned, as far as results and prompts tell."""
        self._stream = stream
        self._report: FormatReport = stream.report
        self._full = stream.full
        self._links = links
        self._spill_folder = spill_folder
        self._legacy = 0

    # ------------------------------------------------------------ the user's side

    def heard(self, record: Record[Any]) -> tuple[OpenMessage | None, bool]:
        """The message of a user record, and whether it is a real one. It is not added yet.

        None where the record only brought tool results, which go to their calls.
        """
        return self.message(record, self._pieces(record))

    def message(
        self, record: Record[Any], pieces: list[Block], *, queued: bool = False
    ) -> tuple[OpenMessage | None, bool]:
        if not pieces:
            return None, False
        blocks, real = user_blocks(
            pieces,
            meta=bool(record.isMeta),
            compaction=bool(record.isCompactSummary),
            origin=record.origin.kind if isinstance(record.origin, OriginFields) else None,
        )
        message = OpenMessage("user", record.uuid, record.timestamp)
        message.queued = queued
        message.blocks.extend(blocks)
        return message, real

    def add(self, message: OpenMessage, real: bool, record: Record[Any]) -> None:
        if real:
            self.assembler.prompt(message, record.cwd, record.gitBranch)
        else:
            self.assembler.notice(message)

    def aside(self, record: Stamped, block: Notice | Attachment | Unknown) -> None:
        """Something that belongs to the round without being said by either side."""
        message = OpenMessage("user", record.uuid, record.timestamp)
        message.blocks.append(block)
        self.assembler.notice(message)

    def _pieces(self, record: Record[Any]) -> list[Block]:
        message = record.message
        content = message if message is None or isinstance(message, str) else message.content
        if content is None:
            return []
        if isinstance(content, str):
            if self._full:
                self._report.blocks["user text"] += 1
            return [Text(content)]
        return self.pieces(record, content)

    def pieces(self, record: Record[Any], content: list[Any]) -> list[Block]:
        """Blocks of a list under the user's role; tool results among them go to their calls."""
        if not self._full:
            return [piece for block in content if (piece := skimmed(block)) is not None]
        pieces: list[Block] = []
        for index, block in enumerate(content):
            self._report.blocks["user " + ("text" if isinstance(block, str) else block.type)] += 1
            if isinstance(block, FullBlock) and block.type == "tool_result":
                self._answered(record, block.tool_use_id or "", block.content, block.is_error)
                continue
            made = converted(block, record.timestamp)
            if made is None or isinstance(made, OpenCall):
                made = self._unknown(index, block, "user")
            pieces.append(made)
        return pieces

    # ------------------------------------------------------------ the assistant's side

    def replied(self, record: Record[Any]) -> None:
        """A line of a reply; all lines with one message id are one message (FMT-12)."""
        message = record.message
        if not isinstance(message, FullMessage | SkimMessage):
            kind = FullMessage if self._full else SkimMessage
            message = kind(content=message)
        assembler = self.assembler
        reply = assembler.open_reply(message.id)
        if reply is None:
            reply = OpenMessage("assistant", record.uuid, record.timestamp)
            assembler.reply(reply, message.id, record.cwd, record.gitBranch)
            reply.model = message.model
        content = message.content
        blocks: list[Any] = [content] if isinstance(content, str) else content or []
        if message.tool_use:
            blocks = [*blocks, *message.tool_use]
        if isinstance(message, FullMessage):
            if message.stop_reason:
                reply.stop = message.stop_reason
            if message.usage is not None:
                reply.usage = _usage(message.usage, reply.usage)
            self._reply_in_full(reply, record.timestamp, blocks)
            return
        for block in blocks:
            if (piece := skimmed(block)) is not None:
                reply.blocks.append(piece)
            elif block.type == "tool_use":
                assembler.called(1)

    def _reply_in_full(self, reply: OpenMessage, at: str | None, blocks: list[Any]) -> None:
        counts = self._report.blocks
        for index, block in enumerate(blocks):
            counts["assistant text" if isinstance(block, str) else "assistant " + block.type] += 1
            made = converted(block, at)
            if made is None:
                made = self._unknown(index, block, "assistant")
            reply.blocks.append(made)
            if isinstance(made, OpenCall):
                self._called(made)

    def _unknown(self, index: int, block: FullBlock | str, role: str) -> Unknown:
        kind = "text" if isinstance(block, str) else block.type
        self._report.unknown[f"block {role} {kind}"] += 1
        return Unknown(kind, self._stream.raw_block(index))

    def legacy_call(self, record: OtherRecord) -> None:
        """FMT-07: a tool call that is a record of its own."""
        self._legacy += 1
        id = record.id or record.tool_use_id or f"legacy-{self._legacy}"
        call = OpenCall(id, record.tool or record.name or "", record.input, record.timestamp)
        reply = OpenMessage("assistant", record.uuid, record.timestamp)
        self.assembler.reply(reply, None, record.cwd, record.gitBranch)
        if self._full:
            reply.blocks.append(call)
            self._called(call)
        else:
            self.assembler.called(1)

    def legacy_result(self, record: OtherRecord) -> None:
        """FMT-07: its result; without an id it answers the last open call of that tool."""
        if not self._full:
            return
        id = record.tool_use_id or record.id
        if id is None:
            call = self.assembler.last_waiting(record.tool or record.name)
            id = call.id if call else ""
        content = record.output if record.output is not None else record.content
        self._answered(record, id, content, record.is_error)

    def _called(self, call: OpenCall) -> None:
        self.assembler.call(call)
        agent = self._links.by_call.get(call.id)
        candidates = self._links.by_prompt.get(_prompt_of(call) or "", [])
        if agent is None and len(candidates) == 1:
            agent = candidates[0]
        if agent is not None and agent not in self.agent_calls:
            self._spawned(call, agent)

    def adopt(self, prompt: str, agent: str) -> None:
        """A sidechain begins with this prompt: the open call that gave it is its parent."""
        for call in self.assembler.waiting_calls():
            if call.agent is None and _prompt_of(call) == prompt:
                self._spawned(call, agent)
                return

    def _spawned(self, call: OpenCall, agent: str) -> None:
        call.agent = agent
        self.agent_calls[agent] = call.id

    def _answered(self, record: Stamped, call_id: str, content: Any, error: Any) -> None:
        spilled = None
        if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
            only = content[0].get("text")
            if isinstance(only, str) and only.startswith(_SPILLED):
                content = only
        if isinstance(content, str) and content.startswith(_SPILLED):
            spilled = self._spilled(content, self._stream.extras().persistedOutputPath)
        result = result_of(
            spilled[1] if spilled else content,
            error=bool(error),
            at=record.timestamp,
            spilled=spilled[0] if spilled else None,
        )
        call = self.assembler.waiting_call(call_id)
        if call is None:
            self.assembler.stray(call_id, result, record.uuid, record.timestamp)
            return
        self.assembler.answer(call, result)
        if call.name in SPAWNING_TOOLS:
            self._told(call)

    def _told(self, call: OpenCall) -> None:
        """The result names the subagent; else the next one that was given this prompt."""
        extras = self._stream.extras()
        agent = extras.agentId or extras.agent_id
        if agent is None and call.agent is None:
            candidates = self._links.by_prompt.get(_prompt_of(call) or "", [])
            agent = next((id for id in candidates if id not in self.agent_calls), None)
        if agent is not None:
            self._spawned(call, agent)

    def _spilled(self, content: str, path: str | None) -> tuple[str, str] | None:
        """Name and text of an output the agent had moved to a file (FMT-27)."""
        if path is None and (match := _SPILLED_PATH.search(content)):
            path = match[1].strip()
        if not path:
            return None
        # Only the file's name is believed: the folder is this session's own.
        name = path.replace("\\", "/").rsplit("/", 1)[-1]
        try:
            text = (self._spill_folder / name).read_bytes().decode("utf-8", "replace")
        except (OSError, ValueError):
            self._report.left_out["tool output whose file is gone"] += 1
            return None
        return name, text


def _prompt_of(call: OpenCall) -> str | None:
    prompt = call.input.get("prompt") if isinstance(call.input, dict) else None
    return prompt if isinstance(prompt, str) else None


def _usage(fields: UsageFields, known: Usage | None) -> Usage:
    """Early lines of a reply hold a placeholder, the last one the truth (FMT-26)."""
    usage = Usage(
        fields.input_tokens or 0,
        fields.output_tokens or 0,
        fields.cache_read_input_tokens or 0,
        fields.cache_creation_input_tokens or 0,
    )
    return usage if known is None or usage.total >= known.total else known
