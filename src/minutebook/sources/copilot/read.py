"""One pass over a session of Copilot CLI: events → rounds, metadata and a report.

Events of subagents stand among those of the session. The pass over the file notes only where
each subagent's begin and end; they are read when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from minutebook.model import BadLine, FormatReport, Round, SessionInfo, Subagent
from minutebook.sources.assembly.draft import Draft
from minutebook.sources.assembly.facts import Facts
from minutebook.sources.assembly.lines import DECODE_ERRORS, Lines, LinesCheckpoint, LinesReading
from minutebook.sources.base import Depth, reason_of
from minutebook.sources.copilot.conversation import Conversation, Memory
from minutebook.sources.copilot.locate import SOURCE, workspace
from minutebook.sources.copilot.records import AgentStarted, Asset, Data, Event, data_of
from minutebook.sources.copilot.tools import tool_kind
from minutebook.sources.copilot.workspace import read_workspace

_SHORT = 120  # characters of a description; a longer one is the agent's instructions
_CALLED = frozenset({"assistant.message", "tool.execution_start", "tool.execution_complete"})
_TELLING = frozenset({"assistant.message", "user.message", "subagent.started"})
_UNSAID = tuple(
    b'{"type":"' + name
    for name in (
        b"tool.execution_complete",
        b"hook.",
        b"permission.",
        b"model.",
        b"assistant.turn_",
        b"session.binary_asset",
        b"session.usage_",
        b"system.message",
    )
)


class Agent(msgspec.Struct):
    """A subagent, as the session's file shows it."""

    first: int
    """Where its first event begins …"""
    last: int
    """… and its last one."""
    told: bool = False
    """Whether it said or was told anything; else somebody only mentioned it."""
    call_id: str | None = None
    kind: str | None = None
    description: str | None = None


class _State(msgspec.Struct):
    memory: Memory
    agents: dict[str, Agent]
    assets: dict[str, int]


class CopilotReading(LinesReading[Event]):
    record = Event

    def __init__(
        self, path: Path, draft: Draft, depth: Depth, resume: LinesCheckpoint | None = None
    ) -> None:
        self._agents: dict[str, Agent] = {}
        self._assets: dict[str, int] = {}
        self._main = Conversation(draft, lambda: self.lines.raw(), self._asset)
        super().__init__(path, draft, depth, resume)

    # -- for the reading

    def wanted(self, data: bytearray, start: int, end: int) -> bool:
        """Most events have no words of either side."""
        return not data.startswith(_UNSAID, start, end)

    def passed(self, record: Event) -> None:
        self.draft.facts.saw(record.at)

    def take(self, record: Event) -> None:
        self.report.records[record.type] += 1
        if record.type == "session.binary_asset":
            asset, _ = data_of(record, Asset)
            self._assets[asset.assetId or ""] = self.lines.position
        agent = agent_of(record)
        if agent is None:
            self._main.take(record)
        else:
            self.draft.facts.saw(record.at)
            self._saw(agent, record)

    def ending(self) -> None:
        self._main.settle()

    def state(self) -> Any:
        return _State(self._main.memory, self._agents, self._assets)

    def restore(self, own: msgspec.Raw) -> None:
        known = msgspec.json.decode(own, type=_State)
        self._main.memory, self._agents, self._assets = known.memory, known.agents, known.assets

    # -- subagents

    def _saw(self, id: str, event: Event) -> None:
        """An event of a subagent."""
        at = self.lines.position
        agent = self._agents.setdefault(id, Agent(at, at))
        agent.last = at
        agent.told = agent.told or event.type in _TELLING
        if event.type == "subagent.started":
            start, _ = data_of(event, AgentStarted)
            agent.call_id = start.toolCallId or agent.call_id
            agent.kind = start.agentName or agent.kind
            about = start.agentDescription or ""
            agent.description = about if 0 < len(about) <= _SHORT else start.agentDisplayName
        elif agent.call_id is None and event.type in _CALLED:
            agent.call_id = data_of(event, Data)[0].parentToolCallId
        if agent.call_id is not None:
            self.draft.started_by(agent.call_id, id)

    def subagent_count(self) -> int:
        return sum(agent.told for agent in self._agents.values())

    def subagents(self) -> Iterator[Subagent]:
        by_call = {a.call_id: id for id, a in self._agents.items() if a.call_id is not None}
        for id, agent in self._agents.items():
            if not agent.told:
                self.report.left_out["events of a subagent that said nothing"] += 1
                continue
            yield Subagent(
                id=id,
                call_id=agent.call_id,
                kind=agent.kind,
                description=agent.description,
                rounds=self._agent_rounds(id, agent, by_call),
            )

    def _agent_rounds(self, id: str, agent: Agent, by_call: dict[str, str]) -> tuple[Round, ...]:
        report = FormatReport()  # its lines were counted already
        draft = Draft(Facts(id, SOURCE), report, tool_kind, full=self.draft.full)
        draft.cwd, draft.branch = self.draft.cwd, self.draft.branch
        sign = msgspec.json.encode(id) if id.isascii() else b""

        def wanted(data: bytearray, start: int, end: int) -> bool:
            said = draft.full or self.wanted(data, start, end)
            return said and data.find(sign, start, end) >= 0

        lines: Lines[Event] = Lines(self.path, Event, report, agent.first, wanted)
        conversation = Conversation(draft, lines.raw, self._asset, agents=by_call)
        try:
            for event in lines:
                if lines.position > agent.last:
                    break
                if agent_of(event) == id:
                    conversation.take(event)
        except OSError as error:
            self.report.bad_lines.append(BadLine(0, reason_of(error), str(self.path)))
        conversation.settle()
        draft.finish()
        if self.draft.full:
            self.report.left_out.update(report.left_out)
            self.report.unknown.update(report.unknown)
        return tuple(draft.done)

    # -- what stands elsewhere

    def _asset(self, id: str) -> tuple[str, str]:
        """Type and data of something that was attached; it stands in the file, once."""
        place = self._assets.get(id)
        if place is None:
            return "", ""
        try:
            with self.path.open("rb") as file:
                file.seek(place)
                event = msgspec.json.decode(file.readline(), type=Event)
        except (OSError, *DECODE_ERRORS):
            return "", ""
        asset, _ = data_of(event, Asset)
        return asset.mimeType or "", asset.data or ""

    def info(self) -> SessionInfo:
        """What the file says about itself, and what its ``workspace.yaml`` does."""
        notes, facts = read_workspace(workspace(self.path)), self.draft.facts
        facts.title, facts.title_is_persons = notes.name, notes.user_named
        if not facts.cwds:
            facts.saw(cwd=notes.cwd)
        if not facts.branches:
            facts.saw(branch=notes.branch)
        return super().info()


def agent_of(event: Event) -> str | None:
    """Whose event it is: a subagent's id, before there were such the call that started it."""
    if event.agentId:
        return event.agentId
    if event.type in _CALLED:
        return data_of(event, Data)[0].parentToolCallId
    if event.type.startswith("subagent."):
        return data_of(event, AgentStarted)[0].toolCallId
    return None
