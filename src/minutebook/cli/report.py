"""``minutebook report``."""

from __future__ import annotations

from typing import Any

import click

from minutebook.cli import terminal
from minutebook.cli.filters import AGENT_OPTION, limits_of, period_options
from minutebook.cli.json_output import json_document, print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.config import expanded
from minutebook.errors import BadArgument
from minutebook.index.query import Filters


@click.command("report")
@archive_options
@period_options
@click.option("-p", "--project", metavar="TEXT", help="Part of the project's path.")
@AGENT_OPTION
@click.option(
    "--format", "kind", type=click.Choice(["md", "json"]), help="Markdown, or JSON. [default: md]"
)
@click.option("--out", metavar="FILE", help="Write it there instead.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
@json_option
def command(
    roots: tuple[str, ...],
    archive: str | None,
    project: str | None,
    agent: str | None,
    kind: str | None,
    out: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Write the minutes of a period: what was done, decided, shipped and is still open.

    By project, of this week unless you name another period. Copies of a conversation are told
    once, secrets are masked, and what is left out is counted at the end.
    """
    from minutebook.archive.reporting import period_of, report_of
    from minutebook.verbs.report import report_markdown, save_report

    if force and out is None:
        raise BadArgument("--force is about a file: add --out FILE.")
    if as_json and kind == "md":
        raise BadArgument("--json and --format md contradict each other: choose one.")
    book = opened(archive, roots)
    after, before = period_of(*limits_of(options))
    found = report_of(book, Filters(project=project, agent=agent, after=after, before=before))
    text = report_markdown(found)
    if out is None:
        if as_json or kind == "json":
            print_json(report=found)
        else:
            terminal.say(terminal.prose(terminal.clean(text)).rstrip("\n"))
        return
    is_json = as_json or kind == "json"
    content = json_document(report=found) if is_json else text.encode("utf-8", "replace")
    save_report(book, expanded(out), content, force=force)
    terminal.note(f"{terminal.plural(found.engagements, 'engagement')} written to {out}.")
