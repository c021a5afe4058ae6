"""Content blocks of a record → blocks of the model."""

from __future__ import annotations

from typing import Any

from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    Block,
    Document,
    Image,
    Notice,
    ResultPart,
    Text,
    Thinking,
    ToolResult,
    Unknown,
)
from minutebook.sources.assembly.opened import OpenCall
from minutebook.sources.claude_code.messages import classify, spoken
from minutebook.sources.claude_code.records import FullBlock, SkimBlock
from minutebook.sources.claude_code.results import NO_FACTS, ResultFacts
from minutebook.sources.claude_code.tools import tool_kind


def skimmed(block: SkimBlock | str) -> Text | Image | Document | None:
    """What a skim keeps of a block: words, and that there was a picture."""
    if isinstance(block, str):
        return Text(block)
    if block.type == "text":
        return Text(block.text) if block.text is not None else None
    if block.type == "image":
        return Image()
    return Document() if block.type == "document" else None


def converted(block: FullBlock | str, at: str | None) -> Block | OpenCall | None:
    """A block in full; None where it is not understood and has to be kept verbatim (FMT-09)."""
    if isinstance(block, str):
        return Text(block)
    kind = block.type
    if kind == "tool_use":
        name = block.name or ""
        return OpenCall(block.id or "", name, block.input, at, tool_kind(name))
    if kind == "text":
        return None if block.text is None else Text(block.text)
    if kind == "thinking":
        if block.thinking is None and not block.signature:
            return None
        return Thinking(block.thinking or "", block.signature)
    if kind == "redacted_thinking":
        return Thinking("", block.data, redacted=True)
    if kind in ("image", "document") and block.source is not None:
        return _media(kind, block.source, block.title)
    return None


def _media(kind: str, source: dict[str, Any], title: str | None) -> Image | Document | None:
    media_type, data, url = source.get("media_type"), source.get("data"), source.get("url")
    if not isinstance(media_type, str | None) or not isinstance(data or url, str):
        return None
    fields = (media_type or "", data if isinstance(data, str) else "")
    link = url if isinstance(url, str) else None
    return Image(*fields, link) if kind == "image" else Document(*fields, link, title)


def result_of(
    content: Any, facts: ResultFacts, *, error: bool, at: str | None, spilled: str | None
) -> ToolResult:
    """A tool result, whose content may be a string, a list of blocks, or missing."""
    if content is None:
        content = ""
    elif not isinstance(content, str):
        parts = content if isinstance(content, list) else [content]
        content = tuple([_part(part) for part in parts])
    if facts is NO_FACTS:
        return ToolResult(content, error, at, spilled)
    return ToolResult(
        content,
        error,
        at,
        spilled,
        facts.patch,
        facts.exit_code,
        facts.interrupted,
        facts.duration_ms,
    )


def _part(part: Any) -> ResultPart:
    if isinstance(part, str):
        return Text(part)
    if isinstance(part, dict):
        kind, text, source = part.get("type"), part.get("text"), part.get("source")
        if kind == "text" and isinstance(text, str):
            return Text(text)
        if kind in ("image", "document") and isinstance(source, dict):
            title = part.get("title")
            media = _media(kind, source, title if isinstance(title, str) else None)
            if media is not None:
                return media
        return Unknown(str(kind), part)
    return Unknown(type(part).__name__, part)


def user_blocks(
    pieces: list[Block], *, meta: bool, compaction: bool, origin: str | None
) -> tuple[list[Block], bool]:
    """Blocks of a user record with each text sorted by whose it is; and: is it a real message?"""
    blocks: list[Block] = []
    real = False
    for piece in pieces:
        if isinstance(piece, Text):
            kind = classify(piece.text, meta=meta, compaction=compaction)
            if kind is kinds.PROMPT and origin not in (None, "human"):
                kind = kinds.TASK if origin == "task-notification" else kinds.TEAMMATE
            if kind is not kinds.PROMPT:
                blocks.append(Notice(kind, piece.text))
                continue
            real = real or bool(piece.text.strip())
            said = spoken(piece.text)
            if said != piece.text:
                piece = Text(piece.text, said)
        elif isinstance(piece, Image | Document):
            if meta or compaction or origin not in (None, "human"):
                # A picture the harness put there must not make the message look typed.
                kind = "image" if isinstance(piece, Image) else "document"
                data = {"media_type": piece.media_type, "data": piece.data}
                blocks.append(Attachment(kind, data))
                continue
            real = True
        blocks.append(piece)
    if not real:
        blocks = [Notice(kinds.META, b.text) if isinstance(b, Text) else b for b in blocks]
    return blocks, real
