"""``minutebook tag``."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.verbs.tag import tag


@click.command("tag")
@click.argument("session")
@click.argument("rounds")
@click.argument("engagement_id")
@archive_options
@json_option
def command(
    session: str,
    rounds: str,
    engagement_id: str,
    roots: tuple[str, ...],
    archive: str | None,
    as_json: bool,
) -> None:
    """Say which engagement rounds belong to.

    ROUNDS is 3, 3-7, 1,4-6 or all; the engagement '-' takes a tag off. Rounds and documents
    stay as they are.
    """
    book = opened(archive, roots)
    tagged = tag(book, session, rounds, engagement_id)
    if as_json:
        print_json(tagged=tagged)
        return
    count = terminal.plural(tagged.rounds, "round")
    what = terminal.one_line(tagged.engagement_id or "no engagement")
    terminal.say(f"{count} of {book.short(tagged.session_id)} tagged with {what}.")
