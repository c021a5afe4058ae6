"""``minutebook refresh``, which the viewer calls: bring the search index up to date."""

from __future__ import annotations

import click

from minutebook.cli.options import house_options
from minutebook.compose import open_house
from minutebook.config import settings
from minutebook.verbs.refresh import refresh
from minutebook.verbs.semantic import embed


@click.command("refresh")
@house_options
def command(roots: tuple[str, ...], archive: str | None) -> None:
    """Index what is new, by words and by meaning."""
    house = open_house(settings(roots, archive))
    refresh(house.layout, house.library)
    embed(house.layout)
