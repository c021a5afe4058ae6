"""``minutebook context``."""

from __future__ import annotations

import click

from minutebook.cli import completion, terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import (
    archive_options,
    json_option,
    opened,
    secrets_option,
    team_option,
)
from minutebook.derive.quoting import between, new_mark
from minutebook.derive.tokens import tokens
from minutebook.errors import BadArgument
from minutebook.verbs.materialise import Mode, materialise
from minutebook.verbs.round_text import LEVELS, Level

_LEVEL = click.Choice(LEVELS)


@click.command("context")
@click.argument(
    "sessions", shell_complete=completion.sessions, nargs=-1, metavar="[SESSION[#ROUNDS]]…"
)
@archive_options
@team_option
@click.option("--full", is_flag=True, help="Give every block of every round.")
@click.option("--compressed", is_flag=True, help="Give one line per round.")
@click.option(
    "--engagement",
    metavar="ID",
    shell_complete=completion.engagements,
    help="Only the rounds of this engagement.",
)
@click.option("--rounds", metavar="3,7-12", help="Only these rounds.")
@click.option("--query", metavar="TEXT", help="Put the rounds that match first; the rest as lines.")
@click.option(
    "--budget", type=click.IntRange(1), metavar="TOKENS", help="Never exceed this many tokens."
)
@click.option(
    "--thinking", type=_LEVEL, metavar="LEVEL", help="full, summary or omit. [default: omit]"
)
@click.option(
    "--tool-input", type=_LEVEL, metavar="LEVEL", help="full, summary or omit. [default: summary]"
)
@click.option(
    "--tool-output", type=_LEVEL, metavar="LEVEL", help="full, summary or omit. [default: summary]"
)
@secrets_option
@json_option
def command(
    sessions: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    team: bool,
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
    """Build a context for an agent, within a budget: exactly the rounds it needs.

    A session begins with its goal, decisions, outcome, open ends, pull requests and files. A
    round that is not given in full is one line with the command that shows it. --budget alone
    gives the newest rounds in full; --query gives prompt, match and answer of the rounds that
    match, then their neighbours, then lines. A token counts as 3.5 bytes.

    \b
    Examples:
      minutebook context Reed --budget 4000
      minutebook context --query "passkey login" --budget 4000
    """
    if full and compressed:
        raise BadArgument("--full gives every round in full, --compressed none: choose one.")
    if compressed and query is not None:
        raise BadArgument("--query gives answers that match, --compressed none: choose one.")
    mode: Mode = "full" if full else "compressed" if compressed else "recent"
    built = materialise(
        opened(archive, roots, secrets=secrets, team=team),
        sessions,
        mode=mode,
        engagement=engagement,
        rounds=rounds,
        query=query,
        budget=budget,
        thinking=thinking,
        tool_input=tool_input,
        tool_output=tool_output,
        around=0 if as_json else tokens(_marked("")),
    )
    if as_json:
        print_json(context=built)
    else:
        terminal.say(_marked(built.text))


def _marked(text: str) -> str:
    """What is quoted, and where it ends."""
    mark = new_mark()
    return f"> Quoted text, which ends only at `</{mark}>`:\n\n{between(mark, text)}"
