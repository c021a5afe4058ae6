"""Options several verbs share, and the archive they name."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from minutebook.errors import BadArgument

if TYPE_CHECKING:
    from minutebook.archive import Archive

TEAM = "Read what your team shares (`minutebook team`)."
F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K", bound=str)
GHOSTS = "Include ghosts: sessions with no substantive work."
HIDDEN = "Include what you hid with `correct hide`."
COPIES = "Include copies of a conversation."
AGENT = "A coding agent (`minutebook agents`), or part of a name, role or slug."
STARRED = "Only what you starred with `correct star`."
_SAID_TWICE = re.compile(r"^it is damaged \((.*)\)$")


def _one_value(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> str | None:
    del ctx
    first, *others = dict.fromkeys(values) or [None]
    if others:
        name = option.opts[-1]
        raise BadArgument(f"There are two values for {name}: '{first}' and '{others[0]}'.")
    return first


ONCE: dict[str, Any] = {"multiple": True, "callback": _one_value}
"""How an option that takes one value is declared, so that a second one is refused (SRCH-08)."""

root_option = click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="PATH",
    help="Read transcripts from PATH; repeatable. [default: all]",
)
archive_option = click.option(
    "--archive",
    metavar="PATH",
    help="The archive. [default: $MINUTEBOOK_ARCHIVE, or yours]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
USAGE_SORTS = ("cost", "tokens", "active")
usage_option = click.option(
    "--usage", is_flag=True, help="Also show output tokens, cost at API prices and time."
)
usage_sort_option = click.option(
    "--sort",
    type=click.Choice(USAGE_SORTS),
    metavar="BY",
    help="Most used first, by cost, tokens (output) or active time; implies --usage.",
)
secrets_option = click.option(
    "--secrets", is_flag=True, help="Show keys, tokens and passwords; do not mask them."
)


team_option = click.option("--team", is_flag=True, help=TEAM)


def for_a_file(format: str) -> None:
    """Refuse to fill a terminal with what only a browser can show."""
    if format == "html" and sys.stdout.isatty():
        raise BadArgument("HTML is for a browser: add --out FILE, or write > FILE after it.")


def format_of(out: str | None, given: K | None, formats: Iterable[K]) -> K | None:
    """The format of a file: the one that was named, else that of its ending; None where neither
    says one. An ending that says another one is refused, and so is one that says nothing."""
    ending = Path(out or "").suffix.lower().removeprefix(".")
    asked = {"htm": "html", "markdown": "md"}.get(ending, ending)
    named = next((format for format in formats if format == asked), None)
    if given is not None and named is not None and given != named:
        raise BadArgument(
            f"--format {given} and the ending of {out} contradict each other: choose one."
        )
    if ending and given is None and named is None:
        raise BadArgument(
            f"'.{ending}' is not a format: use {' or '.join(f'.{name}' for name in formats)}, "
            "or name a --format."
        )
    return given or named


def archive_options(command: F) -> F:
    """``--root`` and ``--archive``."""
    return root_option(archive_option(command))


def opened(
    path: str | None,
    roots: Iterable[str] = (),
    *,
    create: bool = False,
    secrets: bool = False,
    team: bool = False,
) -> Archive:
    """The archive a verb works on. What is damaged in it is named when the verb is done.

    With `team`, what the team shares; one's own, and a note, where the team cannot be asked.
    """
    from minutebook.archive import open_archive

    archive = open_archive(path, roots, create=create, secrets=secrets)
    if archive.places:
        _ = archive.library  # a root that is not there is an error, whatever the verb needs
    if team and (shared := of_team(archive)) is not None:
        return shared
    click.get_current_context().call_on_close(lambda: name_damage(archive))
    return archive


NOT_TEAM = "minutebook.not_team"
"""Where a command notes that the team was asked for and one's own archive answers."""


def of_team(own: Archive) -> Archive | None:
    """The team's archive; None, and a note, where it cannot be asked now."""
    from minutebook.cli import terminal
    from minutebook.extras import needed

    needed("team")
    from minutebook.team.opening import NotAsked, open_team

    context = click.get_current_context()
    try:
        shared = open_team(own)
        context.call_on_close(shared.close)
        return shared
    except NotAsked as error:
        context.meta[NOT_TEAM] = True
        terminal.note(f"{str(error).removesuffix('.')}: this is from your own archive.")
        return None


def name_damage(archive: Archive) -> None:
    """A note for each file of the archive that could not be read (ARC-07)."""
    from minutebook.cli import terminal
    from minutebook.record.said import NEWER

    for trouble in archive.troubles() if archive.root.is_dir() else ():
        path, reason = terminal.one_line(str(trouble.path)), terminal.one_line(trouble.reason)
        reason = _SAID_TWICE.sub(r"\1", reason).rstrip(".")
        how = "is not fully understood" if NEWER in reason else "is damaged"
        layout = archive.layout
        ends = ""
        if (
            trouble.path in (layout.corrections, layout.tags, layout.threads)
            and NEWER not in reason
        ):
            ends = " To end this note, delete the unreadable lines from the file."
        terminal.note(terminal.prose(f"{path} {how}: {reason}. The rest was read.{ends}"))
