"""``minutebook`` without a verb: what there is, and what to try."""

from __future__ import annotations

from pathlib import Path

import click

from minutebook.cli import terminal
from minutebook.cli.sessions import print_remarks, print_rows
from minutebook.compose import open_house
from minutebook.config import settings
from minutebook.verbs.doctor import SOON_DAYS, clean_ups
from minutebook.verbs.sessions import list_sessions

_NEWEST = 10


def print_overview(root: Path | None = None) -> None:
    """The newest sessions under a folder; the example sessions where there are none."""
    house = open_house(settings([root] if root else []))
    if root is None and not house.library.transcripts:
        from minutebook.cli.demo import example_folder

        folder = example_folder()
        terminal.say("No transcripts of Claude Code here, so these are example sessions.")
        terminal.say()
        print_overview(folder)
        return
    found = list_sessions(house.library, house.roster)
    print_rows(found.rows[:_NEWEST])
    print_remarks(found, shown=min(len(found.rows), _NEWEST))
    if not found.rows:
        return
    terminal.say()
    rounds = sum(row.info.rounds for row in found.rows)
    projects = {row.info.project for row in found.rows if row.info.project}
    counts = (
        terminal.plural(len(found.rows), "session"),
        terminal.plural(rounds, "round"),
        terminal.plural(len(projects), "project"),
    )
    terminal.say(click.style(f"Found {', '.join(counts)}.", bold=True))
    threatened = sum(item.overdue + item.soon for item in clean_ups(house.library))
    if threatened and root is None:
        line = (
            f"{terminal.plural(threatened, 'transcript')} will be deleted within {SOON_DAYS} days."
        )
        terminal.say(click.style(line, fg="yellow"))
    place = f" --root {root}" if root else ""
    terminal.say()
    terminal.say("Try:")
    terminal.say(f"  minutebook show {found.rows[0].info.id[:8]}{place}")
    terminal.say(f"  minutebook sessions --ghosts{place}")
    terminal.say(f"  minutebook doctor{place}")
