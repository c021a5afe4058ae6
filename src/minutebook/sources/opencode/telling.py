"""What messages and their parts mean: which is a prompt, a reply, a call."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from minutebook.derive import messages as kinds
from minutebook.model import BadLine, Document, Image, Reply, Text
from minutebook.sources.assembly.draft import Draft
from minutebook.sources.assembly.lines import DECODE_ERRORS
from minutebook.sources.assembly.opened import OpenMessage
from minutebook.sources.assembly.repair import Unreadable, coerce, rescue, verbatim
from minutebook.sources.opencode.records import Held, MessageFields, Part, SkimPart
from minutebook.sources.opencode.values import (
    agent_of,
    billing_of,
    file_of,
    reply_id,
    result_of,
    sealed,
    stamp,
    typed,
    usage_of,
)

_BOOKKEEPING = frozenset({"step-start", "step-finish", "snapshot", "patch"})
_WAITING = frozenset({"pending", "running"})
_INSTEAD = "[Attached "
_BY_HAND = "The following tool was executed by the user"
_ABORTED = "MessageAbortedError"
_message = msgspec.json.Decoder(MessageFields).decode
_part = msgspec.json.Decoder(Part).decode
_skim_part = msgspec.json.Decoder(SkimPart).decode
_Kind = TypeVar("_Kind")
_Parts = list[tuple[str, Part, bytes]]


class Telling:
    """Tells a draft what a session's messages mean, one after the other."""

    def __init__(self, draft: Draft, directory: str | None) -> None:
        self.draft, self.report = draft, draft.report
        draft.cwd = directory
        self.calls: dict[str, str] = {}
        """The call that started a subagent, by the subagent's session."""
        self.growing = False
        """Whether the last reply may still get something."""
        self.settled = True
        """Whether rounds that ended before the last message can no longer change."""
        self._trigger: str | None = None
        self._repeats = False  # the next message may be a copy of the prompt before
        self._prompted: list[str] = []
        self._by_hand: tuple[str, str | None] | None = None  # a message: the next is a command
        self._replies: set[str] = set()
        self._last = ""

    def take(self, held: Held) -> None:
        message = self._decoded(held.data, MessageFields)
        if message is None:
            return
        self.report.records[f"message {message.role}"] += 1
        parts = self._parts(held)
        if message.role == "user":
            self._asked(held, message, parts)
        elif message.role == "assistant":
            # The program replies to one thing at a time: whatever came before has ended.
            self.growing = message.completed is None and message.error is None
            self._ran(parts)
            self._repeats = message.is_summary and self._trigger == "auto"
            if message.is_summary:
                self._compacted(held, message, parts)
            else:
                self._replied(held, message, parts)
        else:
            kind = f"message {message.role or 'without a role'}"
            raw = {**_raw(held.data), "parts": [_raw(data) for _, _, data in parts]}
            self.draft.unknown(kind, raw, id=held.id, at=stamp(message.created))
        self.settled = message.role == "assistant" or not self.growing

    def _parts(self, held: Held) -> _Parts:
        found: _Parts = []
        kind: Any = Part if self.draft.full else SkimPart
        for id, data in held.parts:
            part = self._decoded(data, kind)
            if part is None:
                continue
            self.report.records[f"part {part.type}"] += 1
            found.append(((part.id if self.draft.full else None) or id, part, data))
        return found

    def _decoded(self, data: bytes, kind: type[_Kind]) -> _Kind | None:
        self.report.lines += 1
        decode: Any = _message if kind is MessageFields else _part if kind is Part else _skim_part
        try:
            found: _Kind = decode(data)
            return found
        except DECODE_ERRORS:
            pass
        try:
            for raw, repair in rescue(data):
                self.report.repaired[repair] += 1
                mended: _Kind | None = coerce(raw, kind)
                return mended
        except Unreadable as reason:
            self.report.bad_lines.append(BadLine(self.report.lines, str(reason)))
        return None

    # -- the person

    def _asked(self, held: Held, message: MessageFields, parts: _Parts) -> None:
        draft, at = self.draft, stamp(message.created)
        said: list[Text] = []
        shown: list[Image | Document] = []
        asides: _Parts = []
        is_prompt = False
        for id, part, data in parts:
            if part.type in ("text", "subtask") and not part.is_injected:
                words = part.text if part.type == "text" else part.prompt
                if words and words.strip():
                    said.append(typed(words))
                    is_prompt = True
            elif part.type == "file" and (file := file_of(part)) is not None:
                shown.append(file)
                is_prompt = is_prompt or not part.is_injected
            elif part.type == "compaction":
                self._trigger = "auto" if part.auto else "manual"
            else:
                asides.append((id, part, data))
        if is_prompt and self._is_repeated(said):
            draft.notice(kinds.META, "\n\n".join(s.text for s in said), id=held.id, at=at)
        elif is_prompt:
            draft.prompt([*said, *shown], id=held.id, at=at)
            self._prompted = [words.text for words in said]
        else:
            draft.facts.saw(at)
            if [part.text for _, part, _ in asides] == [_BY_HAND]:
                self._by_hand = (held.id, at)
                return
            for number, picture in enumerate(shown):
                kept = msgspec.to_builtins(picture)
                draft.attachment("file", kept, id=f"{held.id}-file-{number}", at=at)
        for id, part, data in asides:
            self._aside(id, part, data, at)

    def _ran(self, parts: _Parts) -> None:
        """A person's ``!command`` is stored as a call of the model: what was typed is in it."""
        if self._by_hand is None:
            return
        (id, at), self._by_hand = self._by_hand, None
        tool = next((data for _, part, data in parts if part.type == "tool"), b"{}")
        state = _raw(tool).get("state")
        given = state.get("input") if isinstance(state, dict) else None
        command = given.get("command") if isinstance(given, dict) else None
        if isinstance(command, str):
            self.draft.prompt([Text(f"! {command}")], id=id, at=at)
        else:
            self.draft.notice(kinds.META, _BY_HAND, id=id, at=at)

    def _is_repeated(self, said: list[Text]) -> bool:
        """After it ran out of room, the program asks again what it was asked last: a copy, with
        words instead of its pictures."""
        known = {*self._prompted}
        return (
            self._repeats
            and bool(said)
            and all(words.text in known or words.text.startswith(_INSTEAD) for words in said)
        )

    def _aside(self, id: str, part: Part, data: bytes, at: str | None) -> None:
        """What came with a message, and neither side said."""
        draft = self.draft
        if part.type in ("text", "reasoning"):
            if part.text:
                draft.notice(kinds.META, part.text, id=id, at=at)
        elif part.type in ("file", "agent", "tool", "compaction", "subtask"):
            draft.attachment(part.type, _raw(data) if draft.full else {}, id=id, at=at)
        elif part.type in _BOOKKEEPING:
            self.report.left_out[part.type] += 1
        else:
            kind = f"part {part.type or 'without a type'}"
            draft.unknown(kind, _raw(data) if draft.full else None, id=id, at=at)

    # -- the model

    def _replied(self, held: Held, message: MessageFields, parts: _Parts) -> None:
        draft, at = self.draft, stamp(message.created)
        if not isinstance(message.path, str | None) and message.path.cwd:
            draft.cwd = message.path.cwd
            draft.facts.saw(cwd=message.path.cwd)
        key = reply_id(message, held.id) if draft.full else held.id
        if key in self._replies:
            key = held.id
        self._replies.add(key)
        reply = draft.reply(key, id=held.id, at=at, model=message.model_name)
        self._last = at or ""
        for id, part, data in parts:
            if part.type == "text" and not part.is_injected:
                if part.text:
                    draft.say(reply, part.text)
            elif part.type == "tool":
                self._called(reply, key, id, part, at)
            elif part.type == "reasoning":
                if draft.full:
                    self._thought(reply, part)
            elif part.type == "file" and (file := file_of(part)) is not None:
                draft.show(reply, file)
            elif part.type == "retry":
                error = part.error if draft.full else None
                words = error.data.message if error is not None and error.data is not None else ""
                draft.notice(kinds.SYSTEM, words or "", id=id, at=at)
            else:
                self._aside(id, part, data, at)
        if (ended := stamp(message.completed)) is not None and ended >= self._last:
            draft.reply(key, id=held.id, at=ended)  # when its last words were written
        if draft.full:
            draft.bill(
                reply,
                usage_of(message, [part for _, part, _ in parts]),
                stop=message.finish,
                billing=billing_of(message),
            )
        self._ended_badly(held, message)

    def _ended_badly(self, held: Held, message: MessageFields) -> None:
        error = message.error
        if error is None:
            return
        words = (error.data.message if error.data is not None else None) or error.name or ""
        at, id = stamp(message.completed or message.created), f"{held.id}-end"
        if error.name == _ABORTED:
            self.draft.interrupted(words, id=id, at=at)
        else:
            self.draft.notice(kinds.SYSTEM, words, id=id, at=at)

    def _thought(self, reply: OpenMessage, part: Part) -> None:
        signature, redacted = sealed(part.metadata)
        if part.text or signature:
            self.draft.think(reply, part.text or "", signature, redacted=redacted and not part.text)

    def _called(self, reply: OpenMessage, key: str, id: str, part: Part, at: str | None) -> None:
        draft, state = self.draft, part.state
        begun = stamp(state.time.start) if state is not None and state.time is not None else None
        if begun is not None and begun >= self._last:
            draft.reply(key, id=reply.id, at=begun)
            self._last = begun
        ended = stamp(state.time.end) if state is not None and state.time is not None else None
        if not draft.full:
            draft.call(reply, "", "", None, at=None)
            draft.facts.saw(ended)
            return
        call_id = part.callID or id
        agent = agent_of(part)
        if agent is not None:
            self.calls.setdefault(agent, call_id)
        given = state.input if state is not None else None
        draft.call(reply, call_id, part.tool or "", given, at=begun or at, agent=agent)
        if state is not None and state.status not in _WAITING:
            draft.answer(call_id, result_of(part, state, ended), id=f"{id}-answer")
            self._last = max(self._last, ended or "")

    # -- compactions

    def _compacted(self, held: Held, message: MessageFields, parts: _Parts) -> None:
        """A reply to the harness, which asked for a summary of all before."""
        draft, at = self.draft, stamp(message.completed or message.created)
        draft.facts.saw(stamp(message.created))
        if model := message.model_name:
            draft.facts.saw(model=model)
        words = [p.text for _, p, _ in parts if p.type == "text" and p.text]
        if words or message.error is None:
            draft.compacted("\n\n".join(words), id=held.id, at=at, trigger=self._trigger)
        self._trigger = None
        for id, part, data in parts:
            if part.type != "text":
                self._aside(id, part, data, at)
        if draft.full:
            usage = usage_of(message, [part for _, part, _ in parts])
            if usage.total:
                key, billing = reply_id(message, held.id), billing_of(message)
                draft.bill_elsewhere(Reply(key, at, model, usage, message.finish, billing))
        self._ended_badly(held, message)


def _raw(data: bytes) -> dict[str, Any]:
    try:
        value = verbatim(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
