"""Each record to where it belongs: the conversation, a subagent, the metadata, or nowhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from minutebook.derive import messages as kinds
from minutebook.model import Block, Document, Image, Message, Notice, Round, Text, ToolCall
from minutebook.sources.assembly.opened import OpenMessage
from minutebook.sources.assembly.seen import SeenIds
from minutebook.sources.claude_code import known
from minutebook.sources.claude_code.agents import Sidechains
from minutebook.sources.claude_code.asides import Asides
from minutebook.sources.claude_code.conversation import Conversation, Links
from minutebook.sources.claude_code.info import InfoCollector
from minutebook.sources.claude_code.moments import (
    MAKERS,
    OTHER,
    SYNTHETIC_MODEL,
    made_user_record,
)
from minutebook.sources.claude_code.queue import PromptQueue, QueuedPrompt
from minutebook.sources.claude_code.records import (
    MESSAGES,
    AttachmentFields,
    FullRecord,
    OriginFields,
    OtherRecord,
    ProgressFields,
    Record,
)
from minutebook.sources.claude_code.stream import SIGNATURE_MARK, RecordStream

# In the queue, commands and task objects stand beside prompts: `/theme`, `{"task_id": …`;
# but a prompt may begin with a path, or with a piece of JSON.
_MACHINE_ITEM = re.compile(r'\s*(/[\w:-]+(\s|$)|\{"task_id")')
_LONGEST_TURN = 1e10  # milliseconds; four months


class Dispatcher:
    """Takes a file's records in order; what they come to is in its parts."""

    def __init__(
        self, stream: RecordStream, links: Links, folder: Path, session_id: str, *, nested: bool
    ) -> None:
        """`folder` is the session's own, with spilled tool results; `nested` says that every
        record is a subagent's, for it is the subagent's own file."""
        self._stream = stream
        self.report = stream.report
        self._nested = nested
        begin = partial(Conversation, stream, links, folder / "tool-results")
        self.main = begin()
        self._asides = Asides(stream, self.main)
        self.sidechains = Sidechains(begin, self.main.adopt)
        self.info = InfoCollector(session_id)
        self.queue = PromptQueue()
        self.seen = SeenIds()
        self.first_prompt = ""
        self._timing = stream.full and not nested
        self._synthetic = False  # whether the agent made the last reply up
        self._talk: dict[str, Callable[[Any], None]] = {
            "assistant": self._assistant,
            "user": self._user,
            "human": self._user,
            "progress": self._progress,
        }
        self._beside: dict[str, Callable[[OtherRecord], None]] = {
            "minutebook": self._own,
            "system": self._system,
            "attachment": self._attachment,
            "queue-operation": self._queue_operation,
            "tool_use": self._legacy,
            "tool_result": self._legacy,
            "pr-link": lambda record: self.info.pull_request(record),
            "cost-state": lambda record: self.info.cost(record),
            "fork-context-ref": lambda record: self.info.relation(record),
            **dict.fromkeys(known.TITLES, lambda record: self.info.title(record)),
        }

    @property
    def clocked(self) -> bool:
        """Inside an export: its own records say nothing of when they were first written."""
        return self._asides.clocked

    @clocked.setter
    def clocked(self, clocked: bool) -> None:
        self._asides.clocked = clocked
        self._timing = self._stream.full and not self._nested and not clocked

    def run(self) -> Iterator[list[Round]]:
        """Take every record of the file; rounds that are done are handed out in between."""
        talk, assembler = self._talk, self.main.assembler
        done = assembler.done
        for record in self._stream:
            kind = record.type
            if (handler := talk.get(kind)) is not None:
                handler(record)
            else:
                self._other(kind)
            if self._timing and (maker := MAKERS.get(kind)) is not None:
                if kind == "user":
                    maker = made_user_record(record)
                elif self._synthetic and kind == "assistant":
                    maker = OTHER
                current = assembler.round
                current.stamps.append(record.timestamp)
                current.makers.append(maker)
            if done:
                yield self._taken(done)

    def _taken(self, done: list[Round]) -> list[Round]:
        finished = done[:]
        done.clear()
        return finished

    def end(self) -> list[Round]:
        """There are no more records: the rounds that are left."""
        for prompt in self.queue.leftover():
            self._recover(prompt)
        if self.queue.withdrawn:
            self.report.left_out["prompt taken back from the queue"] += self.queue.withdrawn
        self._count_passed()
        self.main.assembler.finish()
        if self.main.assembler.homeless:
            self.report.left_out["notice outside any round"] += self.main.assembler.homeless
        if (passed := self._stream.last_passed) is not None and not passed.isSidechain:
            self.info.envelope(passed)
        # The tables hold bound methods: without them, nothing here refers back to itself,
        # and a reading's buffers are freed as soon as it is done with.
        self._talk.clear()
        self._beside.clear()
        return self._taken(self.main.assembler.done)

    # ------------------------------------------------------------ conversation

    def _fresh(self, record: Record[Any]) -> bool:
        """False for a record met before, and for a sidechain's, which goes to its own place."""
        uuid = record.uuid
        if uuid is not None and not self.seen.add(uuid):
            self.report.left_out["repeated record"] += 1
            if record.type == "assistant":
                self.main.billed_again(record)
            return False
        if record.isSidechain and not self._nested:
            self.sidechains.add(record, self._stream.length)
            return False
        carried = record.minutebook  # an export's own records say when and where by `origin`
        if carried is None or carried.adds is not None:
            self.info.envelope(record)
        return True

    def _count_passed(self) -> None:
        """Calls in lines a skim passed over belong to the round that is open now."""
        if self._stream.calls_passed:
            self.main.assembler.called(self._stream.calls_passed)
            self._stream.calls_passed = 0

    def _user(self, record: Record[Any]) -> None:
        if not self._fresh(record):
            return
        if record.minutebook is not None and record.minutebook.adds is None:
            self._carried(record.minutebook.message, record)
            return
        if isinstance(record.message, MESSAGES) and record.message.content is None:
            self._sniff()
        message, real = self.main.heard(record)
        if message is not None:
            self._say(message, real, record)

    def _say(self, message: OpenMessage, real: bool, record: Record[Any]) -> None:
        """Words under the user's role: a prompt opens a round, a notice joins one."""
        for block in message.blocks:
            if isinstance(block, Text | Notice):
                self.info.command(block.text)
                self.queue.seen(block.text, message.at, injected=message.queued)
                if isinstance(block, Notice) and block.kind == kinds.COMPACTION:
                    self.info.compactions += 1
                    self._asides.summarised(message.at)
        if real:
            self._count_passed()
            self._flush_queue()
            if not self.first_prompt:
                words = (block.text for block in message.blocks if isinstance(block, Text))
                self.first_prompt = next(words, "")
        self.main.add(message, real, record)

    def _assistant(self, record: Record[Any]) -> None:
        message = record.message
        model = message.model if isinstance(message, MESSAGES) else None
        self._synthetic = model == SYNTHETIC_MODEL
        if not self._fresh(record):
            return
        if self.queue:
            self._flush_queue()
        if record.minutebook is not None and record.minutebook.adds is None:
            self._carried(record.minutebook.message, record)
            return
        if model is not None:
            self.info.model(model)
        if message is not None and not isinstance(message, str) and message.content is None:
            self._sniff()
        if not self.info.is_signed and self._stream.holds(SIGNATURE_MARK):
            self.info.signatures(self._stream.reply_blocks())
        self.main.replied(record)

    def _progress(self, record: Record[Any]) -> None:
        """A tick of the interface; a subagent's reply in it counts by its usage alone."""
        self.info.is_evident = True
        self.report.left_out["progress"] += 1
        data = record.data if type(record) is FullRecord else None
        if type(data) is ProgressFields and data.message is not None:
            self.main.repeated(data.message)

    def _legacy(self, record: OtherRecord) -> None:
        self.info.is_evident = True
        if record.type == "tool_use":
            self.main.legacy_call(record)
        else:
            self.main.legacy_result(record)

    def _sniff(self) -> None:
        """A message without content: another tool's file that only looks like ours?"""
        message = self._stream.raw().get("message")
        if isinstance(message, dict) and "parts" in message:
            self.report.foreign = "a transcript of Qwen Code"

    # ------------------------------------------------------------ exported transcripts

    def _own(self, record: OtherRecord) -> None:
        """A record of an export: what it was made from, or something Claude cannot hold."""
        carried = record.minutebook
        if carried is None:
            return
        if carried.origin is not None:
            self.info.origin(carried.origin)
            self.clocked = carried.clocked
            self._stream.exported = True
        if carried.round is not None:
            start = carried.round
            self.main.assembler.begin(start.cwd, start.branch, prompted=start.prompted)
        if carried.facts is not None and self._stream.full:
            facts = carried.facts
            self.main.assembler.facts(facts.clock, facts.progress, facts.compactions)
        if carried.end:
            self.clocked = self._stream.exported = False
        self._carried(carried.message, Record(type="minutebook"))

    def _carried(self, message: Message | None, record: Record[Any]) -> None:
        """A message as it was before the export; without one, the record is Claude's alone."""
        if message is None:
            return
        opened = OpenMessage.thaw(message)
        if not self._stream.full:
            opened.blocks = [b for b in opened.blocks if isinstance(b, Text | Image | Document)]
        if message.role == "user":
            self._say(opened, message.is_real, record)
            return
        self.info.model(message.model)
        self.main.assembler.reply(opened, message.reply_id, record.cwd, record.gitBranch)
        self.main.assembler.called(sum(isinstance(b, ToolCall) for b in message.blocks))

    # ------------------------------------------------------------ queue

    def _queue_operation(self, record: OtherRecord) -> None:
        self.info.is_evident = True
        content = record.content if isinstance(record.content, str) else None
        self.queue.operation(record.operation, content, record.timestamp)
        self._stream.attentive = bool(self.queue)

    def _flush_queue(self) -> None:
        self._stream.attentive = False
        for prompt in self.queue.lost():
            self._recover(prompt)

    def _recover(self, prompt: QueuedPrompt) -> None:
        """A prompt that only the queue holds becomes the real message it was."""
        if _MACHINE_ITEM.match(prompt.text):
            self.report.left_out["command or machine item in the queue"] += 1
            return
        record: Record[Any] = Record(type="user", uuid=prompt.id, timestamp=prompt.at)
        message, real = self.main.message(record, [Text(prompt.text)], queued=True)
        if message is not None and real:
            self._count_passed()
            self.first_prompt = self.first_prompt or prompt.text
            self.main.add(message, real, record)

    # ------------------------------------------------------------ the rest

    def _attachment(self, record: OtherRecord) -> None:
        attachment = record.attachment
        if attachment is None or (record.isSidechain and not self._nested):
            self.report.left_out["attachment of a sidechain" if attachment else "attachment"] += 1
        elif attachment.type == "queued_command":
            self._queued_command(record, attachment)
        else:
            self._asides.attachment(record, attachment.type)

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
        pieces = [Text(prompt)] if isinstance(prompt, str) else self.main.pieces(record, prompt)
        message, real = self.main.message(record, pieces, queued=True)
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
                self.main.assembler.duration(duration)
                self.info.duration_ms += duration
        elif subtype in known.SYSTEM_BOOKKEEPING:
            self.report.left_out[f"system {subtype}"] += 1
        elif subtype in known.SYSTEM_NOTICES or (content and not subtype):
            if subtype == "local_command":
                self.info.command(content)
            self._asides.notice(record, known.SYSTEM_NOTICES.get(subtype, kinds.SYSTEM), content)
        else:
            self._asides.unknown(record, f"system {subtype}")

    def _other(self, kind: str) -> None:
        """A record beside the conversation, decoded once more for the fields of its kind."""
        if kind in known.BOOKKEEPING:
            self.info.is_evident = True
            self.report.left_out[kind] += 1
        elif (handler := self._beside.get(kind)) is not None:
            handler(self._stream.other())
        elif self._stream.full:
            self._asides.unknown(self._stream.other(), f"record {kind or 'without a type'}")
