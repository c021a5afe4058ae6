"""Numbers and values as a person reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def size(count: int) -> str:
    """Bytes as a person reads them."""
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def pretty(value: Any) -> str:
    """JSON for eyes."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def spans_text(ranges: Iterable[tuple[int, int]]) -> str:
    """``3``, ``3-7``, ``3-5, 9``."""
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ranges)


def rounds_text(ranges: Iterable[tuple[int, int]]) -> str:
    """``round 3``, ``rounds 3-7``, ``rounds 3-5, 9``."""
    spans = spans_text(ranges)
    return f"{'round' if spans.isdecimal() else 'rounds'} {spans}"


def lost_with_transcript(rounds: int) -> str:
    """That the end of a session was never archived, and never will be."""
    were = "was" if rounds == 1 else "were"
    return f"{plural(rounds, 'round')} {were} not archived before the transcript was deleted."
