"""``minutebook config``."""

from __future__ import annotations

import click
import msgspec

from minutebook.archive import Archive
from minutebook.archive.settings import NAMES, Settings, allow, read_settings, set_setting
from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_option, json_option, opened
from minutebook.errors import BadArgument
from minutebook.extras import missing
from minutebook.sources.registry import SOURCES

MEANINGS = {
    "ghost_prompts": "a ghost has fewer prompts",
    "ghost_calls": "a ghost has fewer tool calls",
    "ghost_chars": "a ghost has fewer characters the model wrote",
    "search_tools": "1: what tools did is indexed; 0: only what was said",
}
SENT = "a model may be asked about sessions of {}, and a team may be sent them"


@click.command("config")
@click.argument("name", required=False)
@click.argument("value", required=False)
@archive_option
@click.option("--yes", is_flag=True, help="Do not ask before a program is allowed.")
@json_option
def command(
    name: str | None, value: str | None, archive: str | None, yes: bool, as_json: bool
) -> None:
    """Show the settings of an archive, or change one.

    A session is a ghost if it has fewer than ghost_prompts prompts, fewer than ghost_calls tool
    calls and fewer than ghost_chars characters of answers. With search_tools 0 the index is
    smaller, but commands, output, files and thinking cannot be found. Every verb, the viewer and
    the hook use these settings.

    `allow` lets `ingest` send sessions of another coding agent to a model, and `team push` send
    those you chose; `disallow` takes it back. Until then they are labelled offline and stay here.

    \b
    Examples:
      minutebook config
      minutebook config ghost_prompts 2
      minutebook config allow codex
    """
    book = opened(archive)
    layout = book.layout
    if name in ("allow", "disallow"):
        _allow(book, value, send=name == "allow", asks=not yes, as_json=as_json)
        return
    if name is not None and value is not None:
        settings = set_setting(layout, name, value)
    else:
        settings, _ = read_settings(layout)
    values: dict[str, int] = {known: getattr(settings, known) for known in NAMES}
    if name is not None and name not in values:
        raise BadArgument(f"'{name}' is not a setting; choose one of {', '.join(NAMES)}.")
    if as_json:
        shown = values if name is None else {name: values[name]}
        print_json(settings=shown, allowed=sendable(settings))
    elif name is None:
        for known, found in values.items():
            _print(known, found)
        programs = ", ".join(sendable(settings))
        terminal.say(f"{terminal.pad('allowed', 14)} {terminal.quiet(SENT.format(programs))}")
    elif value is None:
        terminal.say(str(values[name]))
    else:
        due = (
            "The next search indexes anew"
            if name == "search_tools"
            else "`minutebook ingest` labels what is due"
        )
        terminal.say(f"{name} is {values[name]:,} now. {due}.")


def sendable(settings: Settings) -> list[str]:
    """Programs whose sessions a model may be asked about."""
    return [s.program for s in SOURCES.values() if settings.may_send(s.program)]


def _allow(book: Archive, program: str | None, *, send: bool, asks: bool, as_json: bool) -> None:
    if program is None:
        raise BadArgument("Name a program: `minutebook agents` lists them.")
    source = SOURCES.by_program(program)
    if send and source is not None and not read_settings(book.layout)[0].may_send(source.program):
        for address, count in _due(book, source.program).items():
            sessions = terminal.plural(count, "session")
            terminal.note(f"{sessions} of {source.title} would go to {address} by the next push.")
            if asks:
                click.confirm("Allow it?", abort=True, err=True)
    settings = allow(book.layout, program, send=send)
    if as_json:
        print_json(allowed=sendable(settings))
        return
    terminal.say(SENT.format(", ".join(sendable(settings))).capitalize() + ".")
    if send:
        terminal.say(
            "What was labelled offline so far waits: `minutebook ingest --backlog` names its "
            "number and cost, and asks."
        )


def _due(book: Archive, program: str) -> dict[str, int]:
    """How many sessions of a program each team would be sent that one shares with."""
    from minutebook.team.choice import read_teams

    chosen = [team for team in read_teams(book.layout).teams.values() if team.choice is not None]
    if not chosen or missing("team"):  # nobody can push
        return {}
    from minutebook.team.planning import due_of

    counts = {t.address: due_of(book, t.choice, program) for t in chosen if t.choice is not None}
    return {address: count for address, count in counts.items() if count}


def _print(name: str, value: int) -> None:
    default = msgspec.structs.asdict(Settings())[name]
    changed = "" if value == default else f" (default: {default:,})"
    meaning = terminal.quiet(f"{MEANINGS[name]}{changed}")
    terminal.say(f"{terminal.pad(name, 14)} {value:>6,}  {meaning}")
