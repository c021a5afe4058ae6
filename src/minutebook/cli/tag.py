"""``minutebook tag``."""

from __future__ import annotations

import click

from minutebook.cli import completion, terminal
from minutebook.cli.corrected import print_recut
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.verbs.tag import NOTHING, tag


@click.command("tag")
@click.argument("session", shell_complete=completion.sessions)
@click.argument("rounds")
@click.argument("engagement_id", shell_complete=completion.engagements)
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
    """Assign rounds to an engagement.

    ROUNDS is 3, 3-7, 1,4-6 or all. The engagement '-' removes a tag. Round files and documents do
    not change.

    \b
    Examples:
      minutebook tag Reed 1-2 search-drift
      minutebook tag Reed 1-2 -
    """
    book = opened(archive, roots)
    tagged = tag(book, session, rounds, engagement_id)
    if as_json:
        print_json(tagged=tagged)
        return
    count = terminal.plural(tagged.rounds, "round")
    what = terminal.one_line(tagged.engagement_id or "no engagement")
    name = terminal.one_line(book.short(tagged.session_id))
    terminal.say(f"{count} of {name} tagged with {what}.")
    print_recut(tagged, f"tag {name} {rounds.strip()} {NOTHING}")
