"""``minutebook status``."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.cli.doctor import warn_of_clean_ups
from minutebook.cli.inscribe import held_back
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.sources.base import Transcript
from minutebook.verbs.status import status

_MOST = 8


@click.command("status")
@archive_options
@json_option
def command(roots: tuple[str, ...], archive: str | None, as_json: bool) -> None:
    """Show what is archived, what has grown, what waits, and what is about to be deleted.

    \b
    Example:
      minutebook status
    """
    found = status(opened(archive, roots))
    if as_json:
        print_json(status=found)
        return
    terminal.say(f"Archive: {found.archive}")
    orphaned = f", {found.orphaned:,} of them without their source" if found.orphaned else ""
    terminal.say(f"{terminal.plural(found.inscribed, 'session')} inscribed{orphaned}.")
    if found.first_release:
        terminal.say("Some of it is in the first release's format: the next `ingest` upgrades it.")
    if found.before_upgrade is not None:
        terminal.say(f"Copies from before the upgrade are in {found.before_upgrade}")
    _list("has a changed transcript", "have changed transcripts", found.grown)
    _list("is over and not inscribed", "are over and not inscribed", found.ended)
    _list("may still be running", "may still be running", found.live)
    if found.held_back:
        terminal.say(held_back(found.held_back))
    _lost(found.lost)
    warn_of_clean_ups(found.clean_ups)
    if found.grown or found.ended:
        terminal.say("`minutebook inscribe --all` archives what is new there, if anything.")


def _lost(lost: dict[str, int]) -> None:
    if not lost:
        return
    sessions = terminal.plural(len(lost), "session")
    rounds = terminal.plural(sum(lost.values()), "round")
    terminal.say(f"Lost with the transcripts of {sessions}, before they were archived: {rounds}.")
    for id, count in list(lost.items())[:_MOST]:
        name = terminal.one_line(id)[:36]
        terminal.say(terminal.quiet(f"  {name}  {terminal.plural(count, 'round')}"))
    if len(lost) > _MOST:
        terminal.say(terminal.quiet(f"  … and {len(lost) - _MOST} more"))


def _list(one: str, many: str, transcripts: list[Transcript]) -> None:
    if not transcripts:
        return
    terminal.say(terminal.plural(len(transcripts), f"session {one}", f"sessions {many}") + ":")
    for transcript in transcripts[:_MOST]:
        name = terminal.one_line(transcript.session_id)[:36]
        terminal.say(terminal.quiet(f"  {name}  {terminal.size(transcript.size)}"))
    if len(transcripts) > _MOST:
        terminal.say(terminal.quiet(f"  … and {len(transcripts) - _MOST} more"))
