"""``minutebook thread``."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.errors import BadArgument


@click.command("thread")
@click.argument("session")
@click.argument("engagement")
@click.argument("name", required=False)
@click.option("--none", "alone", is_flag=True, help="It belongs to no thread.")
@click.option("--forget", is_flag=True, help="Take back what you said of it.")
@archive_options
@json_option
def command(
    session: str,
    engagement: str,
    name: str | None,
    alone: bool,
    forget: bool,
    roots: tuple[str, ...],
    archive: str | None,
    as_json: bool,
) -> None:
    """Say which thread an engagement belongs to; your word wins over what was found.

    ENGAGEMENT is its id or one of its rounds, NAME a new name or the id of a thread there is
    (`minutebook search --threads`).
    """
    from minutebook.verbs.thread import set_thread

    if (name is not None) + alone + forget != 1:
        raise BadArgument("Give a NAME, --none or --forget: one of them.")
    done = set_thread(opened(archive, roots), session, engagement, name, forget=forget)
    if as_json:
        print_json(threaded=done)
        return
    where = f"thread {terminal.one_line(done.thread)}" if done.thread else "no thread"
    terminal.say(
        f"{terminal.one_line(done.engagement_id)} of {done.session_id[:8]} belongs to {where}."
    )
