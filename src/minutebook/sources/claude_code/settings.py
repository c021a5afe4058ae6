"""The one setting of Claude Code that concerns us: when it deletes transcripts."""

from __future__ import annotations

from pathlib import Path

import msgspec

from minutebook.sources.claude_code.records import DECODE_ERRORS

DEFAULT_RETENTION_DAYS = 30
_MOST_DAYS = 1_000_000  # more than anybody means


class _Settings(msgspec.Struct):
    cleanupPeriodDays: int | None = None


def retention_days(root: Path) -> int:
    """``cleanupPeriodDays`` of the configuration folder; later files win."""
    days = DEFAULT_RETENTION_DAYS
    for name in ("settings.json", "settings.local.json"):
        try:
            raw = (root / name).read_bytes().removeprefix(b"\xef\xbb\xbf")
            found = msgspec.json.decode(raw, type=_Settings)
        except (OSError, *DECODE_ERRORS):
            continue
        if found.cleanupPeriodDays is not None and 0 <= found.cleanupPeriodDays <= _MOST_DAYS:
            days = found.cleanupPeriodDays
    return days
