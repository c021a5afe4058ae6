"""One block with everything that belongs to it: unfolded on a page, or as plain text."""

from __future__ import annotations

from typing import Any

import msgspec
from markupsafe import Markup

from minutebook.archive.masking import unmarked
from minutebook.derive.calls import command_of
from minutebook.derive.changes import GIVEN
from minutebook.derive.plain import one_line
from minutebook.derive.wording import pretty, size
from minutebook.html.diffs import Diff, diffs_of
from minutebook.html.harness import in_words, typed_words
from minutebook.html.outputs import answer_html, terminal
from minutebook.html.pictures import picture_words, pictures_of
from minutebook.html.prose import LONGEST, LONGEST_PROSE, plain, prose
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
from minutebook.model.visit import BlockVisitor


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A block unfolded."""

    command: Markup | None = None
    diffs: list[Diff] = []
    fields: list[tuple[str, Markup]] = []
    html: Markup | None = None
    text: Markup | None = None
    result: Markup | None = None
    error: bool = False
    pictures: list[str] = []
    agent: str | None = None
    too_long: str = ""
    """Size of a text too long for a page."""


def opened(block: Block, *, typed: bool = False, kept: str | None = None) -> Opened:
    """A block unfolded: input as a diff, a command or fields; the answer (`kept`: as it was
    recorded, for its colours); the whole text."""
    return _Unfold(kept).visit(block, typed=typed)


class _Unfold(BlockVisitor[Opened]):
    def __init__(self, kept: str | None) -> None:
        self._kept = kept

    def text(self, block: Text, typed: bool) -> Opened:
        return _whole(typed_words(block) if typed else block.text)

    def picture(self, block: Image | Document, typed: bool) -> Opened:  # noqa: ARG002 - alike
        return Opened(html=picture_words(block))

    def thinking(self, block: Thinking) -> Opened:
        return _whole(block.text)

    def call(self, block: ToolCall) -> Opened:
        command, diffs = command_of(block), diffs_of(block)
        found = Opened(
            command=terminal(command, LONGEST) if command and not diffs else None,
            diffs=diffs,
            fields=_fields(block.input, _shown_already(block.input, command, diffs)),
            agent=block.agent,
        )
        if block.result is None:
            return found
        return _answered(found, block, block.result, self._kept)

    def stray(self, block: StrayResult) -> Opened:
        return _answered(Opened(), None, block.result, self._kept)

    def notice(self, block: Notice) -> Opened:
        return Opened(html=prose(in_words(block.text), LONGEST_PROSE))

    def attachment(self, block: Attachment) -> Opened:
        return Opened(text=plain(pretty(block.data), LONGEST))

    def unknown(self, block: Unknown) -> Opened:
        return Opened(text=plain(pretty(block.data), LONGEST))


def _whole(text: str) -> Opened:
    if len(text) > LONGEST_PROSE:
        more = size(len(text)) if len(text) > LONGEST else ""
        return Opened(text=plain(text, LONGEST), too_long=more)
    return Opened(html=prose(text))


def _shown_already(given: Any, command: str, diffs: list[Diff]) -> frozenset[str]:
    if diffs:
        # A patch may be all there is, under a name that means something else in other calls.
        return GIVEN | {"input", "command"} if isinstance(given, dict) else frozenset({"input"})
    return frozenset({"command", "cmd"}) if command else frozenset()


def _fields(given: Any, shown: frozenset[str]) -> list[tuple[str, Markup]]:
    """The input of a call, without what is shown already."""
    if not isinstance(given, dict):
        wanted = given is not None and "input" not in shown
        return [("input", terminal(_value(given), LONGEST))] if wanted else []
    return [
        (one_line(unmarked(str(name))), terminal(_value(value), LONGEST))
        for name, value in given.items()
        if name not in shown and value not in (None, False, "", [], {})
    ]


def _answered(found: Opened, call: ToolCall | None, result: ToolResult, kept: str | None) -> Opened:
    text = result.text
    return msgspec.structs.replace(
        found,
        result=answer_html(call, result, LONGEST, kept) if text.strip() else None,
        error=result.error,
        pictures=pictures_of(result),
        too_long=size(len(text)) if len(text) > LONGEST else "",
    )


def _value(value: Any) -> str:
    return value if isinstance(value, str) else pretty(value)


# -- as plain text


def words_of(block: Block) -> str:
    """Every text of a block, for finding in it and for opening it as a plain file."""
    return unmarked(_Words().visit(block))


class _Words(BlockVisitor[str]):
    def text(self, block: Text, typed: bool) -> str:  # noqa: ARG002 - all of it, in either case
        return block.text

    def picture(self, block: Image | Document, typed: bool) -> str:  # noqa: ARG002 - it has none
        return ""

    def thinking(self, block: Thinking) -> str:
        return block.text

    def call(self, block: ToolCall) -> str:
        given = pretty(block.input) if block.input is not None else ""
        answer = block.result.text if block.result is not None else ""
        return f"{block.name}\n{given}\n{answer}"

    def stray(self, block: StrayResult) -> str:
        return block.result.text

    def notice(self, block: Notice) -> str:
        return block.text

    def attachment(self, block: Attachment) -> str:
        return pretty(block.data)

    def unknown(self, block: Unknown) -> str:
        return pretty(block.data)
