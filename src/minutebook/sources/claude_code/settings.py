"""The one setting of Claude Code that concerns us: when it deletes transcripts."""

from __future__ import annotations

from pathlib import Path

import msgspec

DEFAULT_RETENTION_DAYS = 30


class _Settings(msgspec.Struct):
    cleanupPeriodDays: int | None = None


def retention_days(root: Path) -> int:
    """``cleanupPeriodDays`` of the configuration folder; later files win."""
    days = DEFAULT_RETENTION_DAYS
    for name in ("settings.json", "settings.local.json"):
        try:
            found = msgspec.json.decode((root / name).read_bytes(), type=_Settings)
        except (OSError, msgspec.DecodeError):
            continue
        if found.cleanupPeriodDays is not None:
            days = found.cleanupPeriodDays
    return days
