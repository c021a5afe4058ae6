"""The only line reader.

Lines are split on the byte ``\\n`` alone (U+2028 is content, FMT-03). The file is read
into one buffer that is used again and again: a consumer gets spans of it, tests and
decodes them in place, and nothing is copied that is not needed. Memory is bounded by
the longest line. No mmap: a file that shrinks under a mapping kills the process.

A file whose name ends in ``.zst`` is read as what was compressed: positions are those of the
decompressed bytes.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from importlib import import_module
from io import RawIOBase
from pathlib import Path
from typing import Any

_BOM = b"\xef\xbb\xbf"
_BUFFER = 1 << 18
_MUCH, _RATIO = 1 << 26, 1_000  # bytes, and times its size: more than that is a bomb


def is_compressed(path: Path) -> bool:
    return path.suffix == ".zst"


def opened(path: Path, start: int = 0) -> RawIOBase:
    """A file at a position, unbuffered; a compressed one as what it was."""
    if is_compressed(path):
        file: RawIOBase = _Decompressed(path)
        left = start
        while left and (got := file.read(min(left, _BUFFER))):
            left -= len(got)
        return file
    file = open(path, "rb", buffering=0)  # noqa: SIM115 - the caller's to close
    if start:
        file.seek(start)
    return file


def size_of(path: Path, compressed: int) -> int:
    """How long a file of that many bytes is, decompressed."""
    if not is_compressed(path):
        return compressed
    zstd = _zstd()
    with path.open("rb") as file:
        try:
            known: int | None = zstd.get_frame_info(file.read(32)).decompressed_size
        except zstd.ZstdError:
            known = None
    if known is not None:
        return known
    with opened(path) as stream:  # written piece by piece: it has to be counted
        return sum(len(piece) for piece in iter(lambda: stream.read(_BUFFER) or b"", b""))


def _zstd() -> Any:
    """Python's own module from 3.14 on, and before that the same by another name."""
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return import_module(name)


class _Decompressed(RawIOBase):
    """Bytes of a zstd file; the library is loaded only for one. What is not one is an OSError."""

    def __init__(self, path: Path) -> None:
        zstd = _zstd()
        self._path = path
        # One that is cut short ends in an EOFError.
        self._bad = (zstd.ZstdError, EOFError)
        self._most = max(_MUCH, _RATIO * path.stat().st_size)
        self._stream: Any = zstd.ZstdFile(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            got: int = self._stream.readinto(buffer)
        except self._bad as error:
            raise OSError(errno.EIO, f"damaged: {error}", str(self._path)) from None
        self._most -= got
        if self._most < 0:
            raise OSError(errno.EFBIG, "much too large once it is decompressed", str(self._path))
        return got

    def close(self) -> None:
        self._stream.close()
        super().close()


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
        with opened(self.path, self.start) as file:
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
