"""``minutebook search --file``: who read or changed a file."""

from __future__ import annotations

import click

from minutebook.archive import Archive
from minutebook.archive.files import FileHit, find_file
from minutebook.archive.finding import bring_up_to_date
from minutebook.cli import terminal
from minutebook.cli.hits import print_total
from minutebook.cli.json_output import print_json
from minutebook.derive.times import instant
from minutebook.index.query import Filters
from minutebook.model.session import project_of


def show_file(
    archive: Archive,
    path: str,
    filters: Filters,
    *,
    page: int,
    limit: int,
    fresh: bool,
    json: bool,
) -> None:
    """Rounds in which tools touched a file, the newest first, and how to see what they did."""
    if fresh:
        bring_up_to_date(archive)
    found = find_file(archive, path, filters, limit=limit, offset=(page - 1) * limit)
    if json:
        print_json(total=found.total, files=found.files, sessions=found.sessions, hits=found.hits)
        return
    for hit in found.hits:
        _print_hit(archive, hit)
    if not found.total:
        terminal.note(f"No tool has read or changed a file like '{terminal.one_line(path)}'.")
    print_total(found.total, len(found.hits), page, limit)


def _print_hit(archive: Archive, hit: FileHit) -> None:
    room = terminal.columns()
    when = instant(hit.at)
    day = when.strftime("%Y-%m-%d %H:%M") if when else "undated         "
    project = project_of(hit.project) if hit.project else ""
    who = " · ".join(terminal.one_line(text) for text in (hit.name, project) if text)
    terminal.say(f"{day}  {click.style(terminal.fit(who, room - 18), bold=True)}")
    done = ", ".join(f"{how} {times}×" if times > 1 else how for how, times in hit.how.items())
    address = f"minutebook show {archive.short(hit.session_id)}#{hit.round} --full"
    left = room - len(done) - len(address) - 7
    path = terminal.one_line(hit.path)
    if len(path) > left:  # its end says more than its beginning
        path = f"…{path[-max(left - 1, 10) :]}"
    terminal.say(f"  {done}: {path}  {terminal.quiet(terminal.one_line(address))}")
