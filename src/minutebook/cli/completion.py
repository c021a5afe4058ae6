"""Shell completion: sessions, engagements and projects as values.

The shell asks at every Tab, so a list is short, and silent whatever goes wrong: an error printed
here would stand in the middle of what a person types.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from minutebook.archive import Archive

VARIABLE = "_MINUTEBOOK_COMPLETE"
_MOST = 100
_WIDEST = 60

Values = Callable[["Archive", click.Context, str], Iterator[tuple[str, str]]]
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def answer(group: click.Group) -> int:
    """Answer a shell that asks what may follow, and give the status."""
    from click.shell_completion import shell_complete

    try:
        return shell_complete(group, {}, "minutebook", VARIABLE, os.environ[VARIABLE])
    except click.ClickException:  # what was typed so far makes no sense, which is for later
        return 0


def source_for(shell: str, group: click.Command) -> str:
    """The script that makes a shell ask."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, shell
    return found(group, {}, "minutebook", VARIABLE).source()


def _completer(values: Values) -> Completer:
    @wraps(values)
    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del param
        from click.shell_completion import CompletionItem

        from minutebook.archive import open_archive
        from minutebook.cli.terminal import one_line

        try:
            roots = ctx.params.get("roots") or ()
            archive = open_archive(ctx.params.get("archive"), roots, create=True)
            found = [*islice(filter(_whole, values(archive, ctx, incomplete)), _MOST)]
        except Exception:  # a shell has no use for it, whatever it is
            return []
        return [CompletionItem(_typed(v), help=one_line(h)[:_WIDEST]) for v, h in found]

    return complete


def _whole(offered: tuple[str, str]) -> bool:
    """Whether a value reaches a shell as it is: the scripts split at commas and eat backslashes."""
    from minutebook.cli.terminal import one_line

    value, _ = offered
    return value == one_line(value) and not value.startswith("-") and not {",", "\\"} & {*value}


def _typed(value: str) -> str:
    """A value as it stands in a line: it may be a transcript's words, and is never to be obeyed.

    zsh and fish quote what they complete; bash takes it as it comes.
    """
    return shlex.quote(value) if os.environ[VARIABLE].startswith("bash") else value


@_completer
def sessions(archive: Archive, ctx: click.Context, begun: str) -> Iterator[tuple[str, str]]:
    """Ids of sessions, newest first, with what they are called; also by the start of a name."""
    del ctx
    wanted = begun.casefold()
    for row in archive.sessions().sessions:
        if row.id.startswith(wanted):
            yield archive.short(row.id), row.name
        elif wanted:
            # A name of several words would have to be quoted: only what a shell takes as it is.
            yield from (
                (name, row.name)
                for name in (row.identity.name, row.info.slug)
                if name and " " not in name and name.casefold().startswith(wanted)
            )


@_completer
def engagements(archive: Archive, ctx: click.Context, begun: str) -> Iterator[tuple[str, str]]:
    """The engagements of the session that was named, else all, with their topics."""
    named = ctx.params.get("session")
    only = archive.resolve(named) if isinstance(named, str) and named else None
    for record, engagement in archive.engagements(copies=True):
        if only in (None, record.session_id) and engagement.id.startswith(begun):
            yield engagement.id, engagement.topic


@_completer
def projects(archive: Archive, ctx: click.Context, begun: str) -> Iterator[tuple[str, str]]:
    """The projects there are, those with the newest sessions first."""
    del ctx
    found = (row.info.project for row in archive.sessions().sessions)
    for project in dict.fromkeys(filter(None, found)):
        if begun.casefold() in project.casefold():
            yield project, ""
