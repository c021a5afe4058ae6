"""Blocks of a message ↔ lines of its inscription. Pure, and exactly reversible.

Words are plain Markdown. Everything else folds away in ``<details>``: a tool call with its
input and output, thinking, notices, attachments.
"""

from __future__ import annotations

from typing import Any

import msgspec

from minutebook.model import (
    Attachment,
    Block,
    Document,
    Hunk,
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
from minutebook.model.visit import BlockVisitor
from minutebook.record.layout import file_name
from minutebook.record.media import FOLDER as MEDIA_FOLDER
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
from minutebook.record.patches import Malformed, read_patch, write_patch

_CLOSE = "</details>"
_STRAY = "Result without its call"
Json = dict[str, Any]


# ------------------------------------------------------------ writing


def write_blocks(blocks: tuple[Block, ...], folder: str) -> list[str]:
    """Lines of a message's blocks, with a blank line after each.

    `folder` is the way from the document to the session's folder.
    """
    lines: list[str] = []
    folded = _Folded(folder)
    after_text = False
    for block in blocks:
        if isinstance(block, Text):
            said = _present(said=block.said)
            # Two texts in a row, or an empty one, could not be told from one text.
            if swallows(block.text):
                lines += [carrier("text", {"fenced": True, **said}), "", *fence(block.text)]
            else:
                if after_text or not block.text or said:
                    lines += [carrier("text", said), ""]
                lines += escape(block.text)
        else:
            lines += folded.visit(block)
        lines.append("")
        after_text = isinstance(block, Text)
    return lines


class _Folded(BlockVisitor[list[str]]):
    """Lines of a block; what is not words folds away."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def text(self, block: Text, typed: bool) -> list[str]:  # noqa: ARG002 - written by its neighbours
        return escape(block.text)

    def picture(self, block: Image | Document, typed: bool) -> list[str]:  # noqa: ARG002
        return _picture(block, self._folder)

    def thinking(self, block: Thinking) -> list[str]:
        data = _present(signature=block.signature, redacted=block.redacted)
        return _details("Thinking", "thinking", data, fence(block.text))

    def call(self, block: ToolCall) -> list[str]:
        return _call(block, self._folder)

    def stray(self, block: StrayResult) -> list[str]:
        output = _output(block.result, self._folder)
        return _details(_STRAY, "stray", {"call": block.call_id}, output)

    def notice(self, block: Notice) -> list[str]:
        data = {"kind": block.kind}
        return _details(f"Notice: {block.kind}", "notice", data, fence(block.text))

    def attachment(self, block: Attachment) -> list[str]:
        data = {"kind": block.kind}
        return _details(f"Attachment: {block.kind}", "attachment", data, _json(block.data))

    def unknown(self, block: Unknown) -> list[str]:
        data = {"kind": block.kind}
        return _details(f"Unknown: {block.kind}", "unknown", data, _json(block.data))


def _details(title: str, word: str, data: Json, body: list[str]) -> list[str]:
    summary = " ".join(encode(title).replace("&", "&amp;").replace("<", "&lt;").split())
    opening = f"<details><summary>{summary}</summary>"
    return [opening, "", carrier(word, data), "", *body, "", _CLOSE]


def _call(call: ToolCall, folder: str) -> list[str]:
    data = _present(id=call.id, name=call.name, at=call.at, agent=call.agent)
    if call.kind != "other":
        data["kind"] = call.kind
    body: list[str] = []
    if call.agent is not None:
        link = f"{folder}/subagents/{file_name(call.agent)}.md"
        body += [f"[What the subagent did]({link})", ""]
    body += ["**Input**", "", *_json(call.input)]
    if call.result is not None:
        body += ["", *_output(call.result, folder)]
    return _details(f"Tool: {call.name}", "call", data, body)


def _output(result: ToolResult, folder: str) -> list[str]:
    data = _present(
        at=result.at,
        error=result.error,
        spilled=result.spilled,
        exit_code=result.exit_code,
        interrupted=result.interrupted,
        duration_ms=result.duration_ms,
        patch=bool(result.patch),
    )
    label = "**Output (error)**" if result.error else "**Output**"
    if isinstance(result.content, str):
        lines = [label, "", carrier("output", data), "", *fence(result.content)]
    else:
        lines = [label, "", carrier("output", {**data, "parts": len(result.content)})]
        for part in result.content:
            lines.append("")
            if isinstance(part, Text):
                lines += [carrier("part"), "", *fence(part.text)]
            elif isinstance(part, Image | Document):
                lines += _picture(part, folder)
            else:
                lines += [carrier("unknown", {"kind": part.kind}), "", *_json(part.data)]
    return [*lines, "", *write_patch(result.patch)] if result.patch else lines


def _picture(block: Image | Document, folder: str) -> list[str]:
    word = "image" if isinstance(block, Image) else "document"
    title = block.title if isinstance(block, Document) else None
    data = _present(media_type=block.media_type, url=block.url, title=title)
    if block.file is None:  # by reference, or not the base64 it claims to be
        return [carrier(word, {**data, **_present(data=block.data)})]
    name = block.file.removeprefix(f"{MEDIA_FOLDER}/")
    return [f"![{word}]({folder}/{MEDIA_FOLDER}/{name})", carrier(word, {**data, "file": name})]


def _json(value: Any) -> list[str]:
    return fence(msgspec.json.format(msgspec.json.encode(value), indent=2).decode(), "json")


def _present(**fields: Any) -> Json:
    """Only the fields that say something."""
    return {
        name: value for name, value in fields.items() if value is not None and value is not False
    }


# ------------------------------------------------------------ reading


def read_blocks(lines: list[str]) -> tuple[Block, ...]:
    """The blocks that `write_blocks` wrote."""
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        block, at = _block_at(lines, at)
        blocks.append(block)
        at += 1  # the blank line behind every block
    return tuple(blocks)


def _block_at(lines: list[str], at: int) -> tuple[Block, int]:
    line = lines[at]
    if line.startswith("<details><summary>"):
        return _details_at(lines, at)
    if line.startswith("!["):
        return _picture_at(lines, at + 1)
    found = parse_carrier(line)
    if found is not None and found[0] in ("image", "document"):
        return _picture_at(lines, at)
    said: str | None = None
    if found is not None and found[0] == "text":
        at += 2
        said = found[1].get("said")
        if found[1].get("fenced"):
            text, at = read_fence(lines, at)
            return Text(text, said), at
    end = at + 1 if at < len(lines) else at
    while end < len(lines) and not is_structural(lines[end]):
        end += 1
    # The last line before the next structure, or before the end, is the separating blank.
    return Text(unescape(lines[at : end - 1]), said), end - 1


def _details_at(lines: list[str], at: int) -> tuple[Block, int]:
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
        result, at = _output_at(lines, at)
        block = StrayResult(data["call"], result)
    elif word == "call":
        link = 2 if data.get("agent") is not None else 0
        value, at = _json_at(lines, at + 2 + link)
        answer: ToolResult | None = None
        if lines[at + 1] != _CLOSE:
            answer, at = _output_at(lines, at + 1)
        name, id = data.get("name", ""), data.get("id", "")
        kind = data.get("kind", "other")
        block = ToolCall(id, name, value, answer, data.get("at"), data.get("agent"), kind)
    else:
        raise Malformed(f"unknown fold '{word}'")
    if lines[at + 1] != _CLOSE:
        raise Malformed("a fold does not close")
    return block, at + 2


def _output_at(lines: list[str], at: int) -> tuple[ToolResult, int]:
    _, data = _carried(lines, at + 2)
    at += 3
    content: str | tuple[ResultPart, ...]
    if "parts" not in data:
        content, at = read_fence(lines, at + 1)
    else:
        parts: list[ResultPart] = []
        for _ in range(data["parts"]):
            part, at = _part_at(lines, at + 1)
            parts.append(part)
        content = tuple(parts)
    patch: tuple[Hunk, ...] = ()
    if data.get("patch"):
        patch, at = read_patch(lines, at + 1)
    result = ToolResult(
        content,
        data.get("error", False),
        data.get("at"),
        data.get("spilled"),
        patch,
        data.get("exit_code"),
        data.get("interrupted", False),
        data.get("duration_ms"),
    )
    return result, at


def _part_at(lines: list[str], at: int) -> tuple[ResultPart, int]:
    if lines[at].startswith("!["):
        return _picture_at(lines, at + 1)
    word, data = _carried(lines, at)
    if word == "part":
        text, at = read_fence(lines, at + 2)
        return Text(text), at
    if word == "unknown":
        value, at = _json_at(lines, at + 2)
        return Unknown(data["kind"], value), at
    return _picture_at(lines, at)


def _picture_at(lines: list[str], at: int) -> tuple[Image | Document, int]:
    word, data = _carried(lines, at)
    file = f"{MEDIA_FOLDER}/{data['file']}" if "file" in data else None
    fields = (data.get("media_type", ""), data.get("data", ""), data.get("url"))
    if word == "image":
        return Image(*fields, file), at + 1
    return Document(*fields, data.get("title"), file), at + 1


def _json_at(lines: list[str], at: int) -> tuple[Any, int]:
    text, at = read_fence(lines, at)
    try:
        return msgspec.json.decode(text), at
    except RecursionError:
        raise Malformed("it is nested too deeply") from None


def _carried(lines: list[str], at: int) -> tuple[str, Json]:
    found = parse_carrier(lines[at])
    if found is None:
        raise Malformed("a carrier is missing or broken")
    return found
