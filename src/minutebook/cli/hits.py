"""Hits as a person reads them: when, who, where, what, why, and how to open it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from minutebook.archive import Archive
from minutebook.archive.hit import Hit
from minutebook.cli import terminal
from minutebook.derive.times import instant
from minutebook.index.snippet import Snippet
from minutebook.model.engagement import Engagement
from minutebook.model.session import project_of

_SIDES = {"asked": "you", "answered": "agent"}
_NAME = 36  # cells that a name and a project need


def print_hits(
    archive: Archive, hits: Sequence[Hit], *, verbose: bool = False, windows: bool = False
) -> None:
    """Two lines a hit: when, where and who; and why it was found. More of each if `verbose`; how
    full the window was with `windows`."""
    addresses = [_address(archive, hit) for hit in hits]
    longest = max(map(len, addresses), default=0)
    for hit, address in zip(hits, addresses, strict=True):
        _print_hit(archive, hit, address.ljust(longest), windows=windows)
        if verbose:
            _print_more(hit)


def _address(archive: Archive, hit: Hit) -> str:
    """What `show` takes: the round, and the block where that is known."""
    block = f".{hit.block}" if hit.block is not None else ""
    return terminal.one_line(f"{archive.short(hit.session_id)}#{hit.round}{block}")


def print_total(
    total: int,
    shown: int,
    page: int,
    limit: int,
    *,
    what: str = "hit",
    of: str = "",
    capped: bool = False,
    left_out: Sequence[str] = (),
) -> None:
    """How many there are, how to see the rest, and what is not among them (SRCH-16)."""
    first = (page - 1) * limit + 1
    last = first + shown - 1
    many = f"{'at least ' if capped else ''}{total:,}"
    counted = f"{'at least ' if capped else ''}{terminal.plural(total, what)}{of}"
    told: list[str] = []
    if not shown and total:
        told.append(f"There {'is' if total == 1 else 'are'} {counted}, so no page {page}.")
    elif last < total:
        told.append(f"{first:,}–{last:,} of {many}. More: --page {page + 1}.")
    elif page > 1:
        told.append(f"{first:,}–{last:,} of {many}.")
    elif total:
        told.append(f"{counted[0].upper()}{counted[1:]}.")
    if left_out:
        told.append(f"Left out: {', '.join(left_out)}.")
    if told:
        terminal.note(" ".join(told))


def _print_hit(archive: Archive, hit: Hit, address: str, *, windows: bool) -> None:
    room = terminal.columns()
    when = instant(hit.at)
    day = when.strftime("%Y-%m-%d") if when else "undated   "
    project = project_of(hit.project) if hit.project else ""
    copies = ", ".join(archive.short(id) for id in hit.copies)
    whose = (hit.name or "", project, hit.person or "")
    who = " · ".join(terminal.one_line(text) for text in whose if text)
    who = f"★ {who}" if hit.starred else who
    who = f"(hidden) {who}" if hit.hidden else who
    also = f" · also in {copies}" if copies else ""
    left = room - len(address) - 14
    if left - len(also) < _NAME:  # who it is matters more than where else
        also = f" · {terminal.plural(len(hit.copies), 'copy', 'copies')}" if copies else ""
    if windows and hit.window is not None:
        also = f" · window {hit.window:.1f} %{also}"
    left -= len(also)
    first = terminal.fit(who, max(10, left))
    terminal.say(f"{day}  {click.style(address, fg='cyan')}  {click.style(first, bold=True)}{also}")
    if hit.snippet.text and hit.side and not (hit.engagement and _is_named(hit, first)):
        _print_passage(hit.snippet, _SIDES.get(hit.side, hit.side))
    elif hit.engagement is not None:
        _print_topic(hit.engagement)


def _is_named(hit: Hit, first: str) -> bool:
    """Whether the first line, or the line with the topic, says already what was found."""
    return hit.side == "topic" or (hit.side == "title" and hit.snippet.text in first)


def _print_passage(snippet: Snippet, side: str) -> None:
    label = f"{side}: "
    room = terminal.columns() - 2 - len(label)
    terminal.say(f"  {terminal.quiet(label)}{marked(snippet, room)}")


def _print_topic(engagement: Engagement) -> None:
    method = terminal.one_line(engagement.method)
    phase = terminal.one_line(engagement.step or engagement.phase)
    kept = " (engagement.md)" if engagement.kept == "prospective" else ""
    label = f"{method}, {phase}{kept}: "
    room = max(10, terminal.columns() - 2 - len(label))
    topic = terminal.fit(terminal.one_line(engagement.topic), room)
    terminal.say(f"  {terminal.method_mark(label, method)}{topic}")


def _print_more(hit: Hit) -> None:
    """The engagement it belongs to, and how to go on with the session."""
    if hit.snippet.text and hit.side is None:  # of a list
        _print_passage(hit.snippet, "outcome")
    elif hit.engagement is not None and hit.snippet.text and not _is_named(hit, hit.name or ""):
        _print_topic(hit.engagement)
    if hit.engagement is not None and hit.engagement.note:
        terminal.say(terminal.quiet(f"  note: {terminal.one_line(hit.engagement.note)}"))
    if resume := hit.resume or hit.restore:  # without its transcript, an export is the way
        terminal.say(terminal.quiet(f"  {terminal.one_line(resume)}"))


def marked(snippet: Snippet, room: int) -> str:
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
