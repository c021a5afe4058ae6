"""When records were written, and what made them: the clock of a round (USE-03).

A transcript is mostly small records, so this is done for a whole round at once, and in one
pass: a third of the time it would take one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import get_args

from minutebook.derive.clock import Class, Moment, read_clock, write_clock

LETTERS: dict[Class, str] = {
    name: write_clock([Moment(0, name)]).split(" ")[1][:1] for name in get_args(Class)
}
"""What made a record, as a clock's letter."""
_CLASSES: dict[str, Class] = {letter: name for name, letter in LETTERS.items()}

_MARKS = b"-:T.Z"
_LENGTH = len("2026-03-01T10:00:00.000Z")
_MINUTE = 100_000  # of a timestamp without its marks: two digits of seconds, three behind


def clock_of(stamps: Sequence[str | None], letters: Sequence[str]) -> str:
    """The clock of records, given when and by what they were made; what is not a time is left out.

    It is what `write_clock` makes of them.
    """
    try:
        return _clock(stamps, letters)  # type: ignore[arg-type]  # None raises
    except (TypeError, ValueError):
        return write_clock(_one_by_one(stamps, letters))


def joined_clocks(clocks: Sequence[str]) -> str:
    """Clocks that follow each other as one."""
    return write_clock(moment for clock in clocks for moment in read_clock(clock))


def _clock(stamps: Sequence[str], letters: Sequence[str]) -> str:
    """Of timestamps like `2026-03-01T10:00:00.000Z`; raises ValueError for others."""
    text = "\n".join(stamps).encode("ascii")
    if len(text) != (_LENGTH + 1) * len(stamps) - 1 or text.count(b"Z") != len(stamps):
        raise ValueError("another format")
    words: list[str] = []
    before: int | None = None
    start = end = offset = 0  # of the minute, which most often is that of the record before
    for number, letter in zip(
        map(int, text.translate(None, _MARKS).split(b"\n")), letters, strict=True
    ):
        if not start <= number < end:
            start = number - number % _MINUTE
            end = start + 60_000
            offset = start - _minute(start // _MINUTE)
            if number >= end:
                raise ValueError("no second of a minute")
            if before is None:
                before = number - offset
                words.append(str(before))
        at = number - offset
        words.append(f"{letter}{at - before}")  # type: ignore[operator]  # set at the first
        before = at
    return " ".join(words)


def _minute(digits: int) -> int:
    """When a minute began, given as 202603011000."""
    day, clock = divmod(digits, 10_000)
    hour, minute = divmod(clock, 100)
    if day < 1000_01_01 or hour > 23 or minute > 59:  # fewer digits: something was no digit
        raise ValueError("no time of a day")
    return _midnight(day) + (hour * 60 + minute) * 60_000


@lru_cache(maxsize=64)
def _midnight(day: int) -> int:
    """When a day began, given as 20260301."""
    return _since_epoch(f"{day:08d}T00Z")


def _since_epoch(stamp: str) -> int:
    try:
        return round(datetime.fromisoformat(stamp).timestamp() * 1000)
    except (OverflowError, OSError):
        raise ValueError("out of range") from None


def _one_by_one(stamps: Sequence[str | None], letters: Sequence[str]) -> Iterator[Moment]:
    for stamp, letter in zip(stamps, letters, strict=True):
        try:
            if stamp is not None:
                yield Moment(_since_epoch(stamp), _CLASSES[letter])
        except ValueError:
            continue
