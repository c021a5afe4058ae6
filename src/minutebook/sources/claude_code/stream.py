"""Lines of a transcript → typed records, at the depth asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from minutebook.model import BadLine, FormatReport
from minutebook.sources.assembly.repair import Unreadable, coerce, rescue, verbatim
from minutebook.sources.base import Depth
from minutebook.sources.claude_code.records import (
    DECODE_ERRORS,
    FullBlock,
    FullMessage,
    FullRecord,
    OtherRecord,
    Record,
    SkimRecord,
    decode_full,
    decode_other,
    decode_skim,
)
from minutebook.sources.jsonl import LineReader

# Quotes inside JSON strings are escaped, so these bytes can only be structure. They are
# looked for near the start of a line; one that hides further back only costs time, for
# the line is then decoded after all.
_PROGRESS = b'"type":"progress","data":'
_CONTENT = b'"content":[{'
_RESULT = (b'"tool_use_id":', b'"type":"tool_result"')
_CALL = b'"type":"tool_use"'
_CALL_OPENING = b'{"type":"tool_use","id":"'
_THINKING = b'"type":"thinking"'
_TEXT = b'"type":"text"'
_TWIN = b'"toolUseResult":'
_GLUED = b'}{"'
_SIDECHAIN = b'"isSidechain":true'
_WINDOW = 1200
_MOST_BAD = 10_000  # bad lines that are listed; a file of nothing else has millions
S = TypeVar("S", bound=msgspec.Struct)
SIGNATURE_MARK = b"[claude:"


class RecordStream:
    """Records in file order; while one is handled, its line can be looked at again."""

    def __init__(self, path: Path, depth: Depth, report: FormatReport, start: int = 0) -> None:
        self.path = path
        self.full = depth == "full"
        self.report = report
        self.attentive = False
        """Set while the next reply matters even to a skim: no line is passed over then."""
        self.exported = False
        """Set inside an export of ours, where a record may be there for Claude alone."""
        self.calls_passed = 0
        """Tool calls in lines a skim has passed over since this was last reset."""
        self.last_passed: Record[Any] | None = None
        """The last line a skim passed over: its time may be the session's last (FMT-21)."""
        self._lines = LineReader(path, start)
        self._span = (0, 0)
        self._rescued: dict[str, Any] | None = None

    def __iter__(self) -> Iterator[Record[Any]]:
        lines, records = self._lines, self.report.records
        decode: Any = decode_full if self.full else decode_skim
        for start, end in lines if self.full else self._wordy(lines):
            self._span = (start, end)
            try:
                record = decode(lines.view[start:end])
            except DECODE_ERRORS:
                yield from self._rescue()
                continue
            records[record.type] += 1
            yield record
        self.report.lines = lines.number

    def _wordy(self, lines: LineReader) -> Iterator[tuple[int, int]]:
        """Spans of the lines that may hold words of either side, or metadata."""
        passed: tuple[int, int] | None = None
        for start, end in lines:
            data = lines.data
            find, opens = data.find, data.startswith
            window = start + _WINDOW
            if window > end:
                window = end
            content = find(_CONTENT, start, window)
            if find(_PROGRESS, start, content if content > 0 else window) >= 0:
                continue
            passable = content > 0 and not self.attentive and not self.exported
            if passable and find(_SIDECHAIN, start, content) < 0:
                content += len(_CONTENT)
                if find(_GLUED, content, end) >= 0:
                    pass  # two records on one line: the second may be anything
                elif opens(_RESULT, content):
                    twin = find(_TWIN, content, end)
                    if find(_TEXT, content, twin if twin > 0 else end) < 0:
                        passed = (lines.offset + start, end - start)
                        continue
                elif opens(_CALL, content):
                    if find(_TEXT, content, end) < 0 and find(SIGNATURE_MARK, content, end) < 0:
                        self.calls_passed += data.count(_CALL_OPENING, content - 1, end) or 1
                        passed = (lines.offset + start, end - start)
                        continue
                elif (
                    opens(_THINKING, content)
                    and find(_TEXT, content, end) < 0
                    and find(_CALL, content, end) < 0
                ):
                    passed = (lines.offset + start, end - start)
                    continue
            yield start, end
        if passed is not None:
            self.last_passed = self._again(*passed)

    def _rescue(self) -> Iterator[Record[Any]]:
        try:
            for raw, repair in rescue(bytes(self._line)):
                self.report.repaired[repair] += 1
                _straighten(raw)
                self._rescued = raw
                record: Record[Any] = coerce(raw, FullRecord if self.full else SkimRecord)
                self.report.records[record.type] += 1
                yield record
        except Unreadable as reason:
            if len(self.report.bad_lines) < _MOST_BAD:
                self.report.bad_lines.append(BadLine(self._lines.number, str(reason)))
            else:
                self.report.left_out["bad line, not listed"] += 1
        finally:
            self._rescued = None

    def _again(self, offset: int, length: int) -> Record[Any] | None:
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                return decode_skim(file.read(length))
        except (OSError, *DECODE_ERRORS):
            return None

    @property
    def end(self) -> int | None:
        """Where the last whole line ends; None where half a line follows it."""
        return self._lines.offset if self._lines.terminated else None

    # ------------------------------------------------------------ the current line

    @property
    def _line(self) -> memoryview:
        start, end = self._span
        return self._lines.view[start:end]

    @property
    def length(self) -> int:
        """Bytes of the line."""
        start, end = self._span
        return end - start

    def holds(self, mark: bytes) -> bool:
        """Whether the line contains these bytes; far cheaper than decoding it."""
        start, end = self._span
        return self._rescued is not None or self._lines.data.find(mark, start, end) >= 0

    def other(self) -> OtherRecord:
        """The line as a record beside the conversation."""
        return self._decoded(decode_other, OtherRecord)

    def full_record(self) -> Record[FullMessage]:
        """The line in full, at any depth."""
        return self._decoded(decode_full, FullRecord)

    def _decoded(self, decode: Any, kind: type[S]) -> S:
        if self._rescued is None:
            try:
                decoded: S = decode(self._line)
                return decoded
            except DECODE_ERRORS:
                pass  # a field this kind of record reads is odd: fit what fits
        fitted: S = coerce(self.raw(), kind)
        return fitted

    def reply_blocks(self) -> list[FullBlock | str]:
        """The reply's blocks in full, at any depth."""
        message = self.full_record().message
        content = message.content if isinstance(message, FullMessage) else message
        return [content] if isinstance(content, str) else content or []

    def raw(self) -> dict[str, Any]:
        """The record as it stands in the file."""
        if self._rescued is None:
            try:
                value = verbatim(bytes(self._line))
            except (ValueError, RecursionError):
                value = None
            return value if isinstance(value, dict) else {}
        return self._rescued

    def raw_block(self, index: int) -> Any:
        """One content block as it stands in the file."""
        message = self.raw().get("message")
        content = message.get("content") if isinstance(message, dict) else None
        return content[index] if isinstance(content, list) and index < len(content) else content


def _straighten(raw: dict[str, Any]) -> None:
    """Content in a shape no version writes, but other tools' files have."""
    message = raw.get("message")
    if isinstance(message, list):
        raw["message"] = {"content": message}
    elif isinstance(message, dict) and isinstance(message.get("content"), dict):
        message["content"] = [message["content"]]
