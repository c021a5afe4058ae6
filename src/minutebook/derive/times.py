"""Timestamps as transcripts write them; one without a zone is in local time."""

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


def millis(timestamp: str | None) -> int:
    """The same in milliseconds since the epoch; 0 where `instant` has none. It is faster: a
    million turns need no local time."""
    if not timestamp:
        return 0
    try:
        moment = datetime.fromisoformat(timestamp)
        return int(moment.timestamp() * 1000) if is_sane(moment) else 0
    except (ValueError, OverflowError, OSError):
        return 0


def is_sane(moment: datetime) -> bool:
    """Whether a moment can be one of a session: what is far off would break every calendar."""
    return 1971 <= moment.year <= 2199
