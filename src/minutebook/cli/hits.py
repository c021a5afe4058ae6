"""Hits as a person reads them: when, who, where, what, why, and how to open it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from minutebook.cli import terminal
from minutebook.cli.ingest_report import method_mark
from minutebook.derive.times import instant
from minutebook.index.snippet import Snippet
from minutebook.verbs.search import Hit


def print_hits(hits: Sequence[Hit]) -> None:
    for hit in hits:
        _print_hit(hit)


def _print_hit(hit: Hit) -> None:
    room = terminal.columns()
    when = instant(hit.at)
    day = when.strftime("%Y-%m-%d") if when else "undated   "
    project = (hit.project or "").replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    who = " · ".join(terminal.one_line(text) for text in (hit.name or "", project) if text)
    terminal.say(f"{day}  {click.style(terminal.fit(who, room - 12), bold=True)}")
    if hit.engagement is not None:
        method = terminal.one_line(hit.engagement.method)
        label = f"{method}, {terminal.one_line(hit.engagement.phase)}: "
        topic = terminal.fit(
            terminal.one_line(hit.engagement.topic), max(10, room - 2 - len(label))
        )
        terminal.say(f"  {method_mark(label, method)}{topic}")
    if hit.snippet.text:
        side = {"asked": "you: ", "answered": "agent: "}.get(hit.side or "", "")
        terminal.say(f"  {terminal.quiet(side)}{_marked(hit.snippet, room - 2 - len(side))}")
    address = f"minutebook show {terminal.one_line(hit.session_id)[:8]}#{hit.round}"
    resume = f"   claude --resume {terminal.one_line(hit.session_id)}" if hit.resumable else ""
    line = address + resume if len(address + resume) + 2 <= room else address
    terminal.say(terminal.quiet(f"  {line}"))


def _marked(snippet: Snippet, room: int) -> str:
    """A snippet cut to width, its words bold."""
    text, styled, position = snippet.text, "", 0
    clean = terminal.one_line(text)
    if clean != text or terminal.width(text) > room:
        # Marks count characters of the text as it was found: cut at a mark's side if need be.
        text = text[: max(0, room - 1)] if terminal.width(text) > room else text
    for start, end in snippet.marks:
        if start < position or end > len(text):
            continue
        styled += terminal.one_line_kept(text[position:start])
        styled += click.style(terminal.one_line_kept(text[start:end]), bold=True, fg="yellow")
        position = end
    styled += terminal.one_line_kept(text[position:])
    return styled + ("…" if len(text) < len(snippet.text) else "")
