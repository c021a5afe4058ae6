"""``minutebook usage``."""

from __future__ import annotations

import gc
import sys
from typing import Any

import click

from minutebook.archive import Archive
from minutebook.archive.using import usage_of
from minutebook.cli import terminal
from minutebook.cli.filters import filters_of, reply_options
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.cli.usage_table import print_usage
from minutebook.derive.usage.figures import Usage
from minutebook.derive.usage.tally import DIMENSIONS
from minutebook.errors import BadArgument, NotFound


@click.command("usage")
@click.argument("what", required=False, metavar="[BY|SESSION]")
@archive_options
@reply_options
@click.option(
    "--by", metavar="BY", help="How to break down a session: model, day, engagement and so on."
)
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many rows.")
@click.option("--csv", "as_csv", is_flag=True, help="For spreadsheets.")
@json_option
def command(
    what: str | None,
    roots: tuple[str, ...],
    archive: str | None,
    by: str | None,
    limit: int | None,
    as_csv: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show tokens, cost at API prices, time and work, by day, project, model and more.

    BY is day (the default), week, month, project, model, agent, session, engagement, branch,
    thread or program (which coding agent ran). A session is named as everywhere: the start of its
    id, its title or its agent's name. Each reply counts once, however many sessions hold a copy of
    it.
    """
    gc.disable()  # a hundred thousand values without a cycle: looking for some takes time
    click.get_current_context().call_on_close(gc.enable)
    book = opened(archive, roots)
    if as_csv and as_json:
        raise BadArgument("Choose --csv or --json.")
    session_id = None
    if what is not None and what.lower() in DIMENSIONS:
        if by is not None:
            raise BadArgument("Give one dimension: --by is for a session.")
        by = what
    elif what is not None:
        session_id = _resolved(book, what)
        by = by or "model"
    found = usage_of(
        book,
        (by or "day").lower(),
        filters_of(options),
        session_id=session_id,
        tools=as_json or session_id is not None,
    )
    if as_json:
        from minutebook.verbs.usage import plain_usage

        print_json(usage={"session_id": session_id, **plain_usage(found)})
    elif as_csv:
        _print_csv(found)
    else:
        name = book.summary(session_id).name if session_id is not None else None
        print_usage(book, found, limit, title=name)


def _resolved(book: Archive, name: str) -> str:
    try:
        return book.resolve(name)
    except NotFound as error:
        known = ", ".join(DIMENSIONS)
        raise NotFound(f"{error} Or break everything down by one of: {known}.") from None


def _print_csv(found: Usage) -> None:
    import csv

    from minutebook.verbs.usage import CSV_COLUMNS, csv_rows

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in csv_rows(found):
        writer.writerow([terminal.one_line(c) if isinstance(c, str) else c for c in row])
