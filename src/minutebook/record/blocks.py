"""Blocks of a message ↔ lines of its inscription. Pure, and exactly reversible.

Words are plain Markdown. Everything else folds away in ``<details>``: a tool call with its
input and output, thinking, notices, attachments.
"""

from __future__ import annotations

from typing import Any

import msgspec

from minutebook.record.layout import file_name
from minutebook.record.media import MediaStore
from minutebook.record.notation import (
    carrier,
    encode,
    escape,
    fence,
    is_structural,
    parse_carrier,
    read_fence,
    swallows,
    unescape,
)
from minutebook.model import (
    Attachment,
    Block,
    Document,
    Image,
    Notice,
    ResultPart,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)

_CLOSE = "</details>"
_STRAY = "Result without its call"
Json = dict[str, Any]


class Malformed(ValueError):
    """A document that was edited into something that is no inscription any more."""


# ------------------------------------------------------------ writing


def write_blocks(blocks: tuple[Block, ...], media: MediaStore) -> list[str]:
    """Lines of a message's blocks, with a blank line after each."""
    lines: list[str] = []
    after_text = False
    for block in blocks:
        if isinstance(block, Text):
            # Two texts in a row, or an empty one, could not be told from one text.
            if swallows(block.text):
                lines += [carrier("text", {"fenced": True}), "", *fence(block.text)]
            else:
                if after_text or not block.text:
                    lines += [carrier("text"), ""]
                lines += escape(block.text)
        else:
            lines += _folded(block, media)
        lines.append("")
        after_text = isinstance(block, Text)
    return lines


def _folded(block: Block, media: MediaStore) -> list[str]:
    if isinstance(block, Image | Document):
        return _picture(block, media)
    if isinstance(block, Thinking):
        data = _present(signature=block.signature, redacted=block.redacted)
        return _details("Thinking", "thinking", data, fence(block.text))
    if isinstance(block, ToolCall):
        return _call(block, media)
    if isinstance(block, StrayResult):
        output = _output(block.result, media)
        return _details(_STRAY, "stray", {"call": block.call_id}, output)
    if isinstance(block, Notice):
        data = {"kind": block.kind}
        return _details(f"Notice: {block.kind}", "notice", data, fence(block.text))
    if isinstance(block, Attachment):
        data = {"kind": block.kind}
        return _details(f"Attachment: {block.kind}", "attachment", data, _json(block.data))
    assert isinstance(block, Unknown)
    return _details(f"Unknown: {block.kind}", "unknown", {"kind": block.kind}, _json(block.data))


def _details(title: str, word: str, data: Json, body: list[str]) -> list[str]:
    summary = " ".join(encode(title).replace("&", "&amp;").replace("<", "&lt;").split())
    opening = f"<details><summary>{summary}</summary>"
    return [opening, "", carrier(word, data), "", *body, "", _CLOSE]


def _call(call: ToolCall, media: MediaStore) -> list[str]:
    data = _present(id=call.id, name=call.name, at=call.at, agent=call.agent)
    body: list[str] = []
    if call.agent is not None:
        link = media.path_to(f"subagents/{file_name(call.agent)}.md")
        body += [f"[What the subagent did]({link})", ""]
    body += ["**Input**", "", *_json(call.input)]
    if call.result is not None:
        body += ["", *_output(call.result, media)]
    return _details(f"Tool: {call.name}", "call", data, body)


def _output(result: ToolResult, media: MediaStore) -> list[str]:
    data = _present(at=result.at, error=result.error, spilled=result.spilled)
    label = "**Output (error)**" if result.error else "**Output**"
    if isinstance(result.content, str):
        return [label, "", carrier("output", data), "", *fence(result.content)]
    lines = [label, "", carrier("output", {**data, "parts": len(result.content)})]
    for part in result.content:
        lines.append("")
        if isinstance(part, Text):
            lines += [carrier("part"), "", *fence(part.text)]
        elif isinstance(part, Image | Document):
            lines += _picture(part, media)
        else:
            lines += [carrier("unknown", {"kind": part.kind}), "", *_json(part.data)]
    return lines


def _picture(block: Image | Document, media: MediaStore) -> list[str]:
    word = "image" if isinstance(block, Image) else "document"
    title = block.title if isinstance(block, Document) else None
    data = _present(media_type=block.media_type, url=block.url, title=title)
    name = media.keep(block.media_type, block.data) if block.data else None
    if name is None:  # by reference, or not the base64 it claims to be
        return [carrier(word, {**data, **_present(data=block.data)})]
    return [f"![{word}]({media.link(name)})", carrier(word, {**data, "file": name})]


def _json(value: Any) -> list[str]:
    return fence(msgspec.json.format(msgspec.json.encode(value), indent=2).decode(), "json")


def _present(**fields: Any) -> Json:
    """Only the fields that say something."""
    return {name: value for name, value in fields.items() if value not in (None, False)}


# ------------------------------------------------------------ reading


def read_blocks(lines: list[str], media: MediaStore) -> tuple[Block, ...]:
    """The blocks that `write_blocks` wrote."""
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        block, at = _block_at(lines, at, media)
        blocks.append(block)
        at += 1  # the blank line behind every block
    return tuple(blocks)


def _block_at(lines: list[str], at: int, media: MediaStore) -> tuple[Block, int]:
    line = lines[at]
    if line.startswith("<details><summary>"):
        return _details_at(lines, at, media)
    if line.startswith("!["):
        return _picture_at(lines, at + 1, media)
    found = parse_carrier(line)
    if found is not None and found[0] in ("image", "document"):
        return _picture_at(lines, at, media)
    if found is not None and found[0] == "text":
        at += 2
        if found[1].get("fenced"):
            text, at = read_fence(lines, at)
            return Text(text), at
    end = at + 1 if at < len(lines) else at
    while end < len(lines) and not is_structural(lines[end]):
        end += 1
    # The last line before the next structure, or before the end, is the separating blank.
    return Text(unescape(lines[at : end - 1])), end - 1


def _details_at(lines: list[str], at: int, media: MediaStore) -> tuple[Block, int]:
    word, data = _carried(lines, at + 2)
    at += 4
    block: Block
    if word == "thinking":
        text, at = read_fence(lines, at)
        block = Thinking(text, data.get("signature"), data.get("redacted", False))
    elif word == "notice":
        text, at = read_fence(lines, at)
        block = Notice(data["kind"], text)
    elif word in ("attachment", "unknown"):
        value, at = _json_at(lines, at)
        block = (Attachment if word == "attachment" else Unknown)(data["kind"], value)
    elif word == "stray":
        result, at = _output_at(lines, at, media)
        block = StrayResult(data["call"], result)
    elif word == "call":
        link = 2 if data.get("agent") is not None else 0
        value, at = _json_at(lines, at + 2 + link)
        answer: ToolResult | None = None
        if lines[at + 1] != _CLOSE:
            answer, at = _output_at(lines, at + 1, media)
        name, id = data.get("name", ""), data.get("id", "")
        block = ToolCall(id, name, value, answer, data.get("at"), data.get("agent"))
    else:
        raise Malformed(f"unknown fold '{word}'")
    if lines[at + 1] != _CLOSE:
        raise Malformed("a fold does not close")
    return block, at + 2


def _output_at(lines: list[str], at: int, media: MediaStore) -> tuple[ToolResult, int]:
    _, data = _carried(lines, at + 2)
    at += 3
    fields = (data.get("error", False), data.get("at"), data.get("spilled"))
    if "parts" not in data:
        text, at = read_fence(lines, at + 1)
        return ToolResult(text, *fields), at
    parts: list[ResultPart] = []
    for _ in range(data["parts"]):
        part, at = _part_at(lines, at + 1, media)
        parts.append(part)
    return ToolResult(tuple(parts), *fields), at


def _part_at(lines: list[str], at: int, media: MediaStore) -> tuple[ResultPart, int]:
    if lines[at].startswith("!["):
        return _picture_at(lines, at + 1, media)
    word, data = _carried(lines, at)
    if word == "part":
        text, at = read_fence(lines, at + 2)
        return Text(text), at
    if word == "unknown":
        value, at = _json_at(lines, at + 2)
        return Unknown(data["kind"], value), at
    return _picture_at(lines, at, media)


def _picture_at(lines: list[str], at: int, media: MediaStore) -> tuple[Image | Document, int]:
    word, data = _carried(lines, at)
    content = media.recall(data["file"]) if "file" in data else data.get("data", "")
    fields = (data.get("media_type", ""), content, data.get("url"))
    if word == "image":
        return Image(*fields), at + 1
    return Document(*fields, data.get("title")), at + 1


def _json_at(lines: list[str], at: int) -> tuple[Any, int]:
    text, at = read_fence(lines, at)
    return msgspec.json.decode(text), at


def _carried(lines: list[str], at: int) -> tuple[str, Json]:
    found = parse_carrier(lines[at])
    if found is None:
        raise Malformed("a carrier is missing or broken")
    return found
