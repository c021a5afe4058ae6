"""A transcript as text in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import click

from minutebook.cli import terminal
from minutebook.cli.diffs import print_changes
from minutebook.derive.calls import describe
from minutebook.derive.changes import GIVEN, changes_of
from minutebook.derive.messages import COMPACTION, INTERRUPTION, TASK, attachment_words, gist
from minutebook.derive.times import instant
from minutebook.model import (
    Attachment,
    Document,
    Image,
    Message,
    Notice,
    Round,
    StrayResult,
    Subagent,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from minutebook.model.visit import BlockVisitor
from minutebook.record.recover import MISSING

PARTS = ("user", "assistant", "thinking", "calls", "results")
_SHORT_LINES = 12
_INDENT = "    "
_TELLING = (COMPACTION, INTERRUPTION, TASK, MISSING)  # notices worth a line


def _no_subagent(_: str) -> Subagent | None:
    return None


class TranscriptPrinter(BlockVisitor[None]):
    """Prints rounds, and counts what it was told not to print."""

    def __init__(
        self,
        parts: frozenset[str],
        *,
        shorten: bool,
        subagent: Callable[[str], Subagent | None] = _no_subagent,
    ) -> None:
        self._parts = parts
        self._shorten = shorten
        self._subagent = subagent
        self._hidden: Counter[str] = Counter()
        self._heading: str | None = None
        """Stands above the first words of a message."""

    def print_round(self, round: Round) -> None:
        self._rule(round)
        for message in round.messages:
            self._heading = _heading(message)
            for block in message.blocks:
                self.visit(block, typed=message.role == "user")

    def print_block(self, round: Round, at: int) -> None:
        """One of a round's blocks (`Round.blocks`), under the round's own line."""
        self._rule(round)
        typed = at < len(round.asked)
        self._heading = _heading(Message("user" if typed else "assistant", ()))
        self.visit(round.blocks[at], typed=typed)

    def print_hidden(self) -> None:
        """Which parts were left out, and how to see them."""
        if self._hidden:
            counts = ", ".join(f"{count} {part}" for part, count in self._hidden.items())
            terminal.note(f"Not shown: {counts} (--full, --only).")

    def _rule(self, round: Round) -> None:
        started = instant(round.started)
        facts = [f"{started:%Y-%m-%d %H:%M}" if started else "", _seconds(round.duration_ms)]
        label = f"── {round.number} "
        tail = " " + " · ".join(fact for fact in facts if fact) if any(facts) else ""
        line = label + "─" * max(2, terminal.columns() - len(label) - len(tail)) + tail
        terminal.say()
        terminal.say(click.style(line, fg="blue"))

    # -- blocks

    def text(self, block: Text, typed: bool) -> None:
        words = block.spoken if typed else block.text
        self._say(terminal.prose(terminal.clean(words).strip()), typed)

    def picture(self, block: Image | Document, typed: bool) -> None:
        kind = f"{type(block).__name__.lower()} {terminal.one_line(block.media_type)}"
        self._say(terminal.quiet(f"[{kind.strip()}]"), typed)

    def thinking(self, block: Thinking) -> None:
        if self._wants("thinking"):
            terminal.say()
            self._indented(block.shown, italic=True)

    def call(self, block: ToolCall) -> None:
        if self._wants("calls"):
            self._print_call(block)
        if block.result is not None and self._wants("results"):
            self._result(block.result)

    def stray(self, block: StrayResult) -> None:
        if self._wants("results"):
            terminal.say(terminal.quiet("  ▸ a result without its call"))
            self._result(block.result)

    def notice(self, block: Notice) -> None:
        if not self._shorten:
            terminal.say(terminal.quiet(f"  ▸ {terminal.one_line(block.kind)}"))
            self._indented(block.text)
        elif block.kind in _TELLING:
            terminal.say()
            line = f"  ▸ {block.kind}: {terminal.one_line(gist(block.text))}".rstrip(": ")
            terminal.say(terminal.quiet(terminal.fit(line, terminal.columns())))

    def attachment(self, block: Attachment) -> None:
        if self._wants("results"):
            terminal.say(terminal.quiet(f"  ▸ {terminal.one_line(attachment_words(block.kind))}"))

    def unknown(self, block: Unknown) -> None:
        if self._wants("results"):
            terminal.say(terminal.quiet(f"  ▸ not understood: {terminal.one_line(block.kind)}"))

    # -- parts of blocks

    def _say(self, words: str, typed: bool) -> None:
        if not self._wants("user" if typed else "assistant"):
            return
        if self._heading is not None:
            terminal.say()
            terminal.say(self._heading)
            self._heading = None
        terminal.say(words)

    def _print_call(self, call: ToolCall) -> None:
        failed = call.result is not None and call.result.error
        mark = click.style(" ✗", fg="red") if failed else ""
        unanswered = terminal.quiet(" (no answer)") if call.result is None else ""
        name = terminal.one_line(call.name)
        room = (
            terminal.columns() - terminal.width(name) - 6 - (14 if unanswered else 0) - 2 * failed
        )
        detail = terminal.fit(terminal.one_line(describe(call)), max(8, room))
        terminal.say(f"  {click.style('▸ ' + name, fg='yellow')} {detail}{mark}{unanswered}")
        agent = self._subagent(call.agent) if call.agent else None
        if agent is not None:
            count = terminal.plural(len(agent.rounds), "round")
            calls = sum(round.tool_count for round in agent.rounds)
            kind = terminal.one_line(agent.kind or "subagent")
            line = f"{_INDENT}↳ {kind}: {count}, {terminal.plural(calls, 'tool call')}"
            terminal.say(terminal.quiet(line))
        if not self._shorten:
            self._given(call)

    def _given(self, call: ToolCall) -> None:
        """What a call was given in full; an edit as what it changed."""
        changes = changes_of(call)
        if isinstance(call.input, dict):
            shown = GIVEN if changes else frozenset()
            for key, value in call.input.items():
                if key not in shown and not (changes and "*** Begin Patch" in str(value)):
                    self._indented(f"{key}: {value}")
        print_changes(call, changes)

    def _result(self, result: ToolResult) -> None:
        parts = () if isinstance(result.content, str) else result.content
        pictures = sum(isinstance(part, Image) for part in parts)
        extra = f"\n[{terminal.plural(pictures, 'image')}]" if pictures else ""
        self._indented(result.text + extra, color="red" if result.error else None)

    def _indented(self, text: str, *, italic: bool = False, color: str | None = None) -> None:
        lines = terminal.clean(text).strip("\n").split("\n")
        kept = lines[:_SHORT_LINES] if self._shorten else lines
        for line in kept:
            if self._shorten:
                line = terminal.fit(line, terminal.columns() - len(_INDENT))
            terminal.say(_INDENT + click.style(line, dim=color is None, italic=italic, fg=color))
        if len(kept) < len(lines):
            terminal.say(terminal.quiet(f"{_INDENT}… {len(lines) - len(kept)} more lines"))

    def _wants(self, part: str) -> bool:
        if part not in self._parts:
            self._hidden[part] += 1
        return part in self._parts


def _heading(message: Message) -> str:
    if message.role != "user":
        return click.style("Assistant", fg="magenta", bold=True)
    queued = terminal.quiet(" (typed while the model was busy)") if message.queued else ""
    return click.style("You", fg="cyan", bold=True) + queued


def _seconds(milliseconds: int | None) -> str:
    if not milliseconds:
        return ""
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
