"""``minutebook config``."""

from __future__ import annotations

import click
import msgspec

from minutebook.archive.settings import NAMES, Settings, allow, read_settings, set_setting
from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_option, json_option, opened
from minutebook.errors import BadArgument
from minutebook.record.layout import Layout
from minutebook.sources.registry import SOURCES

MEANINGS = {
    "ghost_prompts": "a ghost has fewer prompts",
    "ghost_calls": "a ghost has fewer tool calls",
    "ghost_chars": "a ghost has fewer characters the model wrote",
    "search_tools": "1: what tools did is indexed; 0: only what was said",
}
SENT = "a model may be asked about sessions of {}"


@click.command("config")
@click.argument("name", required=False)
@click.argument("value", required=False)
@archive_option
@json_option
def command(name: str | None, value: str | None, archive: str | None, as_json: bool) -> None:
    """Show the settings of an archive, or one of them, or set one.

    A session is a ghost while it has fewer than ghost_prompts prompts, fewer than ghost_calls
    tool calls and fewer than ghost_chars characters the model wrote. With search_tools 0 the
    index is smaller, and commands, output, files and thinking are not found. Every verb, the
    viewer and the hook go by these settings.

    `minutebook config allow PROGRAM` lets `ingest` ask a model about sessions of another coding
    agent, too; `disallow` takes it back. Until then they are labelled offline.
    """
    layout = opened(archive).layout
    if name in ("allow", "disallow"):
        _allow(layout, value, send=name == "allow", as_json=as_json)
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


def _allow(layout: Layout, program: str | None, *, send: bool, as_json: bool) -> None:
    if program is None:
        raise BadArgument("Name a program: `minutebook agents` lists them.")
    settings = allow(layout, program, send=send)
    if as_json:
        print_json(allowed=sendable(settings))
        return
    terminal.say(SENT.format(", ".join(sendable(settings))).capitalize() + ".")
    if send:
        terminal.say(
            "What was labelled offline so far waits: `minutebook ingest --backlog` names its "
            "number and cost, and asks."
        )


def _print(name: str, value: int) -> None:
    default = msgspec.structs.asdict(Settings())[name]
    changed = "" if value == default else f" (default: {default:,})"
    meaning = terminal.quiet(f"{MEANINGS[name]}{changed}")
    terminal.say(f"{terminal.pad(name, 14)} {value:>6,}  {meaning}")
