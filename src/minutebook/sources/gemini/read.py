"""One pass over a session of Gemini CLI: a log of operations, or one JSON → rounds."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Self

import msgspec

from minutebook.model import BadLine, FormatReport, Loose, Round, SessionInfo, Subagent, ToolKind
from minutebook.sources.assembly.draft import Draft
from minutebook.sources.assembly.facts import Facts
from minutebook.sources.assembly.lines import LinesCheckpoint, LinesReading, begun
from minutebook.sources.assembly.repair import Unreadable
from minutebook.sources.base import Depth, Transcript
from minutebook.sources.gemini.locate import SOURCE, AgentFile, agent_files, folder_of
from minutebook.sources.gemini.records import Line, Message, Whole, as_written, typed
from minutebook.sources.gemini.telling import Memory, Teller
from minutebook.sources.gemini.tools import tool_kind

_NEAR = 200
_STAMP = re.compile(rb'\{"\$set":\{"lastUpdated":"[^"]{0,40}"\}\}').match
_RESULTS = re.compile(rb'"type":"user","content":\[\{"functionResponse"').search
_WORDS = b'{"text":"'


class LogReading(LinesReading[Line]):
    """A file of lines, each a header, a message or a change."""

    record = Line

    def __init__(
        self,
        transcript: Transcript,
        draft: Draft,
        depth: Depth,
        resume: LinesCheckpoint | None = None,
        *,
        subagent: bool = False,
    ) -> None:
        self._teller = Teller(draft, subagent=subagent)
        self._agents = Agents(transcript) if not subagent else None
        self._teller.works_on(folder_of(transcript.path))
        super().__init__(transcript.path, draft, depth, resume)

    @classmethod
    def opened(
        cls,
        transcript: Transcript,
        tool_kind: Callable[[str], ToolKind],
        depth: Depth,
        resume: LinesCheckpoint | None = None,
    ) -> Self:
        return cls(transcript, begun(transcript, tool_kind, depth), depth, resume)

    def state(self) -> Memory:
        return self._teller.state()

    def restore(self, own: msgspec.Raw) -> None:
        self._teller.restore(msgspec.json.decode(own, type=Memory))

    def wanted(self, data: bytearray, start: int, end: int) -> bool:
        """Not when it was last updated, and not results, which are written twice."""
        if _STAMP(data, start, end) is not None:
            return False
        results = _RESULTS(data, start, min(end, start + _NEAR)) is not None
        return not results or data.find(_WORDS, start, end) >= 0

    def take(self, record: Line) -> None:
        teller, change = self._teller, record.set
        if change is not None:
            self.report.records["$set"] += 1
            if change.messages is not None:
                teller.listed(change.messages, change.lastUpdated)
            teller.titled(change.summary)
            if change.directories and self.draft.cwd is None:
                teller.works_on(change.directories[0])
        elif record.rewind_to is not None:
            self.report.records["$rewindTo"] += 1
            teller.rewound(record.rewind_to, f"rewind-{self.lines.position}")
        elif record.id is not None or record.type is not None:
            self.report.records[record.type or "message"] += 1
            teller.message(record, self.lines.raw)
        elif record.sessionId is not None or record.projectHash is not None:
            self.report.records["header"] += 1
            teller.header(record.startTime, record.directories)
            teller.titled(record.summary)
        else:
            name = f"line-{self.lines.position}"
            self.draft.unknown("record without a type", self.lines.raw(), id=name, at=None)

    def subagent_count(self) -> int:
        return self._agents.count if self._agents is not None else 0

    def subagents(self) -> Iterator[Subagent]:
        if self._agents is not None:
            yield from self._agents.read(self._teller.memory, self.report)


class WholeReading:
    """A file that is written as a whole each time: read as a whole, too."""

    def __init__(self, transcript: Transcript, draft: Draft) -> None:
        self._path, self._draft = transcript.path, draft
        self._teller = Teller(draft)
        self._agents = Agents(transcript)
        self._count = 0
        self.report = draft.report
        self.report.files += 1
        self.closed = 0
        self.at_end = False
        self.loose = Loose()

    @property
    def checkpoint(self) -> None:
        """There is nothing to go on from."""
        return None

    def rounds(self) -> Iterator[Round]:
        teller, done = self._teller, self._draft.done
        whole = _whole(self._path)
        teller.works_on(folder_of(self._path))
        teller.header(whole.startTime, whole.directories)
        teller.titled(whole.summary)
        given = whole.messages if whole.messages is not None else whole.history or []
        for number, raw in enumerate(given):
            self._take(number, raw)
            yield from self._taken(done)
        self.closed, self.at_end = self._count, True
        self._draft.finish()
        self.loose = self._draft.assembler.loose
        yield from self._taken(done)

    def _take(self, number: int, raw: msgspec.Raw) -> None:
        try:
            message = typed(raw, Message)
        except Unreadable as reason:
            self.report.bad_lines.append(BadLine(0, f"message {number}: {reason}"))
            return
        if not message.id:
            message.id = f"message-{number}"
        self.report.records[message.type or message.role or "message"] += 1
        self._teller.message(message, partial(as_written, raw))

    def _taken(self, done: list[Round]) -> list[Round]:
        finished = done[:]
        done.clear()
        self._count += len(finished)
        return finished

    def info(self) -> SessionInfo:
        return self._draft.facts.info(self._count, self._draft.assembler, self._agents.count)

    def subagents(self) -> Iterator[Subagent]:
        return self._agents.read(self._teller.memory, self.report)


def _whole(path: Path) -> Whole:
    """OSError where it is half-written: the next run finds it whole."""
    data = path.read_bytes()
    try:
        return typed(data, Whole)
    except Unreadable as reason:
        raise OSError(errno.EIO, str(reason), str(path)) from None


class Agents:
    """The subagents of a session, in logs of their own."""

    def __init__(self, transcript: Transcript) -> None:
        self._files: list[AgentFile] = agent_files(transcript.path, transcript.session_id)

    @property
    def count(self) -> int:
        return len(self._files)

    def read(self, memory: Memory, report: FormatReport) -> Iterator[Subagent]:
        started = dict(memory.agents)
        for agent in self._files:
            draft = Draft(Facts(agent.id, SOURCE), FormatReport(), tool_kind)
            place = Transcript(agent.path, SOURCE, agent.id, 0, 0.0)
            reading = LogReading(place, draft, "full", subagent=True)
            try:
                rounds = tuple(reading.rounds())
            except OSError:
                continue  # deleted since
            report.add(draft.report)
            report.bad_lines += [
                BadLine(bad.line, bad.reason, str(agent.path)) for bad in draft.report.bad_lines
            ]
            started.update(reading.state().agents)
            note = started.get(agent.id)
            yield Subagent(
                id=agent.id,
                call_id=note.call_id if note is not None else None,
                kind=note.kind if note is not None else None,
                rounds=rounds,
            )
