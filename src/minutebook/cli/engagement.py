"""``minutebook engagement``: engagements kept while the work goes on, in ``engagement.md``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from minutebook.archive.masking import hidden, hide
from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_option, archive_options, json_option, opened
from minutebook.config import archive_folder, chosen_archive, expanded
from minutebook.model.prospective import EngagementFile
from minutebook.verbs import engagement as verbs
from minutebook.verbs.engagement import Standing

F = TypeVar("F", bound=Callable[..., Any])
_PHASE = 14  # cells


class _Group(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.commands)


@click.group("engagement", cls=_Group, options_metavar="")
def command() -> None:
    """Keep an engagement while you work: start, advance, note, close.

    It is kept in engagement.md in the project folder: YAML, then free text. You may edit it by
    hand. Only `start` creates a file; nothing else in the project is touched.

    \b
    Examples:
      minutebook engagement start "Passkey login" --method build
      minutebook engagement advance implement
      minutebook engagement note "Chose WebAuthn" --obligation "Tell ops" --due 5d
      minutebook engagement close --outcome "Passkeys work."
    """


_folder = click.option(
    "--dir", "folder", metavar="PATH", default=".", help="The project. [default: this folder]"
)
_id = click.option("--id", "id", metavar="ID", help="Use this engagement, not the current one.")
_session = click.option("--session", metavar="ID", help="Add a session to the file's list.")
_force = click.option(
    "--force", is_flag=True, help="Allow a step the graph does not; the file records it."
)


def _common(function: F) -> F:
    return _folder(archive_option(json_option(function)))


@command.command("start")
@click.argument("topic")
@click.option(
    "-m",
    "--method",
    required=True,
    metavar="METHOD",
    help="How you will work: build, debug, review …",
)
@click.option("--id", "id", metavar="ID", help="Its id. [default: the day and the topic]")
@click.option("--child", is_flag=True, help="Make it part of the open engagement, which waits.")
@click.option("--switch", is_flag=True, help="Set the open engagement aside.")
@click.option("--actor", "actors", multiple=True, metavar="NAME", help="Who takes part.")
@click.option("--domain", "domains", multiple=True, metavar="NAME", help="What it is about.")
@click.option(
    "--session", "sessions", multiple=True, metavar="ID", help="A session that works on it."
)
@click.option("--note", default="", metavar="TEXT", help="The first text below the title.")
@_common
def start(topic: str, folder: str, archive: str | None, as_json: bool, **given: Any) -> None:
    """Start an engagement: writes engagement.md.

    If another one is open, --child or --switch moves that one to engagements/ID.md.

    \b
    Example:
      minutebook engagement start "Passkey login" --method build
    """
    _print(verbs.start(expanded(folder), topic, archive=archive_folder(archive), **given), as_json)


@command.command("status", short_help="Show where an engagement stands, and what is owed.")
@_id
@_common
def status(folder: str, id: str | None, archive: str | None, as_json: bool) -> None:
    """Show where an engagement stands, which steps may follow, and what is owed.

    \b
    Example:
      minutebook engagement status
    """
    found = verbs.status(expanded(folder), id, archive=archive_folder(archive))
    _print(found, as_json, whole=True)


@command.command("advance")
@click.argument("step")
@_id
@click.option("--note", default="", metavar="TEXT", help="Add a line to its text.")
@_session
@_force
@_common
def advance(step: str, folder: str, archive: str | None, as_json: bool, **given: Any) -> None:
    """Move on to another step of the method's graph.

    \b
    Example:
      minutebook engagement advance implement --note "Design agreed"
    """
    _print(verbs.advance(expanded(folder), step, archive=archive_folder(archive), **given), as_json)


@command.command("note")
@click.argument("text", default="")
@_id
@click.option("--obligation", metavar="TEXT", help="Something that is owed.")
@click.option("--due", metavar="DAY", help="When it is due: 2026-03-31, tomorrow, 5d.")
@click.option("--done", type=int, metavar="N", help="Mark obligation number N as done.")
@_session
@_common
def note(text: str, folder: str, archive: str | None, as_json: bool, **given: Any) -> None:
    """Add a line or an obligation, or mark an obligation as done.

    \b
    Examples:
      minutebook engagement note "Chose WebAuthn" --obligation "Tell ops" --due 5d
      minutebook engagement note --done 1
    """
    found = verbs.note(expanded(folder), text, archive=archive_folder(archive), **given)
    _print(found, as_json)


@command.command("close")
@_id
@click.option(
    "--as", "phase", metavar="PHASE", default="completed", help="completed (default) or abandoned."
)
@click.option("--outcome", default="", metavar="TEXT", help="What came of it.")
@_session
@_force
@_common
def close(folder: str, archive: str | None, as_json: bool, **given: Any) -> None:
    """End an engagement; its file moves to engagements/archive/ID.md.

    \b
    Example:
      minutebook engagement close --outcome "Passkeys work."
    """
    _print(verbs.close(expanded(folder), archive=archive_folder(archive), **given), as_json)


@command.command("list")
@click.option("--all", "everything", is_flag=True, help="Include closed engagements.")
@click.option("--overdue", is_flag=True, help="Only engagements with something overdue.")
@click.option("--dir", "folder", metavar="PATH", help="Only the project in PATH.")
@archive_options
@json_option
def list_(
    everything: bool,
    overdue: bool,
    folder: str | None,
    roots: tuple[str, ...],
    archive: str | None,
    as_json: bool,
) -> None:
    """List the engagement files of all projects, or of one.

    Without an archive, it lists those of this folder.

    \b
    Examples:
      minutebook engagement list
      minutebook engagement list --all --dir .
    """
    from minutebook.archive.prospective import prospective

    now = datetime.now().astimezone()
    if folder is not None:
        every = [hidden(file, hide) for file in verbs.listed(expanded(folder))]
    else:
        book = opened(archive, roots) if _there_is(archive) else None
        every = prospective(book).files if book is not None else []
        known = {file.path for file in every}
        every += [hidden(file, hide) for file in verbs.listed(Path.cwd()) if file.path not in known]
    files = [f for f in every if everything or f.is_open or f.problems]
    files = [file for file in files if file.overdue(now) or not overdue]
    if as_json:
        told = [_plain(file, now) for file in files]
        print_json(total=len(files), open=sum(f.is_open for f in files), engagements=told)
        return
    for file in files:
        _print_line(file, now)
    still = sum(file.is_open for file in files)
    terminal.note(f"{terminal.plural(len(files), 'engagement')}, {still} open.")


def _there_is(archive: str | None) -> bool:
    """Whether there is an archive to look at; one that was named must be there."""
    folder, named = chosen_archive(archive)
    return named or folder.is_dir()


# -- telling


def _print(found: Standing, as_json: bool, *, whole: bool = False) -> None:
    found = hidden(found, hide)
    if as_json:
        print_json(standing=_plain_standing(found))
        return
    file = found.engagement
    for path in found.created:
        terminal.say(f"Wrote {terminal.one_line(path)}.")
    for path in found.changed:
        terminal.say(f"Changed {terminal.one_line(path)}.")
    for before, after in found.moved:
        terminal.say(f"Moved {terminal.one_line(before)} to {terminal.one_line(after)}.")
    room = terminal.columns()
    terminal.say(click.style(terminal.fit(terminal.one_line(file.topic), room), bold=True))
    known = ", ".join(part for part in (file.method, file.phase) if part)
    label = terminal.one_line(f"{known}:") + " " if known else ""
    then = ", ".join(found.allowed) if found.allowed else "nothing; it has ended"
    follows = f"next: {then}" if file.phase else "its phase is not known"
    terminal.say(f"  {terminal.method_mark(label, file.method)}{terminal.one_line(follows)}")
    if whole:
        _print_whole(file)
    if found.violation:
        terminal.note("This step is not in the graph; the file says so (violations).")
    _print_obligations(file, found, whole=whole)
    if file.place == "archived" and file.owed:
        count = terminal.plural(len(file.owed), "obligation")
        late = f", {len(found.overdue)} of them overdue" if found.overdue else ""
        terminal.note(f"Closed with {count} still owed{late}; `engagement list --all` lists it.")
    for problem in (*file.problems, *found.problems):
        terminal.note(f"{terminal.one_line(file.path)}: {terminal.one_line(problem)}.")


def _print_whole(file: EngagementFile) -> None:
    facts = [file.id, file.path, f"started {file.started}" if file.started else ""]
    if file.parent_engagement:
        facts.append(f"part of {file.parent_engagement}")
    for fact in facts:
        if fact:
            terminal.say(terminal.quiet(f"  {terminal.one_line(fact)}"))
    if file.phases_completed:
        passed = " → ".join(p.phase for p in file.phases_completed)
        terminal.say(terminal.quiet(f"  {terminal.one_line(passed)} → {file.phase}"))


def _print_obligations(file: EngagementFile, found: Standing, *, whole: bool) -> None:
    for number, item in enumerate(file.obligations, 1):
        if item.done is not None and not whole:
            continue
        late = item in found.overdue
        state = "done" if item.done else "OVERDUE" if late else "owed"
        due = f" (due {item.due})" if item.due else ""
        text = terminal.one_line(f"{number}. {state}: {item.what}{due}")
        terminal.say(f"  {click.style(text, fg='red') if late else text}")


def _print_line(file: EngagementFile, now: datetime) -> None:
    room = terminal.columns()
    late, owed = len(file.overdue(now)), len(file.owed)
    facts = [file.id]
    if owed:
        facts.append(f"{owed} owed" + (f", {late} OVERDUE" if late else ""))
    if file.place != "current":
        facts.append(file.place)
    if file.gone:
        facts.append("its file is gone; this was seen last")
    facts.append(file.project)  # the longest: what is cut off is cut off here
    phase = terminal.pad(terminal.one_line(file.phase or "?"), _PHASE)
    topic = terminal.fit(terminal.one_line(file.topic), max(10, room - _PHASE - 10))
    method = terminal.method_mark(terminal.pad(terminal.one_line(file.method), 8), file.method)
    terminal.say(f"{method} {phase} {click.style(topic, bold=True)}")
    told = terminal.fit(terminal.one_line(" · ".join(facts)), room - 2)
    terminal.say(terminal.quiet(f"  {told}"))
    for problem in file.problems:
        terminal.note(f"  {terminal.one_line(file.path)}: {terminal.one_line(problem)}.")


def _plain_standing(found: Standing) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(found)
    return {**told, "engagement": _plain(found.engagement, None)}


def _plain(file: EngagementFile, now: datetime | None) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(file)
    told |= {"kept": "prospective", "open": file.is_open}
    if now is not None:
        told["overdue"] = msgspec.to_builtins(file.overdue(now))
    return told
