"""``minutebook append``."""

from __future__ import annotations

import click

from minutebook.cli.inscribe import inscribe_and_report
from minutebook.cli.options import house_options, json_option
from minutebook.compose import open_house
from minutebook.config import settings
from minutebook.errors import NotFound
from minutebook.verbs.find import find_session


@click.command("append")
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@house_options
@click.option("--ended", is_flag=True, help="The sessions are over, however young their files are.")
@json_option
def command(
    sessions: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    ended: bool,
    as_json: bool,
) -> None:
    """Add what is new to inscribed sessions; safe while they are running."""
    house = open_house(settings(roots, archive))
    transcripts = [find_session(house.library, house.roster, name) for name in sessions]
    for transcript in transcripts:
        if house.layout.find(transcript.session_id) is None:
            raise NotFound(
                f"{transcript.session_id[:8]} is not inscribed yet: "
                f"`minutebook inscribe {transcript.session_id[:8]}`."
            )
    inscribe_and_report(house, transcripts, ended, as_json)
