"""Blocks of a round as items of a page: one of the renderers of `model.visit`."""

from __future__ import annotations

from typing import Any

import msgspec
from markupsafe import Markup

from minutebook.archive.masking import unmarked
from minutebook.derive.about import about
from minutebook.derive.calls import line_change
from minutebook.derive.messages import attachment_words, gist, kind_words
from minutebook.derive.plain import one_line
from minutebook.derive.times import instant
from minutebook.derive.wording import size
from minutebook.html.harness import in_words, typed_words
from minutebook.html.outputs import answer_html
from minutebook.html.pictures import kept_picture, picture_words, pictures_of
from minutebook.html.prose import PREVIEW, plain, prose
from minutebook.model import (
    Attachment,
    Document,
    Image,
    Notice,
    Round,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from minutebook.model.visit import BlockVisitor
from minutebook.web.parts import Piece
from minutebook.web.signs import clock

_RESULT_LINES, _RESULT_CHARS = 12, 1_500
_LOUD = frozenset({"compaction", "interruption", "task-notification", "missing", "teammate"})
_FOLDED = frozenset({"command", "command-output"})


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """Something to read, at ``<round>.<block>``."""

    block: int
    kind: str
    """``user``, ``assistant``, ``thinking``, ``call``, ``result``, ``notice``, ``compaction``."""
    html: Markup = Markup("")
    summary: Markup = Markup("")
    """The one line a folded item shows."""
    words: Markup = Markup("")
    """What a call is about, as people say it; `summary` is then what exactly."""
    whole: str = ""
    """The path where `summary` has only its end."""
    added: int = 0
    removed: int = 0
    name: str = ""
    sign: str = ""
    """How a call ended: ``✓ 0:12``, ``✗``, ``no answer``."""
    error: bool = False
    picture: str | None = None
    """Name of a kept picture."""
    pictures: list[str] = []
    """Those of a call's answer."""
    more: str = ""
    """Size of the whole, where only its beginning is shown."""
    agent: str | None = None
    queued: bool = False


def items(round: Round, piece: Piece, shown: frozenset[str]) -> list[Item]:
    """The items of some blocks of a round that a reader wants to see."""
    asked, blocks = len(round.asked), round.blocks
    queued = round.prompt is not None and round.prompt.queued
    found: list[Item] = []
    for at in range(piece.first, min(piece.last, len(blocks))):
        found += _Items(at, shown, queued).visit(blocks[at], typed=at < asked)
    return found


class _Items(BlockVisitor[list[Item]]):
    """The items of one block; none where its kind is not shown."""

    def __init__(self, at: int, shown: frozenset[str], queued: bool) -> None:
        self._at, self._shown, self._queued = at, shown, queued

    def _item(self, kind: str, **fields: Any) -> list[Item]:
        return [Item(block=self._at, kind=kind, **fields)]

    def text(self, block: Text, typed: bool) -> list[Item]:
        kind = "user" if typed else "assistant"
        if kind not in self._shown:
            return []
        html, more = _clipped(typed_words(block) if typed else block.text)
        return self._item(kind, html=html, more=more, queued=self._queued and typed)

    def picture(self, block: Image | Document, typed: bool) -> list[Item]:
        kind = "user" if typed else "assistant"
        if kind not in self._shown:
            return []
        return self._item(kind, html=picture_words(block), picture=kept_picture(block))

    def thinking(self, block: Thinking) -> list[Item]:
        if "thinking" not in self._shown:
            return []
        html, more = _clipped(block.shown)
        return self._item("thinking", html=html, more=more)

    def call(self, block: ToolCall) -> list[Item]:
        found: list[Item] = []
        if "calls" in self._shown:
            line = about(block)
            added, removed = line_change(block)
            found += self._item(
                "call",
                name=tool_name(block.name),
                words=plain(one_line(line.words), 200),
                summary=plain(one_line(line.exact), 300),
                whole=one_line(unmarked(line.whole)),
                added=added,
                removed=removed,
                pictures=pictures_of(block.result) if block.result is not None else [],
                sign=_sign(block),
                error=block.result is not None and block.result.error,
                agent=block.agent,
            )
        return found + self._result(block, block.result) if block.result is not None else found

    def stray(self, block: StrayResult) -> list[Item]:
        return self._result(None, block.result)

    def _result(self, call: ToolCall | None, result: ToolResult) -> list[Item]:
        if "results" not in self._shown:
            return []
        text = result.text
        beginning = "\n".join(text.split("\n", _RESULT_LINES)[:_RESULT_LINES])
        seen = msgspec.structs.replace(result, content=beginning)
        called = call is not None and "calls" in self._shown
        return self._item(
            "result",
            html=answer_html(call, seen, _RESULT_CHARS),
            error=result.error,
            more=size(len(text)) if min(len(beginning), _RESULT_CHARS) < len(text) else "",
            pictures=[] if called else pictures_of(result),
        )

    def notice(self, block: Notice) -> list[Item]:
        line = plain(one_line(in_words(gist(block.text))), 200)
        words = kind_words(block.kind)
        if block.kind == "compaction":
            return self._item("compaction", summary=line)
        if block.kind in _LOUD:
            return self._item("notice", name=words, summary=line)
        if "results" in self._shown or not needs_results(block):
            said = line.lower().startswith(f"{words}:")
            whole = line if said else Markup("{}: {}").format(words, line)
            return self._item("folded", summary=whole)
        return []

    def attachment(self, block: Attachment) -> list[Item]:
        if "results" not in self._shown:
            return []
        return self._item("folded", summary=plain(one_line(attachment_words(block.kind))))

    def unknown(self, block: Unknown) -> list[Item]:
        words = f"not understood by this version: {one_line(block.kind)}"
        return self._item("folded", summary=plain(words))


def needs_results(notice: Notice) -> bool:
    """Whether a notice is only shown where results are."""
    return notice.kind != "compaction" and notice.kind not in _LOUD | _FOLDED


def tool_name(name: str) -> str:
    """A tool's name as people read it: ``mcp__browser__click`` is ``browser: click``."""
    line = one_line(unmarked(name))
    parts = line.split("__")
    if len(parts) > 2 and parts[0] == "mcp":
        line = f"{parts[1].replace('_', ' ')}: {' '.join(parts[2:]).replace('_', ' ')}"
    return line[:60]


def _clipped(text: str) -> tuple[Markup, str]:
    """Rendered text, only its beginning where it is long; and the size of the whole."""
    if len(text) <= PREVIEW * 2:
        return prose(text), ""
    return prose(text, PREVIEW), size(len(text))


def _sign(call: ToolCall) -> str:
    if call.result is None:
        return "no answer"
    began, ended = instant(call.at), instant(call.result.at)
    took = ""
    if began is not None and ended is not None:
        took = clock(round((ended - began).total_seconds() * 1000))
    return f"{'✗' if call.result.error else '✓'} {took if took != '0:00' else ''}".strip()
