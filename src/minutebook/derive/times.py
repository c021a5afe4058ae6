"""Timestamps as transcripts write them, and dates as people type them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from minutebook.errors import BadArgument

_DAYS = re.compile(r"(\d{1,5})\s*d(?:ays?)?")


def instant(timestamp: str | None) -> datetime | None:
    """A moment in local time; None for what is not an ISO 8601 timestamp, or of no time of ours."""
    if not timestamp:
        return None
    try:
        moment = datetime.fromisoformat(timestamp).astimezone()
    except (ValueError, OverflowError, OSError):
        return None
    return moment if is_sane(moment) else None


def is_sane(moment: datetime) -> bool:
    """Whether a moment can be one of a session: what is far off would break every calendar."""
    return 1971 <= moment.year <= 2199


def since(text: str, now: datetime | None = None) -> datetime:
    """The start of a window typed as ``2026-03-15``, ``7d``, ``today`` or ``yesterday``."""
    now = now or datetime.now().astimezone()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    word = text.strip().lower()
    if word in ("today", "yesterday"):
        return midnight - timedelta(days=word == "yesterday")
    if days := _DAYS.fullmatch(word):
        try:
            return now - timedelta(days=int(days[1]))
        except OverflowError:
            return datetime.min.replace(tzinfo=now.tzinfo)
    try:
        return datetime.fromisoformat(word).astimezone()
    except (ValueError, OverflowError):
        raise BadArgument(
            f"'{text}' is not a date: write it like 2026-03-15, or a number of days like 7d."
        ) from None
