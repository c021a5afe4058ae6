"""``minutebook stats``."""

from __future__ import annotations

import sys
from datetime import date, timedelta
from typing import Any

import click

from minutebook.archive import Archive
from minutebook.cli import terminal
from minutebook.cli.filters import Filtering, filter_options, filters_of
from minutebook.cli.json_output import print_json
from minutebook.cli.new_index import telling_of_a_new_index
from minutebook.cli.options import (
    archive_options,
    json_option,
    opened,
    team_option,
    usage_option,
    usage_sort_option,
)
from minutebook.cli.usage_table import brief, order_of
from minutebook.derive.usage.figures import Figures, Usage
from minutebook.errors import NotFound
from minutebook.index.query import Query
from minutebook.verbs.stats import Stats, stats, tally
from minutebook.verbs.usage import plain_usage

_MOST = 12
_NONE_YET = "There are no engagements yet: `minutebook ingest` finds them."
_BARS = "▁▂▃▄▅▆▇█"


@click.command("stats", cls=Filtering)
@archive_options
@team_option
@filter_options
@usage_option
@usage_sort_option
@json_option
def command(
    roots: tuple[str, ...],
    archive: str | None,
    team: bool,
    usage: bool,
    sort: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Count engagements by method, project, agent, program, phase and day.

    \b
    Examples:
      minutebook stats --since 2026-03-01
      minutebook stats --project orchard --usage
    """
    query = Query(filters=filters_of(options))
    book = opened(archive, roots, team=team)
    show_stats(book, query, as_json, sort or ("cost" if usage else None))


def show_stats(archive: Archive, query: Query, as_json: bool, sort: str | None = None) -> None:
    """Counts over the engagements a query finds, or over all that pass its filters; with what
    was used, the most by `sort` first, where one is given."""
    if not any(record.extractor or record.ghost for record in archive.records().values()):
        if sort is None:
            raise NotFound(_NONE_YET)
        _show_used_alone(archive, query, as_json, sort)
        return
    with telling_of_a_new_index(archive):
        found = stats(archive, query)
    used = {by: _used(archive, query, by) for by in ("project", "agent")} if sort else {}
    if as_json:
        if used:
            print_json(stats=found, usage={by: plain_usage(told) for by, told in used.items()})
        else:
            print_json(stats=found)
        return
    counts = (
        terminal.plural(found.engagements, "engagement"),
        terminal.plural(found.sessions, "session"),
        terminal.plural(found.decisions, "decision"),
    )
    began = terminal.plural(len(found.days.keys() - {"undated"}), "day")
    terminal.say(click.style(f"{', '.join(counts)}; work began on {began}.", bold=True))
    _table("Methods", found.methods, marked=True)
    _table("Phases", found.phases)
    _table("Projects", found.projects)
    _table("Agents", found.agents)
    if len(found.programs) > 1:
        _table("Programs", found.programs)
    _days(found)
    for by, told in used.items():
        _print_used(by, told, sort or "cost")
    if found.ghosts_hidden:
        count = terminal.plural(found.ghosts_hidden, "ghost is", "ghosts are")
        what = _them(found.ghosts_hidden)
        beside = f"; what was used includes {what}" if used else ""
        terminal.note(f"{count} not counted (`minutebook sessions --ghosts` lists {what}){beside}.")
    if found.copies_hidden:
        count = terminal.plural(found.copies_hidden, "engagement")
        terminal.note(f"{count} of copied conversations counted once (--copies counts all).")
    if found.hidden:
        count = terminal.plural(found.hidden, "hidden engagement is", "hidden engagements are")
        terminal.note(f"{count} not counted (--hidden counts {_them(found.hidden)}).")


def _them(count: int) -> str:
    return "it" if count == 1 else "them"


def _show_used_alone(archive: Archive, query: Query, as_json: bool, sort: str) -> None:
    """What was used, where there are no engagements to count."""
    used = {by: _used(archive, query, by) for by in ("project", "agent")}
    if not any(told.rows for told in used.values()):
        raise NotFound(_NONE_YET)
    if as_json:
        print_json(stats=tally((), 0), usage={by: plain_usage(told) for by, told in used.items()})
        return
    for by, told in used.items():
        _print_used(by, told, sort)
    terminal.note(_NONE_YET)


def _used(archive: Archive, query: Query, by: str) -> Usage:
    from minutebook.archive.using import usage_of

    return usage_of(archive, by, query.filters)


def _print_used(by: str, told: Usage, sort: str) -> None:
    """What was used, the most first."""
    rows = sorted(told.rows, key=lambda row: order_of(sort, row.figures))[:_MOST]
    terminal.say()
    terminal.say(click.style(f"Used, by {by}, at API prices", bold=True))
    lines: list[tuple[str, Figures | None]] = [
        (terminal.one_line(row.label), row.figures) for row in rows
    ]
    if len(rows) < len(told.rows):
        rest = len(told.rows) - len(rows)
        lines.append((f"… and {rest:,} more", None))
    for label, figures in (*lines, ("total", told.total)):
        output, cost, active = brief(figures)
        what = f"{output:>8} out {cost:>11} {active:>8}" if figures is not None else ""
        terminal.say(f"  {terminal.pad(label, 30)} {what}".rstrip())


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
