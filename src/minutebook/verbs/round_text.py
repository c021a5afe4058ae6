"""A round as text for an agent: in full, at a chosen fidelity, or as one line (CTX-03, CTX-04).

Rounds come from the archive, cleaned and masked already: a text may be cut anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from minutebook.derive.calls import describe
from minutebook.derive.messages import COMPACTION, INTERRUPTION, TASK, gist
from minutebook.derive.plain import one_line
from minutebook.derive.tokens import tokens
from minutebook.derive.wording import plural, pretty, size
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
from minutebook.record.notation import fence
from minutebook.record.recover import MISSING

Level = Literal["full", "summary", "omit"]
LEVELS: tuple[Level, ...] = ("full", "summary", "omit")
_SUMMARY_LINES, _SUMMARY_CHARS = 3, 240
_PREVIEW = 110
_BEGINNING = 4_000  # characters that are enough for a summary
_TELLING_NOTICES = frozenset({COMPACTION, INTERRUPTION, TASK, MISSING})


class Fidelity(msgspec.Struct, frozen=True):
    """How much of each kind of block is told."""

    thinking: Level = "omit"
    tool_input: Level = "summary"
    tool_output: Level = "summary"


EVERYTHING = Fidelity("full", "full", "full")


class Pointers(msgspec.Struct, frozen=True):
    """How to say where there is more, in words of the front end that a text is for."""

    rounds: str
    lines: str
    """A line for each of many rounds."""
    search: str
    whole: str
    """How to have nothing left out of a round."""

    def show(self, address: str) -> str:
        return self.rounds.format(address=address)

    def list(self, address: str) -> str:
        return self.lines.format(address=address)

    def find(self, query: str) -> str:
        return self.search.format(query=query)


COMMANDS = Pointers(
    rounds="minutebook show {address}",
    lines="minutebook context {address} --compressed",
    search="minutebook search {query}",
    whole="Add `--full` to `show` for the whole round.",
)
"""Words of the command line, which people and agents with a shell understand."""


def round_text(address: str, round: Round, fidelity: Fidelity) -> str:
    """A round under a heading that says where it is from."""
    lines = [heading(address, round), ""]
    renderer, asked = RoundRenderer(fidelity), len(round.asked)
    for at, block in enumerate(round.blocks):
        lines += renderer.visit(block, typed=at < asked)
    return "\n".join(lines).rstrip() + "\n\n"


def block_text(address: str, round: Round, at: int) -> str:
    """One block of a round with nothing left out, under a heading that says where it is from."""
    lines = RoundRenderer(EVERYTHING).visit(round.blocks[at], typed=at < len(round.asked))
    return "\n".join([heading(address, round), "", *lines]).rstrip() + "\n\n"


def heading(address: str, round: Round) -> str:
    """Where a round is from, and when it began."""
    return f"### {address}" + (f" · {minute(round.started)}" if round.started else "")


class RoundRenderer(BlockVisitor[Iterator[str]]):
    """The blocks of one round as lines of Markdown."""

    def __init__(self, fidelity: Fidelity) -> None:
        self._fidelity = fidelity
        self._speaker = ""

    def text(self, block: Text, typed: bool) -> Iterator[str]:
        words = (block.spoken if typed else block.text).strip()
        if words:
            yield from self._speaks(typed)
            yield from (words, "")

    def picture(self, block: Image | Document, typed: bool) -> Iterator[str]:
        yield from self._speaks(typed)
        yield from (_picture(block), "")

    def _speaks(self, typed: bool) -> Iterator[str]:
        """Who says what follows, where that changes."""
        speaker = "User" if typed else "Assistant"
        if speaker != self._speaker:
            yield from (f"**{speaker}**", "")
            self._speaker = speaker

    def thinking(self, block: Thinking) -> Iterator[str]:
        return _aside("thinking", block.text, self._fidelity.thinking)

    def call(self, block: ToolCall) -> Iterator[str]:
        wanted = self._fidelity
        if wanted.tool_input == "omit" and wanted.tool_output == "omit":
            return
        detail = cut(describe(block), _SUMMARY_CHARS) if wanted.tool_input != "omit" else ""
        yield f"- {one_line(block.name)}{failure_mark(block.result)} {detail}".rstrip()
        if wanted.tool_input == "full" and block.input is not None:
            yield from fence(pretty(block.input), "json")
        if block.result is not None:
            yield from _result(block.result, wanted.tool_output)
        yield ""

    def stray(self, block: StrayResult) -> Iterator[str]:
        return _aside("result", block.result.text, self._fidelity.tool_output)

    def notice(self, block: Notice) -> Iterator[str]:
        if self._fidelity.tool_output == "full":
            yield from _aside(block.kind, block.text, "full")
        elif block.kind in _TELLING_NOTICES:
            yield from (f"[{block.kind}: {cut(gist(block.text), _SUMMARY_CHARS)}]", "")

    def attachment(self, block: Attachment) -> Iterator[str]:
        return self._data(block)

    def unknown(self, block: Unknown) -> Iterator[str]:
        return self._data(block)

    def _data(self, block: Attachment | Unknown) -> Iterator[str]:
        if self._fidelity.tool_output == "full":
            yield from _aside(one_line(block.kind), pretty(block.data), "full")


def reference(address: str, round: Round, words: Pointers = COMMANDS) -> str:
    """A round as one line that says what is in it and how to get it (CTX-03)."""
    asked = round.prompt.said if round.prompt is not None else ""
    said = next((text for reply in round.replies if (text := reply.text).strip()), "")
    calls = sum(1 for _ in round.calls)
    facts = [
        minute(round.started) if round.started else "",
        cut(asked, _PREVIEW),
        f"→ {cut(said, _PREVIEW)}" if said else "",
        f"({plural(calls, 'call')})" if calls else "",
        f"~{tokens(round_text(address, round, Fidelity())):,} tokens",
    ]
    return f"- `{words.show(address)}` {' '.join(fact for fact in facts if fact)}\n"


def range_reference(session: str, first: int, last: int, words: Pointers = COMMANDS) -> str:
    """Rounds there was no room for, as one line."""
    more = "one more round" if first == last else f"{last - first + 1} more rounds"
    return f"- `{range_command(session, first, last, words)}` {more}\n"


def range_command(session: str, first: int, last: int, words: Pointers = COMMANDS) -> str:
    """How to have a line for each of these rounds; of a single one, the round."""
    if first == last:
        return words.show(f"{session}#{first}")
    return words.list(f"{session}#{first}-{last}")


def _result(result: ToolResult, level: Level) -> Iterator[str]:
    text = result.text
    if level == "full":
        yield from fence(text)
        if result.patch:
            yield from fence(
                "\n".join(line for hunk in result.patch for line in hunk.lines), "diff"
            )
        parts = result.content if isinstance(result.content, tuple) else ()
        for part in parts:
            if isinstance(part, Image | Document):
                yield _picture(part)
            elif isinstance(part, Unknown):
                yield from fence(pretty(part.data), "json")
    elif level == "summary" and text.strip():
        yield f"  → {_summary(text)}"


def failure_mark(result: ToolResult | None) -> str:
    """How a call ended, where that was not well."""
    if result is None:
        return ""
    ended = "interrupted" if result.interrupted else ""
    if result.exit_code:
        ended = f"exit {result.exit_code}"
    return (" ✗" if result.error else "") + (f" ({ended})" if ended else "")


def _aside(what: str, text: str, level: Level) -> Iterator[str]:
    """What neither side said, under its name."""
    if level == "full" and text.strip():
        yield from (f"({what})", *fence(text), "")
    elif level == "summary" and text.strip():
        yield from (f"({what}: {_summary(text)})", "")


def _picture(block: Image | Document) -> str:
    kind = f"{type(block).__name__.lower()} {one_line(block.media_type)}"
    return f"[{kind.rstrip()}]"


def minute(moment: str) -> str:
    """A timestamp as headings have it."""
    return one_line(moment)[:16].replace("T", " ")


def cut(text: str, most: int) -> str:
    """The beginning of a text, on one line."""
    words = one_line(text[:_BEGINNING])
    return words if len(words) <= most else words[:most].rstrip() + "…"


def _summary(text: str) -> str:
    """The first words of a text, and how much there is of it."""
    lines = [line for line in text[:_BEGINNING].splitlines() if line.strip()]
    words = one_line(" / ".join(lines[:_SUMMARY_LINES]))[:_SUMMARY_CHARS]
    return words if len(words) + 40 >= len(text) else f"{words} … ({size(len(text))})"
