"""Usage as a table that fits the terminal, with what was expensive and why below it."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date

import click

from minutebook.archive import Archive
from minutebook.cli import terminal
from minutebook.derive.usage.figures import Expensive, Figures, Row, Times, Usage
from minutebook.derive.usage.tally import PERIODS
from minutebook.derive.usage.wording import duration, is_known, money, short

_MOST = 31
_WIDE, _WIDEST = 110, 150  # columns from which more is shown
_LABEL = 60
_BAR = 20
_DATE = re.compile(r"-20\d{6}$")

Column = tuple[str, int]
_NARROW: tuple[Column, ...] = (
    ("replies", 7),
    ("input", 5),
    ("output", 7),
    ("c.read", 6),
    ("w.5m", 6),
    ("w.1h", 6),
    ("cost", 10),
    ("active", 7),
)
_NAMED: tuple[Column, ...] = tuple(c for c in _NARROW if c[0] not in ("input", "w.5m", "w.1h"))
"""Of what has long names, where there is little room: the other kinds need a wider terminal."""
_LONG_NAMES = frozenset({"session", "engagement", "thread", "branch"})
_MORE: tuple[Column, ...] = (("hits", 5), ("agent", 7), ("you", 7), ("calls", 6), ("errors", 6))
_MOST_COLUMNS: tuple[Column, ...] = (("files", 5), ("lines", 13), ("commits", 7))


def print_usage(
    archive: Archive,
    found: Usage,
    limit: int | None,
    title: str | None = None,
    *,
    sorted_by_use: bool = False,
) -> None:
    """The table, its total, what was expensive, and what one has to know."""
    if not found.rows:
        _print_remarks(found)
        return
    most = limit or _MOST
    rows = found.rows[-most:] if found.by in PERIODS and not sorted_by_use else found.rows[:most]
    columns = _columns(found.by)
    room = terminal.columns() - sum(width + 1 for _, width in columns)
    bars = terminal.columns() >= _WIDEST
    room = max(8, min(_LABEL, room - (_BAR + 2 if bars else 0)))
    if title is not None:
        terminal.say(click.style(terminal.one_line(title), bold=True))
    head = " ".join((terminal.pad(found.by, room), *(f"{n:>{w}}" for n, w in columns)))
    terminal.say(terminal.quiet(head))
    dearest = max((_usd(row.figures) for row in rows), default=0.0)
    labels = _labels(archive, found.by, rows)
    for row, label in zip(rows, labels, strict=True):
        line = _line(label, row.figures, columns, room)
        if bars and dearest:
            length = round(_BAR * _usd(row.figures) / dearest)
            line = f"{line}  {terminal.quiet('█' * length)}"
        terminal.say(line)
    total = _line("total", found.total, columns, room)
    terminal.say(click.style(total, bold=True))
    if found.subagents is not None:
        terminal.say(_line("of which subagents", found.subagents, columns, room))
    _print_rest(archive, found)
    if len(rows) < len(found.rows):
        default = "" if limit else f", by default {_MOST}"
        shown = f"{len(rows):,} of {len(found.rows):,} rows (--limit{default})"
        terminal.note(f"{shown}; the total is of all.")
    _print_remarks(found)


def _print_remarks(found: Usage) -> None:
    for remark in found.remarks:
        terminal.note(terminal.prose(terminal.one_line(remark)))


def _labels(archive: Archive, by: str, rows: list[Row]) -> list[str]:
    """What each row is called: a session with the start of its id, an engagement with its
    address, a model without its date where that still names it."""
    names = [terminal.one_line(f"{row.address} {row.label}".lstrip()) for row in rows]
    if by == "session":
        known = archive.ids()
        return [
            f"{terminal.one_line(archive.short(row.key))} {name}" if row.key in known else name
            for row, name in zip(rows, names, strict=True)
        ]
    if by == "model":
        plain = [_DATE.sub("", name) for name in names]
        counts = Counter(plain)
        return [p if counts[p] == 1 else n for p, n in zip(plain, names, strict=True)]
    return names


def _columns(by: str) -> tuple[Column, ...]:
    whole = terminal.columns()
    if whole < _WIDEST and by in _LONG_NAMES:
        return _NARROW if whole >= _WIDE else _NAMED
    if whole >= _WIDEST:
        return (*_NARROW, *_MORE, *_MOST_COLUMNS)
    return (*_NARROW, *_MORE) if whole >= _WIDE else _NARROW


def _line(label: str, figures: Figures, columns: tuple[Column, ...], room: int) -> str:
    cells = _cells(figures)
    return " ".join((terminal.pad(label, room), *(f"{cells[n]:>{w}}" for n, w in columns)))


def _cells(figures: Figures) -> dict[str, str]:
    tokens, times, work = figures.tokens, figures.times, figures.work
    bound = "≥" if figures.open_ended else ""
    rate = tokens.hit_rate
    lines = f"+{short(work.lines_added)} -{short(work.lines_removed)}"
    return {
        "replies": f"{figures.replies:,}",
        "input": short(tokens.input),
        "output": bound + short(tokens.output),
        "c.read": short(tokens.cache_read),
        "w.5m": short(tokens.cache_write_5m),
        "w.1h": short(tokens.cache_write_1h),
        "cost": money(figures.cost) if figures.replies else "",
        "active": duration(times.active_clock) if times is not None else "",
        "hits": f"{rate:.0%}" if rate is not None else "",
        "agent": duration(times.own_agent) if times is not None else "",
        "you": duration(times.own_yours) if times is not None else "",
        "calls": short(work.calls),
        "errors": short(work.errors),
        "files": short(work.files),
        "lines": lines if work.lines_added or work.lines_removed else "",
        "commits": short(work.commits) if work.commits else "",
    }


def order_of(sort: str, figures: Figures | None) -> float:
    """How much was used, to sort by: the most comes first."""
    if figures is None:
        return 0.0
    if sort == "cost":
        return -_usd(figures)
    if sort == "tokens":
        return -float(figures.tokens.output)
    return -(figures.times.active_clock if figures.times is not None else 0.0)


def brief(figures: Figures | None) -> tuple[str, str, str]:
    """Output tokens, cost and active time, as lists show them."""
    if figures is None:
        return "", "", ""
    cells = _cells(figures)
    return cells["output"], cells["cost"], cells["active"]


def _usd(figures: Figures) -> float:
    return figures.cost.usd if figures.cost is not None else 0.0


def _print_rest(archive: Archive, found: Usage) -> None:
    total, expensive = found.total, found.expensive
    terminal.say()
    rate = total.tokens.hit_rate
    told = f"Cost {money(total.cost)} at API prices"
    if total.cost is not None and not is_known(total.cost):
        unpriced = total.cost.unpriced
        told = "The API prices are not known" if unpriced else "No usage was recorded"
    if rate is not None:
        told += f"; {rate:.1%} of what was read came from the cache"
    terminal.say(terminal.prose(f"{told}."))
    if total.times is not None and total.times.active_clock:
        terminal.say(terminal.prose(_timed(total.times)))
    if found.previous is not None:
        terminal.say(terminal.prose(_compared(found, found.previous)))
    if total.work.tools:
        most = [f"{terminal.one_line(t)} {n:,}" for t, n in list(total.work.tools.items())[:8]]
        terminal.say(terminal.hanging(f"Tools: {', '.join(most)}.", 7))
    _print_expensive(archive, expensive)
    if found.continued:
        parts = ", ".join(f"{n:,} from {archive.short(id)}" for id, n in found.continued.items())
        terminal.say(terminal.hanging(f"Continued, and counted there: {parts}.", 2))


def _timed(times: Times) -> str:
    """Time in one sentence, without what took none; copied history counts once."""
    agents, yours = duration(times.own_agent), duration(times.own_yours)
    parts = [f"agents worked {agents} in all"] if agents else []
    if yours:
        parts.append(f"you {yours}" if agents else f"you worked {yours}")
    told = f"Active {duration(times.active_clock) or '0s'} by the clock"
    return f"{told}; {', '.join(parts)}." if parts else f"{told}."


def _days(after: int | None, before: int | None) -> str:
    first = date.fromtimestamp(after or 0)
    last = date.fromtimestamp(before - 1) if before is not None else date.today()
    return f"{first} to {last}" if first < last else str(first)


def _compared(found: Usage, before: Figures) -> str:
    total = found.total
    then_days = _days(found.previous_after, found.previous_before)
    if not before.replies:
        return f"Nothing was used in the period before ({then_days})."
    changes = [
        f"{name} {now / then - 1:+.0%}"
        for name, now, then in (
            ("cost", _usd(total), _usd(before)),
            ("replies", total.replies, before.replies),
            ("output", total.tokens.output, before.tokens.output),
        )
        if then
    ]
    now_days = _days(found.after, found.before)
    return (
        f"The period before ({then_days}) cost {money(before.cost)}. "
        f"Compared with it, {now_days}: {', '.join(changes)}."
    )


def _print_expensive(archive: Archive, found: Expensive) -> None:
    reasons = []
    if found.long_prompts:
        reasons.append(
            f"{terminal.plural(found.long_prompts, 'reply', 'replies')} to prompts over 200k "
            f"tokens (${found.long_usd:,.2f})"
        )
    if found.rewrites:
        often = "once" if found.rewrites == 1 else f"{found.rewrites:,} times"
        reasons.append(
            f"the cache was lost {often} and {short(found.rewritten)} tokens were written again "
            f"(${found.rewritten_usd:,.2f} more than reading them)"
        )
    if found.errors:
        share = found.errors / found.calls if found.calls else 0
        reasons.append(f"{found.errors:,} of {found.calls:,} tool calls failed ({share:.1%})")
    if reasons:
        terminal.say(terminal.prose(f"What made it expensive: {'; '.join(reasons)}."))
    for costly in found.rounds[:3]:
        address = f"{archive.short(costly.session_id)}#{costly.round}"
        why = [f"{terminal.plural(costly.replies, 'reply', 'replies')}"]
        why.append(f"largest prompt {short(costly.largest_prompt)}")
        if costly.rewritten:
            why.append(f"{short(costly.rewritten)} written again")
        if costly.errors:
            why.append(terminal.plural(costly.errors, "failed call"))
        line = f"  {address:<14} {f'${costly.usd:,.2f}':>9}  {', '.join(why)}"
        terminal.say(terminal.hanging(line, 28))
