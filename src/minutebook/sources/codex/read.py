"""One pass over a rollout: lines → rounds, metadata and a report."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from minutebook.model import Attachment, Link, Subagent
from minutebook.sources.assembly.draft import Draft
from minutebook.sources.assembly.facts import Facts
from minutebook.sources.assembly.lines import LinesCheckpoint, LinesReading
from minutebook.sources.assembly.repair import coerce
from minutebook.sources.base import Depth, ExportHeader
from minutebook.sources.codex import context, titles
from minutebook.sources.codex.agents import AgentFile, agent_files
from minutebook.sources.codex.carried import Carried
from minutebook.sources.codex.conversation import Conversation
from minutebook.sources.codex.events import Events
from minutebook.sources.codex.locate import SOURCE, home_of
from minutebook.sources.codex.memory import Memory
from minutebook.sources.codex.records import Instructions, Line, Payload
from minutebook.sources.codex.skim import needed
from minutebook.sources.codex.tools import tool_kind

_BOOKKEEPING = frozenset({"world_state", "inter_agent_communication_metadata"})
_IGNORED = frozenset({"additional_tools", "ghost_snapshot", "compaction", "context_compaction"})
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_PROVIDERS = frozenset({"web_search_call", "image_generation_call"})
_ASIDES = {
    "entered_review_mode": "review",
    "exited_review_mode": "review",
    "guardian_assessment": "guardian",
    "Extension": "extension",
}
"""Events that say what no item says, and that are kept as they are."""
_AUTOMATIC = frozenset({"Codex Desktop", "codex_vscode"})
_PAUSE = 1.0  # seconds: copied lines are written in one go


class CodexReading(LinesReading[Line]):
    record = Line

    def __init__(
        self, path: Path, draft: Draft, depth: Depth, resume: LinesCheckpoint | None = None
    ) -> None:
        self.memory = Memory()
        super().__init__(path, draft, depth, resume)
        self._conversation = Conversation(draft, self.memory)
        self._events = Events(self._conversation)
        self._agents: list[AgentFile] | None = None

    def state(self) -> Any:
        return self.memory

    def restore(self, own: msgspec.Raw) -> None:
        self.memory = msgspec.json.decode(own, type=Memory)

    # -- which lines a skim needs

    def wanted(self, data: bytearray, start: int, end: int) -> bool:
        """Words of both sides, calls, and what a session says of itself."""
        if self.memory.exported:
            return True
        wanted, closing = needed(data, start, end)
        if closing:
            self._conversation.done()
        return wanted

    def passed(self, record: Line) -> None:
        self.draft.facts.saw(record.at)

    # -- lines

    def take(self, record: Line) -> None:
        kind, payload, at = record.type, record.payload, record.at
        if payload is None:
            self._bare(record)
            return
        self.report.records[f"{kind} {payload.type}" if payload.type else kind] += 1
        self.draft.facts.saw(at)
        if record.minutebook is not None:
            self._exported(record.minutebook, payload, at)
        elif kind == "session_meta":
            self._meta(payload, at)
        elif self.memory.copying and self._is_copied(kind, payload, at):
            self._copied(kind, payload, at)
        else:
            self._own(kind, payload, at)

    def _own(self, kind: str, payload: Payload, at: str | None) -> None:
        if kind == "response_item":
            self._item(payload, at)
        elif kind == "event_msg":
            self._event(payload, at)
        elif kind == "turn_context":
            self._turn(payload)
        elif kind == "compacted":
            self._conversation.compacted(payload.message or "", at)
        elif kind == "token_usage_record":
            if payload.usage is not None:
                self._conversation.used(payload.usage, at)
                self.memory.recorded = True
        elif kind in _BOOKKEEPING:
            self.report.left_out[kind] += 1
        else:
            self._unknown(f"record {kind or 'without a type'}", at)

    def _event(self, event: Payload, at: str | None) -> None:
        inner = event.item.type if event.item is not None else ""
        aside = _ASIDES.get(inner or event.type)
        if aside is not None:
            data = self.lines.raw().get("payload")
            kept = data if isinstance(data, dict) else {}
            self.draft.attachment(aside, kept, id=self.memory.aside(), at=at)
        elif not self._events.take(event, at):
            self._unknown(f"event {event.type} {inner}".rstrip(), at)

    def _unknown(self, kind: str, at: str | None) -> None:
        self.draft.unknown(kind, self.lines.raw(), id=self.memory.aside(), at=at)

    def _bare(self, record: Line) -> None:
        """Up to 0.29: the head of a session, or a response item by itself; no times."""
        self.report.records[record.type or record.record_type or "head"] += 1
        if record.record_type is not None:
            self.report.left_out["state"] += 1
        elif record.type:
            payload = coerce(self.lines.raw(), Payload) or Payload()
            self._item(payload, None)
        elif record.id and record.at:
            self.draft.facts.saw(record.at)
            self._meta(coerce(self.lines.raw(), Payload) or Payload(), record.at)
        else:
            self._unknown("line without a type", record.at)

    def _item(self, item: Payload, at: str | None) -> None:
        kind, told = item.type, self._conversation
        if kind == "message":
            if item.role == "user":
                told.heard(item, at)
            elif item.role == "assistant":
                told.said(item, at)
            else:
                told.given(item, at)
        elif kind == "reasoning":
            told.thought(item, at)
        elif kind in _CALLS:
            told.called(item, at)
        elif kind in _PROVIDERS:
            told.called_itself(item, at)
        elif kind == "agent_message":
            told.told_by_agent(item, at)
        elif kind in _OUTPUTS:
            told.answered(item, at)
        elif kind in _IGNORED:
            self.report.left_out[kind] += 1
        else:
            self._unknown(f"item {kind or 'without a type'}", at)

    # -- exports

    def _exported(self, carried: Carried, payload: Payload, at: str | None) -> None:
        """A line of an export: what it carries counts, the rest is there for Codex."""
        draft, facts = self.draft, self.draft.facts
        if carried.origin is not None:
            # Codex needs both, the session may have neither.
            payload.cwd, payload.cli_version = carried.origin.cwd, carried.origin.version
            self._meta(payload, at)
            self.memory.exported = True
            self.memory.context = []  # it is among the messages
            self._origin(carried.origin)
        if (start := carried.round) is not None:
            draft.begin(start.cwd, start.branch, prompted=start.prompted)
            draft.assembler.called(start.tool_count)
            draft.assembler.facts(start.clock, start.progress, start.compactions)
            facts.compactions += len(start.compactions)
            if start.duration_ms is not None:
                draft.lasted(start.duration_ms)
        if carried.message is not None:
            draft.whole(carried.message)

    def _origin(self, origin: ExportHeader) -> None:
        """What an export says of the session it was made from."""
        self.memory.title = origin.custom_title or origin.title
        self.memory.titled = origin.custom_title is not None
        self.draft.facts.origin = origin.source
        for parent in origin.surgery.parents if origin.surgery is not None else ():
            self.draft.facts.link(Link(parent, "surgery"))

    # -- heads

    def _meta(self, meta: Payload, at: str | None) -> None:
        """The first one is the file's own; others are those of the sessions it was copied from."""
        memory, facts = self.memory, self.draft.facts
        if memory.id:
            self.report.left_out["session_meta of another session"] += 1
            if meta.id and meta.id != memory.id and not memory.fed:
                memory.seed(meta.id)
            return
        memory.id = meta.id or facts.session_id
        memory.seed(memory.id)
        memory.nested = meta.parent_thread_id is not None or (
            isinstance(meta.source, dict) and "subagent" in meta.source
        )
        memory.originator = facts.entrypoint = meta.originator
        self.draft.cwd = meta.cwd
        self.draft.branch = meta.git.branch if meta.git is not None else None
        facts.saw(cwd=meta.cwd, branch=self.draft.branch, version=meta.cli_version)
        base = meta.history_base.thread_id if meta.history_base is not None else None
        if meta.forked_from_id and meta.history_base is None:
            memory.copying, memory.copied_at = True, at  # a migrated one has no other head
        for parent in (meta.forked_from_id, base):
            if parent:
                facts.link(Link(parent, "forkedFrom"))
        prompt = meta.base_instructions
        text = prompt.text if isinstance(prompt, Instructions) else prompt
        if text:
            memory.context.append((Attachment("system", {"text": text}), at))
        elif meta.instructions and not meta.cli_version:
            memory.context.append((context.instructions(meta.instructions), at))

    def _turn(self, turn: Payload) -> None:
        self.memory.model = turn.model or self.memory.model
        if turn.cwd:
            self.draft.cwd = turn.cwd
        self.draft.facts.saw(cwd=turn.cwd, model=turn.model)

    # -- the history of a parent

    def _is_copied(self, kind: str, payload: Payload, at: str | None) -> bool:
        """Whether a line is still the parent's: a turn younger than the session is not."""
        memory = self.memory
        if kind == "event_msg" and payload.type == "task_started" and payload.turn_id:
            if not memory.fed:
                memory.seed(payload.turn_id)
            memory.copied_turns = True
            memory.copying = not _is_later(payload.turn_id, memory.id)
        elif not memory.copied_turns and _seconds(memory.copied_at, at) > _PAUSE:
            memory.copying = False
        memory.copied_at = at or memory.copied_at
        return memory.copying

    def _copied(self, kind: str, payload: Payload, at: str | None) -> None:
        """A fork has its parent's rounds, a subagent only its own."""
        if kind == "turn_context":
            self._turn(payload)
        elif not self.memory.nested:
            payload.duration_ms = None  # the parent's time
            self._own(kind, payload, at)
        elif kind == "event_msg" and payload.type == "token_count":
            self._events.total(payload)
        else:
            self.report.left_out["line of the parent"] += 1

    # -- the end

    def ending(self) -> None:
        self._conversation.settle()
        facts, memory = self.draft.facts, self.memory
        title = titles.title_of(home_of(self.path), facts.session_id)
        # Desktop and the editor's extension give titles by themselves.
        given = title is not None and memory.originator not in _AUTOMATIC
        facts.title_is_persons = given or (title is None and memory.titled)
        facts.title = title or memory.title

    @property
    def agents(self) -> list[AgentFile]:
        if self._agents is None:
            self._agents = agent_files(self.path, self.draft.facts.session_id)
        return self._agents

    def subagent_count(self) -> int:
        return sum(not agent.head.helper for agent in self.agents)

    def subagents(self) -> Iterator[Subagent]:
        calls = dict(self.memory.spawned)
        for agent in self.agents:
            facts = Facts(agent.head.id, SOURCE)
            reading = CodexReading(agent.path, Draft(facts, self.report, tool_kind), "full")
            try:
                rounds = tuple(reading.rounds())
            except OSError as error:
                self.report.left_out[f"subagent: {error.strerror or error}"] += 1
                continue
            calls |= reading.memory.spawned
            yield Subagent(
                id=agent.head.id,
                call_id=agent.head.call_id or calls.get(agent.head.id),
                kind=agent.head.kind,
                description=agent.head.nickname,
                helper=agent.head.helper,
                rounds=rounds,
            )


def _is_later(turn: str, session: str) -> bool:
    """Of two UUIDs that begin with their times; others are taken to be later."""
    if turn[14:15] != "7" or session[14:15] != "7":
        return True
    return turn[:13] >= session[:13]


def _seconds(before: str | None, after: str | None) -> float:
    try:
        first, second = datetime.fromisoformat(before or ""), datetime.fromisoformat(after or "")
        return (second - first).total_seconds()
    except (ValueError, TypeError):
        return 0.0
