"""``minutebook sessions``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from minutebook.archive import Archive
from minutebook.archive.sessions import SessionList, SessionSummary
from minutebook.cli import terminal
from minutebook.cli.filters import AGENT_OPTION, PROJECT_OPTION, limits_of, period_options
from minutebook.cli.json_output import print_json
from minutebook.cli.options import (
    COPIES,
    GHOSTS,
    HIDDEN,
    STARRED,
    archive_options,
    json_option,
    opened,
    usage_option,
    usage_sort_option,
)
from minutebook.errors import BadArgument
from minutebook.model import Roster

if TYPE_CHECKING:
    from minutebook.archive import Archive
    from minutebook.derive.usage.figures import Figures, Usage

_GAP = "  "
_ROUNDS, _SIZE = 6, 7  # widths of the narrow columns
_OUTPUT, _COST, _TIME = 7, 10, 7
_NAME_MOST = 90
_NARROW = 70
_AT_ONCE = 50  # sessions that a person is shown unasked


@click.command("sessions")
@archive_options
@PROJECT_OPTION
@AGENT_OPTION
@period_options
@click.option("--ghosts", is_flag=True, help=GHOSTS)
@click.option("--copies", is_flag=True, help=COPIES)
@click.option("--starred", is_flag=True, help=STARRED)
@click.option("--hidden", is_flag=True, help=HIDDEN)
@usage_option
@usage_sort_option
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="List at most N. [default: 50 on a terminal, else all]",
)
@click.option("--all", "everything", is_flag=True, help="List all of them on a terminal, too.")
@json_option
def command(
    roots: tuple[str, ...],
    archive: str | None,
    project: str | None,
    agent: str | None,
    ghosts: bool,
    copies: bool,
    starred: bool,
    hidden: bool,
    usage: bool,
    sort: str | None,
    limit: int | None,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """List your sessions, newest first: when, name or title, project, rounds, size.

    \b
    Examples:
      minutebook sessions --since "last week" --project orchard
      minutebook sessions --sort cost --limit 20
    """
    book = opened(archive, roots)
    after, before = limits_of(options)
    found = book.sessions(
        project=project,
        agent=agent,
        since=_moment(after),
        until=_moment(before),
        ghosts=ghosts,
        copies=copies,
        starred=starred,
        hidden=hidden,
    )
    told = _used(book, found) if usage or sort else None
    used = None if told is None else {row.key: row.figures for row in told.rows}
    if everything and limit is not None:
        raise BadArgument("--all lists all sessions, --limit some: choose one.")
    unasked = limit is None and not everything and not as_json and terminal.is_terminal()
    limit = _AT_ONCE if unasked else limit
    rows = _sorted(found.sessions, used, sort)[:limit]
    if as_json:
        whole: dict[str, Any] = {"usage": _plain(told.total)} if told is not None else {}
        print_json(
            on_one_line=False,
            sessions=[as_dict(row, used) for row in rows],
            total=found.total,
            ghosts_hidden=found.ghosts_hidden,
            copies_hidden=found.copies_hidden,
            hidden=found.hidden,
            hidden_ghosts=found.hidden_ghosts,
            hidden_copies=found.hidden_copies,
            unusable=found.unusable,
            **whole,
        )
        return
    stand = book.mere_copies(book.ids()) if copies else {}
    print_rows(book, rows, used, None if told is None else told.total, stand)
    warn_of_roster(book.roster)
    more = "--all" if unasked else "--limit"
    print_remarks(found, shown=len(rows), used=told is not None, more=more)
    if told is not None:
        _print_what_counts(rows, project)


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds).astimezone()


def _print_what_counts(rows: list[SessionSummary], project: str | None) -> None:
    """Why these figures are not those of `usage`, which counts replies, not sessions."""
    if any(row.copies for row in rows):
        terminal.note("A session that stands for copies includes theirs.")
    if project and rows:
        terminal.note("Whole sessions; `usage project` counts each engagement's project.")


def _used(book: Archive, found: SessionList) -> Usage:
    from minutebook.archive.using import usage_of_list

    return usage_of_list(book, found.sessions)


def _sorted(
    rows: list[SessionSummary], used: Mapping[str, Figures] | None, sort: str | None
) -> list[SessionSummary]:
    if used is None or sort is None:
        return rows
    from minutebook.cli.usage_table import order_of

    return sorted(rows, key=lambda row: order_of(sort, used.get(row.id)))


def _measures(row: SessionSummary, used: Mapping[str, Figures] | None) -> tuple[str, ...]:
    if used is None:
        return (terminal.size(row.size),)
    return _brief(used.get(row.id))


def _brief(figures: Figures | None) -> tuple[str, str, str]:
    from minutebook.cli.usage_table import brief

    return brief(figures)


def _plain(figures: Figures) -> dict[str, Any]:
    from minutebook.verbs.usage import plain_figures

    return plain_figures(figures)


def as_dict(row: SessionSummary, used: Mapping[str, Figures] | None = None) -> dict[str, Any]:
    """A session in ``--json``; with what it used, where that was asked for."""
    info = row.info
    figures = used.get(info.id) if used is not None else None
    return {
        "id": info.id,
        "name": row.identity.name,
        "name_source": row.identity.source,
        "role": row.identity.role,
        "title": row.title,
        "slug": info.slug,
        "project": info.project,
        "cwd": info.cwd,
        "branch": info.branch,
        "model": info.model,
        "version": info.versions[0] if info.versions else None,
        "started": info.started,
        "ended": info.ended,
        "rounds": info.rounds,
        "prompts": info.prompts,
        "tool_calls": info.calls,
        "subagents": info.subagents,
        "compactions": info.compactions,
        "ghost": row.ghost,
        "links": row.links,
        "pull_requests": info.pull_requests,
        "size": row.size,
        "program": row.program,
        "source": info.source,
        "path": Path(row.path) if row.path else None,
        "starred": row.starred,
        "hidden": row.hidden,
        "note": row.note,
        "summary": row.summary,
        "copies": row.copies,
        "archived": row.archived,
        "present": row.present,
        "unarchived": row.unarchived,
        "lost": row.lost,
        **({"usage": _plain(figures)} if figures is not None else {}),
    }


def print_rows(
    archive: Archive,
    rows: list[SessionSummary],
    used: Mapping[str, Figures] | None = None,
    total: Figures | None = None,
    stand: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Sessions as a table that fits the terminal; with what they used instead of their size, and
    what all sessions of the list used. Of copies, `stand` says which session stands for them."""
    if not rows:
        return
    whole = terminal.columns()
    wide = whole >= 110
    day, project = ("%Y-%m-%d %H:%M", 28) if wide else ("%Y-%m-%d", 12)
    when = 16 if wide else 10
    if whole < _NARROW:
        project = 6
    names = {row.id: terminal.one_line(archive.short(row.id)) for row in rows}
    id = max(map(len, names.values()))
    middle: tuple[tuple[int, str], ...] = ((project, "project"), (-_ROUNDS, "rounds"))
    programs = {row.program for row in rows}
    several = wide and len(programs) > 1  # else it has no room, or says nothing
    if several:
        middle = ((max(map(len, programs)), "agent"), *middle)
    last: tuple[tuple[int, str], ...] = ((-_SIZE, "size"),)
    if used is not None:
        last = ((-_OUTPUT, "output"), (-_COST, "cost"), (-_TIME, "time"))
        middle = middle if wide else ()  # else the name has no room
    others = (*middle, *last)
    room = whole - when - id - sum(abs(w) for w, _ in others) - (2 + len(others)) * len(_GAP)
    widths = (when, id, max(min(_NAME_MOST, room), 4), *(width for width, _ in others))
    terminal.say(terminal.quiet(_line(("active", "id", "name", *(n for _, n in others)), widths)))
    for row in rows:
        info = row.info
        about = (terminal.one_line(info.project or ""), str(info.rounds)) if middle else ()
        about = (row.program, *about) if several else about
        texts = (
            row.when.strftime(day),
            names[row.id],
            f"(copy of {terminal.one_line(archive.short(stand[row.id]))}) {_full_name(row)}"
            if row.id in stand
            else _full_name(row),
            *about,
            *_measures(row, used),
        )
        line = _line(texts, widths)
        terminal.say(terminal.quiet(line) if row.ghost else line)
    if total is not None:
        texts = ("total", "", "", *("" for _ in middle), *_brief(total))
        terminal.say(click.style(_line(texts, widths), bold=True))


def _line(cells: tuple[str, ...], widths: tuple[int, ...]) -> str:
    """Cells side by side; a negative width aligns to the right."""
    fitted = (
        terminal.pad(cell, room) if room > 0 else f"{cell:>{-room}}"
        for cell, room in zip(cells, widths, strict=True)
    )
    return _GAP.join(fitted).rstrip()


def _full_name(row: SessionSummary) -> str:
    named = terminal.one_line(row.name)
    title = terminal.one_line(row.title or "") if row.given_title is None else ""
    full = f"{named} · {title}" if row.identity.name and title not in ("", named) else named
    full = f"★ {full}" if row.starred else full
    return f"(hidden) {full}" if row.hidden else full


def warn_of_roster(roster: Roster) -> None:
    """ID-06: a prefix with two names gives none."""
    for prefix in sorted(roster.ambiguous):
        terminal.note(
            f"The roster has several names for {terminal.one_line(prefix)}: none is used."
        )


def print_remarks(
    found: SessionList, shown: int, *, used: bool = False, more: str = "--limit"
) -> None:
    """How many there are, what the list leaves out, and how to see it."""
    if not found.sessions:
        if found.others_hidden:
            terminal.note("No session fits these filters.")
        elif not (found.ghosts_hidden or found.hidden):
            terminal.note(
                "No sessions found. Name a folder of transcripts with --root, "
                "or try `minutebook demo`."
            )
    if shown < found.total:
        beside = "; the total is of all" if used else ""
        terminal.note(f"{shown:,} of {found.total:,} sessions ({more}){beside}.")
    elif found.total:
        terminal.note(f"{terminal.plural(found.total, 'session')}.")
    hidden = []
    if found.ghosts_hidden:
        hidden.append(terminal.plural(found.ghosts_hidden, "ghost") + " (--ghosts)")
    if found.copies_hidden:
        hidden.append(terminal.plural(found.copies_hidden, "copy", "copies") + " (--copies)")
    if plain := found.hidden - found.hidden_ghosts - found.hidden_copies:
        hidden.append(f"{plain:,} hidden (--hidden)")
    if found.hidden_ghosts:
        ghosts = terminal.plural(found.hidden_ghosts, "hidden ghost")
        hidden.append(f"{ghosts} (--hidden --ghosts)")
    if found.hidden_copies:
        copies = terminal.plural(found.hidden_copies, "hidden copy", "hidden copies")
        hidden.append(f"{copies} (--hidden --copies)")
    if found.unusable:
        hidden.append(terminal.plural(len(found.unusable), "unusable file") + " (see doctor)")
    if hidden:
        terminal.note(terminal.prose(f"Not shown: {', '.join(hidden)}."))
