"""When records were written, and what made them: the clock of a round (USE-03).

A transcript is mostly small records, so this is done for a whole round at once: a third of
the time of one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from minutebook.derive.clock import Class, Moment, read_clock, write_clock
from minutebook.sources.claude_code.records import FullBlock, FullMessage, Record

SYNTHETIC_MODEL = "<synthetic>"
"""The model of replies that the agent made up itself: errors, and "No response requested"."""

_MARKS = b"-:T.Z"
_NO_SECONDS = (b":6", b":7", b":8", b":9")
_LENGTH = len("2026-03-01T10:00:00.000Z")
_MINUTE = 100_000  # of a timestamp without its marks: two digits of seconds, three behind
MAKERS: dict[str, Class] = {
    "assistant": "reply",
    "progress": "progress",
    "system": "other",
    "attachment": "other",
}
"""What made a record, by its type; for a user's, `made_user_record` tells."""


def is_synthetic(record: Record[Any]) -> bool:
    """Whether the agent made a reply up itself."""
    return getattr(record.message, "model", None) == SYNTHETIC_MODEL


def made_user_record(record: Record[Any]) -> Class:
    """Whether an agent made a user's record (a result), a person, or neither."""
    message = record.message
    content = message.content if isinstance(message, FullMessage) else None
    blocks = [b for b in content if type(b) is FullBlock] if type(content) is list else []
    for block in blocks:
        if block.type == "tool_result":
            return "result"
    if record.isMeta or record.isCompactSummary:
        return "other"
    text = content if isinstance(content, str) else " ".join(b.text or "" for b in blocks)
    opening = text[:200].lstrip() or text.lstrip()
    if opening.startswith("<task-notification"):
        return "other"
    return "command" if opening.startswith(("<command-", "<local-command")) else "prompt"


def clock_of(stamps: Sequence[str], makers: Sequence[Class]) -> str:
    """Timestamps and makers of records as a clock; what is not a time is left out."""
    if not stamps:
        return ""
    try:
        moments = zip(_milliseconds(stamps), makers, strict=True)
        return write_clock(moments)  # type: ignore[arg-type]  # as good as Moments, and faster
    except ValueError:
        return write_clock(_one_by_one(stamps, makers))


def joined_clocks(clocks: Sequence[str]) -> str:
    """Clocks that follow each other as one."""
    written = [clock for clock in clocks if clock]
    if len(written) < 2:
        return written[0] if written else ""
    return write_clock(moment for clock in written for moment in read_clock(clock))


def _milliseconds(stamps: Sequence[str]) -> list[int]:
    """Timestamps as Claude Code writes them, since the epoch; raises ValueError for others."""
    text = "\n".join(stamps).encode("ascii")
    if len(text) != (_LENGTH + 1) * len(stamps) - 1 or text.count(b"Z") != len(stamps):
        raise ValueError("another format")
    if any(mark in text for mark in _NO_SECONDS):
        raise ValueError("no second of a minute")
    numbers = [*map(int, text.translate(None, _MARKS).split(b"\n"))]
    minutes = [number // _MINUTE for number in numbers]
    since = {
        minute: _since_epoch(f"{minute // 10_000:08d}T{minute % 10_000:04d}Z")
        for minute in set(minutes)
    }
    return [since[number // _MINUTE] + number % _MINUTE for number in numbers]


def _since_epoch(stamp: str) -> int:
    try:
        return round(datetime.fromisoformat(stamp).timestamp() * 1000)
    except (OverflowError, OSError):
        raise ValueError("out of range") from None


def _one_by_one(stamps: Sequence[str], makers: Sequence[Class]) -> Iterator[Moment]:
    for stamp, maker in zip(stamps, makers, strict=True):
        try:
            yield Moment(_since_epoch(stamp), maker)
        except ValueError:
            continue
