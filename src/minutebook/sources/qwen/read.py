"""One pass over a session of Qwen Code: lines → rounds, metadata and a report.

The file is a tree; its lines are taken in their order, so that what was rewound stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Self

import msgspec

from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    BadLine,
    Block,
    Document,
    FormatReport,
    Image,
    Link,
    Reply,
    Subagent,
    Text,
    ToolKind,
    ToolResult,
    Usage,
)
from minutebook.sources.assembly.diffs import hunks_of
from minutebook.sources.assembly.draft import COMPLETED, Draft
from minutebook.sources.assembly.facts import Facts
from minutebook.sources.assembly.lines import LinesCheckpoint, LinesReading, begun
from minutebook.sources.assembly.parts import (
    REFERENCED,
    FunctionResponse,
    Part,
    answer_of,
    ending_of,
    failed,
    file_of,
    said_by,
)
from minutebook.sources.base import Depth, Transcript
from minutebook.sources.qwen.locate import SOURCE, AgentFile, agent_files
from minutebook.sources.qwen.records import Display, Line, Payload, UiEvent, UsageFields
from minutebook.sources.qwen.tools import tool_kind

_INJECTED = ("<system-reminder>", "<qwen:user-prompt-submit-context>")
_NOT_TYPED = {
    "notification": kinds.TASK,
    "cron": kinds.TASK,
    "background_task_completed": kinds.TASK,
    "goal_runtime": kinds.META,
}
_BOOKKEEPING = frozenset(
    """
    ui_telemetry attribution_snapshot file_history_snapshot session_source session_model
    session_execution_engine session_approval_mode agent_retry agent_session_ready
    user_text_elements session_artifact_event session_artifact_snapshot session_sources_snapshot
    branch_checkpoint goal_state goal_turn_end turn_result
    """.split()
)
_CONTEXT = frozenset(
    {"rewind", "agent_bootstrap", "agent_launch_prompt", "session_notes", "omni_recall"}
)
_NEAR = 450
_PASSED = re.compile(
    rb'"type":"tool_result"|"subtype":"(?:ui_telemetry|attribution_snapshot|file_history_snapshot)"'
).search
_OWN_TURN = "########"  # in the id of a prompt: the session's own, not a helper's


class _Memory(msgspec.Struct):
    """What has to be remembered between two lines."""

    typed: str | None = None
    """What was typed, where files were read for it: its record comes next."""
    answered: bool = False
    """Whether a response arrived since the last prompt or result."""
    delegated: list[str] = []
    """Calls that start subagents: what those use is in files of their own."""


class QwenReading(LinesReading[Line]):
    record = Line

    def __init__(
        self,
        transcript: Transcript,
        draft: Draft,
        depth: Depth,
        agents: Sequence[AgentFile],
        resume: LinesCheckpoint | None = None,
        model: str | None = None,
    ) -> None:
        self._memory = _Memory()
        self._agents = agents
        self._agent_of = {agent.call_id: agent.id for agent in agents if agent.call_id}
        self._model = model
        super().__init__(transcript.path, draft, depth, resume)

    @classmethod
    def opened(
        cls,
        transcript: Transcript,
        tool_kind: Callable[[str], ToolKind],
        depth: Depth,
        resume: LinesCheckpoint | None = None,
    ) -> Self:
        draft = begun(transcript, tool_kind, depth)
        return cls(transcript, draft, depth, agent_files(transcript.path), resume)

    def state(self) -> _Memory:
        return self._memory

    def restore(self, own: msgspec.Raw) -> None:
        self._memory = msgspec.json.decode(own, type=_Memory)

    def wanted(self, data: bytearray, start: int, end: int) -> bool:
        """Results and bookkeeping have no words of either side, and are most of the file."""
        return _PASSED(data, start, min(end, start + _NEAR)) is None

    def passed(self, record: Line) -> None:
        self.draft.facts.saw(record.timestamp)

    def take(self, record: Line) -> None:
        kind = record.type
        self.report.records[f"{kind}/{record.subtype}" if record.subtype else kind] += 1
        if record.forkedFrom is not None and record.forkedFrom.sessionId:
            self.draft.facts.link(Link(record.forkedFrom.sessionId, "forkedFrom"))
        if kind == "user":
            self._user(record)
        elif kind == "assistant":
            self._reply(record)
        elif kind == "tool_result":
            self._result(record)
        elif kind == "system":
            self._system(record, record.systemPayload or Payload())
        else:
            self._unknown(record, f"record {kind or 'without a type'}")

    def _unknown(self, record: Line, kind: str) -> None:
        self.draft.unknown(kind, self.lines.raw(), id=record.uuid, at=record.timestamp)

    def _where(self, record: Line) -> None:
        draft = self.draft
        draft.cwd, draft.branch = record.cwd or draft.cwd, record.gitBranch or draft.branch
        draft.facts.saw(cwd=record.cwd, branch=record.gitBranch, version=record.version)

    # -- the person

    def _user(self, record: Line) -> None:
        payload = record.systemPayload or Payload()
        parts = _parts(record)
        told = _NOT_TYPED.get(record.subtype or "")
        if told is None and record.provenance in ("system", "goal_runtime", "goal_control"):
            told = kinds.META
        if told is not None:
            text = "\n\n".join(part.text for part in parts if part.text)
            self.draft.notice(told, text, id=record.uuid, at=record.timestamp)
            self._memory.answered = False
            return
        self._where(record)
        typed = self._memory.typed or payload.displayText
        self._memory.typed, self._memory.answered = None, False
        blocks = _asked(parts, typed)
        if any(isinstance(block, Text | Image | Document) for block in blocks):
            self.draft.prompt(blocks, id=record.uuid, at=record.timestamp)
        else:  # nothing but what was injected
            for number, block in enumerate(blocks):
                data = block.data if isinstance(block, Attachment) else {}
                id = f"{record.uuid}-{number}"
                self.draft.attachment("context", data, id=id, at=record.timestamp)

    # -- the model

    def _reply(self, record: Line) -> None:
        draft, at = self.draft, record.timestamp
        self._where(record)
        reply = draft.reply(record.uuid, id=record.uuid, at=at, model=record.model or self._model)
        called = False
        for number, part in enumerate(_parts(record)):
            call = part.functionCall
            if call is not None:
                called, id = True, call.id or f"{record.uuid}-{number}"
                agent = self._agent_of.get(id)
                draft.call(reply, id, call.name or "", call.args, at=at, agent=agent)
                if tool_kind(call.name or "") == "delegate":
                    self._memory.delegated.append(id)
            elif part.thought:
                draft.think(reply, part.text or "", part.thoughtSignature)
            elif (file := file_of(part)) is not None:
                draft.show(reply, file)
            elif part.text is not None:
                draft.say(reply, part.text)
            else:
                self._unknown(record, "block without a kind")
        if record.usageMetadata is not None:
            draft.bill(reply, _usage(record.usageMetadata), stop=COMPLETED)
        elif record.provenance and not called and not self._memory.answered:
            # No response was counted: what had arrived when it was stopped.
            draft.interrupted("", id=f"{record.uuid}-end", at=at)

    # -- tools

    def _result(self, record: Line) -> None:
        parts = _parts(record)
        result = record.toolCallResult
        response = next((p.functionResponse for p in parts if p.functionResponse), None)
        response = response or FunctionResponse()
        call_id = (result.callId if result is not None else None) or response.id or ""
        display = result.resultDisplay if result is not None else None
        shown = display if isinstance(display, Display) else Display()
        status = result.status if result is not None else None
        error = status in ("error", "cancelled") or (status is None and failed(response))
        code = shown.exitCode
        is_command = response.name == "run_shell_command" and bool(response.response)
        if is_command and shown.type is None:
            code, error = ending_of(said_by(response), error=error)
        if (agent := self._agent_of.get(call_id)) is not None:
            self.draft.started_by(call_id, agent)
        took = result.durationMs if result is not None else None
        answer = ToolResult(
            answer_of(parts),
            error or bool(code),
            record.timestamp,
            patch=hunks_of(shown.fileDiff or ""),
            exit_code=code,
            interrupted=status == "cancelled",
            duration_ms=round(took) if took is not None and 0 <= took < 1e12 else None,
        )
        self.draft.answer(call_id, answer, id=record.uuid)
        self._memory.answered = False

    # -- the harness

    def _system(self, record: Line, payload: Payload) -> None:
        draft, kind, id, at = self.draft, record.subtype or "", record.uuid, record.timestamp
        event = payload.uiEvent
        if kind == "chat_compression":
            self._compaction(record, payload)
        elif kind == "custom_title":
            self._title(payload)
        elif kind == "at_command":
            self._memory.typed = payload.userText if payload.status != "error" else None
        elif kind == "slash_command":
            self._command(record, payload)
        elif kind == "parent_session":
            if payload.parentSessionId:
                draft.facts.link(Link(payload.parentSessionId, "parentSessionId"))
        elif kind in _CONTEXT:
            draft.attachment(kind, self.lines.raw().get("systemPayload") or {}, id=id, at=at)
        elif kind == "ui_telemetry" and event is not None and event.name.endswith("api_error"):
            draft.notice(kinds.SYSTEM, event.error_message or "", id=id, at=at)
        elif kind == "ui_telemetry" and event is not None and event.name.endswith("api_response"):
            self._response(record, event)
        elif kind in _BOOKKEEPING:
            self.report.left_out[kind] += 1
        else:
            self._unknown(record, f"system {kind or 'without a subtype'}")
        draft.facts.saw(at)

    def _compaction(self, record: Line, payload: Payload) -> None:
        info = payload.info
        history = payload.compressedHistory
        parts = (history[0].parts if history else None) or []
        self.draft.compacted(
            "\n\n".join(part.text for part in parts if part.text),
            id=record.uuid,
            at=record.timestamp,
            trigger=info.triggerReason if info is not None else None,
            tokens_before=info.originalTokenCount if info is not None else None,
        )

    def _title(self, payload: Payload) -> None:
        """The last one counts: the agent writes none over a person's, and repeats it."""
        facts = self.draft.facts
        facts.title = payload.customTitle or facts.title
        facts.title_is_persons = facts.title is not None and payload.titleSource != "auto"

    def _command(self, record: Line, payload: Payload) -> None:
        draft, id, at = self.draft, record.uuid, record.timestamp
        if payload.phase != "result":
            draft.notice(kinds.COMMAND, payload.rawCommand or "", id=id, at=at)
            return
        items = payload.outputHistoryItems or []
        told = [i["text"] for i in items if isinstance(i, dict) and isinstance(i.get("text"), str)]
        if told:
            draft.notice(kinds.COMMAND_OUTPUT, "\n".join(told), id=id, at=at)
        else:
            self.report.left_out["slash_command result"] += 1

    def _response(self, record: Line, event: UiEvent) -> None:
        """A response of the session's own turn is in the reply that follows; a subagent's in its
        file; what helpers used (memory, compression) only here."""
        self.report.left_out["ui_telemetry"] += 1
        prompt = event.prompt_id or ""
        if _OWN_TURN in prompt or not prompt:
            self._memory.answered = True
            return
        helper = prompt.split("#")[1] if prompt.count("#") > 1 else ""
        known = any(helper == agent.id for agent in self._agents)
        if known or helper.endswith(tuple(self._memory.delegated)) or not record.uuid:
            return
        usage = _usage(
            UsageFields(
                event.input_token_count,
                event.output_token_count,
                event.thoughts_token_count,
                event.cached_content_token_count,
                event.total_token_count,
            )
        )
        reply = Reply(record.uuid, record.timestamp, event.model, usage, COMPLETED)
        self.draft.bill_elsewhere(reply)

    # -- subagents

    def subagent_count(self) -> int:
        return len(self._agents)

    def subagents(self) -> Iterator[Subagent]:
        for agent in self._agents:
            facts, report = Facts(agent.id, SOURCE), FormatReport()
            draft = Draft(facts, report, tool_kind)
            place = Transcript(agent.path, SOURCE, agent.id, 0, 0.0)
            reading = QwenReading(place, draft, "full", (), model=agent.model)
            try:
                rounds = tuple(reading.rounds())
            except OSError:
                continue  # deleted since
            self.report.add(report)
            self.report.bad_lines += [
                BadLine(bad.line, bad.reason, str(agent.path)) for bad in report.bad_lines
            ]
            yield Subagent(
                id=agent.id,
                call_id=agent.call_id,
                kind=agent.kind,
                description=agent.description,
                rounds=rounds,
            )


def _parts(record: Line) -> list[Part]:
    return (record.message.parts if record.message is not None else None) or []


def _asked(parts: Sequence[Part], typed: str | None) -> list[Block]:
    """The blocks of a prompt: what was typed, pictures, and what was put around it."""
    blocks: list[Block] = []
    said = read = False
    for part in parts:
        text = part.text
        if text is None:
            if (file := file_of(part)) is not None:
                blocks.append(file)
            continue
        read = read or text.startswith(REFERENCED)
        if text.lstrip().startswith(_INJECTED) or read or (said and typed is not None):
            blocks.append(Attachment("context", {"text": text}))
        else:
            blocks.append(Text(text, typed if typed not in (None, text) else None))
            said = True
    return blocks


def _usage(fields: UsageFields) -> Usage:
    """Most providers count reasoning in the candidates; where the total says otherwise it is
    added."""
    prompt, cached = fields.promptTokenCount or 0, fields.cachedContentTokenCount or 0
    output, thoughts = fields.candidatesTokenCount or 0, fields.thoughtsTokenCount or 0
    if thoughts and fields.totalTokenCount == prompt + output + thoughts:
        output += thoughts
    return Usage(max(0, prompt - cached), output, cached)
