"""``minutebook mcp``."""

from __future__ import annotations

import json
import shlex

import click

from minutebook.cli import terminal
from minutebook.cli.options import house_options
from minutebook.cli.program import places, program
from minutebook.compose import open_house
from minutebook.config import Settings, settings


@click.command("mcp")
@house_options
@click.option("--config", is_flag=True, help="Show what to tell Claude Code, and do nothing else.")
def command(roots: tuple[str, ...], archive: str | None, config: bool) -> None:
    """Let agents ask: search, show, context, decisions, over the Model Context Protocol."""
    chosen = settings(roots, archive)
    if config:
        _print_config(chosen, archive)
        return
    from minutebook.mcp.server import create_server

    create_server(open_house(chosen).layout, chosen.roots).run("stdio")


def _print_config(chosen: Settings, archive: str | None) -> None:
    command = [*program(), "mcp", *places(chosen, archive)]
    entry = {"command": command[0], "args": command[1:]}
    terminal.say(json.dumps({"mcpServers": {"minutebook": entry}}, indent=2))
    terminal.note("Put this into .mcp.json of a project, or for all of them:")
    terminal.note(f"  claude mcp add --scope user minutebook -- {shlex.join(command)}")
