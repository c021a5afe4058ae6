"""Messages of a session, told to a draft: each once, in its richest version.

A message is written again when its calls have run, and the whole list again when a session is
resumed or compressed, with less in it each time. So what comes first is told, and of later
versions only what is new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from minutebook.derive import messages as kinds
from minutebook.model import Document, Image, Text
from minutebook.sources.assembly.draft import COMPLETED, Draft
from minutebook.sources.assembly.opened import OpenMessage
from minutebook.sources.assembly.parts import FunctionResponse, Part, file_of
from minutebook.sources.assembly.seen import SeenIds
from minutebook.sources.gemini.pieces import (
    UNDERSTOOD,
    agent_kind,
    asked,
    maybe,
    parts_of,
    print_of,
    result_of,
    summary_of,
    text_of,
    thought_text,
    usage_of,
)
from minutebook.sources.gemini.records import (
    Call,
    CallHead,
    Message,
    MessageHead,
    Thought,
    as_written,
)

_CONTINUE = "System: Please continue."
_CANCELLED = "Request cancelled."
_TAKEN_OUT = "The agent took this prompt out of the conversation again."
_WORKSPACE = re.compile(
    r"\*\*Workspace Directories:\*\*\n {2}- (/[^\n]{0,4096}|[A-Z]:\\[^\n]{0,4096})"
)


class Told(msgspec.Struct):
    """What is known of a reply of the open round."""

    thoughts: int = 0
    words: bool = False
    calls: list[str] = []
    answered: list[str] = []


class AgentNote(msgspec.Struct):
    """The call that started a subagent."""

    call_id: str
    kind: str | None = None


class Memory(msgspec.Struct):
    """What has to be remembered between two messages."""

    told: dict[str, Told] = {}
    seen: str = ""
    copies: str = ""
    prompt: str | None = None
    """The last prompt, as long as it is among the messages."""
    restoring: bool = False
    """Whether a process has begun and nothing was said since."""
    asked: bool = False
    agents: dict[str, AgentNote] = {}


class Teller:
    """Takes the messages of one session, or of one subagent."""

    def __init__(self, draft: Draft, *, subagent: bool = False) -> None:
        self.draft, self.report = draft, draft.report
        self.memory = Memory()
        self._subagent = subagent
        self._seen, self._copies = SeenIds(), SeenIds()

    def state(self) -> Memory:
        self.memory.seen, self.memory.copies = self._seen.packed(), self._copies.packed()
        return self.memory

    def restore(self, memory: Memory) -> None:
        self.memory = memory
        self._seen, self._copies = SeenIds(memory.seen), SeenIds(memory.copies)

    # -- the session

    def header(self, started: str | None, directories: Sequence[str] | None) -> None:
        """A process begins, the first or one that resumes."""
        facts = self.draft.facts
        if facts.started is None:
            facts.saw(started)
        if directories and self.draft.cwd is None:
            self.works_on(directories[0])
        self.memory.restoring = True

    def works_on(self, folder: str | None) -> None:
        self.draft.cwd = folder
        self.draft.facts.saw(cwd=folder)

    def titled(self, summary: str | None) -> None:
        """A hidden request makes it; it may come back with nothing but brackets."""
        words = (summary or "").strip()
        if words and words[0] not in "{[<`":
            self.draft.facts.title = words

    # -- messages

    def message(self, message: Message, raw: Callable[[], Any]) -> None:
        """The next one, or a later version of one before; `raw` is it as it stands in the file."""
        kind = message.type or message.role
        if not message.content or message.id not in self.memory.told:
            self._copies.add(print_of(message))
        self.memory.restoring = False
        if kind == "user":
            self._user(message)
        elif kind in ("gemini", "model", "assistant"):
            self._reply(message)
        elif message.id and not self._seen.add(message.id):
            return
        elif kind in ("info", "warning", "error"):
            self._aside(message)
        else:
            name = f"message {kind or 'without a type'}"
            self.draft.unknown(name, raw(), id=message.id, at=message.timestamp)

    def _aside(self, message: Message) -> None:
        text, id, at = text_of(parts_of(message.content)), message.id, message.timestamp
        if text == _CANCELLED:
            self.draft.interrupted(text, id=id, at=at)
        elif text:
            self.draft.notice(kinds.SYSTEM, text, id=id, at=at)
        else:
            self.report.left_out["empty info"] += 1
            self.draft.facts.saw(at)

    # -- the person

    def _user(self, message: Message) -> None:
        if message.id and not self._seen.add(message.id):
            return
        parts = parts_of(message.content if message.content is not None else message.parts)
        said = [part for part in parts if part.functionResponse is None]
        for part in parts:
            if part.functionResponse is not None:
                self._repeated(part.functionResponse, message)
        if not said:
            return
        text, id, at = text_of(said), message.id, message.timestamp
        if text.startswith(_CONTINUE) or (self._subagent and self.memory.asked):
            self.draft.notice(kinds.META, text, id=id, at=at)
            return
        blocks = asked(said, parts_of(message.displayContent))
        if any(isinstance(block, Text | Image | Document) for block in blocks):
            self.memory.told.clear()
            self.memory.prompt, self.memory.asked = id, True
            self.draft.prompt(blocks, id=id, at=at)
            return
        if self.draft.cwd is None and (found := _WORKSPACE.search(text)) is not None:
            self.works_on(found[1])
        self.draft.attachment("context", {"text": text}, id=id, at=at)

    def _repeated(self, response: FunctionResponse, message: Message) -> None:
        """A result is in the message of its call, too, unless that was never written again."""
        call_id = response.id or ""
        if self.draft.assembler.waiting_call(call_id) is None:
            self.report.left_out["repeated result"] += 1
            return
        name = response.name or ""
        call = Call(id=call_id, name=name, result=[Part(functionResponse=response)])
        self.draft.answer(call_id, result_of(call), id=message.id)

    # -- the model

    def _reply(self, message: Message) -> None:
        draft, id, at = self.draft, message.id, message.timestamp
        told = self.memory.told.get(id or "")
        if told is None:
            if id and not self._seen.add(id):
                self.report.left_out["later version of a message"] += 1
                return
            told = self.memory.told[id or ""] = Told()
            reply = draft.reply(id, id=id, at=at, model=message.model)
        else:
            known = draft.assembler.open_reply(id)
            reply = known or draft.reply(id, id=id, at=at, model=message.model)
            self.report.left_out["earlier version of a message"] += 1
        parts = parts_of(message.content if message.content is not None else message.parts)
        self._thoughts(reply, told, message.thoughts or [], parts)
        words = [part.text for part in parts if part.text and not part.thought]
        if words and not told.words:
            told.words = True
            for text in words:
                draft.say(reply, text)
        for raw in message.toolCalls or []:
            self._call(reply, told, raw, message)
        for part in parts:
            call = part.functionCall
            if call is not None and call.id and call.id not in told.calls:
                told.calls.append(call.id)
                draft.call(reply, call.id, call.name or "", call.args, at=at)
            elif (file := file_of(part)) is not None:
                draft.show(reply, file)
        if message.tokens is not None:
            draft.bill(reply, usage_of(message.tokens), stop=COMPLETED)

    def _thoughts(
        self, reply: OpenMessage, told: Told, thoughts: Sequence[Thought], parts: Sequence[Part]
    ) -> None:
        found = [thought_text(thought) for thought in thoughts]
        found = found or [part.text or "" for part in parts if part.thought]
        for text in found[told.thoughts :]:
            self.draft.think(reply, text)
        told.thoughts = max(told.thoughts, len(found))

    def _call(self, reply: OpenMessage, told: Told, raw: msgspec.Raw, message: Message) -> None:
        draft = self.draft
        call = maybe(raw, Call) if draft.full else maybe(raw, CallHead)
        if call is None:
            self.report.left_out["call that cannot be read"] += 1
            return
        draft.facts.saw(call.timestamp)
        id = call.id or f"{message.id}-{len(told.calls)}"
        is_new = id not in told.calls
        if is_new:
            told.calls.append(id)
        if not isinstance(call, Call):
            if is_new:
                draft.assembler.called(1)
            return
        if is_new:
            agent, at = call.agentId, message.timestamp
            draft.call(reply, id, call.name or "", call.args, at=at, agent=agent)
        if call.agentId:
            draft.started_by(id, call.agentId)
            self.memory.agents[call.agentId] = AgentNote(id, agent_kind(call))
        ended = call.result is not None or call.status in ("success", "error", "cancelled")
        if ended and id not in told.answered:
            told.answered.append(id)
            draft.answer(id, result_of(call), id=f"{message.id}-{id}")

    # -- the list, written again

    def listed(self, messages: Sequence[msgspec.Raw], at: str | None) -> None:
        """All messages as the agent has them now. Those known are passed over; new ones come from
        another session, or from a compression, which copies what it keeps under new ids."""
        ids: set[str] = set()
        fresh: list[Message] = []
        written: dict[str, msgspec.Raw] = {}
        for raw in messages:
            head = maybe(raw, MessageHead)
            if head is None or not head.id:
                continue
            ids.add(head.id)
            if head.id not in self._seen and (message := maybe(raw, Message)) is not None:
                fresh.append(message)
                written[head.id] = raw
        restoring = self.memory.restoring
        summary = summary_of(fresh)
        copied = {m.id for m in fresh if print_of(m) in self._copies}
        for message in fresh:
            if message is summary:
                self._compacted(message)
            elif text_of(parts_of(message.content)) == UNDERSTOOD and summary is not None:
                self._seen.add(message.id or "")
            elif message.id in copied:
                self._seen.add(message.id or "")
                self.report.left_out["copied message"] += 1
            else:
                self.message(message, partial(as_written, written[message.id or ""]))
        self.memory.restoring = restoring
        begun = restoring and len(messages) < 2  # a process that has not loaded the session yet
        prompt = self.memory.prompt
        if prompt is not None and prompt not in ids and summary is None and not begun:
            self.draft.notice(kinds.SYSTEM, _TAKEN_OUT, id=f"{prompt}-out", at=at)
        if not begun:
            self.memory.prompt = None if prompt not in ids else prompt

    def _compacted(self, message: Message) -> None:
        self._seen.add(message.id or "")
        text = text_of(parts_of(message.content))
        self.draft.compacted(text, id=message.id, at=message.timestamp)

    def rewound(self, id: str, name: str) -> None:
        """A person went back to before a message; what came after it stays here."""
        self.draft.attachment("rewind", {"to": id}, id=name, at=self.draft.facts.ended)
        self.memory.prompt = None
