"""Files of one JSON object a line, appended to and read as a whole.

What cannot be read is passed over and counted, so that a damaged line, or a file that is not
even a file any more, costs nothing but itself (ARC-07).
"""

from __future__ import annotations

from pathlib import Path
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class Lines(msgspec.Struct, Generic[T], frozen=True):
    """What a file held, and what is wrong with it."""

    values: list[T]
    problem: str | None = None


def read_lines(path: Path, kind: type[T]) -> Lines[T]:
    """Every line that can be read; a half-written last one is not worth a word."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Lines([])
    except OSError as error:
        return Lines([], (error.strerror or str(error)).lower())
    decoder = msgspec.json.Decoder(kind)
    found: list[T] = []
    bad = 0
    lines = content.split(b"\n")
    for line in lines:
        try:
            found.append(decoder.decode(line))
        except (msgspec.DecodeError, RecursionError):
            bad += bool(line.strip()) and line is not lines[-1]
    what = "line" if bad == 1 else "lines"
    return Lines(found, f"{bad} {what} cannot be read" if bad else None)
