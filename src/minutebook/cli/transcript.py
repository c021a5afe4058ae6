"""A transcript as text in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import click

from minutebook.cli import terminal
from minutebook.derive.calls import describe
from minutebook.derive.messages import gist, spoken
from minutebook.derive.times import instant
from minutebook.model import (
    Attachment,
    Block,
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

PARTS = ("user", "assistant", "thinking", "calls", "results")
_SHORT_LINES = 12
_INDENT = "    "


class TranscriptPrinter:
    """Prints rounds, and counts what it was told not to print."""

    def __init__(
        self, parts: frozenset[str], *, shorten: bool, subagents: Iterable[Subagent] = ()
    ) -> None:
        self._parts = parts
        self._shorten = shorten
        self._subagents = {agent.id: agent for agent in subagents}
        self._hidden: Counter[str] = Counter()

    def print_round(self, round: Round) -> None:
        self._rule(round)
        for message in round.messages:
            self._message(message)

    def print_hidden(self) -> None:
        """Which parts were left out, and how to see them."""
        if self._hidden:
            counts = ", ".join(f"{count} {part}" for part, count in self._hidden.items())
            terminal.note(f"Hidden: {counts}. --full shows everything, --only chooses.")

    def _rule(self, round: Round) -> None:
        started = instant(round.started)
        facts = [f"{started:%Y-%m-%d %H:%M}" if started else "", _seconds(round.duration_ms)]
        label = f"── {round.number} "
        tail = " ".join(["", *(fact for fact in facts if fact)])
        line = label + "─" * max(2, terminal.columns() - len(label) - len(tail)) + tail
        terminal.say()
        terminal.say(click.style(line, fg="blue"))

    def _message(self, message: Message) -> None:
        heading = "You" if message.role == "user" else "Assistant"
        part = "user" if message.role == "user" else "assistant"
        spoke = False
        for block in message.blocks:
            if not isinstance(block, Text | Image | Document):
                self._aside(block)
                continue
            if not self._wants(part):
                continue
            if not spoke:
                terminal.say()
                queued = terminal.quiet(" (typed while the model was busy)")
                color = "cyan" if part == "user" else "magenta"
                mark = queued if message.queued else ""
                terminal.say(click.style(heading, fg=color, bold=True) + mark)
                spoke = True
            terminal.say(self._words(block, message.role == "user"))

    def _words(self, block: Text | Image | Document, typed: bool) -> str:
        if isinstance(block, Text):
            words = spoken(block.text) if typed else block.text
            return terminal.prose(terminal.clean(words).strip())
        kind = f"{type(block).__name__.lower()} {terminal.one_line(block.media_type)}"
        return terminal.quiet(f"[{kind.strip()}]")

    def _aside(self, block: Block) -> None:
        if isinstance(block, ToolCall):
            self._call(block)
        elif isinstance(block, StrayResult):
            if self._wants("results"):
                terminal.say(terminal.quiet("  ▸ a result without its call"))
                self._result(block.result)
        elif isinstance(block, Thinking):
            if self._wants("thinking"):
                terminal.say()
                self._indented(block.shown, italic=True)
        elif isinstance(block, Notice):
            self._notice(block)
        elif isinstance(block, Attachment | Unknown) and self._wants("results"):
            kind = "attachment" if isinstance(block, Attachment) else "not understood"
            terminal.say(terminal.quiet(f"  ▸ {kind}: {terminal.one_line(block.kind)}"))

    def _notice(self, notice: Notice) -> None:
        if not self._shorten:
            terminal.say(terminal.quiet(f"  ▸ {notice.kind}"))
            self._indented(notice.text)
        elif notice.kind in ("compaction", "interruption", "task-notification"):
            terminal.say()
            line = f"  ▸ {notice.kind}: {terminal.one_line(gist(notice.text))}"
            terminal.say(terminal.quiet(terminal.fit(line, terminal.columns())))

    def _call(self, call: ToolCall) -> None:
        failed = call.result is not None and call.result.error
        if self._wants("calls"):
            mark = click.style(" ✗", fg="red") if failed else ""
            unanswered = terminal.quiet(" (no answer)") if call.result is None else ""
            name = terminal.one_line(call.name)
            room = terminal.columns() - terminal.width(name) - 6 - (14 if unanswered else 0)
            detail = terminal.fit(terminal.one_line(describe(call)), max(8, room))
            terminal.say(f"  {click.style('▸ ' + name, fg='yellow')} {detail}{mark}{unanswered}")
            agent = self._subagents.get(call.agent or "")
            if agent is not None:
                count = terminal.plural(len(agent.rounds), "round")
                calls = sum(round.tool_count for round in agent.rounds)
                kind = terminal.one_line(agent.kind or "subagent")
                line = f"{_INDENT}↳ {kind}: {count}, {terminal.plural(calls, 'tool call')}"
                terminal.say(terminal.quiet(line))
            if not self._shorten and isinstance(call.input, dict):
                for key, value in call.input.items():
                    self._indented(f"{key}: {value}")
        if call.result is not None and self._wants("results"):
            self._result(call.result)

    def _result(self, result: ToolResult) -> None:
        pictures = sum(isinstance(part, Image) for part in result.content)
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


def _seconds(milliseconds: int | None) -> str:
    if not milliseconds:
        return ""
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
