"""User and assistant records → messages of one conversation.

A session's main chain, each inline sidechain and each subagent file is a conversation
of its own; the same code reads all three.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from minutebook.derive.replies import accounted_key
from minutebook.model import Attachment, Block, FormatReport, Notice, Reply, Text, Unknown
from minutebook.sources.assembly.assemble import RoundAssembler
from minutebook.sources.assembly.opened import OpenCall, OpenMessage
from minutebook.sources.claude_code.blocks import (
    converted,
    result_of,
    skimmed,
    user_blocks,
)
from minutebook.sources.claude_code.carried import Adds
from minutebook.sources.claude_code.records import (
    MESSAGES,
    FullBlock,
    FullMessage,
    FullRecord,
    OriginFields,
    OtherRecord,
    Record,
    RepeatedMessage,
    RepeatedRecord,
    SkimMessage,
)
from minutebook.sources.claude_code.results import NO_FACTS, ResultExtras, facts_of
from minutebook.sources.claude_code.stream import RecordStream
from minutebook.sources.claude_code.tools import tool_kind
from minutebook.sources.claude_code.usage import bill, billing_of, settle, usage_of

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
        twin = _twin(record, content)
        adds = record.minutebook.adds if record.minutebook is not None else None
        for index, block in enumerate(content):
            self._report.blocks["user " + ("text" if isinstance(block, str) else block.type)] += 1
            if isinstance(block, FullBlock) and block.type == "tool_result":
                id, error = block.tool_use_id or "", bool(block.is_error)
                self._answered(record, id, block.content, error, twin, adds)
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
        if not isinstance(message, MESSAGES):
            kind = FullMessage if self._full else SkimMessage
            message = kind(content=message)
        assembler = self.assembler
        reply_id = message.id or None
        reply = None if reply_id is None else assembler.round.replies.get(reply_id)
        if reply is None:
            reply = OpenMessage("assistant", record.uuid, record.timestamp)
            assembler.reply(reply, reply_id, record.cwd, record.gitBranch)
            reply.model = message.model
        content = message.content
        blocks: list[Any] = [content] if isinstance(content, str) else content or []
        if message.tool_use:
            blocks = [*blocks, *_typed(message.tool_use)]
        if isinstance(message, FullMessage):
            adds = record.minutebook.adds if record.minutebook is not None else None
            if message.stop_reason is not None:
                reply.stop = message.stop_reason or reply.stop
            if adds is not None and adds.billing is not None:
                settle(reply, message.usage, adds.billing)
            elif message.usage is not None:
                bill(reply, message.usage, record.timestamp, message.model, _cost(record))
            self._reply_in_full(reply, record.timestamp, blocks, adds)
            return
        for block in blocks:
            if (piece := skimmed(block)) is not None:
                reply.blocks.append(piece)
            elif block.type == "tool_use":
                assembler.called(1)

    def billed_again(self, record: Record[Any]) -> None:
        """A repeated record says nothing new, but its usage may be the larger one."""
        message = record.message
        if not isinstance(message, FullMessage) or message.usage is None:
            return
        reply = self.assembler.open_reply(message.id or None)
        if reply is not None:
            bill(reply, message.usage, record.timestamp, message.model, _cost(record))
        else:
            self.assembler.repeated(_accounted(message, record, _cost(record)))

    def repeated(self, line: RepeatedRecord | str) -> None:
        """A subagent's reply that a `progress` record repeats: what it used (USE-01)."""
        message = line.message if isinstance(line, RepeatedRecord) else None
        if not isinstance(message, RepeatedMessage) or message.usage is None:
            return
        if isinstance(line, RepeatedRecord) and line.type == "assistant":
            self.assembler.repeated(_accounted(message, line))

    def _reply_in_full(
        self, reply: OpenMessage, at: str | None, blocks: list[Any], adds: Adds | None
    ) -> None:
        counts = self._report.blocks
        for index, block in enumerate(blocks):
            counts["assistant text" if isinstance(block, str) else "assistant " + block.type] += 1
            made = converted(block, at)
            if made is None:
                made = self._unknown(index, block, "assistant")
            reply.blocks.append(made)
            if isinstance(made, OpenCall):
                if adds is not None and adds.kind is not None:
                    made.kind = adds.kind
                self._called(made)

    def _unknown(self, index: int, block: FullBlock | str, role: str) -> Unknown:
        kind = "text" if isinstance(block, str) else block.type
        self._report.unknown[f"block {role} {kind}"] += 1
        return Unknown(kind, self._stream.raw_block(index))

    def legacy_call(self, record: OtherRecord) -> None:
        """FMT-07: a tool call that is a record of its own."""
        self._legacy += 1
        id = record.id or record.tool_use_id or f"legacy-{self._legacy}"
        name = record.tool or record.name or ""
        call = OpenCall(id, name, record.input, record.timestamp, tool_kind(name))
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
        self._answered(record, id, content, bool(record.is_error))

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

    def _answered(
        self,
        record: Stamped,
        call_id: str,
        content: Any,
        error: bool,
        twin: ResultExtras | None = None,
        adds: Adds | None = None,
    ) -> None:
        spilled = None
        if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
            only = content[0].get("text")
            if isinstance(only, str) and only.startswith(_SPILLED):
                content = only
        if isinstance(content, str) and content.startswith(_SPILLED):
            spilled = self._spilled(content, twin.spilled_to if twin is not None else None)
        if spilled is not None:
            content = spilled[1]
        call = self.assembler.waiting_call(call_id)
        if adds is not None and adds.result is not None:
            facts = adds.result
        elif twin is None and not error:
            facts = NO_FACTS
        else:
            failed_run = content if error and call is not None and call.kind == "run" else None
            facts = facts_of(twin, failed_run=failed_run)
        spilled_to = spilled[0] if spilled is not None else None
        result = result_of(content, facts, error=error, at=record.timestamp, spilled=spilled_to)
        if call is None:
            self.assembler.stray(call_id, result, record.uuid, record.timestamp)
            return
        self.assembler.answer(call, result)
        if adds is not None and adds.agent is not None:
            self._spawned(call, adds.agent)
        elif call.name in SPAWNING_TOOLS:
            self._told(call, twin)

    def _told(self, call: OpenCall, twin: ResultExtras | None) -> None:
        """The result names the subagent; else the next one that was given this prompt."""
        agent = twin.agent if twin is not None else None
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


def _twin(record: Record[Any], content: list[Any]) -> ResultExtras | None:
    """The structured twin of the result. It does not say of which: it is the only one's."""
    twin = record.toolUseResult if type(record) is FullRecord else None
    if type(twin) is not ResultExtras:
        return None
    if len(content) > 1 and sum(getattr(b, "type", "") == "tool_result" for b in content) > 1:
        return None
    return twin


def _cost(record: Record[Any]) -> Any:
    return record.costUSD if isinstance(record, FullRecord) else None


def _typed(calls: list[Any]) -> list[Any]:
    """FMT-08: items of ``message.tool_use`` are calls, whether or not they say so."""
    for call in calls:
        call.type = call.type or "tool_use"
    return calls


def _accounted(message: FullMessage | RepeatedMessage, line: Stamped, cost: Any = None) -> Reply:
    fields = message.usage
    assert fields is not None
    usage = usage_of(fields)
    return Reply(
        accounted_key(message.id, line.uuid, line.timestamp, usage),
        line.timestamp,
        message.model,
        usage,
        message.stop_reason,
        billing_of(fields, cost=cost),
    )
