"""``minutebook similar``."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.cli.hits import print_hits
from minutebook.cli.json_output import print_json
from minutebook.cli.options import house_options, json_option
from minutebook.compose import open_house
from minutebook.config import settings
from minutebook.verbs.find import find_rounds
from minutebook.verbs.search import similar
from minutebook.verbs.semantic import Meaning


@click.command("similar")
@click.argument("address", metavar="SESSION#ROUND")
@house_options
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True)
@json_option
def command(
    address: str, roots: tuple[str, ...], archive: str | None, limit: int, as_json: bool
) -> None:
    """Find turns of other sessions that are about the same as one."""
    house = open_house(settings(roots, archive))
    transcript, rounds = find_rounds(house.library, house.roster, address)
    meaning = Meaning(house.layout)
    hits = similar(
        house.layout,
        house.library,
        transcript.session_id,
        rounds[0] if rounds else 1,
        meaning.embedder,
        limit=limit,
        ready=meaning.ready,
    )
    if as_json:
        print_json(hits=hits)
        return
    print_hits(hits)
    if not hits:
        terminal.note("Nothing is like it.")
