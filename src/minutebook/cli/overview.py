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
from minutebook.cli.doctor import examine, warn_of_clean_ups
from minutebook.cli.options import opened
from minutebook.cli.sessions import print_remarks, print_rows
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
        terminal.say("There are no sessions here yet, so these are example sessions.")
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
        print_remarks(found, shown=min(found.total, _NEWEST))
    if not found.sessions:
        return
    terminal.say()
    _print_findings(found)
    if archive.library.transcripts:
        _print_health(examine(archive), own=root is None)
    _print_commands(archive, found, root, place, minutes=minutes)


def _print_commands(
    book: Archive, found: SessionList, root: Path | None, archive: Path | None, *, minutes: bool
) -> None:
    """What to type next."""
    place = f" --root {root}" if root else ""
    terminal.say()
    if root is not None:
        terminal.say("To go on with the examples, type:")
        known = f"{_variable()}={shlex.quote(str(root))}"
        terminal.say(f"  export {known} MINUTEBOOK_ARCHIVE={shlex.quote(str(archive))}")
        terminal.say()
    terminal.say("Try:")
    terminal.say(f"  {_program()} show {book.short(found.sessions[0].id)}{place}")
    terminal.say(f"  {_program()} sessions --ghosts{place}")
    terminal.say(f"  {_program()} doctor{place}")
    if minutes:
        kept = f" --archive {archive}" if archive else ""
        terminal.say(f"  {_program()} serve --open{place}{kept}    # see it in your browser")
        terminal.say(f"  {_program()} search login{place}{kept}")
        terminal.say(f"  {_program()} ingest --dry-run{place}{kept}    # what a model would cost")


def _print_minutes(archive: Archive, *, ended: bool) -> None:
    """Write everything down, find the engagements without a model, and show the newest."""
    from minutebook.cli.ingest import run_ingest
    from minutebook.cli.ingest_report import print_engagements
    from minutebook.extract.choose import choose_extractor

    run_ingest(archive, choose_extractor("offline"), ended=ended)
    print_engagements(archive)
    terminal.say(
        "Found offline: no key was needed, and nothing left this machine. "
        "A model does it better (`ingest --help`)."
    )


def _print_findings(found: SessionList) -> None:
    rounds = sum(row.info.rounds for row in found.sessions)
    projects = {row.info.project for row in found.sessions if row.info.project}
    counts = (
        terminal.plural(found.total, "session"),
        terminal.plural(rounds, "round"),
        terminal.plural(len(projects), "project"),
    )
    terminal.say(click.style(f"Found {', '.join(counts)}.", bold=True))


def _print_health(diagnosis: Diagnosis, *, own: bool) -> None:
    bad = sum(len(file.bad_lines) for file in diagnosis.bad_files)
    lines = terminal.plural(diagnosis.report.lines, "line")
    unread = f"{bad:,} of {lines} could not be read." if bad else f"All {lines} could be read."
    unknown = diagnosis.report.unknown.total()
    if unknown:
        count = terminal.plural(unknown, "record or block is", "records or blocks are")
        unread += f" {count} new to minutebook, and kept."
    terminal.say(unread)
    if own:
        warn_of_clean_ups(diagnosis.clean_ups)


def _variable() -> str:
    """The variable that names the folder of the examples' agent: the first word of its home."""
    return next(iter(SOURCES.values())).home.split(",")[0].removeprefix("$")


def _program() -> str:
    """How this program is called from here: it may not be on the path yet."""
    called = Path(sys.argv[0])
    if called.name != "minutebook" or shutil.which("minutebook"):
        return "minutebook"
    return os.path.relpath(called)
