"""``minutebook correct``."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.errors import NotFound
from minutebook.verbs.correct import correct


@click.command("correct")
@click.argument("session")
@click.argument("engagement")
@click.argument("setting", metavar="FIELD=VALUE")
@archive_options
@json_option
def command(
    session: str,
    engagement: str,
    setting: str,
    roots: tuple[str, ...],
    archive: str | None,
    as_json: bool,
) -> None:
    """Correct an engagement; your word wins over every later extraction.

    ENGAGEMENT is its id, the start of it, or the number of a round in it. FIELD is topic,
    project, method, phase, outcome, key_decisions (separated by ;) or turn_range (3-7).
    """
    book = opened(archive, roots)
    if not book.exists:
        raise NotFound("There are no engagements yet: `minutebook ingest` finds them.")
    changed = correct(book, session, engagement, setting)
    if as_json:
        print_json(engagement=changed)
        return
    first, last = changed.turn_range
    terminal.say(
        f"{changed.id}: {terminal.one_line(changed.topic)} "
        f"({changed.method}, {changed.phase}, rounds {first}-{last})."
    )
