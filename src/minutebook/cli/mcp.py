"""``minutebook mcp``."""

from __future__ import annotations

import json
import shlex

import click

from minutebook.archive import Archive, open_archive
from minutebook.cli import terminal
from minutebook.cli.options import archive_options
from minutebook.cli.program import places, program


@click.command("mcp")
@archive_options
@click.option("--config", is_flag=True, help="Print the configuration for Claude Code and exit.")
def command(roots: tuple[str, ...], archive: str | None, config: bool) -> None:
    """Let agents search, read and build contexts, over the Model Context Protocol."""
    chosen = open_archive(archive, roots, create=config)
    if config:
        _print_config(chosen, archive)
        return
    from minutebook.mcp.server import create_server

    create_server(chosen).run("stdio")


def _print_config(chosen: Archive, archive: str | None) -> None:
    command = [*program(), "mcp", *places(chosen, archive)]
    entry = {"command": command[0], "args": command[1:]}
    terminal.say(json.dumps({"mcpServers": {"minutebook": entry}}, indent=2))
    terminal.note("Put this into .mcp.json of a project, or for all of them:")
    terminal.note(f"  claude mcp add --scope user minutebook -- {shlex.join(command)}")
