"""``minutebook search --file``: who read or changed a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import click

from minutebook.archive import Archive
from minutebook.archive.files import CHANGING, FileHit, changes_of_files, find_file
from minutebook.archive.finding import bring_up_to_date
from minutebook.cli import terminal
from minutebook.cli.hits import print_total
from minutebook.cli.json_output import print_json
from minutebook.derive.times import instant
from minutebook.index.query import Filters
from minutebook.model.session import project_of

_MOST_BLOCKS = 2


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
    found = find_file(
        archive, path, filters, limit=limit, offset=(page - 1) * limit, by_round=not json
    )
    if json:
        print_json(
            total=found.total,
            rounds=found.rounds,
            files=found.files,
            sessions=found.sessions,
            left_out=found.left_out,
            hits=found.hits,
        )
        return
    groups = [[*hits] for _, hits in groupby(found.hits, lambda hit: (hit.session_id, hit.round))]
    for hits in groups:
        _print_round(archive, hits)
    if not found.total:
        named = f"a file like '{terminal.one_line(path)}'"
        if found.left_out:
            count = terminal.plural(found.left_out, "round")
            terminal.note(f"{count} touched {named}, but no round passes the filters.")
        else:
            terminal.note(f"No tool has read or changed {named}.")
    of = f" of {terminal.plural(found.sessions, 'session')}"
    print_total(found.rounds, len(groups), page, limit, what="round", of=of)


def _print_round(archive: Archive, hits: Sequence[FileHit]) -> None:
    room, first = terminal.columns(), hits[0]
    when = instant(first.at)
    day = when.strftime("%Y-%m-%d %H:%M") if when else "undated         "
    project = project_of(first.project) if first.project else ""
    who = " · ".join(terminal.one_line(text) for text in (first.name, project) if text)
    terminal.say(f"{day}  {click.style(terminal.fit(who, room - 18), bold=True)}")
    command, blocks = _shown_by(archive, hits)
    address = terminal.one_line(command)
    done: Counter[str] = Counter()
    for hit in hits:
        done.update(hit.how)
    told = ", ".join(f"{how} {times}×" if times > 1 else how for how, times in done.items())
    if len(hits) > 1:
        told = f"{len(hits)} files, {told}"
    told += blocks
    left = room - len(told) - len(address) - 6
    if left >= min(len(_file(hits[0])) + 1, len(terminal.one_line(hits[0].path))):
        terminal.say(f"  {told}: {_named(hits, left)}  {terminal.quiet(address)}")
    else:  # a line of its own: the file's name is what was looked for
        terminal.say(f"  {told}: {_named(hits, room - len(told) - 4)}")
        terminal.say(f"    {terminal.quiet(address)}")


def _shown_by(archive: Archive, hits: Sequence[FileHit]) -> tuple[str, str]:
    """The command that shows what was done, to paste: one edit alone, or the round; and the edits
    in it, where there are several."""
    first = hits[0]
    changed = {hit.path for hit in hits if not set(hit.how).isdisjoint(CHANGING)}
    at = changes_of_files(archive, first.session_id, first.round, changed) if changed else []
    command = f"minutebook show {archive.short(first.session_id)}#{first.round}"
    if len(at) == 1:
        return f"{command}.{at[0]}", ""
    blocks = ", ".join(f"#{first.round}.{block}" for block in at[:_MOST_BLOCKS])
    more = "…" if len(at) > _MOST_BLOCKS else ""
    return f"{command} --full", f" ({blocks}{more})" if at else ""


def _named(hits: Sequence[FileHit], room: int) -> str:
    """The path of a file, or the names of several, as far as there is room."""
    paths = [terminal.one_line(hit.path) for hit in hits]
    if len(paths) > 1:
        changed = sorted(
            zip(hits, paths, strict=True), key=lambda pair: set(pair[0].how) == {"read"}
        )
        names = (_file(hit) for hit, _ in changed)
        return terminal.fit(", ".join(dict.fromkeys(names)), room)
    # A path's end says more than its beginning, and the file's name is never cut.
    kept = max(room - 1, len(_file(hits[0])))
    return paths[0] if len(paths[0]) <= room else f"…{paths[0][-kept:]}"


def _file(hit: FileHit) -> str:
    """The name of a file without its folder."""
    return terminal.one_line(hit.path).replace("\\", "/").rpartition("/")[2]
