"""How methods, phases and times look: a hue for the eye, a letter and a word for everyone."""

from __future__ import annotations

from datetime import datetime, timedelta

from minutebook.derive.times import instant
from minutebook.derive.usage.figures import Cost
from minutebook.derive.usage.wording import money
from minutebook.model.engagement import METHODS
from minutebook.model.session import project_of

LETTERS = {
    "review": "R",
    "write": "W",
    "design": "N",
    "build": "B",
    "reorg": "O",
    "triage": "T",
    "discuss": "C",
    "debug": "D",
    "deploy": "Y",
    "research": "S",
    "plan": "P",
}
COLOURS = {
    "review": ("#2563eb", "#60a5fa"),
    "build": ("#15803d", "#4ade80"),
    "design": ("#7c3aed", "#a78bfa"),
    "debug": ("#a21caf", "#e879f9"),
    "triage": ("#c2410c", "#fb923c"),
    "reorg": ("#0f766e", "#2dd4bf"),
    "write": ("#b45309", "#fbbf24"),
    "research": ("#0e7490", "#22d3ee"),
    "plan": ("#be185d", "#f472b6"),
    "discuss": ("#475569", "#94a3b8"),
    "deploy": ("#4d7c0f", "#a3e635"),
    "": ("#6b7280", "#9ca3af"),
}
"""In light and in dark, for pictures that leave the page; style.css has the same (tested)."""
PHASES = {
    "completed": "●",
    "in-progress": "◐",
    "started": "○",
    "blocked": "■",
    "abandoned": "×",
    "handed-off": "→",
}
UNLABELLED = "not labelled"
_HALF_A_CENT = 5_000_000_000  # in 10⁻¹² dollars: what would be written as $0.00


def letter(method: str | None) -> str:
    return LETTERS.get(method or "", "·")


def hue(method: str | None) -> str:
    """The class that colours a method; words from elsewhere stay neutral."""
    return f"m-{method}" if method in METHODS else "m-none"


def phase_sign(phase: str) -> str:
    return PHASES.get(phase, "○")


def day_heading(moment: datetime | None, now: datetime) -> str:
    """``Mon 23 Mar``; the year where it is another one."""
    if moment is None:
        return "Undated"
    if moment.date() == now.date():
        return "Today"
    if moment.date() == (now - timedelta(days=1)).date():
        return "Yesterday"
    year = "" if moment.year == now.year else f" {moment.year}"
    return f"{moment:%a} {moment.day} {moment:%b}{year}"


def exact(timestamp: str | None) -> str:
    moment = instant(timestamp)
    return f"{moment:%a} {moment.day} {moment:%b %Y, %H:%M}" if moment else "undated"


def ago(timestamp: str | None, now: datetime) -> str:
    """Relative within a day, the clock on that day, else the date."""
    moment = instant(timestamp)
    if moment is None:
        return "undated"
    seconds = (now - moment).total_seconds()
    if 0 <= seconds < 60:
        return "just now"
    if 0 <= seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if 0 <= seconds < 86400:
        return f"{int(seconds // 3600)} h ago"
    year = "" if moment.year == now.year else f" {moment.year}"
    return f"{moment.day} {moment:%b}{year}, {moment:%H:%M}"


def span(started: str | None, ended: str | None) -> str:
    """``41 min``, ``3 h 05 min``; empty where it is not known."""
    first, last = instant(started), instant(ended)
    if first is None or last is None or last <= first:
        return ""
    minutes = round((last - first).total_seconds() / 60)
    if minutes < 1:
        return "under a minute"
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{round(minutes / 1440)} days"


def worked_for(milliseconds: int | None) -> str:
    """``41 min``, ``3 h 05 min``: time at work, without the silences."""
    if not milliseconds:
        return ""
    minutes = round(milliseconds / 1000) // 60  # as `minutebook usage` says it
    if minutes < 60:
        return f"{minutes} min" if minutes else "under a minute"
    return f"{minutes // 60} h {minutes % 60:02} min"


def active_for(seconds: float) -> str:
    """The same of a figure of usage; ``0 min`` where there was no activity."""
    return worked_for(round(1000 * seconds)) or "0 min"


def fullness(percent: float) -> str:
    """How full the model's window was, in words; a little is not nothing."""
    return f"{percent:.0f} %" if round(percent) or not percent else "under 1 %"


def price(cost: Cost | None) -> str:
    """A cost as everywhere, but never as if it were free."""
    if cost is not None and 0 < cost.exact < _HALF_A_CENT and not cost.at_least:
        return "under $0.01"
    return money(cost)


def dollars(exact: int) -> str:
    """``$1.20``, of 10⁻¹² dollars. Empty where nothing was counted."""
    return price(Cost(exact)) if exact else ""


def clock(milliseconds: int | None) -> str:
    """``0:12`` for a duration."""
    if not milliseconds:
        return ""
    seconds = round(milliseconds / 1000)
    return f"{seconds // 60}:{seconds % 60:02}"


def model_name(model: str | None) -> str:
    """``maker-opus-4-6-20260101`` as people say it: ``opus 4.6``."""
    parts = [p for p in (model or "").split("-") if not (p.isdigit() and len(p) > 5)]
    if len(parts) > 2 and parts[1].isalpha() and any(part.isdigit() for part in parts[2:]):
        parts = parts[1:]
    words: list[str] = []
    for part in parts:
        if part.isdigit() and words and words[-1].replace(".", "").isdigit():
            words[-1] += f".{part}"
        else:
            words.append(part)
    return " ".join(words).strip() or model or ""


def project_name(path: str | None) -> str:
    return project_of(path) if path else ""
