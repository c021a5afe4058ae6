"""Blocks of a round as items of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from markupsafe import Markup

from minutebook.record.rounds import KeptRound
from minutebook.derive.calls import command_of, describe
from minutebook.derive.messages import gist, spoken
from minutebook.derive.plain import one_line
from minutebook.derive.times import instant
from minutebook.derive.wording import pretty, size
from minutebook.model import (
    Attachment,
    Block,
    Document,
    Image,
    Notice,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from minutebook.verbs.open_session import kind_of
from minutebook.web.diffs import Diff, diff_of
from minutebook.web.parts import Piece
from minutebook.web.prose import LONGEST, LONGEST_PROSE, PREVIEW, plain, prose
from minutebook.web.signs import clock

_RESULT_LINES, _RESULT_CHARS = 12, 1_500
_LOUD = frozenset({"compaction", "interruption", "task-notification", "missing", "teammate"})
_FOLDED = frozenset({"command", "command-output"})
_SHOWABLE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """Something to read, at ``<round>.<block>``."""

    round: int
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


def items(round: KeptRound, piece: Piece, shown: frozenset[str]) -> list[Item]:
    """The items of some blocks of a round that a reader wants to see."""
    asked = len(round.asked)
    found: list[Item] = []
    for at in range(piece.first, piece.last):
        block = round.blocks[at]
        found += _items(round, at, block, typed=at < asked, shown=shown)
    return found


def _items(
    round: KeptRound, at: int, block: Block, *, typed: bool, shown: frozenset[str]
) -> list[Item]:
    place: dict[str, Any] = {"round": round.round, "block": at}
    kind = kind_of(str(block.__struct_config__.tag), typed=typed)
    if isinstance(block, Text | Image | Document):
        return [_said(block, kind, place, round.queued and typed)] if kind in shown else []
    if isinstance(block, Thinking):
        if "thinking" not in shown:
            return []
        html, more = _clipped(block.shown)
        return [Item(**place, kind="thinking", html=html, more=more)]
    if isinstance(block, ToolCall):
        return [*_call(block, place, shown), *_answer(block, place, shown)]
    if isinstance(block, Notice):
        return _notice(block, place, shown)
    if isinstance(block, StrayResult):
        return [_result(block.result, place)] if "results" in shown else []
    if isinstance(block, Unknown):
        words = f"not understood by this version: {one_line(block.kind)}"
        return [Item(**place, kind="folded", summary=plain(words))]
    if "results" in shown:
        words = f"attachment: {one_line(block.kind)}"
        return [Item(**place, kind="folded", summary=plain(words))]
    return []


def _said(block: Text | Image | Document, kind: str, place: dict[str, Any], queued: bool) -> Item:
    if isinstance(block, Text):
        html, more = _clipped(spoken(block.text) if kind == "user" else block.text)
        return Item(**place, kind=kind, html=html, more=more, queued=queued)
    return Item(**place, kind=kind, html=picture_words(block), picture=_picture(block))


def picture_words(block: Image | Document) -> Markup:
    """What stands for a picture, or beside it."""
    words = "picture" if isinstance(block, Image) else "document"
    name = block.title if isinstance(block, Document) and block.title else block.url
    return plain(one_line(f"{words} {name or block.media_type}"))


def _picture(block: Image | Document) -> str | None:
    if isinstance(block, Image) and block.media_type in _SHOWABLE and block.file:
        return block.file.rsplit("/", 1)[-1]
    return None


def _clipped(text: str) -> tuple[Markup, str]:
    """Rendered text, only its beginning where it is long; and the size of the whole."""
    if len(text) <= PREVIEW * 2:
        return prose(text), ""
    return prose(text, PREVIEW), size(len(text))


def _call(call: ToolCall, place: dict[str, Any], shown: frozenset[str]) -> list[Item]:
    if "calls" not in shown:
        return []
    return [
        Item(
            **place,
            kind="call",
            name=one_line(call.name)[:60],
            summary=plain(one_line(describe(call)), 300),
            sign=_sign(call),
            error=call.result is not None and call.result.error,
            agent=call.agent,
        )
    ]


def _sign(call: ToolCall) -> str:
    if call.result is None:
        return "no answer"
    began, ended = instant(call.at), instant(call.result.at)
    took = ""
    if began is not None and ended is not None:
        took = clock(round((ended - began).total_seconds() * 1000))
    return f"{'✗' if call.result.error else '✓'} {took if took != '0:00' else ''}".strip()


def _answer(call: ToolCall, place: dict[str, Any], shown: frozenset[str]) -> list[Item]:
    if call.result is None or "results" not in shown:
        return []
    return [_result(call.result, place)]


def _result(result: ToolResult, place: dict[str, Any]) -> Item:
    text = result.text
    beginning = "\n".join(text.split("\n", _RESULT_LINES)[:_RESULT_LINES])
    parts = result.content if not isinstance(result.content, str) else ()
    picture = next((p for part in parts if isinstance(part, Image) and (p := _picture(part))), None)
    return Item(
        **place,
        kind="result",
        html=plain(beginning, _RESULT_CHARS),
        error=result.error,
        more=size(len(text)) if min(len(beginning), _RESULT_CHARS) < len(text) else "",
        picture=picture,
    )


def _notice(notice: Notice, place: dict[str, Any], shown: frozenset[str]) -> list[Item]:
    line = plain(one_line(gist(notice.text)), 200)
    if notice.kind == "compaction":
        return [Item(**place, kind="compaction", summary=line)]
    if notice.kind in _LOUD:
        return [Item(**place, kind="notice", name=notice.kind.replace("-", " "), summary=line)]
    if notice.kind in _FOLDED or "results" in shown:
        words = Markup("{}: {}").format(notice.kind.replace("-", " "), line)
        return [Item(**place, kind="folded", summary=words)]
    return []


# -- one block, opened


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A block with everything that belongs to it."""

    command: Markup | None = None
    diff: Diff | None = None
    fields: list[tuple[str, Markup]] = []
    html: Markup | None = None
    text: Markup | None = None
    result: Markup | None = None
    error: bool = False
    pictures: list[str] = []
    agent: str | None = None
    too_long: str = ""
    """Size of a text too long for a page."""


def opened(block: Block) -> Opened:
    """A block unfolded: input as a diff, a command or fields; the answer; the whole text."""
    if isinstance(block, ToolCall):
        return _opened_call(block)
    if isinstance(block, StrayResult):
        return _with_result(Opened(), block.result)
    if isinstance(block, Text | Thinking):
        text = block.text
        if len(text) > LONGEST_PROSE:
            more = size(len(text)) if len(text) > LONGEST else ""
            return Opened(text=plain(text, LONGEST), too_long=more)
        return Opened(html=prose(text))
    if isinstance(block, Notice):
        return Opened(html=prose(block.text, LONGEST_PROSE))
    if isinstance(block, Attachment | Unknown):
        return Opened(text=plain(pretty(block.data), LONGEST))
    return Opened(html=picture_words(block))


def _opened_call(call: ToolCall) -> Opened:
    command = command_of(call)
    diff = diff_of(call)
    told: list[tuple[str, Markup]] = []
    if isinstance(call.input, dict):
        hidden = {"command"} if command else set()
        if diff is not None:
            hidden = {*("file_path", "path", "old_string", "new_string", "content", "edits")}
        told = [
            (one_line(str(name)), plain(_value(value), LONGEST))
            for name, value in call.input.items()
            if name not in hidden
        ]
    elif call.input is not None:
        told = [("input", plain(pretty(call.input), LONGEST))]
    found = Opened(
        command=plain(command) if command and diff is None else None,
        diff=diff,
        fields=told,
        agent=call.agent,
    )
    return _with_result(found, call.result) if call.result is not None else found


def _with_result(found: Opened, result: ToolResult) -> Opened:
    text = result.text
    parts = result.content if not isinstance(result.content, str) else ()
    pictures = [p for part in parts if isinstance(part, Image) and (p := _picture(part))]
    return msgspec.structs.replace(
        found,
        result=plain(text, LONGEST),
        error=result.error,
        pictures=pictures,
        too_long=size(len(text)) if len(text) > LONGEST else "",
    )


def _value(value: Any) -> str:
    return value if isinstance(value, str) else pretty(value)


def texts_of(block: Block) -> Iterator[str]:
    """The texts a block is made of, each as it is."""
    if isinstance(block, ToolCall):
        yield from _strings(block.input)
        if block.result is not None:
            yield block.result.text
        yield describe(block)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def words_of(block: Block) -> str:
    """Every text of a block, for finding in it and for opening it as a plain file."""
    if isinstance(block, Text | Thinking | Notice):
        return block.text
    if isinstance(block, ToolCall):
        given = pretty(block.input) if block.input is not None else ""
        answer = block.result.text if block.result is not None else ""
        return f"{block.name}\n{given}\n{answer}"
    if isinstance(block, StrayResult):
        return block.result.text
    if isinstance(block, Attachment | Unknown):
        return pretty(block.data)
    return ""
