"""Hits as a person reads them: when, who, where, what, why, and how to open it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from minutebook.archive.finding import Hit
from minutebook.cli import terminal
from minutebook.derive.times import instant
from minutebook.index.snippet import Snippet
from minutebook.model.session import project_of

_SIDES = {"asked": "you: ", "answered": "agent: ", "outcome": "outcome: ", "title": "title: "}


def print_hits(hits: Sequence[Hit]) -> None:
    for hit in hits:
        _print_hit(hit)


def print_total(total: int, shown: int, page: int, limit: int, *, capped: bool = False) -> None:
    """How many there are, and how to see the rest (SRCH-16)."""
    first = (page - 1) * limit + 1
    last = first + shown - 1
    many = f"{'at least ' if capped else ''}{total:,}"
    if not shown and total:
        terminal.note(f"There are {many}: no page {page}.")
    elif last < total:
        terminal.note(f"{first:,} to {last:,} of {many}: --page {page + 1}, or --limit, for more.")
    elif page > 1:
        terminal.note(f"{first:,} to {last:,} of {many}.")


def _print_hit(hit: Hit) -> None:
    room = terminal.columns()
    when = instant(hit.at)
    day = when.strftime("%Y-%m-%d") if when else "undated   "
    project = project_of(hit.project) if hit.project else ""
    copies = ", ".join(id[:8] for id in hit.copies)
    told = (hit.name or "", project, f"also in {copies}" if copies else "")
    who = " · ".join(terminal.one_line(text) for text in told if text)
    terminal.say(f"{day}  {click.style(terminal.fit(who, room - 12), bold=True)}")
    if hit.engagement is not None:
        method = terminal.one_line(hit.engagement.method)
        label = f"{method}, {terminal.one_line(hit.engagement.phase)}: "
        topic = terminal.fit(
            terminal.one_line(hit.engagement.topic), max(10, room - 2 - len(label))
        )
        terminal.say(f"  {terminal.method_mark(label, method)}{topic}")
    if hit.snippet.text and hit.side != "topic":  # that is the line above
        side = _SIDES.get(hit.side or "", "")
        terminal.say(f"  {terminal.quiet(side)}{_marked(hit.snippet, room - 2 - len(side))}")
    for line in _openings(hit, room - 2):
        terminal.say(terminal.quiet(f"  {line}"))


def _openings(hit: Hit, room: int) -> list[str]:
    """How to open a hit: on one line where there is room."""
    session = terminal.one_line(hit.session_id)
    address = f"minutebook show {session[:8]}#{hit.round}"
    if hit.resume is None and hit.document is None:
        return [address]
    # Without its transcript, an export is the way to go on.
    resume = terminal.one_line(hit.resume or f"minutebook export-claude {session[:8]}")
    both = f"{address}   {resume}"
    return [both] if len(both) <= room else [address, resume]


def _marked(snippet: Snippet, room: int) -> str:
    """A snippet cut to so many cells, its words bold."""
    text = snippet.text
    if terminal.width(text) > room:
        text = terminal.fit(text, room).removesuffix("…")
    styled, position = "", 0
    for start, end in snippet.marks:
        if position <= start and end <= len(text):
            styled += terminal.one_line_kept(text[position:start])
            styled += click.style(terminal.one_line_kept(text[start:end]), bold=True, fg="yellow")
            position = end
    styled += terminal.one_line_kept(text[position:])
    return styled + ("…" if len(text) < len(snippet.text) else "")
