"""What of a round can be found beside its words: what tools ran, printed, read and wrote, what
the model thought, what subagents said (SRCH-17).

The index keeps these texts, and a hit reads them again from the round to show where it is.
Long ones are kept within bounds (docs/searching.md): their beginning, their end, and lines between
that speak of errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from minutebook.model import (
    Block,
    Notice,
    Round,
    StrayResult,
    Subagent,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

Surface = Literal["commands", "output", "errors", "paths", "thinking", "subagents"]
SURFACES: tuple[Surface, ...] = (
    "commands",
    "output",
    "errors",
    "paths",
    "thinking",
    "subagents",
)
FIRST, LAST = 16_000, 8_000
"""Characters of a long text that are kept from its beginning and its end."""
_BETWEEN = 4_000  # characters of lines about errors
_ERROR = re.compile(r"\b(?:error|exception|traceback|fatal|failed|failure|panic)\b", re.IGNORECASE)
_LINE = 500  # characters of a line about an error
_PATH_KEYS = frozenset({"file_path", "path", "notebook_path", "cwd", "workdir", "directory"})
_LABELS: dict[Surface, str] = {
    "commands": "command",
    "output": "output",
    "errors": "error",
    "paths": "file",
    "thinking": "thinking",
    "subagents": "subagent",
}


class Piece(msgspec.Struct, frozen=True):
    """A text of a round, and the block it is in (`#3.7`: the seventh block of round 3)."""

    block: int
    surface: Surface
    text: str
    label: str


def surfaces_of(round: Round) -> Iterator[Piece]:
    """The texts of a round, in its order."""
    for at, block in enumerate(round.blocks, 1):
        yield from _pieces(at, _of_block(block))


def surfaces_of_agent(agent: Subagent, block: int) -> Iterator[Piece]:
    """What a subagent said, and what its tools did; all of it in the block that called it."""
    for round in agent.rounds:
        for inner in round.blocks:
            if isinstance(inner, Text):
                yield from _pieces(block, [("subagents", "", inner.text)])
            elif isinstance(inner, ToolCall):
                yield from _pieces(block, _of_call(inner))


Found = tuple[Surface, str, str]
"""A surface, a label where it is not the surface's own, and a text."""


def _pieces(block: int, found: Iterable[Found]) -> Iterator[Piece]:
    for surface, label, text in found:
        if text.strip():
            yield Piece(block, surface, bounded(text), label or _LABELS[surface])


def _of_block(block: Block) -> Iterator[Found]:
    if isinstance(block, ToolCall):
        yield from _of_call(block)
    elif isinstance(block, Thinking):
        yield "thinking", "", block.text
    elif isinstance(block, StrayResult):
        yield from _of_result(block.result)
    elif isinstance(block, Notice):
        yield "output", "notice", block.text


def _of_call(call: ToolCall) -> Iterator[Found]:
    changes = call.kind in ("edit", "write")
    for key, text in _strings(call.input):
        if key in _PATH_KEYS:
            yield "paths", "", text
        elif changes:
            yield "output", "edit", text
        elif call.kind == "delegate":
            yield "subagents", "", text
        else:
            yield "commands", "", text
    if call.result is not None:
        yield from _of_result(call.result)


def _of_result(result: ToolResult) -> Iterator[Found]:
    failed = result.error or result.exit_code not in (None, 0)
    yield ("errors" if failed else "output"), "", result.text


def _strings(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every text in a call's input, with the name it has there."""
    if isinstance(value, str):
        yield key, value
    elif depth < 4 and isinstance(value, dict):
        for name, inner in value.items():
            yield from _strings(inner, str(name), depth + 1)
    elif depth < 4 and isinstance(value, list):
        for inner in value:
            yield from _strings(inner, key, depth + 1)


def bounded(text: str, first: int = FIRST, last: int = LAST) -> str:
    """A text within bounds: its beginning, lines about errors, its end."""
    if len(text) <= first + last:
        return text
    end = len(text) - last
    between, spent, at = [], 0, first
    while spent <= _BETWEEN and (match := _ERROR.search(text, at, end)) is not None:
        # A line may be a megabyte long: only so much of it is looked at, and it is left behind.
        start = max(text.rfind("\n", at, match.start()) + 1, match.start() - _LINE // 2, at)
        stop = text.find("\n", match.end(), min(start + _LINE, end))
        at = stop if stop >= 0 else min(start + _LINE, end)
        between.append(text[start:at])
        spent += at - start + 1
    return "\n".join((text[:first], *between, text[-last:]))
