"""``minutebook context``."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import house_options, json_option
from minutebook.compose import open_house
from minutebook.config import settings
from minutebook.errors import BadArgument
from minutebook.verbs.materialise import Mode, Shelf, materialise
from minutebook.verbs.round_text import LEVELS, Level

_LEVEL = click.Choice(LEVELS)


@click.command("context")
@click.argument("sessions", nargs=-1, metavar="[SESSION[#ROUNDS]]…")
@house_options
@click.option("--full", is_flag=True, help="Every round, every block.")
@click.option("--compressed", is_flag=True, help="A line a round, with what to ask for.")
@click.option("--engagement", metavar="ID", help="Only the rounds of this engagement.")
@click.option("--rounds", metavar="3,7-12", help="Only these rounds.")
@click.option("--query", metavar="TEXT", help="What is about this in full, the rest as lines.")
@click.option("--budget", type=click.IntRange(1), metavar="TOKENS", help="Held, whatever is asked.")
@click.option("--thinking", type=_LEVEL, help="[default: omit; full with --full]")
@click.option("--tool-input", type=_LEVEL, help="[default: summary; full with --full]")
@click.option("--tool-output", type=_LEVEL, help="[default: summary; full with --full]")
@click.option("--secrets", is_flag=True, help="Leave keys and tokens as they are.")
@json_option
def command(
    sessions: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    full: bool,
    compressed: bool,
    engagement: str | None,
    rounds: str | None,
    query: str | None,
    budget: int | None,
    thinking: Level | None,
    tool_input: Level | None,
    tool_output: Level | None,
    secrets: bool,
    as_json: bool,
) -> None:
    """Give an agent exactly the rounds it needs, within its budget.

    Rounds that are not told in full are lines that say how to get them. With --budget and
    nothing else, the newest rounds are told in full. Tokens are counted as bytes / 3.5.
    """
    if full and compressed:
        raise BadArgument("--full tells everything, --compressed nothing: choose one.")
    if compressed and query is not None:
        raise BadArgument("--query tells what is relevant in full: leave --compressed out.")
    mode: Mode = "full" if full else "compressed" if compressed else "recent"
    house = open_house(settings(roots, archive))
    built = materialise(
        Shelf(house.layout, house.library, house.roster),
        sessions,
        mode=mode,
        engagement=engagement,
        rounds=rounds,
        query=query,
        budget=budget,
        thinking=thinking,
        tool_input=tool_input,
        tool_output=tool_output,
        secrets=secrets,
    )
    if as_json:
        print_json(context=built)
    else:
        terminal.say(built.text.rstrip("\n"))
