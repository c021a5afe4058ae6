"""``minutebook welcome``, which `make run` calls: the first look, with minutes."""

from __future__ import annotations

import click


@click.command("welcome")
def command() -> None:
    """Ingest what there is (or the examples) offline, and show it."""
    from minutebook.cli.overview import print_overview

    print_overview(minutes=True)
