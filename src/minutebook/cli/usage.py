"""``minutebook usage``."""

from __future__ import annotations

import gc
import shlex
import sys
from typing import Any

import click
import msgspec

from minutebook.archive import Archive
from minutebook.archive.using import usage_of
from minutebook.cli import terminal
from minutebook.cli.filters import Filtering, filters_of, reply_options
from minutebook.cli.json_output import print_json
from minutebook.cli.options import (
    USAGE_SORTS,
    archive_options,
    json_option,
    opened,
    team_option,
)
from minutebook.cli.usage_table import order_of, print_usage
from minutebook.derive.usage.figures import Usage
from minutebook.derive.usage.tally import DIMENSIONS
from minutebook.errors import Ambiguous, BadArgument, NotFound


@click.command("usage", cls=Filtering)
@click.argument("what", required=False, metavar="[BY|SESSION]")
@archive_options
@team_option
@reply_options
@click.option("--by", metavar="BY", help="Break a session down by model, day, engagement …")
@click.option(
    "--sort",
    type=click.Choice(USAGE_SORTS),
    metavar="BY",
    help="Most used first, by cost, tokens (output) or active time.",
)
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), metavar="N", help="At most N rows. [default: 31]"
)
@click.option("--csv", "as_csv", is_flag=True, help="Write CSV, for spreadsheets.")
@json_option
def command(
    what: str | None,
    roots: tuple[str, ...],
    archive: str | None,
    team: bool,
    by: str | None,
    sort: str | None,
    limit: int | None,
    as_csv: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show tokens, cost at API prices, and time, by day, project, model and more.

    BY is day (the default), week, month, project, model, agent, session, engagement, branch,
    thread or program (the coding agent). Or name a SESSION. Each reply counts once, however many
    sessions hold a copy of it. Columns: c.read is read from the cache, w.5m and w.1h written to it
    for 5 minutes and 1 hour.

    \b
    Examples:
      minutebook usage project --since 2026-03-01
      minutebook usage Reed --by model
    """
    gc.disable()  # a hundred thousand values without a cycle: looking for some takes time
    click.get_current_context().call_on_close(gc.enable)
    book = opened(archive, roots, team=team)
    if as_csv and as_json:
        raise BadArgument("Choose --csv or --json.")
    session_id = None
    if what is not None and (dimension := _dimension(what)) is not None:
        if by is not None:
            raise BadArgument("Give one dimension: --by breaks down a session.")
        by = dimension
    elif what is not None:
        session_id = _resolved(book, what)
        by = by or "model"
    found = usage_of(
        book,
        _dimension(by or "day") or (by or "day"),
        filters_of(options),
        session_id=session_id,
        tools=as_json or session_id is not None,
    )
    if sort is not None:
        rows = sorted(found.rows, key=lambda row: order_of(sort, row.figures))
        found = msgspec.structs.replace(found, rows=rows)
    if as_json:
        from minutebook.verbs.usage import plain_usage

        print_json(usage={"session_id": session_id, **plain_usage(found)})
    elif as_csv:
        _print_csv(found)
    else:
        name = book.summary(session_id).name if session_id is not None else None
        print_usage(book, found, limit, title=name, sorted_by_use=sort is not None)


def _dimension(word: str) -> str | None:
    """The dimension that a word names, also as many of it: ``sessions``, ``branches``."""
    low = word.lower()
    names = (low, low.removesuffix("s"), low.removesuffix("es"))
    return next((name for name in names if name in DIMENSIONS), None)


def _resolved(book: Archive, name: str) -> str:
    """The session that is meant; a project may be called so, too."""
    try:
        found = book.resolve(name)
    except (NotFound, Ambiguous) as error:
        advice = _for_the_project(book, name)
        if not advice and isinstance(error, Ambiguous):
            raise
        advice = advice or f"Or break everything down by one of: {', '.join(DIMENSIONS)}."
        raise NotFound(f"{error} {advice}") from None
    if not found.startswith(name) and (advice := _for_the_project(book, name)):
        terminal.note(advice)
    return found


def _for_the_project(book: Archive, name: str) -> str:
    """How to have the figures of the project of that name; empty where there is none."""
    projects = {row.info.project for row in book.sessions().sessions if row.info.project}
    called = next((p for p in projects if p.casefold() == name.casefold()), None)
    return f"For the project: `minutebook usage --project {shlex.quote(called)}`." if called else ""


def _print_csv(found: Usage) -> None:
    import csv

    from minutebook.verbs.usage import CSV_COLUMNS, csv_rows

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in csv_rows(found):
        writer.writerow([terminal.one_line(c) if isinstance(c, str) else c for c in row])
