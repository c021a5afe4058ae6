"""``minutebook report``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from minutebook.cli import completion, terminal
from minutebook.cli.filters import AGENT_OPTION, limits_of, period_options
from minutebook.cli.options import (
    archive_options,
    for_a_file,
    format_of,
    json_option,
    opened,
    team_option,
)
from minutebook.config import expanded
from minutebook.errors import BadArgument
from minutebook.index.query import Filters
from minutebook.record.indexes import without_escapes
from minutebook.verbs.report import REPORT_FORMATS, ReportFormat, report_content

if TYPE_CHECKING:
    from minutebook.archive.reporting import Report


@click.command("report")
@click.argument("session", shell_complete=completion.sessions, required=False)
@archive_options
@team_option
@period_options
@click.option(
    "-p",
    "--project",
    metavar="TEXT",
    shell_complete=completion.projects,
    help="Only the project of that name, else those whose path contains TEXT.",
)
@AGENT_OPTION
@click.option(
    "--format",
    "kind",
    type=click.Choice(REPORT_FORMATS),
    metavar="FORMAT",
    help="md, html or json. [default: FILE's ending, else md]",
)
@click.option("--out", metavar="FILE", help="Write to FILE instead of the terminal.")
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@json_option
def command(
    session: str | None,
    roots: tuple[str, ...],
    archive: str | None,
    team: bool,
    project: str | None,
    agent: str | None,
    kind: ReportFormat | None,
    out: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Report on a period or a session: done, decided, shipped, and still open.

    Grouped by project; this week unless you name a SESSION or another period. Copies of a
    conversation appear once, secrets are masked, and the end says how much was left out.

    \b
    Examples:
      minutebook report --week
      minutebook report --since "2 weeks ago" --project orchard --out week.html
      minutebook report Reed
    """
    from minutebook.archive.reporting import period_of, report_of, session_report
    from minutebook.verbs.share import save

    if force and out is None:
        raise BadArgument("--force overwrites a file: add --out FILE.")
    if as_json and kind not in (None, "json"):
        raise BadArgument(f"--json and --format {kind} contradict each other: choose one.")
    format: ReportFormat = "json" if as_json else format_of(out, kind, REPORT_FORMATS) or "md"
    if session is not None and (project or agent or any(options.values())):
        raise BadArgument("Filters choose among sessions: leave out the filters or SESSION.")
    book = opened(archive, roots, team=team)
    if session is not None:
        found = session_report(book, book.resolve(session))
    else:
        after, before = period_of(*limits_of(options))
        found = report_of(book, Filters(project=project, agent=agent, after=after, before=before))
    content = report_content(found, format)
    if out is not None:
        save(book, expanded(out), content, force=force)
        terminal.note(f"{terminal.plural(found.engagements, 'engagement')} written to {out}.")
        _lead_to(found)
    elif format == "md":
        text = terminal.clean(content.decode())
        if terminal.is_terminal():  # a file and a pipe get Markdown
            text = without_escapes(text)
        terminal.say(terminal.prose(text).rstrip("\n"))
        _lead_to(found)
    else:
        for_a_file(format)
        click.echo(content)


def _lead_to(found: Report) -> None:
    """Where a period is empty: the last week that is not, and how to have it."""
    if found.latest is None:
        return
    first, last = found.latest.since, found.latest.until
    only = [("--project", found.project), ("--agent", found.agent)]
    more = "".join(f" {option} {shlex.quote(text)}" for option, text in only if text)
    command = f"minutebook report --since {first} --until {last}{more}"
    # On a line of its own, which a terminal can copy whole.
    terminal.note(
        f"The latest week with work is {first} to {last}:\n  {terminal.one_line(command)}"
    )
