"""``minutebook export-claude``."""

from __future__ import annotations

import shlex

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_option, json_option
from minutebook.compose import open_house
from minutebook.config import expanded, settings
from minutebook.sources.registry import SOURCES
from minutebook.verbs.export import export_claude
from minutebook.verbs.find_inscription import find_inscription


@click.command("export-claude")
@click.argument("session")
@archive_option
@click.option("--root", metavar="PATH", help="Claude Code's folder. [default: as for reading]")
@click.option("--cwd", metavar="PATH", help="The folder to resume in. [default: the session's own]")
@click.option("--out", metavar="FILE", help="Write the transcript there instead.")
@click.option("--force", is_flag=True, help="Replace what is there; a copy is kept.")
@json_option
def command(
    session: str,
    archive: str | None,
    root: str | None,
    cwd: str | None,
    out: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write an inscribed session as a transcript that `claude --resume` accepts."""
    house = open_house(settings([], archive))
    document = find_inscription(house.layout, session)
    home = expanded(root) if root else SOURCES["claude-code"].default_root()
    target = expanded(out) if out else None
    exported = export_claude(document, root=home, out=target, cwd=cwd, force=force)
    if as_json:
        print_json(exported=exported)
        return
    rounds = terminal.plural(exported.rounds, "round")
    terminal.say(f"{rounds} written to {exported.path}")
    if exported.backup is not None:
        terminal.say(f"What was there is now {exported.backup}")
    for warning in exported.warnings:
        terminal.note(f"Kept in the file, not shown to Claude: {terminal.one_line(warning)}.")
    if out is None and exported.cwd is not None:
        folder = shlex.quote(terminal.one_line(exported.cwd))
        terminal.say(f"Go on with:  cd {folder} && claude --resume {exported.session_id}")
