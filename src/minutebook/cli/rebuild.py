"""``minutebook rebuild``."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_option, json_option, opened
from minutebook.verbs.rebuild import rebuild


@click.command("rebuild")
@archive_option
@json_option
def command(archive: str | None, as_json: bool) -> None:
    """Recreate databases, indexes, lost documents and lost round files from what is kept.

    \b
    Example:
      minutebook rebuild
    """
    rebuilt = rebuild(opened(archive))
    if as_json:
        print_json(rebuilt=rebuilt)
    else:
        sessions = terminal.plural(rebuilt.sessions, "session")
        terminal.say(f"{sessions}, {terminal.plural(rebuilt.rounds, 'round')} indexed again.")
        if rebuilt.restored:
            terminal.say(f"{terminal.plural(rebuilt.restored, 'file')} restored.")
        for problem in (*rebuilt.mended, *rebuilt.problems):
            terminal.note(terminal.one_line(problem))
    if rebuilt.problems:
        raise click.exceptions.Exit(1)
