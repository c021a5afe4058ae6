"""``minutebook context``."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened, secrets_option
from minutebook.errors import BadArgument
from minutebook.verbs.materialise import Mode, materialise
from minutebook.verbs.round_text import LEVELS, Level

_LEVEL = click.Choice(LEVELS)


@click.command("context")
@click.argument("sessions", nargs=-1, metavar="[SESSION[#ROUNDS]]…")
@archive_options
@click.option("--full", is_flag=True, help="Every round, every block.")
@click.option("--compressed", is_flag=True, help="One line per round, with its command.")
@click.option("--engagement", metavar="ID", help="Only the rounds of this engagement.")
@click.option("--rounds", metavar="3,7-12", help="Only these rounds.")
@click.option("--query", metavar="TEXT", help="What answers this first, the rest as lines.")
@click.option(
    "--budget", type=click.IntRange(1), metavar="TOKENS", help="Never exceed this many tokens."
)
@click.option("--thinking", type=_LEVEL, help="[default: omit; full with --full]")
@click.option("--tool-input", type=_LEVEL, help="[default: summary; full with --full]")
@click.option("--tool-output", type=_LEVEL, help="[default: summary; full with --full]")
@secrets_option
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

    A session begins with its goal, decisions, outcome, open ends, pull requests and files. A round
    that is not given in full is one line with the command that shows it. With --budget and nothing
    else, the newest rounds are given in full. With --query, rounds that match are told as their
    prompt, what matches and their answer; then come their neighbours, then lines. Tokens are
    counted as bytes / 3.5.
    """
    if full and compressed:
        raise BadArgument("--full gives every round in full, --compressed none: choose one.")
    if compressed and query is not None:
        raise BadArgument("--query tells the answers that match: leave out --compressed.")
    mode: Mode = "full" if full else "compressed" if compressed else "recent"
    built = materialise(
        opened(archive, roots, secrets=secrets),
        sessions,
        mode=mode,
        engagement=engagement,
        rounds=rounds,
        query=query,
        budget=budget,
        thinking=thinking,
        tool_input=tool_input,
        tool_output=tool_output,
    )
    if as_json:
        print_json(context=built)
    else:
        terminal.say(built.text.rstrip("\n"))
