"""The filters that several verbs share (SRCH-02 … SRCH-10), and how their help names them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from minutebook.cli import completion
from minutebook.cli.options import AGENT, COPIES, GHOSTS, HIDDEN, ONCE, STARRED
from minutebook.derive.labels import known_method, known_phase
from minutebook.derive.periods import period
from minutebook.errors import BadArgument
from minutebook.index.query import Filters, limits

F = TypeVar("F", bound=Callable[..., Any])


class Filter(click.Option):
    """An option that several verbs share: `minutebook help filters` explains it once."""


class Filtering(click.Command):
    """A verb whose help fits a screen, because it only names its filters."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        shared = [option for option in options if isinstance(option, Filter)]
        own = [option for option in options if not isinstance(option, Filter)]
        records = [param.get_help_record(ctx) for param in own]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])
        with formatter.section("Filters (`minutebook help filters` explains each)"):
            formatter.write_text(", ".join(_called(option) for option in shared))


def _called(option: Filter) -> str:
    return "/".join([*option.opts, *option.secondary_opts])


def explained(ctx: click.Context) -> str:
    """What each filter means, for people."""
    every = filter_options(click.Command("filters")).params[::-1]
    records = [option.get_help_record(ctx) for option in every]
    formatter = ctx.make_formatter()
    with formatter.section("Filters"):
        formatter.write_dl([record for record in records if record is not None])
    return formatter.getvalue().rstrip("\n")


_filter = partial(click.option, cls=Filter)
_PERIOD = (
    _filter(
        "-d",
        "--date",
        metavar="DATE",
        **ONCE,
        help="Only that day or period: yesterday, last week, March, 2026-03-15.",
    ),
    _filter("--today", is_flag=True, help="Only today."),
    _filter("-w", "--week", is_flag=True, help="Only this week, from Monday."),
    _filter("--since", metavar="DATE", **ONCE, help="From DATE on; 7d is today and 6 days before."),
    _filter("--until", metavar="DATE", **ONCE, help="Up to the end of that day, week or month."),
)
PROJECT_OPTION = _filter(
    "-p",
    "--project",
    metavar="TEXT",
    shell_complete=completion.projects,
    **ONCE,
    help="Only the project of that name, else those whose path contains TEXT.",
)
AGENT_OPTION = _filter("-a", "--agent", metavar="TEXT", **ONCE, help=AGENT)
_WHAT = (
    _filter("-m", "--method", metavar="METHOD", **ONCE, help="Only this method."),
    PROJECT_OPTION,
    AGENT_OPTION,
    *_PERIOD,
    _filter("--phase", metavar="PHASE", **ONCE, help="Only this phase."),
    _filter("--branch", metavar="TEXT", **ONCE, help="Only git branches that contain TEXT."),
    _filter("--model", metavar="TEXT", **ONCE, help="Only models whose name contains TEXT."),
)
_MARKED = (
    _filter("--starred", is_flag=True, help=STARRED),
    _filter("--hidden", is_flag=True, help=HIDDEN),
)
_OPTIONS = (
    *_WHAT,
    _filter("--has-tools/--no-tools", default=None, help="Only rounds with, or without, calls."),
    _filter(
        "--command", metavar="TEXT", **ONCE, help="Only rounds in which tools ran these words."
    ),
    _filter(
        "--error", metavar="TEXT", **ONCE, help="Only rounds in which a call failed with TEXT."
    ),
    _filter("--ghosts", is_flag=True, help=GHOSTS),
    _filter("--copies", is_flag=True, help=COPIES),
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
    """From when on, and up to when, these options ask for; an empty date is none."""
    for name in ("since", "until", "date"):
        if options[name] is not None:
            period(options[name])
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
