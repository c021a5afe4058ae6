"""One pass over a transcript of Cursor: lines → rounds, metadata and a report.

Its lines have neither ids nor times. A message goes by a digest of its line and where it
stands; a session by the times of its files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    BadLine,
    Block,
    FormatReport,
    Round,
    SessionInfo,
    Subagent,
    Text,
    ToolResult,
)
from minutebook.sources.assembly.draft import Draft
from minutebook.sources.assembly.facts import Facts
from minutebook.sources.assembly.lines import DECODE_ERRORS, LinesCheckpoint, LinesReading
from minutebook.sources.base import Depth, reason_of
from minutebook.sources.cursor.locate import SOURCE, store, subagent_files
from minutebook.sources.cursor.records import Line, Piece
from minutebook.sources.cursor.store import moment, read_meta
from minutebook.sources.cursor.tools import tool_kind
from minutebook.sources.files import first_line

_QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)
_CONTEXT = re.compile(r"\s*<([a-z]+(?:_[a-z]+)+)>")
_CALLS = frozenset({"tool_use", "tool_call", "tool-call"})
_RESULTS = frozenset({"tool_result", "tool-result"})
_BOOKKEEPING = frozenset({"turn_ended"})
_CALL_FIRST = b'{"role":"assistant","message":{"content":[{"type":"tool_use"'
_PIECE, _LINE_END = b'{"type":"', b"}]}}"


class _Asked(msgspec.Struct):
    """A call that may still get its result."""

    id: str
    name: str


class CursorReading(LinesReading[Line]):
    record = Line

    def __init__(
        self, path: Path, draft: Draft, depth: Depth, resume: LinesCheckpoint | None = None
    ) -> None:
        self._agents = subagent_files(path)
        self._asked: list[_Asked] = []
        self._last, self._same = -1, 0
        self._called: dict[str, str] = {}  # by subagent, the call that started it
        super().__init__(path, draft, depth, resume)
        self._tasks: dict[str, list[str]] = {}
        for file in self._agents:
            if file.stem not in self._called and (task := _task(file)):
                self._tasks.setdefault(task, []).append(file.stem)

    def state(self) -> Any:
        return self._asked, self._called

    def restore(self, own: msgspec.Raw) -> None:
        kind = tuple[list[_Asked], dict[str, str]]
        self._asked, self._called = msgspec.json.decode(own, type=kind)

    def wanted(self, data: bytearray, start: int, end: int) -> bool:
        """A reply of nothing but one call has no words: it is counted, and no more."""
        if not data.startswith(_CALL_FIRST, start, end) or self._tasks:
            return True
        if data.find(_PIECE, start + len(_CALL_FIRST), end) >= 0 or not data.endswith(
            _LINE_END, start, end
        ):
            return True
        if not self.draft.assembler.round.started:
            return True
        self.draft.assembler.called(1)
        return False

    def take(self, record: Line) -> None:
        kind = record.role or record.type
        self.report.records[kind] += 1
        if record.role == "user" and record.message is not None:
            self._heard(record.message.pieces)
        elif record.role == "assistant" and record.message is not None:
            self._replied(record, record.message.pieces)
        elif kind in _BOOKKEEPING:
            self.report.left_out[kind] += 1
        else:
            name = f"record {kind or 'without a type'}"
            self.draft.unknown(name, self.lines.raw(), id=self._id(), at=None)

    def _id(self) -> str:
        """Where the line stands, and what is in it: the same however the file grows."""
        place = self.lines.position
        self._same = self._same + 1 if place == self._last else 0  # records may be glued together
        self._last = place
        digest = hashlib.blake2b(self.lines.line(), digest_size=6).hexdigest()
        return f"{digest}-{place}" + (f"-{self._same}" if self._same else "")

    # -- the person

    def _heard(self, pieces: list[Piece]) -> None:
        id = self._id()
        wrapped = any("<user_query>" in (piece.text or "") for piece in pieces)
        blocks: list[Block] = []
        for number, piece in enumerate(pieces):
            text = piece.text if piece.type == "text" else None
            if piece.type in _RESULTS:
                self._answered(piece, f"{id}-{number}")
            elif text is None:
                self._odd(piece, f"{id}-{number}")
            elif found := _QUERY.findall(text):
                blocks.append(Text(text, "\n\n".join(words.strip() for words in found)))
            elif wrapped:
                blocks.append(Attachment("context", {"text": text}))
            elif _CONTEXT.match(text):
                self.draft.notice(kinds.META, text, id=f"{id}-{number}", at=None)
            else:
                blocks.append(Text(text))
        if any(isinstance(block, Text) for block in blocks):
            self._asked = []
            self.draft.prompt(blocks, id=id, at=None)

    # -- the model

    def _replied(self, record: Line, pieces: list[Piece]) -> None:
        if not pieces:
            self.report.left_out["assistant without words"] += 1
            return
        draft = self.draft
        id = self._id() if draft.full else None
        reply = draft.reply(None, id=id, at=None, model=record.model)
        asked: list[_Asked] = []
        for number, piece in enumerate(pieces):
            kind = piece.type
            if kind == "text" and piece.text is not None:
                draft.say(reply, piece.text)
            elif kind == "thinking":
                draft.think(reply, piece.thinking or piece.text or "", piece.signature)
            elif kind in _CALLS:
                call, name = piece.id or f"{id}-{number}", piece.name or ""
                asked.append(_Asked(call, name))
                agent = self._started(call, piece) if self._tasks else None
                draft.call(reply, call, name, piece.input, at=None, agent=agent)
            else:
                self._odd(piece, f"{id}-{number}")
        self._asked = asked or self._asked

    def _odd(self, piece: Piece, id: str) -> None:
        self.draft.unknown(f"block {piece.type}", msgspec.to_builtins(piece), id=id, at=None)

    # -- tools

    def _answered(self, piece: Piece, id: str) -> None:
        """Calls have no ids: the first result is that of the first call, unless it says more."""
        wanted = piece.tool_use_id
        named = [a for a in self._asked if a.id == wanted or (piece.name and a.name == piece.name)]
        asked = next(iter(named or self._asked), None)
        if asked is not None:
            self._asked.remove(asked)
        result = ToolResult(_words(piece.content) or piece.text or "", bool(piece.is_error))
        self.draft.answer(asked.id if asked is not None else wanted or "", result, id=id)

    # -- subagents

    def _started(self, call: str, piece: Piece) -> str | None:
        """The subagent that was given what a call says."""
        if not self._tasks or tool_kind(piece.name or "") != "delegate":
            return None
        task = piece.input.get("prompt") if isinstance(piece.input, dict) else None
        waiting = self._tasks.get(task.strip()) if isinstance(task, str) else None
        if not waiting:
            return None
        agent = waiting.pop(0)
        self._called[agent] = call
        return agent

    def subagent_count(self) -> int:
        return len(self._agents)

    def subagents(self) -> Iterator[Subagent]:
        for file in self._agents:
            id = file.stem
            yield Subagent(id=id, call_id=self._called.get(id), rounds=self._agent_rounds(file))

    def _agent_rounds(self, path: Path) -> tuple[Round, ...]:
        """The rounds of a subagent's file; what is wrong with it is reported, not raised."""
        draft = Draft(Facts(path.stem, SOURCE), FormatReport(), tool_kind, full=self.draft.full)
        reading = CursorReading(path, draft, self.depth)
        rounds: tuple[Round, ...] = ()
        try:
            rounds = tuple(reading.rounds())
        except OSError as error:
            self.report.bad_lines.append(BadLine(0, reason_of(error), str(path)))
        self.report.add(reading.report)
        for bad in reading.report.bad_lines:
            self.report.bad_lines.append(BadLine(bad.line, bad.reason, str(path)))
        return rounds

    # -- what stands elsewhere

    def info(self) -> SessionInfo:
        """When its files were written, and what ``store.db`` says of the session."""
        facts, meta = self.draft.facts, read_meta(store(self.path))
        facts.title = meta.name or facts.title
        written, made = _written(self.path), meta.created
        if made is None and self.path.parent.name == self.path.stem:
            made = _written(self.path.parent)  # about when the file was made in it
        facts.saw(written, model=meta.lastUsedModel)
        if made is not None and written is not None:
            facts.saw(min(made, written))
        return super().info()


def _written(path: Path) -> str | None:
    try:
        return moment(path.stat().st_mtime)
    except OSError:
        return None


def _task(path: Path) -> str:
    """What a subagent was asked to do."""
    try:
        line = msgspec.json.decode(first_line(path, 1 << 20), type=Line)
    except (OSError, *DECODE_ERRORS):
        return ""
    texts = [piece.text or "" for piece in line.message.pieces] if line.message else []
    text = "\n\n".join(texts)
    return "\n\n".join(_QUERY.findall(text) or [text]).strip()


def _words(content: Any) -> str:
    """The words of a result."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
