"""One pass over a session of OpenCode: messages and their parts → rounds, metadata, a report."""

from __future__ import annotations

import re
from collections.abc import Iterator

from minutebook.model import FormatReport, Loose, Round, SessionInfo, Subagent
from minutebook.sources.assembly.draft import Draft
from minutebook.sources.assembly.facts import Facts
from minutebook.sources.base import Depth, Transcript
from minutebook.sources.opencode.locate import SOURCE, family_of, messages_of
from minutebook.sources.opencode.records import Family
from minutebook.sources.opencode.telling import Telling
from minutebook.sources.opencode.tools import tool_kind

_UNTITLED = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT")
_SUBAGENT = re.compile(r"(.*) \(@([^()]{1,200}) subagent\)$", re.DOTALL)


class OpenCodeReading:
    """A reading of one session. Iterate `rounds`, then ask for the rest."""

    checkpoint = None
    """Rows are updated in place: a reading begins at the beginning."""

    def __init__(self, transcript: Transcript, depth: Depth) -> None:
        self.depth: Depth = depth
        self.report = FormatReport(files=1)
        self.closed = 0
        self.at_end = False
        self.loose = Loose()
        self._transcript = transcript
        self._messages = messages_of(transcript)
        self._draft = self._drafted(transcript.session_id)
        self._agents: list[Family] = []
        self._calls: dict[str, str] = {}
        self._rounds = 0

    def _drafted(self, id: str) -> Draft:
        return Draft(Facts(id, SOURCE), self.report, tool_kind, full=self.depth == "full")

    def rounds(self) -> Iterator[Round]:
        """Rounds as they are finished; those from the one that may still grow come last."""
        own, *self._agents = family_of(self._transcript)
        draft = self._draft
        _described(draft.facts, own)
        telling = Telling(draft, own.directory)
        for held in self._messages(own.id):
            telling.take(held)
            if draft.done and telling.settled:
                yield from self._taken()
        self._calls = telling.calls
        self.closed, self.at_end = self._rounds, True
        draft.finish()
        self.loose = draft.assembler.loose
        for version in draft.facts.versions:
            self.report.versions[version] += 1
        yield from self._taken()

    def _taken(self) -> list[Round]:
        finished = self._draft.done[:]
        self._draft.done.clear()
        self._rounds += len(finished)
        return finished

    def info(self) -> SessionInfo:
        """What the session says about itself; complete once the rounds were iterated."""
        return self._draft.facts.info(self._rounds, self._draft.assembler, len(self._agents))

    def subagents(self) -> Iterator[Subagent]:
        """Subagents' sessions, read when asked for; one of a subagent's follows it."""
        for agent in self._agents:
            draft = self._drafted(agent.id)
            telling = Telling(draft, agent.directory)
            for held in self._messages(agent.id):
                telling.take(held)
            draft.finish()
            self._calls |= telling.calls
            named = _SUBAGENT.match(agent.title or "")
            yield Subagent(
                id=agent.id,
                call_id=self._calls.get(agent.id),
                kind=agent.agent or (named[2] if named is not None else None),
                description=named[1] if named is not None else agent.title,
                rounds=tuple(draft.done),
            )


def _described(facts: Facts, own: Family) -> None:
    facts.saw(cwd=own.directory, version=own.version)
    facts.slug = own.slug
    if own.title and not _UNTITLED.match(own.title):
        facts.title = own.title
