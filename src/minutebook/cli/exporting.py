"""What the verbs that write transcripts share: one for each agent that can be written for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from minutebook.archive import Archive
from minutebook.archive.engagements import rounds_of_engagement
from minutebook.cli import completion, terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_option, json_option, opened
from minutebook.config import expanded
from minutebook.errors import BadArgument, NotFound
from minutebook.sources.registry import SOURCES
from minutebook.verbs.export import Exported, export_operated, export_session
from minutebook.verbs.surgery import (
    Operated,
    compressed_engagement,
    full_after,
    merged,
    only_engagement,
    parse_map,
    split,
)

_SURGERY = (
    click.option("--full-after", metavar="TIME", help="Keep only references to what came before."),
    click.option(
        "--engagement",
        metavar="ID",
        shell_complete=completion.engagements,
        help="Keep this engagement; the rest as references.",
    ),
    click.option(
        "--compress-engagement", metavar="ID", help="Replace this engagement by references."
    ),
    click.option("--merge", is_flag=True, help="Merge two sessions in order of time."),
    click.option(
        "--split",
        "map_file",
        metavar="MAP.json",
        help='Split by {"design": "1-12", "build": "13-20"}.',
    ),
)
F = TypeVar("F", bound=Callable[..., Any])


def export_options(command: F) -> F:
    """What to export, where to, and how to cut it."""
    options = (
        click.argument("sessions", shell_complete=completion.sessions, nargs=-1, metavar="SESSION"),
        archive_option,
        click.option(
            "--root", metavar="PATH", help="The agent's folder. [default: where it is read]"
        ),
        click.option("--cwd", metavar="PATH", help="Folder to resume in. [default: the session's]"),
        click.option("--out", metavar="FILE", help="Write the transcript to FILE instead."),
        click.option(
            "--force", is_flag=True, help="Replace an existing transcript; keep a copy of it."
        ),
        *_SURGERY,
        json_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


def export(
    to: str,
    *,
    sessions: tuple[str, ...],
    archive: str | None,
    root: str | None,
    cwd: str | None,
    out: str | None,
    force: bool,
    as_json: bool,
    **surgery: Any,
) -> None:
    """Write sessions as transcripts of a source."""
    asked = {name: value for name, value in surgery.items() if value not in (None, False)}
    if "" in asked.values():
        raise BadArgument("An empty value names nothing: give an engagement, a time or a map.")
    if len(asked) > 1:
        raise BadArgument("Choose only one way to cut the session.")
    if len(sessions) != (2 if "merge" in asked else 1):
        wanted = "two sessions" if "merge" in asked else "one session"
        raise BadArgument(f"Name {wanted}: `minutebook sessions` lists them.")
    book = opened(archive)
    home = expanded(root) if root else SOURCES[to].default_root()
    target = expanded(out) if out else None
    ids = [book.resolve(session) for session in sessions]
    for session_id in ids:
        book.folder(session_id)  # an error where it is not archived yet
    if not asked:
        done = [export_session(book, ids[0], to, root=home, out=target, cwd=cwd, force=force)]
    else:
        operated = _operated(book, ids, asked)
        if len(operated) > 1 and target is not None:
            target.mkdir(parents=True, exist_ok=True)
        for one in operated:  # all or nothing: what is in the way is found before
            export_operated(book, one, to, root=home, out=target, cwd=cwd, force=force, write=False)
        done = [
            export_operated(book, one, to, root=home, out=target, cwd=cwd, force=force)
            for one in operated
        ]
    if as_json:
        print_json(exported=done[0] if len(done) == 1 else done)
        return
    for exported in done:
        _print(exported, SOURCES[to].title)


def _operated(archive: Archive, ids: list[str], asked: dict[str, Any]) -> list[Operated]:
    if "merge" in asked:
        return [merged(archive, *ids)]
    (session_id,) = ids
    if "full_after" in asked:
        return [full_after(archive, session_id, asked["full_after"])]
    if "map_file" in asked:
        path = expanded(asked["map_file"])
        if not path.is_file():
            raise NotFound(f"There is no map at {path}.")
        return split(archive, session_id, parse_map(path.read_bytes()))
    cut: Callable[..., Operated] = compressed_engagement
    if "engagement" in asked:
        cut = only_engagement
    (id,) = asked.values()
    numbers = rounds_of_engagement(archive, id, {session_id})[session_id]
    return [cut(archive, session_id, id, numbers)]


def _print(exported: Exported, agent: str) -> None:
    rounds = terminal.plural(exported.rounds, "round")
    terminal.say(f"{rounds} written to {exported.path}")
    if exported.backup is not None:
        terminal.say(f"The old file is now {exported.backup}")
    for remark in exported.remarks:
        terminal.note(f"Note: {terminal.one_line(remark)}.")
    for warning in exported.warnings:
        terminal.note(f"Kept in the file, not shown to {agent}: {terminal.one_line(warning)}.")
    if exported.resume is not None:
        terminal.say(f"Go on with:  {terminal.one_line(exported.resume)}")
