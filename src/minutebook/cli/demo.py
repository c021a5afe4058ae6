"""``minutebook demo``."""

from __future__ import annotations

from pathlib import Path

import click

from minutebook.cli import terminal
from minutebook.config import expanded, user_data_folder


@click.command("demo")
@click.option("--into", metavar="FOLDER", help="Write the example transcripts to FOLDER.")
def command(into: str | None) -> None:
    """Try minutebook on example sessions; nothing of yours is read or changed.

    \b
    Example:
      minutebook demo
    """
    from minutebook.cli.overview import print_overview

    folder = example_folder(expanded(into) if into else None)
    terminal.say(f"Example transcripts: {folder}")
    terminal.say()
    print_overview(folder, minutes=True)


def example_folder(into: Path | None = None) -> Path:
    """The example sessions, written where they can be read like real ones."""
    from minutebook.examples import write_demonstration

    folder = into or user_data_folder() / "minutebook" / "examples"
    write_demonstration(folder)
    return folder
