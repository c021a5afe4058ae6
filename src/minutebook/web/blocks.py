"""Blocks of a round as items of a page: one of the renderers of `model.visit`."""

from __future__ import annotations

from typing import Any

import msgspec
from markupsafe import Markup

from minutebook.archive.masking import unmarked
from minutebook.derive.calls import describe
from minutebook.derive.messages import gist
from minutebook.derive.plain import one_line
from minutebook.derive.times import instant
from minutebook.derive.wording import size
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
from minutebook.web.prose import PREVIEW, plain, prose
from minutebook.web.signs import clock

_RESULT_LINES, _RESULT_CHARS = 12, 1_500
_LOUD = frozenset({"compaction", "interruption", "task-notification", "missing", "teammate"})
_FOLDED = frozenset({"command", "command-output"})
_SHOWABLE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """Something to read, at ``<round>.<block>``."""

    block: int
    kind: str
    """``user``, ``assistant``, ``thinking``, ``call``, ``result``, ``notice``, ``compaction``."""
    html: Markup = Markup("")
    summary: Markup = Markup("")
    """The one line a folded item shows."""
    name: str = ""
    sign: str = ""
    """How a call ended: ``✓ 0:12``, ``✗``, ``no answer``."""
    error: bool = False
    picture: str | None = None
    """Name of a kept picture."""
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
        html, more = _clipped(block.spoken if typed else block.text)
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
            found += self._item(
                "call",
                name=one_line(unmarked(block.name))[:60],
                summary=plain(one_line(describe(block)), 300),
                sign=_sign(block),
                error=block.result is not None and block.result.error,
                agent=block.agent,
            )
        return found + self._result(block.result) if block.result is not None else found

    def stray(self, block: StrayResult) -> list[Item]:
        return self._result(block.result)

    def _result(self, result: ToolResult) -> list[Item]:
        if "results" not in self._shown:
            return []
        text = result.text
        beginning = "\n".join(text.split("\n", _RESULT_LINES)[:_RESULT_LINES])
        return self._item(
            "result",
            html=plain(beginning, _RESULT_CHARS),
            error=result.error,
            more=size(len(text)) if min(len(beginning), _RESULT_CHARS) < len(text) else "",
            picture=next(iter(pictures_of(result)), None),
        )

    def notice(self, block: Notice) -> list[Item]:
        line = plain(one_line(gist(block.text)), 200)
        words = block.kind.replace("-", " ")
        if block.kind == "compaction":
            return self._item("compaction", summary=line)
        if block.kind in _LOUD:
            return self._item("notice", name=words, summary=line)
        if block.kind in _FOLDED or "results" in self._shown:
            return self._item("folded", summary=Markup("{}: {}").format(words, line))
        return []

    def attachment(self, block: Attachment) -> list[Item]:
        if "results" not in self._shown:
            return []
        return self._item("folded", summary=plain(f"attachment: {one_line(block.kind)}"))

    def unknown(self, block: Unknown) -> list[Item]:
        words = f"not understood by this version: {one_line(block.kind)}"
        return self._item("folded", summary=plain(words))


def picture_words(block: Image | Document) -> Markup:
    """What stands for a picture, or beside it."""
    words = "picture" if isinstance(block, Image) else "document"
    name = block.title if isinstance(block, Document) and block.title else block.url
    return plain(one_line(f"{words} {name or block.media_type}"))


def kept_picture(block: Image | Document) -> str | None:
    """The name of a picture that a page can show."""
    if isinstance(block, Image) and block.media_type in _SHOWABLE and block.file:
        return block.file.rsplit("/", 1)[-1]
    return None


def pictures_of(result: ToolResult) -> list[str]:
    """The names of pictures in an answer that a page can show."""
    parts = result.content if not isinstance(result.content, str) else ()
    found = (kept_picture(part) for part in parts if isinstance(part, Image))
    return [name for name in found if name is not None]


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
