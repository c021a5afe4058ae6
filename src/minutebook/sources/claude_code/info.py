"""What a transcript says about itself, gathered while its records go by."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from minutebook.derive.titles import is_opening
from minutebook.model import (
    Link,
    NameEvidence,
    PullRequest,
    RecordedCost,
    SessionInfo,
    Usage,
)
from minutebook.sources.assembly.facts import headline
from minutebook.sources.assembly.seen import SeenIds
from minutebook.sources.base import ExportHeader
from minutebook.sources.claude_code.locate import SOURCE
from minutebook.sources.claude_code.messages import parse_command
from minutebook.sources.claude_code.moments import SYNTHETIC_MODEL
from minutebook.sources.claude_code.records import ForkFields, FullBlock, OtherRecord, Record
from minutebook.sources.claude_code.signatures import own_signature

_repeated = attrgetter("cwd", "gitBranch", "version", "sessionId", "slug")


class Counts(NamedTuple):
    rounds: int
    prompts: int
    calls: int
    subagents: int
    answer_chars: int
    prompt_ids: tuple[str, ...]


class InfoCollector(msgspec.Struct):
    """Folds records into a `SessionInfo`. A value, so that a reading can be taken up again."""

    session_id: str
    started: str | None = None
    ended: str | None = None
    compactions: int = 0
    duration_ms: float = 0.0
    entrypoint: str | None = None
    source: str | None = None
    is_evident: bool = False
    """Whether anything met so far can only have been written by this agent."""
    _cwds: dict[str, None] = {}
    _branches: dict[str, None] = {}
    _models: dict[str, None] = {}
    _versions: dict[str, None] = {}
    _slug: str | None = None
    _renames: list[str] = []
    _signature: str | None = None
    _custom_title: str | None = None
    _agent_name: str | None = None
    _ai_title: str | None = None
    _origin_title: str | None = None
    _summaries: dict[str, str] = {}
    _foreign: dict[str, None] = {}
    _forks: dict[str, Link] = {}
    _prs: dict[str, PullRequest] = {}
    _cost: RecordedCost | None = None
    _last: tuple[str | None, ...] = ()

    @property
    def versions(self) -> tuple[str, ...]:
        return tuple(self._versions)

    # -- records

    def envelope(self, record: Record[Any]) -> None:
        """Fields every conversation record repeats; mostly they are those of the line before."""
        at = record.timestamp
        if at:
            if self.started is None or at < self.started:
                self.started = at
            if self.ended is None or at > self.ended:
                self.ended = at
        self.is_evident = True
        here = _repeated(record)
        if here != self._last:
            self._last = here
            self._changed(record)

    def _changed(self, record: Record[Any]) -> None:
        if record.cwd:
            self._cwds.setdefault(record.cwd)
        if record.gitBranch:
            self._branches.setdefault(record.gitBranch)
        if record.version:
            self._versions.setdefault(record.version)
        self._slug = self._slug or record.slug
        self.entrypoint = self.entrypoint or record.entrypoint
        if record.sessionId and record.sessionId != self.session_id:
            self._foreign.setdefault(record.sessionId)
        origin = record.forkedFrom
        fork = origin.sessionId if isinstance(origin, ForkFields) else origin
        if fork and fork != self.session_id:
            self._forks.setdefault(fork, Link(fork, "forkedFrom"))
        if record.parentSessionId:
            self._parent(record.parentSessionId)

    def relation(self, record: OtherRecord) -> None:
        """A record that names the session this one continues (FMT-16)."""
        if record.parentSessionId:
            self._parent(record.parentSessionId)

    def _parent(self, session_id: str) -> None:
        if session_id != self.session_id:
            self._forks.setdefault(session_id, Link(session_id, "parentSessionId"))

    def origin(self, origin: ExportHeader) -> None:
        """An exported transcript knows more of its session than its records tell."""
        self.is_evident = True
        self.source = origin.source
        self._origin_title = origin.title
        for known, value in (
            (self._cwds, origin.cwd),
            (self._branches, origin.branch),
            (self._versions, origin.version),
        ):
            if value is not None:
                known.setdefault(value)
        for parent in origin.surgery.parents if origin.surgery is not None else ():
            self._forks.setdefault(parent, Link(parent, "surgery"))
        # What named the agent may stand in rounds that were not published yet.
        if origin.rename is not None:
            self._renames.insert(0, origin.rename)
        self._signature = origin.signature or self._signature
        self._cost = origin.cost or self._cost

    def model(self, name: str | None) -> None:
        if name and name != SYNTHETIC_MODEL:
            self._models.setdefault(name)

    def title(self, record: OtherRecord) -> None:
        """Title records are written again and again: the last one counts."""
        self.is_evident = True
        if record.type == "custom-title":
            self._custom_title = record.customTitle or self._custom_title
        elif record.type == "agent-name":
            self._agent_name = record.agentName or self._agent_name
        elif record.type == "ai-title":
            self._ai_title = record.aiTitle or self._ai_title
        elif record.summary and record.leafUuid:
            self._summaries[record.leafUuid] = record.summary

    def custom_title(self, title: str) -> None:
        """From ``custom-title.json``, which only counts where no record says more."""
        self._custom_title = self._custom_title or title

    def pull_request(self, record: OtherRecord) -> None:
        if record.prUrl:
            request = PullRequest(
                record.prUrl, record.prNumber, record.prRepository, record.timestamp
            )
            self._prs.setdefault(record.prUrl, request)

    def command(self, text: str) -> None:
        """A text that may be a ``/rename``, wrapped or typed (ID-02)."""
        command = parse_command(text)
        if command is not None:
            if command.name == "/rename" and command.args:
                self._renames.append(command.args)
        elif text.lstrip().startswith("/rename"):
            typed = text.strip().removeprefix("/rename")
            if typed[:1] in (" ", "\t") and "\n" not in typed:
                self._renames.append(typed.strip())

    def signatures(self, blocks: list[FullBlock | str]) -> None:
        """Board signatures in what the session itself wrote: the first is its own (ID-05)."""
        self._signature = self._signature or own_signature(blocks, self.session_id)

    @property
    def is_signed(self) -> bool:
        return self._signature is not None

    def cost(self, record: OtherRecord) -> None:
        """What the agent says the session has cost so far: the last one counts."""
        self.is_evident = True
        usd, models = record.totalCostUSD, record.modelUsage
        if usd is not None or models:
            self._cost = RecordedCost(usd, models or {})

    # -- the result

    def result(
        self,
        *,
        counts: Counts,
        usage: Usage,
        first_prompt: str,
        uuids: SeenIds,
    ) -> SessionInfo:
        # Old versions put titles of *other* sessions into a file: only a summary whose
        # leaf is one of our own messages is about this one.
        recap = next((s for leaf, s in self._summaries.items() if leaf in uuids), None)
        title = (
            self._custom_title
            or self._ai_title
            or recap
            or self._origin_title
            or headline(first_prompt)
        )
        named = [self._custom_title or self._agent_name]
        links = dict(self._forks)
        for foreign in self._foreign:
            links.setdefault(foreign, Link(foreign, "sessionId"))
        return SessionInfo(
            id=self.session_id,
            source=SOURCE,
            started=self.started,
            ended=self.ended,
            rounds=counts.rounds,
            prompts=counts.prompts,
            calls=counts.calls,
            subagents=counts.subagents,
            compactions=self.compactions,
            title=title or None,
            title_is_prompt=is_opening(title, first_prompt),
            slug=self._slug,
            cwds=tuple(self._cwds),
            branches=tuple(self._branches),
            models=tuple(self._models),
            versions=tuple(self._versions),
            entrypoint=self.entrypoint,
            names=NameEvidence(
                tuple(self._renames),
                tuple(name for name in named if name),
                (self._signature,) if self._signature else (),
            ),
            links=tuple(links.values()),
            pull_requests=tuple(self._prs.values()),
            usage=usage,
            origin=self.source,
            duration_ms=round(self.duration_ms),
            answer_chars=counts.answer_chars,
            prompt_ids=counts.prompt_ids,
            cost=self._cost,
        )
