"""``minutebook sessions``."""

from __future__ import annotations

from typing import Any

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import house_options, json_option
from minutebook.compose import open_house
from minutebook.config import settings
from minutebook.derive.times import since as parse_since
from minutebook.verbs.sessions import SessionList, SessionRow, list_sessions


@click.command("sessions")
@house_options
@click.option("-p", "--project", metavar="TEXT", help="Only sessions whose folder contains this.")
@click.option("--since", metavar="DATE|Nd", help="Only sessions active since then.")
@click.option("--ghosts", is_flag=True, help="Also sessions with fewer than three prompts.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many.")
@json_option
def command(
    roots: tuple[str, ...],
    archive: str | None,
    project: str | None,
    since: str | None,
    ghosts: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """List your sessions, newest first: when, name or title, project, rounds, size."""
    house = open_house(settings(roots, archive))
    found = list_sessions(
        house.library,
        house.roster,
        project=project,
        since=parse_since(since) if since else None,
        ghosts=ghosts,
    )
    rows = found.rows[:limit]
    if as_json:
        print_json(
            sessions=[as_dict(row) for row in rows],
            ghosts_hidden=found.ghosts_hidden,
            unusable=found.unusable,
        )
        return
    for row in rows:
        terminal.say(line_of(row))
    print_remarks(found, shown=len(rows))


def as_dict(row: SessionRow) -> dict[str, Any]:
    """A session in ``--json``."""
    info = row.info
    return {
        "id": info.id,
        "name": row.identity.name,
        "name_source": row.identity.source,
        "role": row.identity.role,
        "title": info.title,
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
        "size": row.transcript.size,
        "source": info.source,
        "path": row.transcript.path,
    }


def line_of(row: SessionRow) -> str:
    """A session on one line that fits the terminal."""
    whole = terminal.columns()
    project_width = 16 if whole < 110 else 28
    named = terminal.one_line(row.name)
    title = terminal.one_line(row.info.title or "")
    if row.identity.name and title and title != named:
        named = f"{named} · {title}"
    fixed = 16 + 2 + 8 + 2 + project_width + 2 + 9 + 1 + 7
    name = terminal.pad(named, max(12, whole - fixed - 2))
    return "  ".join(
        [
            f"{row.when:%Y-%m-%d %H:%M}",
            terminal.quiet(row.info.id[:8]),
            terminal.quiet(name) if row.ghost else name,
            terminal.quiet(terminal.pad(terminal.one_line(row.info.project or ""), project_width)),
            f"{terminal.plural(row.info.rounds, 'round'):>10} "
            + terminal.quiet(f"{terminal.size(row.transcript.size):>6}"),
        ]
    )


def print_remarks(found: SessionList, shown: int) -> None:
    """What the list leaves out, and why."""
    if not found.rows:
        if found.others_hidden:
            terminal.note("No session fits these filters.")
        elif not found.ghosts_hidden:
            terminal.note(
                "No transcripts found. Point --root at a Claude Code folder, "
                "or try `minutebook demo`."
            )
    hidden = []
    if shown < len(found.rows):
        hidden.append(f"{len(found.rows) - shown} older")
    if found.ghosts_hidden:
        hidden.append(terminal.plural(found.ghosts_hidden, "ghost") + " (--ghosts)")
    if found.unusable:
        hidden.append(terminal.plural(len(found.unusable), "unusable file") + " (see doctor)")
    if hidden:
        terminal.note(f"Not shown: {', '.join(hidden)}.")
