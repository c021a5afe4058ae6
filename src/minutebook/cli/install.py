"""``minutebook install``."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from minutebook.archive import Archive, open_archive
from minutebook.cli import terminal
from minutebook.cli.completion import source_for
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option
from minutebook.cli.program import places, program
from minutebook.config import expanded
from minutebook.errors import BadArgument
from minutebook.sources.registry import SOURCES
from minutebook.verbs.install_agents import agent_home, hooked
from minutebook.verbs.install_completion import (
    SHELLS,
    remove_shell_file,
    shell_file,
    shell_of,
    write_shell_file,
)
from minutebook.verbs.install_service import (
    Unit,
    launchd_unit,
    remove_unit,
    systemd_unit,
    write_unit,
)
from minutebook.verbs.installing import Installed

_SERVICES = ("systemd", "launchd")


@click.command("install")
@click.argument("what", metavar="WHAT")
@archive_options
@click.option(
    "--shell",
    type=click.Choice(SHELLS),
    metavar="SHELL",
    help="For completion: bash, zsh or fish. [default: yours]",
)
@click.option("--uninstall", is_flag=True, help="Remove it completely.")
@click.option("--dry-run", is_flag=True, help="Show what would be written; write nothing.")
@json_option
def command(
    what: str,
    roots: tuple[str, ...],
    archive: str | None,
    shell: str | None,
    uninstall: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Install a hook, a background service or shell completion.

    A hook ingests offline without making the agent wait: when a session of Claude Code or Gemini
    CLI ends, or after every turn of Codex CLI and OpenCode. claude-code also installs a skill that
    teaches Claude when to recall. Settings are merged, and a copy of the old ones is kept; --root
    names another configuration folder of the agent. systemd and launchd run `minutebook watch`,
    for agents without hooks.

    \b
    Examples:
      minutebook install claude-code --dry-run
      minutebook install systemd
      minutebook install completion --shell zsh
    """
    if what == "completion":
        _complete(shell, uninstall=uninstall, dry_run=dry_run, as_json=as_json)
        return
    if what not in _SERVICES:
        _refuse_unhooked(what)
    chosen = open_archive(archive, roots, create=True)  # only for its place: nothing is written
    if what not in _SERVICES:
        home = agent_home(what, expanded(roots[0]) if roots else None, _command(chosen, archive))
        done = home.uninstall(dry_run=dry_run) if uninstall else home.install(dry_run=dry_run)
        if as_json:
            print_json(installed=done, dry_run=dry_run)
        else:
            _print_installed(what, done, roots, dry_run=dry_run)
        return
    make = systemd_unit if what == "systemd" else launchd_unit
    log = chosen.root.absolute() / "watch.log"
    unit = make([*program(), "watch", *places(chosen, archive)], log)
    if not dry_run:
        remove_unit(unit) if uninstall else write_unit(unit)
    if as_json:
        print_json(unit=unit, dry_run=dry_run)
    else:
        _print_unit(unit, uninstall=uninstall, dry_run=dry_run)


def _complete(shell: str | None, *, uninstall: bool, dry_run: bool, as_json: bool) -> None:
    environment = dict(os.environ)
    chosen = shell or shell_of(environment)
    content = source_for(chosen, click.get_current_context().find_root().command)
    file = shell_file(chosen, content, Path.home(), environment)
    if not dry_run:
        remove_shell_file(file) if uninstall else write_shell_file(file)
    if as_json:
        print_json(completion=file, dry_run=dry_run)
        return
    verb = "would be " if dry_run else ""
    terminal.say(f"{verb}{'removed' if uninstall else 'written'}: {file.path}")
    if not uninstall:
        terminal.say(file.hint)


def _refuse_unhooked(what: str) -> None:
    """Say what to do for an agent without hooks, and what there is to choose from."""
    if what in hooked():
        return
    source = SOURCES.by_program(what)
    if source is None:
        choices = ", ".join((*hooked(), *_SERVICES, "completion"))
        raise BadArgument(f"{what!r} cannot be installed: choose one of {choices}.")
    raise BadArgument(
        f"There is no hook for {source.title}. `minutebook watch` takes its minutes as they "
        "come; `minutebook install systemd` (or launchd) keeps that running."
    )


def _command(chosen: Archive, archive: str | None) -> list[str]:
    """The program, with the archive a person chose in its environment."""
    if "--archive" not in places(chosen, archive):
        return program()
    return ["env", f"MINUTEBOOK_ARCHIVE={chosen.root.absolute()}", *program()]


def _print_installed(what: str, done: Installed, roots: tuple[str, ...], *, dry_run: bool) -> None:
    verb = "would be " if dry_run else ""
    if done.removed:
        for path in done.files:
            terminal.say(f"{verb}removed: {path}")
        if done.settings is not None:
            what_of_it = "removed" if done.emptied else "without our hook"
            terminal.say(f"{verb}{what_of_it}: {done.settings}")
        if done.remark:
            terminal.note(f"Note: {done.remark}.")
        return
    for path in done.files:
        if (text := done.contents.get(str(path))) is not None:
            terminal.say(f"# {path}")
            terminal.say(text)
        else:
            terminal.say(f"written: {path}")
    if done.settings is not None and done.already:
        terminal.say(f"The hook is already in {done.settings}.")
    elif done.settings is not None:
        terminal.say(f"{verb}merged:  {done.settings} ({hooked()[what].when})")
        for line in done.added:
            terminal.say(f"  + {line}")
    if done.backup is not None:
        terminal.say(f"{verb}copied:  what was there, to {done.backup}")
    place = f" --root {shlex.quote(roots[0])}" if roots else ""
    terminal.say(f"Remove it with `minutebook install {what} --uninstall{place}`.")


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
