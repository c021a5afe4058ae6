"""``minutebook budget``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import msgspec

from minutebook.archive import Archive
from minutebook.archive.budgets import (
    BudgetOverview,
    CompactedSession,
    SessionBudget,
    SessionPeak,
    budget_overview,
)
from minutebook.cli import completion, terminal
from minutebook.cli.filters import Filtering, filter_options, filters_of
from minutebook.cli.json_output import print_json
from minutebook.cli.new_index import telling_of_a_new_index
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.derive.budget import NEAR, Budget, RoundBudget
from minutebook.derive.plain import one_line
from minutebook.errors import BadArgument

_ROWS = 30  # rounds shown of a long session
_LISTED = 10
_EVIDENCE = {
    "recorded": "recorded by the agent",
    "model": "the only window this model has",
    "usage": "more than the smaller window was used",
    "compaction": "from a recorded compaction",
    "usual": "assumed: the usual window of this model, which can also have another",
}
_NOT_OF_ALL = ("has_tools", "command", "error")


@click.command("budget", cls=Filtering)
@click.argument("session", shell_complete=completion.sessions, required=False)
@archive_options
@filter_options
@click.option("--all", "everything", is_flag=True, help="Show every round of a long session.")
@json_option
def command(
    session: str | None,
    roots: tuple[str, ...],
    archive: str | None,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show how full the model's context window was.

    For a SESSION, round by round. Without one, how often work came near the limit, over the
    sessions that pass the filters.

    \b
    Examples:
      minutebook budget
      minutebook budget Reed
    """
    book = opened(archive, roots)
    given = [name for name, value in options.items() if value not in (None, False, ())]
    if session is not None:
        if given:
            raise BadArgument("Filters choose sessions: leave out the filters or SESSION.")
        _show_session(book, book.budget(session), everything, as_json)
        return
    odd = [name for name in given if name in _NOT_OF_ALL]
    if odd:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in odd)
        raise BadArgument(f"{named}: that filter is about rounds, and these are sessions.")
    with telling_of_a_new_index(book):
        found = budget_overview(book, filters_of(options))
    if as_json:
        print_json(overview=found)
    else:
        _show_overview(book, found)


# -- one session


def _show_session(book: Archive, found: SessionBudget, everything: bool, as_json: bool) -> None:
    if as_json:
        print_json(**msgspec.structs.asdict(found))
        return
    told = found.budget
    terminal.say(click.style(f"{book.short(found.session_id)}  {found.name}", bold=True))
    if told.recorded:
        rows = told.rounds if everything else _kept(told)
        before = 0
        for row in rows:
            if row.number > before + 1:
                count = row.number - before - 1
                terminal.say(terminal.quiet(f"       … {terminal.plural(count, 'round')}"))
            terminal.say(_line(row))
            before = row.number
        if before < len(told.rounds):
            terminal.say(
                terminal.quiet(f"       … {terminal.plural(len(told.rounds) - before, 'round')}")
            )
        terminal.say()
    terminal.say(_summary(told))
    for model, limit in told.limits.items():
        evidence = _EVIDENCE[limit.evidence]
        sentence = f"Limit of {one_line(model)}: {limit.tokens:,} tokens ({evidence})."
        terminal.say(terminal.prose(sentence))
    _say_contents(told)
    if not told.recorded:
        terminal.note("The agent recorded no token usage in this session.")
    elif told.recorded < len(told.rounds):
        missing = len(told.rounds) - told.recorded
        terminal.note(f"{terminal.plural(missing, 'round')} without recorded usage.")


def _kept(told: Budget) -> Sequence[RoundBudget]:
    """Rounds worth a line: the first and last, those near capacity, compacted, and the peaks."""
    if len(told.rounds) <= _ROWS:
        return told.rounds
    ranked = sorted(
        told.rounds,
        key=lambda r: (
            r.number != told.peak_round,
            r.number not in (1, len(told.rounds)),
            not r.compactions,
            -(r.fullest or 0),
        ),
    )
    return sorted(ranked[:_ROWS], key=lambda r: r.number)


def _line(row: RoundBudget) -> str:
    """``#12    153,201   76.6 %  ███████████▌       compacted (auto, 155,802)``"""
    count = "not recorded" if row.tokens is None else f"{row.tokens:,}"
    share = "" if row.percent is None else f"{row.percent:.1f} %"
    width = max(10, min(40, terminal.columns() - 66))
    bar = _bar(row.percent, row.peak, width)
    remark = "near the limit" if row.near else ""
    if row.near and row.percent is not None and (row.peak or 0) > row.percent:
        remark = f"reached {row.peak:.1f} %"
    if row.compactions:
        told = "; ".join(
            ", ".join(
                part
                for part in (
                    one_line(c.trigger or ""),
                    f"{c.tokens_before:,} tokens" if c.tokens_before else "",
                )
                if part
            )
            for c in row.compactions
        )
        remark = f"compacted ({told})" if told.strip("; ") else "compacted"
    line = f"  #{row.number:<5} {count:>12} {share:>8}  {bar}  "
    line += terminal.fit(remark, max(0, terminal.columns() - terminal.width(line)))
    return click.style(line.rstrip(), fg="red" if row.near else None)


def _bar(percent: float | None, peak: float | None, width: int) -> str:
    if percent is None:
        return " " * width
    filled = min(width, max(1, round(width * percent / 100)))
    top = min(width, round(width * max(percent, peak or 0) / 100))
    return "█" * filled + "░" * max(0, top - filled) + "·" * (width - max(top, filled))


def _summary(told: Budget) -> str:
    parts = [terminal.plural(len(told.rounds), "round")]
    if told.peak is not None:
        parts.append(f"fullest {told.peak:.1f} % in #{told.peak_round}")
        parts.append(f"{told.near} near the limit (from {NEAR:.0f} %)")
    elif told.contents is not None:
        parts.append(f"at most {told.contents.tokens:,} tokens, limit not known")
    parts.append(terminal.plural(told.compactions, "compaction"))
    return ", ".join(parts) + "."


def _say_contents(told: Budget) -> None:
    contents = told.contents
    if contents is None:
        return
    parts = {**msgspec.structs.asdict(contents.filled), "rest": contents.rest}
    words = {"results": "tool results", "calls": "tool calls", "rest": "not in the transcript"}
    shown = sorted(((n, k) for k, n in parts.items() if n), reverse=True)
    listed = ", ".join(f"{words.get(k, k)} {round(100 * n / contents.tokens)} %" for n, k in shown)
    terminal.say(
        terminal.prose(f"Filled at #{contents.round} ({contents.tokens:,} tokens; est.): {listed}.")
    )


# -- all sessions


def _show_overview(book: Archive, found: BudgetOverview) -> None:
    if not found.known:
        terminal.say(
            f"No window is known of {terminal.plural(found.sessions, 'session')}: "
            "none recorded its usage."
        )
        return
    near = f"{NEAR:.0f} %"
    terminal.say(
        f"{terminal.plural(found.known, 'session')} with a known window: {found.came_near:,} "
        f"reached {near}, {found.ended_near:,} ended there."
    )
    terminal.say(
        f"{terminal.plural(found.engagements, 'engagement')}: "
        f"{found.engagements_ended_near:,} ended at {near} or more."
    )
    terminal.say(
        f"{terminal.plural(found.compactions, 'compaction')} in "
        f"{terminal.plural(found.compacted, 'session')}."
    )
    _table(book, "Fullest", found.peaks[:_LISTED])
    _table(book, "Most compactions", found.most_compacted[:_LISTED])
    if found.copies_hidden:
        count = terminal.plural(found.copies_hidden, "copy", "copies")
        terminal.note(f"{count} of other sessions not counted (--copies counts them).")
    if found.known < found.sessions:
        missing = found.sessions - found.known
        terminal.note(f"{terminal.plural(missing, 'session')} without recorded usage or limit.")


def _table(book: Archive, title: str, rows: Sequence[SessionPeak | CompactedSession]) -> None:
    if not rows:
        return
    terminal.say()
    terminal.say(click.style(title, bold=True))
    for row in rows:
        share = f"{row.peak:6.1f} %" if row.peak is not None else f"{'?':>8}"
        place = f"#{row.peak_round}" if isinstance(row, SessionPeak) else ""
        start = f"  {share}  {row.compactions:3} compacted  "
        start += f"{(row.at or '')[:10]:10}  {book.short(row.session_id)}{place}  "
        terminal.say(start + terminal.fit(row.name, max(10, terminal.columns() - len(start))))
