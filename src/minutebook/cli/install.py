"""``minutebook install``."""

from __future__ import annotations

import shlex

import click

from minutebook.archive import Archive, open_archive
from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option
from minutebook.cli.program import places, program
from minutebook.config import expanded
from minutebook.sources.registry import SOURCES
from minutebook.verbs.install_claude import ClaudeHome, Installed
from minutebook.verbs.install_service import (
    Unit,
    launchd_unit,
    remove_unit,
    systemd_unit,
    write_unit,
)


@click.command("install")
@click.argument("what", type=click.Choice(("claude-code", "systemd", "launchd")))
@archive_options
@click.option("--uninstall", is_flag=True, help="Take it away again, without a trace.")
@click.option("--dry-run", is_flag=True, help="Show what would be written; do nothing.")
@json_option
def command(
    what: str,
    roots: tuple[str, ...],
    archive: str | None,
    uninstall: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make it happen by itself: a skill and a hook for Claude Code, or a service.

    claude-code: agents learn when and how to recall, and minutes are taken, offline, when a
    session ends. Your settings are merged, a copy is kept. systemd, launchd: a unit that
    runs `minutebook watch`.
    """
    chosen = open_archive(archive, roots, create=True)  # only for its place: nothing is written
    if what == "claude-code":
        root = (expanded(roots[0]) if roots else SOURCES["claude-code"].default_root()).absolute()
        home = ClaudeHome(root, _for_claude(chosen, archive))
        done = home.uninstall(dry_run=dry_run) if uninstall else home.install(dry_run=dry_run)
        if as_json:
            print_json(installed=done)
        else:
            _print_claude(done, roots, dry_run=dry_run)
        return
    make = systemd_unit if what == "systemd" else launchd_unit
    log = chosen.root.absolute() / "watch.log"
    unit = make([*program(), "watch", *places(chosen, archive)], log)
    if not dry_run:
        remove_unit(unit) if uninstall else write_unit(unit)
    if as_json:
        print_json(unit=unit)
    else:
        _print_unit(unit, uninstall=uninstall, dry_run=dry_run)


def _for_claude(chosen: Archive, archive: str | None) -> list[str]:
    """The program, with the archive a person chose in its environment."""
    if "--archive" not in places(chosen, archive):
        return program()
    return ["env", f"MINUTEBOOK_ARCHIVE={chosen.root.absolute()}", *program()]


def _print_claude(done: Installed, roots: tuple[str, ...], *, dry_run: bool) -> None:
    verb = "would be " if dry_run else ""
    if done.removed:
        terminal.say(f"The skill and the hook {verb or 'are '}gone from {done.settings.parent}.")
        if done.remark:
            terminal.note(f"Note: {done.remark}.")
        return
    for path in done.files:
        terminal.say(f"{verb}written: {path}")
    if done.already:
        terminal.say(f"The hook is in {done.settings} already.")
    else:
        terminal.say(f"{verb}merged:  {done.settings} (a SessionEnd hook)")
    if done.backup is not None:
        terminal.say(f"{verb}copied:  what was there, to {done.backup}")
    place = f" --root {shlex.quote(roots[0])}" if roots else ""
    terminal.say(f"Take it away with `minutebook install claude-code --uninstall{place}`.")


def _print_unit(unit: Unit, *, uninstall: bool, dry_run: bool) -> None:
    if dry_run and uninstall:
        terminal.say(f"would be removed: {unit.path}")
        return
    if dry_run:
        terminal.say(f"# {unit.path}")
        terminal.say(unit.content)
        return
    if uninstall:
        terminal.say(f"{unit.path} is gone. If it is still running:  {unit.stop}")
        return
    terminal.say(f"Written: {unit.path}")
    terminal.say(f"Start it:  {unit.start}")
