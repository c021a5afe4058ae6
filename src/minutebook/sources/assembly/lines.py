"""Files of JSON lines: typed records, bad lines counted, readings that can be taken up again."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import msgspec

from minutebook.model import BadLine, FormatReport, Loose, Round, SessionInfo, Subagent, ToolKind
from minutebook.sources.assembly.assemble import AssemblerState
from minutebook.sources.assembly.draft import Draft
from minutebook.sources.assembly.facts import Facts
from minutebook.sources.assembly.repair import Unreadable, coerce, rescue, verbatim
from minutebook.sources.base import Depth, Transcript
from minutebook.sources.jsonl import LineReader, is_compressed, opened

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_MOST_BAD = 10_000  # bad lines that are listed; a file of nothing else has millions
_TAIL = 4096
R = TypeVar("R", bound=msgspec.Struct)
Wanted = Callable[[bytearray, int, int], bool]


class Lines(Generic[R]):
    """Records in file order; while one is handled, its line can be looked at again."""

    def __init__(
        self,
        path: Path,
        kind: type[R],
        report: FormatReport,
        start: int = 0,
        wanted: Wanted | None = None,
    ) -> None:
        """`wanted` tells by its bytes whether a line has to be decoded at all."""
        self.report = report
        self._kind = kind
        self._decode = msgspec.json.Decoder(kind).decode
        self._wanted = wanted
        self._lines = LineReader(path, start)
        self._span = (0, 0)
        self._rescued: dict[str, Any] | None = None
        self._passed: tuple[int, int] | None = None

    def __iter__(self) -> Iterator[R]:
        lines, decode, wanted = self._lines, self._decode, self._wanted
        for start, end in lines:
            if wanted is not None and not wanted(lines.data, start, end):
                self._passed = (lines.offset + start, end - start)
                continue
            self._span = (start, end)
            try:
                record = decode(lines.view[start:end])
            except DECODE_ERRORS:
                yield from self._rescue()
                continue
            yield record
        self.report.lines += lines.number

    def _rescue(self) -> Iterator[R]:
        start, end = self._span
        try:
            for raw, repair in rescue(bytes(self._lines.view[start:end])):
                self.report.repaired[repair] += 1
                self._rescued = raw
                yield coerce(raw, self._kind)
        except Unreadable as reason:
            if len(self.report.bad_lines) < _MOST_BAD:
                self.report.bad_lines.append(BadLine(self._lines.number, str(reason)))
            else:
                self.report.left_out["bad line, not listed"] += 1
        finally:
            self._rescued = None

    def last_passed(self) -> R | None:
        """The last line that was not wanted: its time may be the session's last (FMT-21)."""
        if self._passed is None:
            return None
        offset, length = self._passed
        try:
            with BufferedReader(opened(self._lines.path, offset)) as file:
                return self._decode(file.read(length))
        except (OSError, *DECODE_ERRORS):
            return None

    @property
    def number(self) -> int:
        """Number of the current line, from 1, counted from where the reading began."""
        return self._lines.number

    @property
    def position(self) -> int:
        """Where the current line begins in the file: what names a line without an id."""
        return self._lines.offset + self._span[0]

    @property
    def end(self) -> int | None:
        """Where the last whole line ends; None where half a line follows it."""
        return self._lines.offset if self._lines.terminated else None

    def line(self) -> memoryview:
        """The bytes of the current line; valid until the next one is asked for."""
        start, end = self._span
        return self._lines.view[start:end]

    def raw(self) -> dict[str, Any]:
        """The current record as it stands in the file."""
        if self._rescued is not None:
            return self._rescued
        start, end = self._span
        try:
            value = verbatim(bytes(self._lines.view[start:end]))
        except (ValueError, RecursionError):
            value = None
        return value if isinstance(value, dict) else {}


def begun(transcript: Transcript, tool_kind: Callable[[str], ToolKind], depth: Depth) -> Draft:
    """A session of which nothing was told yet."""
    facts = Facts(transcript.session_id, transcript.source)
    return Draft(facts, FormatReport(), tool_kind, full=depth == "full")


class LinesCheckpoint(msgspec.Struct):
    """All a reading knows at a newline."""

    version: int
    offset: int
    tail: str
    """Digest of the bytes before the offset."""
    facts: Facts
    assembler: AssemblerState
    rounds: int
    cwd: str | None
    branch: str | None
    own: msgspec.Raw
    """What the adapter itself has to remember."""

    def fits(self, path: Path, version: int) -> bool:
        """Whether the file still is what it was, up to here."""
        try:
            return (
                self.version == version
                and not is_compressed(path)
                and path.stat().st_size >= self.offset
                and tail_of(path, self.offset) == self.tail
            )
        except OSError:
            return False


def tail_of(path: Path, offset: int) -> str:
    """A digest of the bytes before a position."""
    with path.open("rb") as file:
        file.seek(max(0, offset - _TAIL))
        return hashlib.sha256(file.read(min(offset, _TAIL))).hexdigest()[:16]


class LinesReading(ABC, Generic[R]):
    """A reading of a file that only grows: iterate `rounds`, then ask for the rest.

    An adapter says what a record is (`record`), what each means (`take`), and what it has to
    remember between two lines (`state`, `restore`).
    """

    record: type[R]
    version = 1
    """Of the checkpoint: another one is not gone on from."""

    def __init__(
        self, path: Path, draft: Draft, depth: Depth, resume: LinesCheckpoint | None = None
    ) -> None:
        self.path, self.draft, self.depth = path, draft, depth
        self.report = draft.report
        self.report.files += 1
        start = resume.offset if resume is not None else 0
        wanted = None if depth == "full" else self.wanted
        self.lines: Lines[R] = Lines(path, self.record, self.report, start, wanted)
        self.closed = 0
        self.at_end = False
        self.loose = Loose()
        self._rounds = 0
        self._kept: bytes | None = None
        if resume is not None:
            draft.facts, self._rounds = resume.facts, resume.rounds
            draft.cwd, draft.branch = resume.cwd, resume.branch
            draft.assembler.restore(resume.assembler)
            self.restore(resume.own)

    @classmethod
    def opened(
        cls,
        transcript: Transcript,
        tool_kind: Callable[[str], ToolKind],
        depth: Depth,
        resume: LinesCheckpoint | None = None,
    ) -> Self:
        """A reading of a session's file from its beginning, or from where another one ended."""
        return cls(transcript.path, begun(transcript, tool_kind, depth), depth, resume)

    # -- for the adapter

    @abstractmethod
    def take(self, record: R) -> None:
        """Tell the draft what a record means."""

    def wanted(self, data: bytearray, start: int, end: int) -> bool:
        """Whether a skim needs this line; tested on its bytes, before anything is decoded."""
        del data, start, end
        return True

    def passed(self, record: R) -> None:
        """The last line a skim passed over: its time counts."""
        del record

    def ending(self) -> None:
        """The file has ended; what is still held back can be told now."""

    def state(self) -> Any:
        """What to remember between two lines."""
        return None

    def restore(self, own: msgspec.Raw) -> None:
        """Go on from there."""

    # -- the protocol

    def rounds(self) -> Iterator[Round]:
        """Rounds as they are finished; memory is bounded by the largest two (FMT-22)."""
        done = self.draft.done
        for record in self.lines:
            self.take(record)
            if done:
                yield from self._taken(done)
        if (passed := self.lines.last_passed()) is not None:
            self.passed(passed)
        self.closed, self.at_end = self._rounds, True
        self._keep()
        self.ending()
        self.draft.finish()
        self.loose = self.draft.assembler.loose
        for version in self.draft.facts.versions:
            self.report.versions[version] += 1
        yield from self._taken(done)

    def _taken(self, done: list[Round]) -> list[Round]:
        finished = done[:]
        done.clear()
        self._rounds += len(finished)
        return finished

    def info(self) -> SessionInfo:
        """What the file says about itself; complete once the rounds were iterated."""
        return self.draft.facts.info(self._rounds, self.draft.assembler, self.subagent_count())

    def subagent_count(self) -> int:
        return 0

    def subagents(self) -> Iterator[Subagent]:
        """Subagents' transcripts, read when asked for."""
        return iter(())

    # -- taking it up again

    @property
    def checkpoint(self) -> bytes | None:
        """What a reading of the grown file can go on from; known once the rounds were iterated."""
        return self._kept

    def _keep(self) -> None:
        end, draft = self.lines.end, self.draft
        if end is None or self.depth != "full" or is_compressed(self.path):
            return  # what is compressed does not grow
        known = LinesCheckpoint(
            self.version,
            end,
            tail_of(self.path, end),
            draft.facts,
            draft.assembler.state(),
            self._rounds,
            draft.cwd,
            draft.branch,
            msgspec.Raw(msgspec.json.encode(self.state())),
        )
        self._kept = msgspec.json.encode(known)


def lines_checkpoint(blob: bytes, path: Path, version: int) -> LinesCheckpoint | None:
    """A checkpoint that a file can be gone on from; None where it is not what it was."""
    try:
        known = msgspec.json.decode(blob, type=LinesCheckpoint)
    except (msgspec.DecodeError, RecursionError):
        return None
    return known if known.fits(path, version) else None
