"""Files with one JSON object per line, appended to and read as a whole.

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
    lost: int = 0
    """Lines that cannot be read; half a line at the end, of a killed writer, is none of them."""


def read_lines(path: Path, kind: type[T]) -> Lines[T]:
    """Every line that can be read."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Lines([])
    except OSError as error:
        return Lines([], (error.strerror or str(error)).lower())
    if not content:
        return Lines([], "it is empty")
    decoder = msgspec.json.Decoder(kind)
    found: list[T] = []
    lost = 0
    *whole, rest = content.split(b"\n")
    for line in whole:
        try:
            found.append(decoder.decode(line))
        except (msgspec.DecodeError, RecursionError):
            lost += bool(line.strip())
    problem = f"{lost} {'line' if lost == 1 else 'lines'} cannot be read" if lost else None
    if rest.strip():
        try:
            found.append(decoder.decode(rest))  # somebody's editor left the newline out
        except (msgspec.DecodeError, RecursionError):
            problem = problem or "its last line is only half there"
    return Lines(found, problem, lost)
