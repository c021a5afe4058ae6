"""The filters that `search` and `stats` share (SRCH-02 … SRCH-10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from minutebook.cli.options import AGENT, COPIES, GHOSTS, HIDDEN, ONCE, STARRED
from minutebook.derive.labels import known_method, known_phase
from minutebook.derive.periods import since as parse_since
from minutebook.errors import BadArgument
from minutebook.index.query import Filters, span

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
_OPTIONS = (
    click.option("-m", "--method", metavar="METHOD", **ONCE, help="Exactly this method."),
    click.option("-p", "--project", metavar="TEXT", **ONCE, help="Part of the project's path."),
    AGENT_OPTION,
    *_PERIOD,
    click.option("--phase", metavar="PHASE", **ONCE, help="Exactly this phase."),
    click.option("--branch", metavar="TEXT", **ONCE, help="Part of the git branch."),
    click.option("--model", metavar="TEXT", **ONCE, help="Part of the model's name."),
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
    click.option("--starred", is_flag=True, help=STARRED),
    click.option("--hidden", is_flag=True, help=HIDDEN),
)


def filter_options(command: F) -> F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def period_options(command: F) -> F:
    """Only those that name a period."""
    for option in reversed(_PERIOD):
        command = option(command)
    return command


def limits_of(options: dict[str, Any]) -> tuple[int | None, int | None]:
    """From when on, and up to when, these options ask for."""
    limits: list[tuple[int | None, int | None]] = []
    if options["date"]:
        limits.append(span(options["date"]))
    if options["today"]:
        limits.append(span("today"))
    if options["week"]:
        limits.append(span("this week"))
    if options["since"]:
        limits.append((int(parse_since(options["since"]).timestamp()), None))
    if options["until"]:
        limits.append((None, span(options["until"])[1]))
    after = max((start for start, _ in limits if start is not None), default=None)
    before = min((end for _, end in limits if end is not None), default=None)
    if after is not None and before is not None and after >= before:
        raise BadArgument("These dates leave no day: give fewer of them.")
    return after, before


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
        tools=options["has_tools"],
        command=_words(options["command"], "--command"),
        error=_words(options["error"], "--error"),
        ghosts=options["ghosts"],
        copies=options["copies"],
        starred=options["starred"],
        hidden=options["hidden"],
    )


def _words(text: str | None, option: str) -> str | None:
    if text is not None and not any(char.isalnum() for char in text):
        raise BadArgument(f"{option} needs a word to look for.")
    return text
