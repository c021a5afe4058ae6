"""The only line reader.

Lines are split on the byte ``\\n`` alone (U+2028 is content, FMT-03). The file is read
into one buffer that is used again and again: a consumer gets spans of it, tests and
decodes them in place, and nothing is copied that is not needed. Memory is bounded by
the longest line. No mmap: a file that shrinks under a mapping kills the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_BOM = b"\xef\xbb\xbf"
_BUFFER = 1 << 18


class LineReader:
    """Spans of the lines of a file, in `data`; valid until the next span is asked for."""

    def __init__(self, path: Path, start: int = 0) -> None:
        self.path = path
        self.start = start
        self.data = bytearray(_BUFFER)
        self.view = memoryview(self.data)
        self.offset = start
        """Position in the file of the first byte of `data`."""
        self.terminated = True
        """Whether the last line ended in a newline; a half-written one does not."""
        self.number = 0
        """Number of the line last given out, from 1."""

    def __iter__(self) -> Iterator[tuple[int, int]]:
        with open(self.path, "rb", buffering=0) as file:
            if self.start:
                file.seek(self.start)
            held = 0  # bytes of an unfinished line at the front of the buffer
            while got := file.readinto(self.view[held:]):
                end = held + got
                position = 0
                if self.offset == 0 and self.data.startswith(_BOM):
                    position = len(_BOM)
                find = self.data.find
                newline = find(b"\n", max(position, held), end)  # none in what was held
                while newline >= 0:
                    self.number += 1
                    yield position, newline
                    position = newline + 1
                    newline = find(b"\n", position, end)
                held = end - position
                self._carry(position, end)
            if held:
                self.terminated = False
                self.number += 1
                yield 0, held

    def _carry(self, position: int, end: int) -> None:
        """Move the unfinished line to the front; grow the buffer when it fills it."""
        held = end - position
        if position:
            self.data[:held] = self.data[position:end]
            self.offset += position
        elif end == len(self.data):
            larger = bytearray(len(self.data) * 4)
            larger[:end] = self.data
            self.data, self.view = larger, memoryview(larger)
