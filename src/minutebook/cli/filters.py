"""The filters that `search` and `stats` share (SRCH-02 … SRCH-10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from minutebook.cli.options import AGENT, COPIES, GHOSTS, HIDDEN, ONCE, STARRED
from minutebook.derive.labels import known_method, known_phase
from minutebook.errors import BadArgument
from minutebook.index.query import Filters, limits

F = TypeVar("F", bound=Callable[..., Any])

_PERIOD = (
    click.option(
        "-d",
        "--date",
        metavar="DATE",
        **ONCE,
        help="That day or period: yesterday, last week, March, 2026-03-15.",
    ),
    click.option("--today", is_flag=True, help="Today."),
    click.option("-w", "--week", is_flag=True, help="This week, Monday to Sunday."),
    click.option("--since", metavar="DATE", **ONCE, help="From then on; also 7d, 2w, 3 days ago."),
    click.option(
        "--until", metavar="DATE", **ONCE, help="Up to and with that day, or week, or month."
    ),
)
AGENT_OPTION = click.option("-a", "--agent", metavar="TEXT", **ONCE, help=AGENT)
_WHAT = (
    click.option("-m", "--method", metavar="METHOD", **ONCE, help="Exactly this method."),
    click.option("-p", "--project", metavar="TEXT", **ONCE, help="Part of the project's path."),
    AGENT_OPTION,
    *_PERIOD,
    click.option("--phase", metavar="PHASE", **ONCE, help="Exactly this phase."),
    click.option("--branch", metavar="TEXT", **ONCE, help="Part of the git branch."),
    click.option("--model", metavar="TEXT", **ONCE, help="Part of the model's name."),
)
_MARKED = (
    click.option("--starred", is_flag=True, help=STARRED),
    click.option("--hidden", is_flag=True, help=HIDDEN),
)
_OPTIONS = (
    *_WHAT,
    click.option(
        "--has-tools/--no-tools", default=None, help="Turns with, or without, tool calls."
    ),
    click.option(
        "--command", metavar="TEXT", **ONCE, help="Rounds in which tools ran this, word by word."
    ),
    click.option(
        "--error", metavar="TEXT", **ONCE, help="Rounds in which a call failed with this text."
    ),
    click.option("--ghosts", is_flag=True, help=GHOSTS),
    click.option("--copies", is_flag=True, help=COPIES),
    *_MARKED,
)


def filter_options(command: F) -> F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def reply_options(command: F) -> F:
    """Those that replies can be told apart by."""
    for option in reversed((*_WHAT, *_MARKED)):
        command = option(command)
    return command


def period_options(command: F) -> F:
    """Only those that name a period."""
    for option in reversed(_PERIOD):
        command = option(command)
    return command


def limits_of(options: dict[str, Any]) -> tuple[int | None, int | None]:
    """From when on, and up to when, these options ask for."""
    return limits(
        options["since"],
        options["until"],
        options["date"],
        "today" if options["today"] else None,
        "this week" if options["week"] else None,
    )


def filters_of(options: dict[str, Any]) -> Filters:
    """Filters from options; all of them count at once (SRCH-08)."""
    after, before = limits_of(options)
    return Filters(
        project=options["project"],
        agent=options["agent"],
        method=known_method(options["method"]) if options["method"] else None,
        phase=known_phase(options["phase"]) if options["phase"] else None,
        branch=options["branch"],
        model=options["model"],
        after=after,
        before=before,
        tools=options.get("has_tools"),
        command=_words(options.get("command"), "--command"),
        error=_words(options.get("error"), "--error"),
        ghosts=options.get("ghosts", False),
        copies=options.get("copies", False),
        starred=options["starred"],
        hidden=options["hidden"],
    )


def _words(text: str | None, option: str) -> str | None:
    if text is not None and not any(char.isalnum() for char in text):
        raise BadArgument(f"{option} needs a word to look for.")
    return text
