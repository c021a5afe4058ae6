"""``minutebook similar``."""

from __future__ import annotations

import click

from minutebook.archive.relevance import similar
from minutebook.archive.semantic import Meaning
from minutebook.cli import completion, terminal
from minutebook.cli.hits import print_hits
from minutebook.cli.json_output import print_json
from minutebook.cli.new_index import telling_of_a_new_index
from minutebook.cli.options import archive_options, json_option, opened, team_option


@click.command("similar")
@click.argument("address", shell_complete=completion.sessions, metavar="SESSION#ROUND")
@archive_options
@team_option
@click.option("--limit", type=click.IntRange(1, 1000), default=10, metavar="N", show_default=True)
@json_option
def command(
    address: str,
    roots: tuple[str, ...],
    archive: str | None,
    team: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Find rounds that are similar to one, in other sessions.

    \b
    Example:
      minutebook similar Reed#1
    """
    book = opened(archive, roots, team=team)
    session_id, rounds = book.address(address)
    meaning = Meaning(book.layout)
    with telling_of_a_new_index(book):
        hits = similar(
            book,
            session_id,
            rounds[0] if rounds else 1,
            meaning.embedder,
            limit=limit,
            ready=meaning.ready,
        )
    if as_json:
        print_json(hits=hits)
        return
    print_hits(book, hits)
    if len(hits) == limit:
        terminal.note(f"The best {limit} (--limit for more).")
    else:
        terminal.note(
            f"{terminal.plural(len(hits), 'turn')}." if hits else "No similar rounds found."
        )
