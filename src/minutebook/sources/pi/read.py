"""One pass over a session of pi: lines → rounds, metadata and a report.

The file is a tree; its lines are taken in their order, so that branches somebody left stay.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec.structs import asdict

from minutebook.derive import messages as kinds
from minutebook.model import (
    Billing,
    Block,
    Image,
    Link,
    Reply,
    ResultPart,
    Text,
    ToolResult,
    Unknown,
    Usage,
)
from minutebook.sources.assembly.diffs import hunks_of
from minutebook.sources.assembly.lines import LinesReading
from minutebook.sources.pi.locate import session_id
from minutebook.sources.pi.records import Line, MessageFields, Piece, UsageFields
from minutebook.sources.pi.tools import tool_kind

_FILES = re.compile(r"(?:<file name=\"[^\"\n]{0,4096}\">(?:\n.*?\n)?</file>\n)+", re.DOTALL)
_EXIT = re.compile(r"Command exited with code (\d{1,9})\s*$")
_RESULT, _NEAR = b'"message":{"role":"toolResult"', 300
_BOOKKEEPING = frozenset(
    {"model_change", "thinking_level_change", "context_edit", "label", "custom"}
)


class PiReading(LinesReading[Line]):
    record = Line

    def wanted(self, data: bytearray, start: int, end: int) -> bool:
        """A result has no words of either side."""
        return data.find(_RESULT, start, min(end, start + _NEAR)) < 0

    def passed(self, record: Line) -> None:
        self.draft.facts.saw(record.timestamp)

    def take(self, record: Line) -> None:
        self.report.records[record.type] += 1
        kind, draft = record.type, self.draft
        if record.id and record.timestamp:
            # Eight characters are too few to know a message by among those of all sessions; a fork
            # has its parent's lines with both.
            record.id = f"{record.id}-{record.timestamp}"
        if kind == "message" and record.message is not None:
            self._message(record, record.message)
        elif kind == "session":
            self._header(record)
        elif kind == "session_info":
            draft.facts.title = record.name or draft.facts.title
            draft.facts.title_is_persons = draft.facts.title is not None
        elif kind == "compaction":
            self._compaction(record)
        elif kind == "branch_summary":
            draft.notice(kinds.SYSTEM, record.summary or "", id=record.id, at=record.timestamp)
        elif kind == "custom_message":
            draft.attachment(kind, self.lines.raw(), id=record.id, at=record.timestamp)
        elif kind in _BOOKKEEPING:
            draft.facts.saw(record.timestamp)
            self.report.left_out[kind] += 1
        else:
            draft.unknown(
                f"record {kind or 'without a type'}",
                self.lines.raw(),
                id=record.id,
                at=record.timestamp,
            )

    def _header(self, record: Line) -> None:
        draft = self.draft
        draft.cwd = record.cwd
        draft.facts.saw(record.timestamp, cwd=record.cwd)
        if record.parentSession:
            parent = session_id(Path(record.parentSession))
            draft.facts.link(Link(parent, "forkedFrom"))

    # -- messages

    def _message(self, record: Line, message: MessageFields) -> None:
        role, id, at = message.role, record.id, record.timestamp
        if role == "user":
            self.draft.prompt(self._prompt(message.content), id=id, at=at)
        elif role == "assistant":
            self._reply(record, message)
        elif role == "toolResult":
            self._result(record, message)
        elif role == "bashExecution":
            said = f"! {message.command or ''}"
            self.draft.prompt([Text(said)], id=id, at=at)
            self.draft.notice(kinds.COMMAND_OUTPUT, message.output or "", id=f"{id}-output", at=at)
        elif role in ("system", "custom", "hookMessage"):
            self.draft.attachment(role, self.lines.raw().get("message") or {}, id=id, at=at)
        elif role in ("branchSummary", "compactionSummary"):
            self.draft.notice(kinds.COMPACTION, message.summary or "", id=id, at=at)
        else:
            self.draft.unknown(f"message {role}", self.lines.raw(), id=id, at=at)

    def _prompt(self, content: str | list[Piece] | None) -> list[Block]:
        blocks: list[Block] = []
        for piece in _pieces(content):
            made = _part(piece)
            if isinstance(made, Text) and (files := _FILES.match(made.text)) is not None:
                made = Text(made.text, made.text[files.end() :])
            blocks.append(made)
        return blocks

    def _reply(self, record: Line, message: MessageFields) -> None:
        draft = self.draft
        # One response is one line here; a retry of a failed one has an id of its own. The
        # provider's ids do not tell replies apart: a model that runs at home uses them again.
        at, key = record.timestamp, record.id or message.responseId
        reply = draft.reply(key, id=record.id, at=at, model=message.model)
        for piece in _pieces(message.content):
            if piece.type == "text" and piece.text is not None:
                draft.say(reply, piece.text)
            elif piece.type == "thinking":
                draft.think(reply, piece.thinking or "", piece.thinkingSignature)
            elif piece.type == "toolCall":
                draft.call(reply, piece.id or "", piece.name or "", piece.arguments, at=at)
            else:
                draft.unknown(f"block {piece.type}", self.lines.raw(), id=f"{key}-odd", at=at)
        if message.usage is not None:
            billing = _billing(message.usage)
            draft.bill(reply, _usage(message.usage), stop=message.stopReason, billing=billing)
        if message.stopReason == "aborted":
            draft.interrupted(message.errorMessage or "", id=f"{record.id}-end", at=at)
        elif message.stopReason == "error":
            draft.notice(kinds.SYSTEM, message.errorMessage or "", id=f"{record.id}-end", at=at)

    def _result(self, record: Line, message: MessageFields) -> None:
        parts = tuple(_part(piece) for piece in _pieces(message.content))
        only = parts[0].text if len(parts) == 1 and isinstance(parts[0], Text) else None
        text = only or ""
        code = int(found[1]) if (found := _EXIT.search(text[-80:])) is not None else None
        if code is None and not message.isError and tool_kind(message.toolName or "") == "run":
            code = 0
        details = message.details
        result = ToolResult(
            only if only is not None else parts,
            bool(message.isError),
            record.timestamp,
            patch=hunks_of(details.patch or "") if details is not None else (),
            exit_code=code,
        )
        self.draft.answer(message.toolCallId or "", result, id=record.id)

    def _compaction(self, record: Line) -> None:
        before = record.tokensBefore
        self.draft.compacted(
            record.summary or "",
            id=record.id,
            at=record.timestamp,
            tokens_before=before if before is not None and before >= 0 else None,
        )
        if record.usage is not None and record.id:
            usage, billing = _usage(record.usage), _billing(record.usage)
            model = next(reversed(self.draft.facts.models), None)
            self.draft.bill_elsewhere(
                Reply(record.id, record.timestamp, model, usage, "stop", billing)
            )


def _pieces(content: str | list[Piece] | None) -> list[Piece]:
    if isinstance(content, str):
        return [Piece("text", content)] if content else []
    return content or []


def _part(piece: Piece) -> ResultPart:
    if piece.type == "text" and piece.text is not None:
        return Text(piece.text)
    if piece.type == "image" and piece.data is not None:
        return Image(piece.mimeType or "", piece.data)
    return Unknown(piece.type, {k: v for k, v in asdict(piece).items() if v is not None})


def _usage(fields: UsageFields) -> Usage:
    write = fields.cacheWrite or 0
    return Usage(
        fields.input or 0,
        fields.output or 0,
        fields.cacheRead or 0,
        write,
        min(write, fields.cacheWrite1h or 0),
    )


def _billing(fields: UsageFields) -> Billing | None:
    usd = fields.cost.total if fields.cost is not None else None
    return Billing(cost_usd=usd) if usd is not None and 0 <= usd < 1e9 else None
