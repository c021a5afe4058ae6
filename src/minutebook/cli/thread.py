"""``minutebook thread``."""

from __future__ import annotations

import click

from minutebook.archive.saying import Spoken
from minutebook.cli import completion, terminal
from minutebook.cli.corrected import ALREADY
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.errors import BadArgument
from minutebook.model.said import Thread, Unthread
from minutebook.verbs.correct import refuse_nothing


@click.command("thread")
@click.argument("session", shell_complete=completion.sessions)
@click.argument("engagement", shell_complete=completion.engagements)
@click.argument("name", required=False)
@click.option("--none", "alone", is_flag=True, help="Put it in no thread.")
@click.option("--forget", is_flag=True, help="Go back to the thread that was found automatically.")
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
    """Assign an engagement to a thread; your word wins over what was found.

    ENGAGEMENT is its id or one of its rounds. NAME is a new name, or the id of an existing thread
    (`minutebook search --threads`). `minutebook correct undo` takes it back.

    \b
    Examples:
      minutebook thread Reed 1 search-drift
      minutebook thread Reed 1 --forget
    """
    if (name is not None) + alone + forget != 1:
        raise BadArgument("Give one of NAME, --none and --forget.")
    if name is not None and not name.strip():
        raise BadArgument("A thread's name cannot be empty. Use --none for no thread.")
    statement = Unthread(engagement) if forget else Thread(engagement, name=name or "")
    book = opened(archive, roots)
    refuse_nothing(book, session, statement)
    spoken = book.say(session, statement)
    id = spoken.engagement.id if spoken.engagement is not None else engagement
    session_id, hidden = spoken.session.session_id, _hidden(spoken)
    if as_json:
        done = {"session_id": session_id, "engagement_id": id, "thread": spoken.thread}
        print_json(threaded={**done, "hidden": hidden is not None})
        return
    short = terminal.one_line(book.short(session_id))
    if spoken.said is None:
        terminal.note(ALREADY)
    said = spoken.engagement.said_thread if spoken.engagement is not None else None
    print_thread(short, id, spoken.thread or said)
    if hidden is not None:
        way = terminal.one_line(f"correct unhide {short}{hidden}")
        terminal.say(f"It is hidden, so threads leave it out; `minutebook {way}` shows it again.")


def _hidden(spoken: Spoken) -> str | None:
    """What to name beside the session to show an engagement again; None where it is not hidden."""
    if spoken.session.hidden:
        return ""
    engagement = spoken.engagement
    return f" {engagement.id}" if engagement is not None and engagement.hidden else None


def print_thread(session: str, engagement: str, thread: str | None) -> None:
    """Where an engagement belongs now."""
    where = f"thread {terminal.one_line(thread)}" if thread else "no thread"
    terminal.say(
        f"{terminal.one_line(engagement)} of {terminal.one_line(session)} belongs to {where}."
    )
