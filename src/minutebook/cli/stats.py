"""``minutebook stats``."""

from __future__ import annotations

import sys
from datetime import date, timedelta
from typing import Any

import click

from minutebook.archive import Archive
from minutebook.cli import terminal
from minutebook.cli.filters import filter_options, filters_of
from minutebook.cli.json_output import print_json
from minutebook.cli.new_index import telling_of_a_new_index
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.errors import NotFound
from minutebook.index.query import Query
from minutebook.verbs.stats import Stats, stats

_MOST = 12
_BARS = "▁▂▃▄▅▆▇█"


@click.command("stats")
@archive_options
@filter_options
@json_option
def command(roots: tuple[str, ...], archive: str | None, as_json: bool, **options: Any) -> None:
    """Count engagements by method, project, agent, program, phase and day."""
    show_stats(opened(archive, roots), Query(filters=filters_of(options)), as_json)


def show_stats(archive: Archive, query: Query, as_json: bool) -> None:
    """Counts over the engagements a query finds, or over all that pass its filters."""
    if not archive.records():
        raise NotFound("There are no engagements yet: `minutebook ingest` finds them.")
    with telling_of_a_new_index(archive):
        found = stats(archive, query)
    if as_json:
        print_json(stats=found)
        return
    counts = (
        terminal.plural(found.engagements, "engagement"),
        terminal.plural(found.sessions, "session"),
        terminal.plural(found.decisions, "decision"),
        terminal.plural(len(found.days), "active day"),
    )
    terminal.say(click.style(", ".join(counts) + ".", bold=True))
    _table("Methods", found.methods, marked=True)
    _table("Phases", found.phases)
    _table("Projects", found.projects)
    _table("Agents", found.agents)
    if len(found.programs) > 1:
        _table("Programs", found.programs)
    _days(found)
    if found.ghosts_hidden:
        count = terminal.plural(found.ghosts_hidden, "ghost is", "ghosts are")
        terminal.note(f"{count} not counted (`minutebook sessions --ghosts` lists them).")
    if found.copies_hidden:
        count = terminal.plural(found.copies_hidden, "engagement")
        terminal.note(f"{count} of copied conversations counted once (--copies counts all).")
    if found.hidden:
        count = terminal.plural(found.hidden, "hidden engagement is", "hidden engagements are")
        terminal.note(f"{count} not counted (--hidden counts them).")


def _table(title: str, counts: dict[str, int], *, marked: bool = False) -> None:
    if not counts:
        return
    terminal.say()
    terminal.say(click.style(title, bold=True))
    names = list(counts)[:_MOST]
    room = min(40, max(terminal.width(terminal.one_line(name)) for name in names))
    widest = max(counts.values())
    bar = max(10, min(40, terminal.columns() - room - 12))
    for name in names:
        count = counts[name]
        label = terminal.pad(terminal.one_line(name), room)
        label = terminal.method_mark(label, name) if marked else label
        length = max(1, round(bar * count / widest))
        terminal.say(f"  {label}  {count:5,}  {terminal.quiet('█' * length)}")
    if len(counts) > _MOST:
        terminal.say(terminal.quiet(f"  … and {len(counts) - _MOST} more"))


def _days(found: Stats) -> None:
    days = {name: count for name, count in found.days.items() if name != "undated"}
    if not days:
        return
    terminal.say()
    first, last = date.fromisoformat(min(days)), date.fromisoformat(max(days))
    terminal.say(f"{click.style('Days', bold=True)}  {first} to {last}")
    if not sys.stdout.isatty():
        for name, count in days.items():
            terminal.say(f"  {name}  {count:5,}")
        return
    room = max(10, terminal.columns() - 4)
    start = max(first, last - timedelta(days=room - 1))
    span = [(start + timedelta(days=n)).isoformat() for n in range((last - start).days + 1)]
    peak = max(days.values())
    line = "".join(
        _BARS[min(7, round(7 * days[day] / peak))] if day in days else " " for day in span
    )
    terminal.say(f"  {line}")
