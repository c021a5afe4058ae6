"""``minutebook correct``: a person's word, which wins over every extraction (UND-07)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from minutebook.archive import Archive
from minutebook.archive.names import nearest
from minutebook.cli import completion, terminal
from minutebook.cli.corrected import of_copy, print_spoken
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.derive.times import instant
from minutebook.errors import BadArgument, NotFound
from minutebook.model.said import (
    Hide,
    Join,
    Move,
    Split,
    Star,
    Statement,
    Undo,
    Unhide,
    Unstar,
)
from minutebook.verbs.correct import (
    in_words,
    is_setting,
    parse_note,
    parse_span,
    refuse_nothing,
    set_fields,
    with_words,
)

F = TypeVar("F", bound=Callable[..., Any])
_DEFAULT = "set"
_UNNAMED = "minutebook.unnamed"
"""Where a command notes that its name was left out."""


class _Group(click.Group):
    """A group whose first word may also be a session: then fields are set."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] == "--":
            args = [_DEFAULT, *args[1:]]
        elif args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            ctx.meta[_UNNAMED] = True
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.commands)


@click.group(
    "correct",
    cls=_Group,
    subcommand_metavar="SESSION [ENGAGEMENT] FIELD=VALUE…\n         minutebook correct COMMAND …",
    options_metavar="",
)
def command() -> None:
    """Correct sessions and engagements; your word wins over every extraction.

    ENGAGEMENT is its id, the start of its id, or the number of a round in it. Its fields are
    topic, project, method, phase, outcome, turn_range (3-7) and key_decisions: one each time, or
    several with ; between them (\\; is a semicolon). A session's fields are title, agent_name,
    agent_role and summary; an empty one (title=) shows what was recorded again.

    If a session has the name of a command, put -- first: `minutebook correct -- split title=X`.

    \b
    Examples:
      minutebook correct Reed title='Login rewrite' agent_role=reviewer
      minutebook correct Reed 3 topic='Fix the login redirect' method=debug
      minutebook correct split Reed 1 3      # a new engagement begins at round 3
      minutebook correct undo
    """


def _common(function: F) -> F:
    return archive_options(json_option(function))


def _say(
    session: str, statement: Statement, roots: tuple[str, ...], archive: str | None, as_json: bool
) -> None:
    _say_in(opened(archive, roots), session, statement, as_json)


def _say_in(book: Archive, session: str, statement: Statement, as_json: bool) -> None:
    refuse_nothing(book, session, statement)
    print_spoken(book, book.say(session, statement), as_json)


@command.command(_DEFAULT, options_metavar="", short_help="Set fields (the default).")
@click.argument("session", shell_complete=completion.sessions)
@click.argument("words", nargs=-1, required=True, metavar="[ENGAGEMENT] FIELD=VALUE…")
@_common
def set_(
    session: str,
    words: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    as_json: bool,
) -> None:
    """Set fields of an engagement, or of the session if you name no engagement.

    \b
    Example:
      minutebook correct set Reed 1 method=debug phase=completed
    """
    book = opened(archive, roots)
    unnamed = click.get_current_context().meta.get(_UNNAMED, False)
    if unnamed and book.exists and not any(map(is_setting, words)):
        name, session = session, _session_or_command(book, session)
        if words[0] in command.commands:
            raise BadArgument(f"The command comes first: `minutebook correct {words[0]} {name} …`.")
    print_spoken(book, set_fields(book, session, words), as_json)


def _session_or_command(book: Archive, name: str) -> str:
    """The session of a name; what is neither a session nor a command may be meant as either."""
    try:
        return book.resolve(name)
    except NotFound as error:
        near = nearest(name, command.commands)
        near = near or str(error).removeprefix(f"No session is called '{name}'.")
        told = f"No session or command is called '{name}'.{near}"
        raise NotFound(told, remedy=error.remedy) from None


@command.command("split")
@click.argument("session", shell_complete=completion.sessions)
@click.argument("engagement", shell_complete=completion.engagements)
@click.argument("round", type=click.IntRange(1, 10**9))
@_common
def split(session: str, engagement: str, round: int, **options: Any) -> None:
    """Start a new engagement at ROUND.

    The part before ROUND keeps the decisions and the outcome. Times, files and commits of both
    parts are worked out again from their rounds.

    \b
    Example:
      minutebook correct split Reed 1 3
    """
    _say(session, Split(engagement, round=round), **options)


@command.command("join")
@click.argument("session", shell_complete=completion.sessions)
@click.argument("engagement", shell_complete=completion.engagements)
@click.argument("other", shell_complete=completion.engagements)
@_common
def join(session: str, engagement: str, other: str, **options: Any) -> None:
    """Merge two engagements into one.

    It keeps the topic, project and method of ENGAGEMENT, the decisions of both, and the phase and
    outcome of the one that ended last. OTHER is named like ENGAGEMENT.

    \b
    Example:
      minutebook correct join Reed 1 3
    """
    _say(session, Join(engagement, other=other), **options)


@command.command("move")
@click.argument("session", shell_complete=completion.sessions)
@click.argument("engagement", shell_complete=completion.engagements)
@click.argument("rounds", metavar="FIRST-LAST")
@_common
def move(session: str, engagement: str, rounds: str, **options: Any) -> None:
    """Move the boundaries of an engagement.

    Its neighbours shrink to make room, or take over the rounds it gives up.

    \b
    Example:
      minutebook correct move Reed 1 1-2
    """
    first, last = parse_span(rounds)
    _say(session, Move(engagement, first=first, last=last), **options)


def _mark(name: str, kind: Callable[[str], Statement], doc: str, example: str) -> None:
    @click.argument("session", shell_complete=completion.sessions)
    @click.argument("engagement", shell_complete=completion.engagements, default="")
    @_common
    def mark(session: str, engagement: str, **options: Any) -> None:
        _say(session, kind(engagement), **options)

    mark.__doc__ = f"{doc}\n\n\b\nExample:\n  {example}"
    command.command(name)(mark)


_mark(
    "star",
    Star,
    "Star a session or an engagement; `search --starred` finds it.",
    "minutebook correct star Reed",
)
_mark("unstar", Unstar, "Remove the star.", "minutebook correct unstar Reed")
_mark(
    "hide",
    Hide,
    "Leave it out of lists and statistics.\n\nA search for its words still finds it.",
    "minutebook correct hide Reed 1",
)
_mark("unhide", Unhide, "List and count it again.", "minutebook correct unhide Reed 1")


@command.command("note")
@click.argument("session", shell_complete=completion.sessions)
@click.argument("words", nargs=-1, required=True, metavar="[ENGAGEMENT] TEXT")
@_common
def note(
    session: str,
    words: tuple[str, ...],
    roots: tuple[str, ...],
    archive: str | None,
    as_json: bool,
) -> None:
    """Write a note on a session or an engagement.

    It replaces an existing note; an empty text removes it. Quote TEXT if it has spaces. A number
    or an engagement's id alone is not taken for a text.

    \b
    Example:
      minutebook correct note Reed 1 'Compare with the second attempt'
    """
    if len(words) > 2:
        raise click.UsageError("Quote the text: note SESSION [ENGAGEMENT] 'two words'.")
    book = opened(archive, roots)
    _say_in(book, session, parse_note(book, session, words), as_json)


@command.command("undo")
@click.argument("session", shell_complete=completion.sessions, default="")
@_common
def undo(session: str, **options: Any) -> None:
    """Take back your last correction: of SESSION, or of any session.

    It takes back the last one that `list` shows; run it again for the one before. Nothing is
    deleted; `list` still shows it.

    \b
    Example:
      minutebook correct undo Reed
    """
    _say(session, Undo(), **options)


@command.command("list", short_help="List your corrections, oldest first.")
@click.argument("session", shell_complete=completion.sessions, required=False)
@_common
def list_(session: str | None, roots: tuple[str, ...], archive: str | None, as_json: bool) -> None:
    """List your corrections, oldest first: of SESSION, or of every session.

    Those of copies of SESSION are among them if they hold for it.

    \b
    Example:
      minutebook correct list Reed
    """
    book = opened(archive, roots)
    said = book.said(session)
    if as_json:
        print_json(said=[with_words(item) for item in said])
        return
    shown = [
        item for item in said if not isinstance(item.statement, Undo)
    ]  # what it took is marked
    for item in shown:
        when = instant(item.at)
        at = when.strftime("%Y-%m-%d %H:%M") if when else "(before)"
        of = "" if session else f"{terminal.one_line(book.short(item.session_id))}  "
        lead = f"{at:16}  {of}"
        words = f"{terminal.one_line(in_words(item))}{of_copy(book, item)}"
        words = f"{words} (taken back)" if item.undone else words
        line = (
            terminal.hanging(f"{lead}{words}", len(lead))
            if terminal.is_terminal()
            else f"{lead}{words}"
        )
        terminal.say(terminal.quiet(line) if item.undone else line)
    if not shown:
        terminal.note(f"There is no correction of {'this' if session else 'any'} session.")
