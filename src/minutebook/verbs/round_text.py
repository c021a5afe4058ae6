"""A round as text for an agent: in full, at a chosen fidelity, or as one line (CTX-03, CTX-04)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from minutebook.archive.notation import fence
from minutebook.archive.rounds import KeptRound
from minutebook.derive.calls import describe
from minutebook.derive.messages import gist, spoken
from minutebook.derive.plain import clean, one_line
from minutebook.derive.tokens import tokens
from minutebook.derive.wording import plural, size
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

Level = Literal["full", "summary", "omit"]
LEVELS: tuple[Level, ...] = ("full", "summary", "omit")
_SUMMARY_LINES, _SUMMARY_CHARS = 3, 240
_PREVIEW = 110


class Fidelity(msgspec.Struct, frozen=True):
    """How much of each kind of block is told."""

    thinking: Level = "omit"
    tool_input: Level = "summary"
    tool_output: Level = "summary"


EVERYTHING = Fidelity("full", "full", "full")


def round_text(address: str, round: KeptRound, fidelity: Fidelity) -> str:
    """A round under a heading that says where it is from."""
    when = f" · {round.started[:16].replace('T', ' ')}" if round.started else ""
    lines = [f"### {address}{when}", ""]
    speaker = ""
    for at, block in enumerate(round.blocks):
        typed = at < len(round.asked)
        if isinstance(block, Text | Image | Document):
            role = "User" if typed else "Assistant"
            if role != speaker:
                lines += [f"**{role}**", ""]
                speaker = role
        lines += _block(block, typed, fidelity)
    return "\n".join(lines).rstrip() + "\n\n"


def _block(block: Block, typed: bool, fidelity: Fidelity) -> Iterator[str]:
    if isinstance(block, Text):
        words = clean(spoken(block.text) if typed else block.text).strip()
        if words:
            yield from (words, "")
    elif isinstance(block, Image | Document):
        yield from (f"[{type(block).__name__.lower()} {one_line(block.media_type)}]", "")
    elif isinstance(block, Thinking):
        yield from _told("thinking", block.text, fidelity.thinking)
    elif isinstance(block, ToolCall):
        yield from _call(block, fidelity)
    elif isinstance(block, StrayResult):
        yield from _told("result", block.result.text, fidelity.tool_output)
    elif isinstance(block, Notice):
        if fidelity.tool_output == "full":
            yield from _told(block.kind, block.text, "full")
        elif block.kind in ("compaction", "interruption", "task-notification", "missing"):
            yield from (f"[{block.kind}: {one_line(gist(block.text))[:_SUMMARY_CHARS]}]", "")
    elif isinstance(block, Attachment | Unknown) and fidelity.tool_output == "full":
        yield from _told(one_line(block.kind), _pretty(block.data), "full")


def _call(call: ToolCall, fidelity: Fidelity) -> Iterator[str]:
    if fidelity.tool_input == "omit" and fidelity.tool_output == "omit":
        return
    failed = " ✗" if call.result is not None and call.result.error else ""
    detail = one_line(describe(call))[:_SUMMARY_CHARS] if fidelity.tool_input != "omit" else ""
    yield f"- {one_line(call.name)}{failed} {detail}".rstrip()
    if fidelity.tool_input == "full" and call.input is not None:
        yield from fence(_pretty(call.input), "json")
    if call.result is not None:
        yield from _result(call.result, fidelity.tool_output)
    yield ""


def _result(result: ToolResult, level: Level) -> Iterator[str]:
    text = result.text
    if level == "full":
        yield from fence(text, "")
        pictures = [part for part in result.content if isinstance(part, Image | Document)]
        yield from (f"[{type(part).__name__.lower()} {part.media_type}]" for part in pictures)
    elif level == "summary" and text.strip():
        yield f"  → {_summary(text)}"


def _told(what: str, text: str, level: Level) -> Iterator[str]:
    if level == "full" and text.strip():
        yield from (f"({what})", *fence(text), "")
    elif level == "summary" and text.strip():
        yield from (f"({what}: {_summary(text)})", "")


def _summary(text: str) -> str:
    """The first words of a text, and how much there is of it."""
    lines = [line for line in clean(text[:4_000]).splitlines() if line.strip()]
    words = one_line(" / ".join(lines[:_SUMMARY_LINES]))[:_SUMMARY_CHARS]
    return words if len(words) + 40 >= len(text) else f"{words} … ({size(len(text))})"


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def reference(address: str, round: KeptRound) -> str:
    """A round as one line that says what is in it and how to get it (CTX-03)."""
    asked = " ".join(b.text for b in round.asked if isinstance(b, Text))
    said = next((b.text for b in round.agent if isinstance(b, Text) and b.text.strip()), "")
    calls = sum(isinstance(block, ToolCall) for block in round.agent)
    facts = [
        round.started[:16].replace("T", " ") if round.started else "",
        _preview(spoken(asked)),
        f"→ {_preview(said)}" if said else "",
        f"({plural(calls, 'call')})" if calls else "",
        f"~{tokens(round_text(address, round, Fidelity())):,} tokens",
    ]
    return f"- `minutebook show {address}` {' '.join(fact for fact in facts if fact)}\n"


def _preview(text: str) -> str:
    words = one_line(text[:2_000])
    return words if len(words) <= _PREVIEW else words[:_PREVIEW].rstrip() + "…"


def range_reference(session: str, first: int, last: int) -> str:
    """Rounds there was no room for, as one line."""
    if first == last:
        return f"- `minutebook show {session}#{first}` one more round\n"
    address = f"{session}#{first}-{last}"
    return f"- `minutebook context {address} --compressed` {last - first + 1} more rounds\n"
