"""``minutebook check``."""

from __future__ import annotations

import click

from minutebook.archive import Archive
from minutebook.archive.masking import hidden
from minutebook.archive.names import transcript_file
from minutebook.cli import completion, terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.errors import BadArgument, NotFound
from minutebook.sources.base import Trouble
from minutebook.verbs.check import SessionCheck, check, check_file
from minutebook.verbs.check_archive import check_archive


@click.command("check")
@click.argument("sessions", shell_complete=completion.sessions, nargs=-1, metavar="[SESSION]...")
@archive_options
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Check every inscribed session, and the archive itself.",
)
@json_option
def command(
    sessions: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Compare the archive with the transcripts, and prove that sessions can be restored.

    Writes nothing. SESSION is an inscribed session, or a transcript that is not inscribed yet.
    The exit status is 0 only if nothing that matters would be lost.

    \b
    Examples:
      minutebook check Reed
      minutebook check --all
    """
    if everything == bool(sessions):
        raise BadArgument("Name sessions, or use --all.")
    book = opened(archive, roots)
    problems: list[Trouble] = []
    if everything:
        results = [check(book, session_id) for session_id in sorted(book.ledger().sessions)]
        book.records()  # read, so that what is damaged there is known
        problems = check_archive(book)
        if not results and not problems:
            raise NotFound("Nothing is archived yet: run `minutebook inscribe --all`.")
    else:
        results = [_check(book, name) for name in sessions]
    results = [hidden(result, book.hide) for result in results]
    if as_json:
        print_json(checks=results, problems=problems)
    else:
        for problem in problems:
            line = f"✗ {terminal.one_line(str(problem.path))}: {terminal.one_line(problem.reason)}"
            terminal.say(click.style(line, fg="red"))
        for result in results:
            _print(result, details=not everything)
        good = sum(result.ok for result in results)
        count = terminal.plural(len(results), "session")
        if good == len(results) and not problems:
            terminal.say(f"{count} checked: nothing that matters is lost.")
        else:
            beside = f", {len(problems)} of the archive itself" if problems else ""
            terminal.say(f"{count} checked: {len(results) - good} with problems{beside}.")
    if problems or not all(result.ok for result in results):
        raise click.exceptions.Exit(1)


def _check(archive: Archive, name: str) -> SessionCheck:
    """Check what a person names; a file that is not archived goes through a scratch archive."""
    session_id = archive.resolve(name)
    file = transcript_file(name)
    if file is not None and session_id not in archive.ledger().sessions:
        return check_file(*file)
    return check(archive, session_id)


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
            terminal.say(terminal.quiet(terminal.hanging(line, 12)))
