"""Timestamps as transcripts write them."""

from __future__ import annotations

from datetime import datetime


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
