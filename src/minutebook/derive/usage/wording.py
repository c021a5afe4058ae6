"""Figures as a person reads them."""

from __future__ import annotations

from minutebook.derive.usage.figures import Cost, Figures
from minutebook.derive.wording import plural


def usage_text(figures: Figures) -> str:
    """Figures in one line."""
    tokens, times, work = figures.tokens, figures.times, figures.work
    bound = "≥" if figures.open_ended else ""
    parts = [
        plural(figures.replies, "reply", "replies"),
        f"input {short(tokens.input)}",
        f"output {bound}{short(tokens.output)}",
        f"cache read {short(tokens.cache_read)}",
        f"cache write {short(tokens.cache_write_5m)} (5 min) {short(tokens.cache_write_1h)} (1 h)",
    ]
    if figures.cost is not None:
        known = " at API prices" if is_known(figures.cost) else ""
        parts.append(f"{money(figures.cost)}{known}")
    if times is not None:
        parts.append(f"active {duration(times.active_clock) or '0s'}")
    parts.append(f"{plural(work.calls, 'tool call')}, {work.errors:,} failed")
    return ", ".join(parts)


def money(cost: Cost | None) -> str:
    """Dollars at API prices; ≥ where it is more in truth."""
    if cost is None:
        return ""
    if not is_known(cost):
        return "unpriced" if cost.unpriced else "unrecorded"
    return f"{'≥' if cost.at_least else ''}${cost.usd:,.2f}"


def is_known(cost: Cost) -> bool:
    """Whether anything can be said of a cost: of some replies there are tokens and prices."""
    return bool(cost.exact or not (cost.unpriced or cost.unrecorded))


def short(count: int) -> str:
    """A count in at most five characters and a unit."""
    if count < 10_000:
        return str(count) if count < 1000 else f"{count:,}"
    value = float(count)
    for unit in ("k", "M", "B"):
        value /= 1000
        if value < 999.5:
            return f"{value:.1f}{unit}" if value < 99.95 else f"{value:.0f}{unit}"
    return f"{value / 1000:.1f}T"


def duration(seconds: float) -> str:
    """``3h 07m``, ``12m``, ``40s``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s" if whole else ""
    minutes = whole // 60
    hours = minutes // 60
    return f"{hours}h {minutes % 60:02}m" if hours else f"{minutes}m"
