"""``minutebook mcp``."""

from __future__ import annotations

import json
import shlex
import shutil
import sys

import click

from minutebook.cli import terminal
from minutebook.cli.options import house_options
from minutebook.compose import open_house
from minutebook.config import settings


@click.command("mcp")
@house_options
@click.option("--config", is_flag=True, help="Show what to tell Claude Code, and do nothing else.")
def command(roots: tuple[str, ...], archive: str | None, config: bool) -> None:
    """Let agents ask: search, show, context, decisions, over the Model Context Protocol."""
    chosen = settings(roots, archive)
    if config:
        _print_config(roots, archive)
        return
    from minutebook.mcp.server import create_server

    create_server(open_house(chosen).layout, chosen.roots).run("stdio")


def _print_config(roots: tuple[str, ...], archive: str | None) -> None:
    found = shutil.which("minutebook")
    program = [found] if found else [sys.executable, "-m", "minutebook"]
    places = [part for root in roots for part in ("--root", root)]
    kept = ["--archive", archive] if archive else []
    command = [*program, "mcp", *places, *kept]
    entry = {"command": command[0], "args": command[1:]}
    terminal.say(json.dumps({"mcpServers": {"minutebook": entry}}, indent=2))
    terminal.note("Put this into .mcp.json of a project, or for all of them:")
    terminal.note(f"  claude mcp add --scope user minutebook -- {shlex.join(command)}")
