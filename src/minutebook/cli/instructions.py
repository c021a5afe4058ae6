"""``minutebook instructions``."""

from __future__ import annotations

import click

from minutebook.archive import Archive
from minutebook.archive.instructions import (
    FileDiff,
    InstructionVersions,
    Outcomes,
    SessionInstructions,
    compare,
    content_of,
    versions,
)
from minutebook.cli import completion, terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened, secrets_option
from minutebook.derive.instructions import Instruction
from minutebook.errors import BadArgument

_LISTED = 20
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("instructions")
@click.argument("session", shell_complete=completion.sessions, required=False)
@click.option(
    "--diff", "other", metavar="SESSION", help="Show what changed from SESSION to this one."
)
@click.option("--show", "version", metavar="HASH", help="Print one version.")
@archive_options
@secrets_option
@json_option
def command(
    session: str | None,
    other: str | None,
    version: str | None,
    roots: tuple[str, ...],
    archive: str | None,
    secrets: bool,
    as_json: bool,
) -> None:
    """Show which instructions a session had (AGENTS.md and the like).

    Without SESSION: every version in the archive, with the sessions that had it.

    \b
    Examples:
      minutebook instructions
      minutebook instructions Reed
    """
    if other is not None and session is None:
        raise BadArgument("Name two sessions: `minutebook instructions ONE --diff OTHER`.")
    if version is not None and session is not None:
        raise BadArgument("Choose SESSION or --show HASH, not both.")
    book = opened(archive, roots, secrets=secrets)
    if version is not None:
        content = content_of(book, version)
        if as_json:
            print_json(content=content)
        else:
            terminal.say(content.rstrip("\n"))
    elif session is None:
        _show_versions(versions(book), as_json)
    elif other is None:
        told = book.instructions(session)
        if as_json:
            print_json(instructions=told)
        else:
            _show_session(book, told)
    else:
        found = compare(book, session, other)
        if as_json:
            print_json(before=book.resolve(session), after=book.resolve(other), files=found)
        else:
            _show_diff(found, *(_dated(book, name) for name in (session, other)))


def _show_session(book: Archive, told: SessionInstructions) -> None:
    name = f"{book.short(told.session_id)}  {terminal.one_line(told.name)}"
    terminal.say(click.style(terminal.fit(name, terminal.columns()), bold=True))
    where = terminal.one_line(told.cwd or "")
    for file in told.files:
        size = f"{file.size:,} bytes" if file.hash else ""
        terminal.say(f"  {file.hash or '-':16}  {file.scope:7}  {terminal.one_line(file.path)}")
        terminal.say(
            terminal.quiet(f"  {'':16}  {', '.join(filter(None, (_evidence(file), size)))}")
        )
    for change in told.changed:
        terminal.say(f"  Changed in #{change.round}: {terminal.one_line(change.path)}")
    if told.project == "gone":
        known = "Only what the transcript records is known." if told.files else "Nothing is known."
        terminal.say(f"The project's folder is gone: {where}. {known}")
    elif told.project == "unknown":
        terminal.say("The session names no folder.")
    elif not told.files:
        terminal.say(f"No instructions were found for {where}.")
    if not told.kept:
        terminal.note(
            "Found just now, but not archived: `minutebook ingest` keeps those of new sessions, "
            "`minutebook rebuild` of all."
        )


def _evidence(file: Instruction) -> str:
    if file.grade == "recorded":
        how = "put into the window" if file.how == "attached" else "read by a tool"
        return f"recorded: {how} in #{file.round}"
    if file.grade == "git":
        return f"git: commit {(file.commit or '')[:10]} of {(file.committed or '')[:10]}"
    if file.grade == "present":
        return f"present: the file, unchanged since {(file.changed or '')[:10]}"
    return f"unknown: {file.note or 'nothing was found'}"


def _dated(book: Archive, name: str) -> str:
    """A session by its id and the day it began."""
    summary = book.summary(book.resolve(name))
    return f"{book.short(summary.id)} ({(summary.info.started or 'undated')[:10]})"


def _show_diff(found: list[FileDiff], first: str, second: str) -> None:
    if not found:
        terminal.say("Nothing is known of the instructions of either session.")
    for file in found:
        head = f"{terminal.one_line(file.path)}: {file.state}"
        if file.state not in ("same", "unknown"):
            head += f" ({file.before or '-'} → {file.after or '-'})"
        terminal.say(click.style(head, bold=True))
        for line in file.diff.split("\n") if file.diff else ():
            clean = terminal.clean(line)
            terminal.say(click.style(clean, fg=_COLOURS.get(clean[:1])))
        if file.state == "changed":
            _say_outcomes(first, file.outcomes_before)
            _say_outcomes(second, file.outcomes_after)


def _say_outcomes(which: str, counts: Outcomes | None) -> None:
    if counts is None:
        return
    told = f"{terminal.plural(counts.sessions, 'session')}, "
    told += terminal.plural(counts.engagements, "engagement")
    for group in (counts.phases, counts.methods):
        if group:
            told += "; " + ", ".join(f"{count} {name}" for name, count in group.items())
    terminal.say(f"  With the version of {which}: {told}.")


def _show_versions(found: InstructionVersions, as_json: bool) -> None:
    if as_json:
        print_json(
            versions=found.versions,
            sessions=found.sessions,
            without=found.without,
            unkept=found.unkept,
        )
        return
    for version in found.versions[:_LISTED]:
        paths = terminal.one_line(version.paths[0])
        if len(version.paths) > 1:
            paths += f" (+{len(version.paths) - 1})"
        days = " to ".join(dict.fromkeys((v or "")[:10] for v in (version.first, version.last)))
        start = f"{version.hash}  {terminal.plural(len(version.sessions), 'session'):>12}  {days}"
        terminal.say(start)
        terminal.say(terminal.quiet(f"  {terminal.fit(paths, terminal.columns() - 2)}"))
        phases = ", ".join(f"{n} {name}" for name, n in version.outcomes.phases.items())
        if phases:
            terminal.say(terminal.quiet(f"  {phases}"))
    if not found.versions:
        looked = found.sessions or found.unkept
        why = "were found." if looked else "are kept yet: `minutebook ingest` looks for them."
        terminal.say(f"No instructions {why}")
    rest = len(found.versions) - _LISTED
    if rest > 0:
        terminal.note(f"… and {rest:,} more versions (--json lists all).")
    told = []
    if found.sessions:
        told.append(
            f"{terminal.plural(found.sessions, 'session')} looked at, {found.without:,} of them "
            "without known instructions"
        )
    if found.unkept:
        told.append(f"{found.unkept:,} archived before that (`minutebook rebuild` looks)")
    if told:
        terminal.note(f"{'; '.join(told)}.")
