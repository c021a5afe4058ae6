"""``minutebook check``."""

from __future__ import annotations

from pathlib import Path

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import house_options, json_option
from minutebook.compose import open_house
from minutebook.config import settings
from minutebook.errors import BadArgument, NotFound
from minutebook.verbs.check import SessionCheck, check
from minutebook.verbs.find_inscription import find_inscription


@click.command("check")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@house_options
@click.option("--all", "everything", is_flag=True, help="Every inscribed session.")
@json_option
def command(
    sessions: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Compare inscriptions with their sources, and prove the way back; nothing is written.

    The exit status is 0 only when nothing that matters is lost.
    """
    if everything == bool(sessions):
        raise BadArgument("Name sessions, or say --all.")
    house = open_house(settings(roots, archive))
    documents: list[Path]
    if everything:
        documents = house.layout.documents()
    else:
        documents = [find_inscription(house.layout, name) for name in sessions]
    if not documents:
        raise NotFound("Nothing is inscribed yet: `minutebook inscribe --all`.")
    results = [check(house.library, house.roster, document) for document in documents]
    if as_json:
        print_json(checks=results)
    else:
        for result in results:
            _print(result, details=not everything)
        good = sum(result.ok for result in results)
        count = terminal.plural(len(results), "session")
        if good == len(results):
            terminal.say(f"{count} checked: nothing that matters is lost.")
        else:
            terminal.say(f"{count} checked: {len(results) - good} with problems.")
    if not all(result.ok for result in results):
        raise click.exceptions.Exit(1)


def _print(result: SessionCheck, *, details: bool) -> None:
    if result.ok and not details:
        return
    terminal.say(click.style(terminal.one_line(result.session_id), bold=True))
    for problem in result.problems:
        terminal.say(click.style(f"  ✗ {terminal.one_line(problem)}", fg="red"))
    for remark in result.remarks:
        terminal.say(f"  {terminal.one_line(remark)}")
    if not details:
        return
    for fact in result.facts:
        if fact.identical or fact.lost or fact.added:
            extra = f", {fact.lost} lost" if fact.lost else ""
            extra += f", {fact.added} added" if fact.added else ""
            terminal.say(f"  {fact.identical:>7,} × {fact.name} identical{extra}")
            for example in (*fact.lost_examples, *fact.added_examples):
                line = f"            {terminal.one_line(example)}"
                terminal.say(terminal.quiet(terminal.fit(line, terminal.columns())))
    for fate in ("transformed", "left behind"):
        chosen = [field for field in result.fields if field.fate == fate]
        if chosen:
            terminal.say(f"  {fate} (fields of records):")
        for field in chosen:
            line = f"  {field.count:>7,} × {terminal.one_line(field.field)}: {field.reason}"
            terminal.say(terminal.quiet(terminal.fit(line, terminal.columns())))
