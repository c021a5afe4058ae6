"""One pass over a Claude Code transcript: records → rounds, metadata and a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from minutebook.model import BadLine, FormatReport, Loose, Round, SessionInfo, Subagent
from minutebook.sources.assembly.seen import SeenIds
from minutebook.sources.base import Depth, reason_of
from minutebook.sources.claude_code.agents import links_of
from minutebook.sources.claude_code.checkpoint import Checkpoint, join_checkpoint, tail_of
from minutebook.sources.claude_code.dispatch import Dispatcher
from minutebook.sources.claude_code.info import Counts
from minutebook.sources.claude_code.locate import agent_files, custom_title, session_folder
from minutebook.sources.claude_code.messages import spoken
from minutebook.sources.claude_code.stream import RecordStream


class ClaudeReading:
    """A reading of one file. Iterate `rounds`, then ask for `info`, `subagents` and `report`."""

    def __init__(
        self,
        path: Path,
        depth: Depth = "full",
        *,
        nested: bool = False,
        resume: Checkpoint | None = None,
    ) -> None:
        """`nested` is a subagent's own file, where every record is a sidechain's."""
        self.path = path
        self.depth: Depth = depth
        self.report = FormatReport(files=1)
        self._nested = nested
        self._agents = [] if nested else agent_files(path)
        self._stream = RecordStream(path, depth, self.report, resume.offset if resume else 0)
        links = links_of(self._agents if depth == "full" else [])
        name = path.stem.encode("utf-8", "replace").decode()
        self._parts = Dispatcher(self._stream, links, session_folder(path), name, nested=nested)
        self._rounds = 0
        self.closed = 0
        self.at_end = False
        self.loose = Loose()
        self._kept: bytes | None = None
        if resume is not None:
            self._take_up(resume)

    # ------------------------------------------------------------ rounds

    def rounds(self) -> Iterator[Round]:
        """Rounds as they are finished; memory is bounded by the largest two (FMT-22)."""
        for done in self._parts.run():
            self._rounds += len(done)
            yield from done
        self.closed = self._rounds
        self.at_end = True
        self._keep()
        left = self._end()
        self._rounds += len(left)
        yield from left

    def _end(self) -> list[Round]:
        parts = self._parts
        left = parts.end()
        self.loose = parts.main.assembler.loose
        for version in parts.info.versions:
            self.report.versions[version] += 1
        if self.report.lines and not parts.info.is_evident:
            self.report.foreign = self.report.foreign or "no record of Claude Code in it"
        return left

    # ------------------------------------------------------------ checkpoints

    @property
    def checkpoint(self) -> bytes | None:
        """What a reading of the grown file can go on from; known once the rounds were iterated."""
        if self._kept is None:
            return None
        return join_checkpoint(self._kept, self._parts.seen.packed())

    def _keep(self) -> None:
        """Keep what is known, for a reading that goes on from here."""
        end, parts = self._stream.end, self._parts
        if end is None or self.depth != "full" or self._nested or parts.sidechains.any:
            return
        known = Checkpoint(
            end,
            tail_of(self.path, end),
            parts.info,
            parts.queue,
            parts.main.assembler.state(),
            parts.first_prompt,
            self._rounds,
            parts.main.agent_calls,
            parts.clocked,
        )
        self._kept = msgspec.json.encode(known)

    def _take_up(self, known: Checkpoint) -> None:
        parts = self._parts
        parts.info, parts.queue, parts.clocked = known.info, known.queue, known.clocked
        parts.main.assembler.restore(known.assembler)
        parts.seen = SeenIds(known.seen)
        parts.first_prompt, self._rounds = known.first_prompt, known.rounds
        parts.main.agent_calls.update(known.agent_calls)

    # ------------------------------------------------------------ the rest

    def info(self) -> SessionInfo:
        """What the file says about itself; complete once the rounds were iterated."""
        parts = self._parts
        if title := custom_title(self.path):
            parts.info.custom_title(title)
        counted = sum(not agent.helper for agent in self._agents) + parts.sidechains.count
        assembler = parts.main.assembler
        return parts.info.result(
            counts=Counts(
                self._rounds,
                assembler.prompts,
                assembler.calls,
                counted,
                assembler.answer_chars,
                tuple(assembler.prompt_ids),
            ),
            usage=assembler.usage,
            first_prompt=spoken(parts.first_prompt),
            uuids=parts.seen,
        )

    def subagents(self) -> Iterator[Subagent]:
        """Subagent transcripts, read when asked for; their reports count into this one."""
        calls = self._parts.main.agent_calls
        yield from self._parts.sidechains.subagents(calls)
        for agent in self._agents:
            rounds = self._agent_rounds(agent.path)
            yield Subagent(
                id=agent.id,
                call_id=agent.call_id or calls.get(agent.id),
                kind=agent.kind,
                description=agent.description,
                helper=agent.helper,
                rounds=rounds,
            )

    def _agent_rounds(self, path: Path) -> tuple[Round, ...]:
        """The rounds of a subagent's file; what is wrong with it is reported, not raised."""
        reading = ClaudeReading(path, self.depth, nested=True)
        rounds: tuple[Round, ...] = ()
        try:
            rounds = tuple(reading.rounds())
        except OSError as error:
            self.report.bad_lines.append(BadLine(0, reason_of(error), str(path)))
        self.report.add(reading.report)
        for bad in reading.report.bad_lines:
            self.report.bad_lines.append(BadLine(bad.line, bad.reason, str(path)))
        return rounds
