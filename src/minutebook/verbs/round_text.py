"""A round as text for an agent: in full, at a chosen fidelity, or as one line (CTX-03, CTX-04)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from minutebook.record.notation import fence
from minutebook.record.rounds import KeptRound
from minutebook.derive.calls import describe
from minutebook.derive.messages import gist, spoken
from minutebook.derive.plain import clean, one_line
from minutebook.derive.secrets import mask, masked
from minutebook.derive.tokens import tokens
from minutebook.derive.wording import plural, pretty, size
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
_BEYOND = 4_000  # characters looked at behind a cut


class Fidelity(msgspec.Struct, frozen=True):
    """How much of each kind of block is told."""

    thinking: Level = "omit"
    tool_input: Level = "summary"
    tool_output: Level = "summary"


EVERYTHING = Fidelity("full", "full", "full")


Hide = Callable[[str], str]
"""What is done to every text before it is cut or fenced: `mask`, or `str` for as it is."""


def round_text(address: str, round: KeptRound, fidelity: Fidelity, hide: Hide = mask) -> str:
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
        lines += _block(block, typed, fidelity, hide)
    return "\n".join(lines).rstrip() + "\n\n"


def _block(block: Block, typed: bool, fidelity: Fidelity, hide: Hide) -> Iterator[str]:
    if isinstance(block, Text):
        words = hide(clean(spoken(block.text) if typed else block.text)).strip()
        if words:
            yield from (words, "")
    elif isinstance(block, Image | Document):
        yield from (f"[{type(block).__name__.lower()} {one_line(block.media_type)}]", "")
    elif isinstance(block, Thinking):
        yield from _told("thinking", block.text, fidelity.thinking, hide)
    elif isinstance(block, ToolCall):
        yield from _call(block, fidelity, hide)
    elif isinstance(block, StrayResult):
        yield from _told("result", block.result.text, fidelity.tool_output, hide)
    elif isinstance(block, Notice):
        if fidelity.tool_output == "full":
            yield from _told(block.kind, block.text, "full", hide)
        elif block.kind in ("compaction", "interruption", "task-notification", "missing"):
            yield from (f"[{block.kind}: {_line(gist(block.text), _SUMMARY_CHARS, hide)}]", "")
    elif isinstance(block, Attachment | Unknown) and fidelity.tool_output == "full":
        yield from _told(one_line(block.kind), pretty(masked(block.data, hide)), "full", str)


def _call(call: ToolCall, fidelity: Fidelity, hide: Hide) -> Iterator[str]:
    if fidelity.tool_input == "omit" and fidelity.tool_output == "omit":
        return
    failed = " ✗" if call.result is not None and call.result.error else ""
    told = fidelity.tool_input != "omit"
    detail = _line(describe(call), _SUMMARY_CHARS, hide) if told else ""
    yield f"- {one_line(call.name)}{failed} {detail}".rstrip()
    if fidelity.tool_input == "full" and call.input is not None:
        yield from fence(pretty(masked(call.input, hide)), "json")
    if call.result is not None:
        yield from _result(call.result, fidelity.tool_output, hide)
    yield ""


def _result(result: ToolResult, level: Level, hide: Hide) -> Iterator[str]:
    text = result.text
    if level == "full":
        yield from fence(hide(clean(text)), "")
        pictures = [part for part in result.content if isinstance(part, Image | Document)]
        yield from (f"[{type(part).__name__.lower()} {part.media_type}]" for part in pictures)
    elif level == "summary" and text.strip():
        yield f"  → {_summary(text, hide)}"


def _told(what: str, text: str, level: Level, hide: Hide) -> Iterator[str]:
    if level == "full" and text.strip():
        yield from (f"({what})", *fence(hide(clean(text))), "")
    elif level == "summary" and text.strip():
        yield from (f"({what}: {_summary(text, hide)})", "")


def _line(text: str, most: int, hide: Hide) -> str:
    """A text on one line: hidden first, cut last, so that no half of a secret is left."""
    words = one_line(hide(clean(text[: most + _BEYOND])))
    return words if len(words) <= most else words[:most].rstrip() + "…"


def _summary(text: str, hide: Hide) -> str:
    """The first words of a text, and how much there is of it."""
    lines = [line for line in hide(clean(text[:_BEYOND])).splitlines() if line.strip()]
    words = one_line(" / ".join(lines[:_SUMMARY_LINES]))[:_SUMMARY_CHARS]
    return words if len(words) + 40 >= len(text) else f"{words} … ({size(len(text))})"


def reference(address: str, round: KeptRound, hide: Hide = mask) -> str:
    """A round as one line that says what is in it and how to get it (CTX-03)."""
    asked = " ".join(b.text for b in round.asked if isinstance(b, Text))
    said = next((b.text for b in round.agent if isinstance(b, Text) and b.text.strip()), "")
    calls = sum(isinstance(block, ToolCall) for block in round.agent)
    facts = [
        round.started[:16].replace("T", " ") if round.started else "",
        _line(spoken(asked), _PREVIEW, hide),
        f"→ {_line(said, _PREVIEW, hide)}" if said else "",
        f"({plural(calls, 'call')})" if calls else "",
        f"~{tokens(round_text(address, round, Fidelity(), str)):,} tokens",
    ]
    return f"- `minutebook show {address}` {' '.join(fact for fact in facts if fact)}\n"


def range_reference(session: str, first: int, last: int) -> str:
    """Rounds there was no room for, as one line."""
    if first == last:
        return f"- `minutebook show {session}#{first}` one more round\n"
    address = f"{session}#{first}-{last}"
    return f"- `minutebook context {address} --compressed` {last - first + 1} more rounds\n"
