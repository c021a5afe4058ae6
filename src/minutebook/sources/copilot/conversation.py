"""What the events of one conversation mean: a session's own, or a subagent's."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Any, TypeVar

import msgspec

from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    Block,
    Document,
    Image,
    RecordedCost,
    Reply,
    ResultPart,
    Text,
    ToolResult,
    Usage,
)
from minutebook.sources.assembly.diffs import hunks_of
from minutebook.sources.assembly.draft import COMPLETED, Draft
from minutebook.sources.assembly.opened import OpenMessage
from minutebook.sources.assembly.repair import verbatim
from minutebook.sources.copilot.records import (
    AssistantMessage,
    Attached,
    CompactionDone,
    Event,
    ExecutionComplete,
    ExecutionStart,
    HookEnd,
    ModelChange,
    Piece,
    Request,
    Shutdown,
    Start,
    UsageFields,
    UsageRecord,
    UserMessage,
    Words,
    data_of,
)
from minutebook.sources.copilot.tools import tool_kind

_EXIT = re.compile(
    r"<(?:shellId: [^<>\n]{1,200} completed|exited) with exit code (-?\d{1,10})>\s*$"
)
_MOST_CALLS = 4_096  # calls whose execution may still be told
_BOOKKEEPING = frozenset(
    {
        "assistant.turn_end",
        "assistant.turn_start",
        "hook.start",
        "session.auto_mode_resolved",
        "session.binary_asset",
        "session.compaction_start",
        "session.idle",
        "session.mode_changed",
        "session.permissions_changed",
        "session.plan_changed",
        "session.usage_checkpoint",
        "session.workspace_file_changed",
        "subagent.completed",
        "subagent.configured",
        "subagent.deselected",
        "subagent.failed",
        "subagent.selected",
        "subagent.started",
    }
)
_BOOKKEEPING_OF = ("model.", "permission.")
D = TypeVar("D", bound=msgspec.Struct)


class Memory(msgspec.Struct, omit_defaults=True):
    """What has to be known between two events."""

    model: str | None = None
    calls: dict[str, str] = {}
    """Names of the latest tools called, by call: an event that tells of one again adds none."""
    usage: dict[str, Reply] = {}
    """By API call, what replies used whose words are still to come."""
    api_call: str | None = None
    """The last API call that words came of. What the provider calls it ties its usage to it, and is
    no name for it: a model that runs at home uses the same ones again."""
    reply: str | None = None
    """What the reply of that call is known by."""
    reasoning: str = ""
    """Of the reply that comes next …"""
    reasoning_id: str | None = None
    """… and the event that told it."""


class Conversation:
    """Tells a draft what each event means."""

    def __init__(
        self,
        draft: Draft,
        raw: Callable[[], dict[str, Any]],
        picture: Callable[[str], tuple[str, str]],
        *,
        agents: dict[str, str] | None = None,
    ) -> None:
        """`raw` gives the current event as it stands in the file, `picture` the type and the
        data of an asset, `agents` the subagents that calls are known to have started. With
        `agents`, this is a subagent's: what other agents say to it is its prompt."""
        self.draft, self.memory = draft, Memory()
        self._raw, self._picture = raw, picture
        self._agents = agents or {}
        self._nested = agents is not None

    def take(self, event: Event) -> None:
        if (told := _TOLD.get(event.type)) is not None:
            told(self, event)
        elif event.type in _BOOKKEEPING or event.type.startswith(_BOOKKEEPING_OF):
            self.draft.facts.saw(event.at)
            self.draft.report.left_out[event.type] += 1
        else:
            name = f"event {event.type or 'without a type'}"
            self.draft.unknown(name, self._raw(), id=event.id, at=event.at)

    def data(self, event: Event, kind: type[D]) -> D:
        found, odd = data_of(event, kind)
        if odd:
            self.draft.report.repaired["odd field"] += 1
        return found

    # -- the session

    def started(self, event: Event) -> None:
        start, draft = self.data(event, Start), self.draft
        place = start.context or start
        draft.cwd, draft.branch = place.cwd or draft.cwd, place.branch or draft.branch
        draft.facts.saw(event.at, cwd=place.cwd, branch=place.branch, version=start.copilotVersion)
        self.memory.model = start.selectedModel or self.memory.model

    def changed_model(self, event: Event) -> None:
        self.memory.model = self.data(event, ModelChange).newModel or self.memory.model
        self.draft.facts.saw(event.at)
        self.draft.report.left_out[event.type] += 1

    def shut_down(self, event: Event) -> None:
        """Its totals are those of the whole session so far: kept beside ours, never added."""
        metrics = self.data(event, Shutdown).modelMetrics
        if metrics:
            self.draft.facts.cost = RecordedCost(models=metrics)
        self.draft.facts.saw(event.at)
        self.draft.report.left_out[event.type] += 1

    # -- the person

    def heard(self, event: Event) -> None:
        message = self.data(event, UserMessage)
        source = message.source or "user"
        by_agent = source.startswith("agent-")
        if source != "user" and not (by_agent and self._nested):
            kind = kinds.REMINDER if source == "system" else kinds.META
            text = message.content or message.transformedContent or ""
            said_by = kinds.TEAMMATE if by_agent else kind
            self.draft.notice(said_by, text, id=event.id, at=event.at)
            return
        self.settle()
        blocks: list[Block] = [Text(message.content or "")]
        blocks += [self._attached(given) for given in message.attachments or ()]
        if wrapping := _wrapping(message.content or "", message.transformedContent or ""):
            blocks.append(Attachment("context", wrapping))
        self.draft.prompt(blocks, id=event.id, at=event.at)

    def _attached(self, given: Attached) -> Block:
        media, data = given.mimeType or "", given.data or ""
        if given.assetId and self.draft.full:
            found, data = self._picture(given.assetId)
            media = media or found
        if media.startswith("image/"):
            return Image(media, data)
        if given.assetId or data:
            return Document(media, data, title=given.displayName)
        about = {"type": given.type, "path": given.path, "name": given.displayName}
        return Attachment("file", {name: value for name, value in about.items() if value})

    # -- the model

    def replied(self, event: Event) -> None:
        message, draft, memory = self.data(event, AssistantMessage), self.draft, self.memory
        reasoning = message.reasoningText or memory.reasoning
        calls = [call for call in message.toolRequests or () if self._is_new(call)]
        if not (message.content or calls or reasoning or message.reasoningOpaque):
            draft.facts.saw(event.at)
            draft.report.left_out["assistant.message without anything new"] += 1
            return
        call_key = message.apiCallId or message.messageId or event.id
        if call_key is None or call_key != memory.api_call:
            memory.api_call, memory.reply = call_key, event.id or call_key
        model = message.model or memory.model
        reply = draft.reply(memory.reply, id=event.id, at=event.at, model=model)
        if memory.reasoning and memory.reasoning != reasoning:
            draft.think(reply, memory.reasoning)
        memory.reasoning = ""
        if reasoning or message.reasoningOpaque:
            draft.think(reply, reasoning, message.reasoningOpaque)
        if message.encryptedContent:
            draft.think(reply, "", message.encryptedContent, redacted=True)
        if message.content:
            draft.say(reply, message.content)
        for call in calls:
            self._call(reply, call.toolCallId or "", call.name or "", call.arguments, event.at)
        self._bill(reply, call_key, message.outputTokens)

    def reasoned(self, event: Event) -> None:
        """Reasoning told on its own: the reply it belongs to follows."""
        text = self.data(event, Words).text
        known = self.memory.reasoning
        self.memory.reasoning = f"{known}\n\n{text}" if known and text else known or text
        self.memory.reasoning_id = event.id
        self.draft.facts.saw(event.at)

    def used(self, event: Event) -> None:
        """What an API call used; as a rule, its words come next."""
        fields = self.data(event, UsageRecord).usage
        self.draft.facts.saw(event.at)
        if fields is None or not self.draft.full:
            return
        key = fields.apiCallId or event.id or ""
        ended = fields.finishReason or COMPLETED
        usage = Reply(event.id or key, event.at, fields.model, _usage(fields), ended)
        is_last = key == self.memory.api_call
        known = self.draft.assembler.open_reply(self.memory.reply) if is_last else None
        if known is not None:
            self.draft.bill(known, usage.usage, stop=usage.stop)
        else:
            self.memory.usage[key] = usage

    def _bill(self, reply: OpenMessage, key: str | None, output: int | None) -> None:
        recorded = self.memory.usage.pop(key or "", None)
        if recorded is not None:
            self.draft.bill(reply, recorded.usage, stop=recorded.stop)
        elif output and reply.usage is None:
            self.draft.bill(reply, Usage(output=output))  # all that versions up to 1.0.74 say

    def settle(self) -> None:
        """What was used for words that did not come (an interruption) counts where it was used."""
        for usage in self.memory.usage.values():
            self.draft.bill_elsewhere(usage)
        self.memory.usage = {}
        if self.memory.reasoning:
            id = self.memory.reasoning_id
            reply = self.draft.reply(None, id=id, at=None, model=self.memory.model)
            self.draft.think(reply, self.memory.reasoning)
            self.memory.reasoning = ""

    # -- tools

    def _is_new(self, call: Request) -> bool:
        return not call.toolCallId or call.toolCallId not in self.memory.calls

    def _call(self, reply: OpenMessage, id: str, name: str, arguments: Any, at: str | None) -> None:
        if len(self.memory.calls) >= 2 * _MOST_CALLS:
            self.memory.calls = dict(islice(self.memory.calls.items(), _MOST_CALLS, None))
        self.memory.calls[id] = name
        agent = self._agents.get(id)
        self.draft.call(reply, id, name, _opened(arguments), at=at, agent=agent)

    def executed(self, event: Event) -> None:
        """A call again, once it is carried out; a few were never told of before."""
        start = self.data(event, ExecutionStart)
        self.draft.facts.saw(event.at)
        id = start.toolCallId or ""
        if id in self.memory.calls:
            return
        model = start.model or self.memory.model
        reply = self.draft.reply(None, id=event.id, at=event.at, model=model)
        self._call(reply, id, start.toolName or "", start.arguments, event.at)

    def answered(self, event: Event) -> None:
        done = self.data(event, ExecutionComplete)
        id, result = done.toolCallId or "", done.result
        kind = tool_kind(self.memory.calls.get(id, ""))
        text = (result.content if result is not None else None) or ""
        if not text and done.error is not None:
            text = done.error.message or ""
        code = done.shellExecution.exitCode if done.shellExecution is not None else None
        if code is None and kind == "run" and (found := _EXIT.search(text[-300:])) is not None:
            code = int(found[1])
        pictures = [_part(p) for p in (result.contents if result is not None else None) or ()]
        shown = tuple(picture for picture in pictures if picture is not None)
        diff = result.detailedContent if result is not None and kind in ("edit", "write") else None
        told = ToolResult(
            (Text(text), *shown) if shown else text,
            done.success is False or bool(code),
            event.at,
            patch=hunks_of(diff or ""),
            exit_code=code,
        )
        self.draft.answer(id, told, id=event.id)

    # -- the harness

    def attached(self, event: Event) -> None:
        """Instructions, a skill, what was cut from the window."""
        data = self._raw().get("data")
        given = data if isinstance(data, dict) else {}
        self.draft.attachment(event.type, given, id=event.id, at=event.at)

    def hooked(self, event: Event) -> None:
        """A hook that failed or said something; the others are only counted."""
        hook = self.data(event, HookEnd)
        if hook.error is not None:
            self.draft.notice(kinds.SYSTEM, hook.error.message or "", id=event.id, at=event.at)
        elif hook.output is not None:
            self.attached(event)
        else:
            self.draft.facts.saw(event.at)
            self.draft.report.left_out[event.type] += 1

    def noticed(self, event: Event) -> None:
        kind = kinds.TASK if event.type == "system.notification" else kinds.SYSTEM
        self.draft.notice(kind, self.data(event, Words).text, id=event.id, at=event.at)

    def interrupted(self, event: Event) -> None:
        self.draft.interrupted(self.data(event, Words).text, id=event.id, at=event.at)

    def compacted(self, event: Event) -> None:
        done, draft = self.data(event, CompactionDone), self.draft
        used = done.compactionTokensUsed
        if used is not None and event.id:
            # It is in no usage record, nor in the totals of a shutdown.
            model = used.model or self.memory.model
            draft.bill_elsewhere(Reply(event.id, event.at, model, _usage(used), COMPLETED))
        if done.success is False:
            draft.notice(kinds.SYSTEM, "The compaction failed.", id=event.id, at=event.at)
            return
        draft.compacted(
            done.summaryContent or "",
            id=event.id,
            at=event.at,
            trigger=done.trigger,
            tokens_before=done.preCompactionTokens,
        )


_TOLD: dict[str, Callable[[Conversation, Event], None]] = {
    "session.start": Conversation.started,
    "session.resume": Conversation.started,
    "session.context_changed": Conversation.started,
    "session.model_change": Conversation.changed_model,
    "session.shutdown": Conversation.shut_down,
    "user.message": Conversation.heard,
    "assistant.message": Conversation.replied,
    "assistant.reasoning": Conversation.reasoned,
    "session.usage_record": Conversation.used,
    "tool.execution_start": Conversation.executed,
    "tool.execution_complete": Conversation.answered,
    "system.message": Conversation.attached,
    "session.truncation": Conversation.attached,
    "skill.invoked": Conversation.attached,
    "hook.end": Conversation.hooked,
    "system.notification": Conversation.noticed,
    "session.error": Conversation.noticed,
    "session.info": Conversation.noticed,
    "session.warning": Conversation.noticed,
    "session.task_complete": Conversation.noticed,
    "abort": Conversation.interrupted,
    "session.compaction_complete": Conversation.compacted,
}


def _wrapping(typed: str, sent: str) -> dict[str, Any]:
    """What the agent put around a prompt."""
    before, found, after = sent.partition(typed) if typed else ("", "", sent)
    if not found and typed:
        return {"sent": sent} if sent else {}
    around = {"before": before.strip(), "after": after.strip()}
    return {name: text for name, text in around.items() if text}


def _opened(arguments: Any) -> Any:
    """A call's input; some models' arguments are an object written as a text."""
    if isinstance(arguments, str) and arguments.startswith("{"):
        try:
            found = verbatim(arguments)
        except (ValueError, RecursionError):
            return arguments
        return found if isinstance(found, dict) else arguments
    return arguments


def _part(piece: Piece) -> ResultPart | None:
    """A picture in a result; its words are in the result's text already."""
    if piece.type == "image" and piece.data:
        return Image(piece.mimeType or "", piece.data)
    return None


def _usage(fields: UsageFields) -> Usage:
    read, write = fields.cacheReadTokens or 0, fields.cacheWriteTokens or 0
    whole = fields.inputTokens or 0
    return Usage(max(0, whole - read - write), fields.outputTokens or 0, read, write)
