"""``minutebook append``."""

from __future__ import annotations

import click

from minutebook.cli import completion
from minutebook.cli.inscribe import inscribe_and_report, transcripts_of
from minutebook.cli.options import archive_options, json_option, opened


@click.command("append")
@click.argument(
    "sessions", shell_complete=completion.sessions, nargs=-1, required=True, metavar="SESSION..."
)
@archive_options
@click.option("--ended", is_flag=True, help="Treat the sessions as finished, however recent.")
@json_option
def command(
    sessions: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    ended: bool,
    as_json: bool,
) -> None:
    """Add new rounds to archived sessions.

    Safe while a session is running.

    \b
    Examples:
      minutebook append Reed
      minutebook append Reed 3a4d64e0 --ended
    """
    book = opened(archive, roots)
    transcripts = transcripts_of(book, sessions)
    for transcript in transcripts:
        book.folder(transcript.session_id)  # an error where it is not archived yet
    inscribe_and_report(book, transcripts, ended, as_json)
