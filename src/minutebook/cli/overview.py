"""``minutebook`` without a verb: what there is, and what to try."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from minutebook.archive import Archive
from minutebook.archive.sessions import SessionList
from minutebook.cli import terminal
from minutebook.cli.doctor import examine, print_lacking, warn_of_clean_ups
from minutebook.cli.options import opened
from minutebook.cli.sessions import print_remarks, print_rows
from minutebook.model.session import project_of
from minutebook.record.store import make_folder
from minutebook.sources.registry import SOURCES
from minutebook.verbs.doctor import Diagnosis

_NEWEST = 10


def print_overview(root: Path | None = None, *, minutes: bool = False) -> None:
    """The newest sessions, archived or not; the example sessions where there are none.

    With `minutes` they are ingested first, offline, and their engagements are shown.
    """
    place = root / "archive" if root else None  # examples stay out of a person's own archive
    if place is not None:
        make_folder(place)
    archive = opened(str(place) if place else None, [str(root)] if root else [], create=minutes)
    found = archive.sessions()
    if root is None and not (found.sessions or found.ghosts_hidden or found.hidden):
        from minutebook.cli.demo import example_folder

        folder = example_folder()
        terminal.say("No sessions found on this machine, so these are example sessions.")
        terminal.say()
        print_overview(folder, minutes=minutes)
        return
    if not found.sessions and found.ghosts_hidden:
        found = archive.sessions(ghosts=True)
    if minutes and found.sessions:
        # The examples were written just now, and are over all the same.
        _print_minutes(archive, ended=root is not None)
    else:
        print_rows(archive, found.sessions[:_NEWEST])
        print_remarks(found, min(found.total, _NEWEST), more="`minutebook sessions`")
    if not found.sessions:
        return
    terminal.say()
    _print_findings(archive, found)
    if archive.library.transcripts:
        _print_health(examine(archive), own=root is None)
    _print_commands(archive, found, root, place)
    if root is None:
        print_lacking(archive)


def _print_commands(
    book: Archive, found: SessionList, root: Path | None, archive: Path | None
) -> None:
    """Where the archive is, and the three things to do next."""
    labelled = next(book.engagements(copies=True), None) is not None
    there = "" if book.root.is_dir() else " (the first `ingest` creates it)"
    terminal.say(f"Archive: {terminal.one_line(str(book.root))}{there}")
    terminal.say()
    if root is not None:
        terminal.say("To continue with the examples, run:")
        known = " ".join(f"{name}={shlex.quote(str(root))}" for name in _variables(book))
        terminal.say(f"  export {known} MINUTEBOOK_ARCHIVE={shlex.quote(str(archive))}")
        terminal.say()
    first = (
        (f"show {book.short(found.sessions[0].id)}", "read the newest session")
        if labelled
        else ("ingest", "find out what was worked on and decided")
    )
    steps = (
        first,
        ("search login", "find when you worked on something"),
        ("serve --open", "see it in your browser"),
    )
    terminal.say("What to do next:")
    widest = max(len(command) for command, _ in steps)
    for command, what in steps:
        terminal.say(f"  {_program()} {command:{widest}}  # {what}")


def _print_minutes(archive: Archive, *, ended: bool) -> None:
    """Write everything down, find the engagements without a model, and show the newest."""
    from minutebook.cli.ingest import run_ingest
    from minutebook.cli.ingest_report import print_engagements
    from minutebook.cli.inscribe import print_waiting
    from minutebook.extract.choose import choose_extractor

    report = run_ingest(archive, choose_extractor("offline"), ended=ended)
    print_engagements(archive)
    terminal.say(
        "Labelled offline: nothing left this machine. "
        "A language model labels better (`minutebook ingest --help`)."
    )
    print_waiting(report.inscribed)


def _projects(book: Archive, found: SessionList) -> set[str]:
    """Projects as `stats` and `usage` count them: an engagement's own is the one that counts."""
    worked: dict[str, set[str]] = {}
    for record, engagement in book.engagements():
        path = engagement.project or record.cwd
        if path:
            worked.setdefault(record.session_id, set()).add(project_of(path))
    own = ((row.id, row.info.project) for row in found.sessions)
    return {
        name
        for session_id, project in own
        for name in worked.get(session_id, {project} if project else set())
    }


def _print_findings(book: Archive, found: SessionList) -> None:
    rounds = sum(row.info.rounds for row in found.sessions)
    projects = _projects(book, found)
    programs = {row.program for row in found.sessions}
    counts = [
        terminal.plural(found.total, "session"),
        terminal.plural(rounds, "round"),
        terminal.plural(len(projects), "project"),
    ]
    if len(programs) > 1:
        counts.append(terminal.plural(len(programs), "coding agent"))
    terminal.say(click.style(f"Found {', '.join(counts)}.", bold=True))


def _print_health(diagnosis: Diagnosis, *, own: bool) -> None:
    bad = sum(len(file.bad_lines) for file in diagnosis.bad_files)
    lines = terminal.plural(diagnosis.report.lines, "line")
    unread = f"{bad:,} of {lines} could not be read." if bad else f"All {lines} could be read."
    if diagnosis.unusable:
        count = terminal.plural(len(diagnosis.unusable), "unusable file")
        unread = f"{unread.removesuffix('.')}, beside {count} (`minutebook doctor`)."
    unknown = diagnosis.report.unknown.total()
    if unknown:
        count = terminal.plural(unknown, "record or block is", "records or blocks are")
        unread += f" {count} new to minutebook, and kept."
    terminal.say(unread)
    if own:
        warn_of_clean_ups(diagnosis.clean_ups)


def _variables(book: Archive) -> list[str]:
    """The variables that name the examples' folder, one for each agent whose sessions are there."""
    present = {transcript.source for transcript in book.library.transcripts}
    homes = (source.home for name, source in SOURCES.items() if name in present)
    return [home.split(",")[0].removeprefix("$") for home in homes]


def _program() -> str:
    """How this program is called from here: it may not be on the path yet."""
    called = Path(sys.argv[0])
    if called.name != "minutebook" or shutil.which("minutebook"):
        return "minutebook"
    return os.path.relpath(called)
