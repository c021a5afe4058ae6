"""Options several verbs share, and the archive they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from minutebook.errors import BadArgument

if TYPE_CHECKING:
    from minutebook.archive import Archive

F = TypeVar("F", bound=Callable[..., Any])
GHOSTS = "Also sessions that never reached substantive work."
HIDDEN = "Also what you hid with `correct hide`."
COPIES = "List copies of a conversation, too."
AGENT = "Exactly a coding agent (`minutebook agents`), else part of a name, role or slug."
STARRED = "Only what you marked with `correct star`."
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
    help="Where the transcripts are: a configuration folder, a folder of transcripts or one "
    "file; may be given several times. "
    "[default: where each agent keeps them; `minutebook agents` lists the places]",
)
archive_option = click.option(
    "--archive",
    metavar="PATH",
    help="The archive. [default: $MINUTEBOOK_ARCHIVE, else your data folder]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
USAGE_SORTS = ("cost", "tokens", "active")
usage_option = click.option(
    "--usage", is_flag=True, help="Also what was used: output tokens, cost at API prices, time."
)
usage_sort_option = click.option(
    "--sort",
    type=click.Choice(USAGE_SORTS),
    help="What was used most first: cost, tokens (output tokens only) or active time; "
    "shows --usage.",
)
secrets_option = click.option(
    "--secrets", is_flag=True, help="Show keys, tokens and passwords instead of masking them."
)


def archive_options(command: F) -> F:
    """``--root`` and ``--archive``."""
    return root_option(archive_option(command))


def opened(
    path: str | None, roots: Iterable[str] = (), *, create: bool = False, secrets: bool = False
) -> Archive:
    """The archive a verb works on. What is damaged in it is named when the verb is done."""
    from minutebook.archive import open_archive

    archive = open_archive(path, roots, create=create, secrets=secrets)
    if archive.places:
        _ = archive.library  # a root that is not there is an error, whatever the verb needs
    click.get_current_context().call_on_close(lambda: name_damage(archive))
    return archive


def name_damage(archive: Archive) -> None:
    """A note for each file of the archive that could not be read (ARC-07)."""
    from minutebook.cli import terminal
    from minutebook.record.said import NEWER

    for trouble in archive.troubles() if archive.root.is_dir() else ():
        path, reason = terminal.one_line(str(trouble.path)), terminal.one_line(trouble.reason)
        reason = _SAID_TWICE.sub(r"\1", reason).rstrip(".")
        how = "is not fully understood" if NEWER in reason else "is damaged"
        terminal.note(f"{path} {how}: {reason}. The rest was read.")
