"""``minutebook mcp``."""

from __future__ import annotations

import json
import shlex

import click

from minutebook.archive import Archive, open_archive
from minutebook.cli import terminal
from minutebook.cli.options import archive_options, of_team, team_option
from minutebook.cli.program import places, program
from minutebook.extras import install_command, missing, needed


@click.command("mcp")
@archive_options
@team_option
@click.option("--config", is_flag=True, help="Print the configuration for Claude Code, and exit.")
def command(roots: tuple[str, ...], archive: str | None, team: bool, config: bool) -> None:
    """Run an MCP server for agents: they search, read and build contexts with it.

    \b
    Examples:
      minutebook mcp --config     # the configuration to copy
      minutebook mcp              # started by the agent, not by you
    """
    chosen = open_archive(archive, roots, create=config)
    if config:
        _print_config(chosen, archive, team=team)
        return
    needed("mcp")
    from minutebook.mcp.server import create_server

    create_server(chosen, of_team(chosen) if team else None).run("stdio")


def _print_config(chosen: Archive, archive: str | None, *, team: bool) -> None:
    command = [*program(), "mcp", *places(chosen, archive), *(["--team"] if team else [])]
    name = "minutebook-team" if team else "minutebook"
    entry = {"command": command[0], "args": command[1:]}
    terminal.say(json.dumps({"mcpServers": {name: entry}}, indent=2))
    if missing("mcp"):
        terminal.note(f"First install what it needs:  {install_command('mcp')}")
    terminal.note("Put this into .mcp.json of a project, or for all of them:")
    terminal.note(f"  claude mcp add --scope user {name} -- {shlex.join(command)}")
