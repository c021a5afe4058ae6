"""One pass over a Claude Code transcript: records → rounds, metadata and a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    BadLine,
    Block,
    Document,
    FormatReport,
    Image,
    Message,
    Notice,
    Round,
    SessionInfo,
    Subagent,
    Text,
    ToolCall,
    Unknown,
)
from minutebook.sources.base import Depth, reason_of
from minutebook.sources.claude_code import known
from minutebook.sources.claude_code.agents import Sidechains, links_of
from minutebook.sources.claude_code.assemble import OpenMessage
from minutebook.sources.claude_code.checkpoint import Checkpoint, tail_of
from minutebook.sources.claude_code.conversation import Conversation
from minutebook.sources.claude_code.info import Counts, InfoCollector
from minutebook.sources.claude_code.locate import agent_files, custom_title, session_folder
from minutebook.sources.claude_code.queue import PromptQueue, QueuedPrompt
from minutebook.sources.claude_code.records import (
    AttachmentFields,
    FullMessage,
    OriginFields,
    OtherRecord,
    Record,
    SkimMessage,
)
from minutebook.sources.claude_code.stream import SIGNATURE_MARK, RecordStream

# In the queue, commands and task objects stand beside prompts: `/theme`, `{"task_id": …`;
# but a prompt may begin with a path, or with a piece of JSON.
_MACHINE_ITEM = re.compile(r'\s*(/[\w:-]+(\s|$)|\{"task_id")')
_LONGEST_TURN = 1e10  # milliseconds; four months


class ClaudeReading:
    """A reading of one file. Iterate `rounds`, then ask for `info`, `subagents` and `report`."""

    def __init__(
        self,
        path: Path,
        depth: Depth = "full",
        *,
        nested: bool = False,
        resume: Checkpoint | None = None,
    ) -> None:
        self.path = path
        self.depth: Depth = depth
        self.report = FormatReport(files=1)
        self._nested = nested  # a subagent's own file, where every record is a sidechain's
        self._agents = [] if nested else agent_files(path)
        self._stream = RecordStream(path, depth, self.report, resume.offset if resume else 0)
        self._links = links_of(self._agents if depth == "full" else [])
        spill_folder = session_folder(path) / "tool-results"
        begin = partial(Conversation, self._stream, self._links, spill_folder)
        self._main = begin()
        self._sidechains = Sidechains(begin, self._main.adopt)
        self._info = InfoCollector(path.stem.encode("utf-8", "replace").decode())
        self._queue = PromptQueue()
        self._seen: set[str] = set()
        self._first_prompt = ""
        self._rounds = 0
        self.closed = 0
        self.at_end = False
        self.checkpoint: bytes | None = None
        if resume is not None:
            self._take_up(resume)
        self._talk: dict[str, Callable[[Record[Any]], None]] = {
            "assistant": self._assistant,
            "user": self._user,
            "human": self._user,
        }
        self._beside: dict[str, Callable[[OtherRecord], None]] = {
            "minutebook": self._own,
            "system": self._system,
            "attachment": self._attachment,
            "queue-operation": self._queue_operation,
            "tool_use": self._legacy,
            "tool_result": self._legacy,
            "pr-link": self._info.pull_request,
            "fork-context-ref": self._info.relation,
            **dict.fromkeys(known.TITLES, self._info.title),
        }

    # ------------------------------------------------------------ results

    def rounds(self) -> Iterator[Round]:
        """Rounds as they are finished; memory is bounded by the largest two (FMT-22)."""
        talk, done = self._talk, self._main.assembler.done
        for record in self._stream:
            if (handler := talk.get(record.type)) is not None:
                handler(record)
            else:
                self._other(record.type)
            if done:
                yield from self._drain(done)
        self.closed = self._rounds
        self.at_end = True
        self._keep()
        self._end()
        # The tables hold bound methods: without them, nothing here refers back to itself,
        # and a reading's buffers are freed as soon as it is done with.
        talk.clear()
        self._beside.clear()
        yield from self._drain(done)

    def _keep(self) -> None:
        """Keep what is known, for a reading that goes on from here."""
        end = self._stream.end
        if end is None or self.depth != "full" or self._nested or self._sidechains.any:
            return
        self.checkpoint = msgspec.json.encode(
            Checkpoint(
                end,
                tail_of(self.path, end),
                self._info,
                self._queue,
                self._main.assembler.state(),
                sorted(self._seen),
                self._first_prompt,
                self._rounds,
                self._main.agent_calls,
            )
        )

    def _take_up(self, known: Checkpoint) -> None:
        self._info, self._queue = known.info, known.queue
        self._main.assembler.restore(known.assembler)
        self._seen = set(known.seen)
        self._first_prompt, self._rounds = known.first_prompt, known.rounds
        self._main.agent_calls.update(known.agent_calls)

    def _drain(self, done: list[Round]) -> Iterator[Round]:
        self._rounds += len(done)
        finished = done[:]
        done.clear()
        yield from finished

    def _end(self) -> None:
        for prompt in self._queue.leftover():
            self._recover(prompt)
        if self._queue.withdrawn:
            self.report.left_out["prompt taken back from the queue"] += self._queue.withdrawn
        self._count_passed()
        self._main.assembler.finish()
        if self._main.assembler.homeless:
            self.report.left_out["notice outside any round"] += self._main.assembler.homeless
        if (passed := self._stream.last_passed) is not None and not passed.isSidechain:
            self._info.envelope(passed)
        for version in self._info.versions:
            self.report.versions[version] += 1
        if self._foreign():
            self.report.foreign = self.report.foreign or "no record of Claude Code in it"

    def _foreign(self) -> bool:
        """Whether nothing here was written by Claude Code."""
        if self.report.foreign:
            return True
        return bool(self.report.lines) and not self._info.is_evident

    def info(self) -> SessionInfo:
        """What the file says about itself; complete once the rounds were iterated."""
        if title := custom_title(self.path):
            self._info.custom_title(title)
        counted = sum(not agent.helper for agent in self._agents) + self._sidechains.count
        assembler = self._main.assembler
        return self._info.result(
            counts=Counts(self._rounds, assembler.prompts, assembler.calls, counted),
            usage=assembler.usage,
            first_prompt=kinds.spoken(self._first_prompt),
            uuids=self._seen,
        )

    def subagents(self) -> Iterator[Subagent]:
        """Subagent transcripts, read when asked for; their reports count into this one."""
        calls = self._main.agent_calls
        yield from self._sidechains.subagents(calls)
        for agent in self._agents:
            rounds = self._agent_rounds(agent.path)
            yield Subagent(
                id=agent.id,
                call_id=agent.call_id or calls.get(agent.id),
                kind=agent.kind,
                description=agent.description,
                helper=agent.helper,
                rounds=rounds,
            )

    def _agent_rounds(self, path: Path) -> tuple[Round, ...]:
        """The rounds of a subagent's file; what is wrong with it is reported, not raised."""
        reading = ClaudeReading(path, self.depth, nested=True)
        rounds: tuple[Round, ...] = ()
        try:
            rounds = tuple(reading.rounds())
        except OSError as error:
            self.report.bad_lines.append(BadLine(0, reason_of(error), str(path)))
        self.report.add(reading.report)
        for bad in reading.report.bad_lines:
            self.report.bad_lines.append(BadLine(bad.line, bad.reason, str(path)))
        return rounds

    # ------------------------------------------------------------ conversation

    def _fresh(self, record: Record[Any]) -> bool:
        """False for a record met before, and for a sidechain's, which goes to its own place."""
        uuid = record.uuid
        if uuid is not None:
            if uuid in self._seen:
                self.report.left_out["repeated record"] += 1
                return False
            self._seen.add(uuid)
        if record.isSidechain and not self._nested:
            self._sidechains.add(record)
            return False
        if record.minutebook is None:  # an export's own records say when and where by `origin`
            self._info.envelope(record)
        return True

    def _count_passed(self) -> None:
        """Calls in lines a skim passed over belong to the round that is open now."""
        if self._stream.calls_passed:
            self._main.assembler.called(self._stream.calls_passed)
            self._stream.calls_passed = 0

    def _user(self, record: Record[Any]) -> None:
        if not self._fresh(record):
            return
        if record.minutebook is not None:
            self._carried(record.minutebook.message, record)
            return
        if isinstance(record.message, FullMessage | SkimMessage) and record.message.content is None:
            self._sniff()
        message, real = self._main.heard(record)
        if message is not None:
            self._say(message, real, record)

    def _say(self, message: OpenMessage, real: bool, record: Record[Any]) -> None:
        """Words under the user's role: a prompt opens a round, a notice joins one."""
        for block in message.blocks:
            if isinstance(block, Text | Notice):
                self._info.command(block.text)
                self._queue.seen(block.text, message.at, injected=message.queued)
                if isinstance(block, Notice) and block.kind == kinds.COMPACTION:
                    self._info.compactions += 1
        if real:
            self._count_passed()
            self._flush_queue()
            if not self._first_prompt:
                words = (block.text for block in message.blocks if isinstance(block, Text))
                self._first_prompt = next(words, "")
        self._main.add(message, real, record)

    def _assistant(self, record: Record[Any]) -> None:
        if not self._fresh(record):
            return
        if self._queue:
            self._flush_queue()
        if record.minutebook is not None:
            self._carried(record.minutebook.message, record)
            return
        message = record.message
        if message is not None and not isinstance(message, str):
            self._info.model(message.model)
            if message.content is None:
                self._sniff()
        if self._stream.holds(SIGNATURE_MARK):
            self._info.signatures(self._stream.reply_blocks())
        self._main.replied(record)

    def _legacy(self, record: OtherRecord) -> None:
        self._info.is_evident = True
        if record.type == "tool_use":
            self._main.legacy_call(record)
        else:
            self._main.legacy_result(record)

    def _sniff(self) -> None:
        """A message without content: another tool's file that only looks like ours?"""
        message = self._stream.raw().get("message")
        if isinstance(message, dict) and "parts" in message:
            self.report.foreign = "a transcript of Qwen Code"

    # ------------------------------------------------------------ exported transcripts

    def _own(self, record: OtherRecord) -> None:
        """A record of an export: what it was made from, or a message Claude cannot hold."""
        carried = record.minutebook
        if carried is not None and carried.origin is not None:
            self._info.origin(carried.origin)
        if carried is not None and carried.round is not None:
            start = carried.round
            self._main.assembler.begin(start.cwd, start.branch, prompted=start.prompted)
        if carried is not None:
            self._carried(carried.message, Record(type="minutebook"))

    def _carried(self, message: Message | None, record: Record[Any]) -> None:
        """A message as it was before the export; without one, the record is Claude's alone."""
        if message is None:
            return
        opened = OpenMessage.thaw(message)
        if self.depth == "skim":
            opened.blocks = [b for b in opened.blocks if isinstance(b, Text | Image | Document)]
        if message.role == "user":
            self._say(opened, message.is_real, record)
            return
        self._info.model(message.model)
        self._main.assembler.reply(opened, message.reply_id, record.cwd, record.gitBranch)
        self._main.assembler.called(sum(isinstance(b, ToolCall) for b in message.blocks))

    # ------------------------------------------------------------ queue

    def _queue_operation(self, record: OtherRecord) -> None:
        self._info.is_evident = True
        content = record.content if isinstance(record.content, str) else None
        self._queue.operation(record.operation, content, record.timestamp)
        self._stream.attentive = bool(self._queue)

    def _flush_queue(self) -> None:
        self._stream.attentive = False
        for prompt in self._queue.lost():
            self._recover(prompt)

    def _recover(self, prompt: QueuedPrompt) -> None:
        """A prompt that only the queue holds becomes the real message it was."""
        if _MACHINE_ITEM.match(prompt.text):
            self.report.left_out["command or machine item in the queue"] += 1
            return
        record: Record[Any] = Record(type="user", uuid=prompt.id, timestamp=prompt.at)
        message, real = self._main.message(record, [Text(prompt.text)], queued=True)
        if message is not None and real:
            self._count_passed()
            self._first_prompt = self._first_prompt or prompt.text
            self._main.add(message, real, record)

    # ------------------------------------------------------------ the rest

    def _attachment(self, record: OtherRecord) -> None:
        attachment = record.attachment
        kind = attachment.type if attachment is not None else ""
        if attachment is None or (record.isSidechain and not self._nested):
            self.report.left_out["attachment of a sidechain" if attachment else "attachment"] += 1
        elif kind == "queued_command":
            self._queued_command(record, attachment)
        elif kind in known.ATTACHMENT_BOOKKEEPING:
            self.report.left_out[f"attachment {kind}"] += 1
        elif self.depth == "full":
            if kind not in known.ATTACHMENTS:
                self.report.unknown[f"attachment {kind}"] += 1
            data = self._stream.raw().get("attachment")
            if isinstance(data, dict):
                self._main.aside(record, Attachment(kind, data))

    def _queued_command(self, beside: OtherRecord, attachment: AttachmentFields) -> None:
        origin = attachment.origin
        if attachment.commandMode not in (None, "prompt"):
            origin = OriginFields("task-notification")
        record: Record[Any] = Record(
            type="user",
            uuid=beside.uuid,
            timestamp=beside.timestamp,
            cwd=beside.cwd,
            gitBranch=beside.gitBranch,
            isMeta=attachment.isMeta,
            origin=origin,
        )
        prompt = attachment.prompt
        if prompt is None or not self._fresh(record):
            return
        pieces: list[Block]
        pieces = [Text(prompt)] if isinstance(prompt, str) else self._main.pieces(record, prompt)
        message, real = self._main.message(record, pieces, queued=True)
        if message is not None:
            self._say(message, real, record)

    def _system(self, record: OtherRecord) -> None:
        subtype = record.subtype or ""
        content = record.content if isinstance(record.content, str) else ""
        if record.isSidechain and not self._nested:
            self.report.left_out["system record of a sidechain"] += 1
        elif subtype == "turn_duration":
            duration = record.durationMs or 0
            if 0 <= duration < _LONGEST_TURN:
                self._main.assembler.duration(duration)
                self._info.duration_ms += duration
        elif subtype in known.SYSTEM_BOOKKEEPING:
            self.report.left_out[f"system {subtype}"] += 1
        elif subtype in known.SYSTEM_NOTICES or (content and not subtype):
            if subtype == "local_command":
                self._info.command(content)
            if self.depth == "full":
                kind = known.SYSTEM_NOTICES.get(subtype, kinds.SYSTEM)
                self._main.aside(record, Notice(kind, content))
        elif self.depth == "full":
            self._unknown(record, f"system {subtype}")

    def _other(self, kind: str) -> None:
        """A record beside the conversation, decoded once more for the fields of its kind."""
        if kind in known.BOOKKEEPING:
            self._info.is_evident = True
            self.report.left_out[kind] += 1
        elif (handler := self._beside.get(kind)) is not None:
            handler(self._stream.other())
        elif self.depth == "full":
            self._unknown(self._stream.other(), f"record {kind or 'without a type'}")

    def _unknown(self, record: OtherRecord, kind: str) -> None:
        """Kept verbatim where it stands, counted, and named by doctor (FMT-11)."""
        self.report.unknown[kind] += 1
        self._main.aside(record, Unknown(kind, self._stream.raw()))
