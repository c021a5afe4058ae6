"""When the records of a round were written, and by whom: what active time is counted from.

A clock is one short text, so that a round file stays readable: the first moment in
milliseconds since the epoch, then for each record a letter and the milliseconds since the
record before it: ``1772359200000 p0 r5042 r118 t51000``. Records stand in file order, so a
step may be negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

Class = Literal["prompt", "command", "reply", "result", "progress", "other"]
"""What made a record: a person (prompt, command), the agent (reply, result, progress), neither."""

_LETTERS: dict[Class, str] = {
    "prompt": "p",
    "command": "c",
    "reply": "r",
    "result": "t",
    "progress": "g",
    "other": "o",
}
_CLASSES: dict[str, Class] = {letter: name for name, letter in _LETTERS.items()}


class Moment(NamedTuple):
    """A record: when it was written, in milliseconds since the epoch, and what made it."""

    at: int
    made_by: Class


def write_clock(moments: Iterable[Moment]) -> str:
    """The moments as text; empty for none."""
    words: list[str] = []
    before = 0
    for at, made_by in moments:
        if not words:
            words.append(str(at))
            before = at
        words.append(f"{_LETTERS[made_by]}{at - before}")
        before = at
    return " ".join(words)


def read_clock(clock: str) -> Iterator[Moment]:
    """The moments of a clock; what somebody broke by hand ends it."""
    first, *steps = clock.split(" ")
    try:
        at = int(first) if first else 0
        for step in steps:
            at += int(step[1:])
            yield Moment(at, _CLASSES[step[:1]])
    except (ValueError, KeyError):
        return


def beyond(clock: str, known: Counter[Moment]) -> str:
    """The moments of a clock that are not among those known; they are counted off there."""
    fresh = []
    for moment in read_clock(clock):
        if known[moment] > 0:
            known[moment] -= 1
        else:
            fresh.append(moment)
    return write_clock(fresh)
