"""Documents on disk: written and read a piece at a time, never as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from minutebook.record.header import Header, read_header, write_header
from minutebook.record.patches import Malformed
from minutebook.record.store import make_folder, partial_name, put_in_place, write_pieces

_PIECE = 1 << 20
_HEAD = 1 << 16
_LONGEST_HEAD = 1 << 24


def read_head(document: Path) -> tuple[Header, int]:
    """The header of a document, and at which byte its body begins."""
    length = _HEAD
    with document.open("rb") as file:
        start = file.read(length)
        while True:
            text = start.decode("utf-8", "replace")
            try:
                header, end = read_header(text)
                return header, len(text[:end].encode("utf-8"))
            except Malformed:
                more = file.read(length)
                if not more or len(start) > _LONGEST_HEAD:
                    raise
                start += more


def peek(document: Path) -> Header | None:
    """The header of a document; None where it cannot be had."""
    try:
        return read_head(document)[0]
    except (OSError, Malformed):
        return None


def body_lines(document: Path, start: int) -> Iterator[str]:
    """The lines of a document's body, split on newlines alone."""
    ended = True
    with document.open("rb") as file:
        file.seek(start)
        for raw in file:
            ended = raw.endswith(b"\n")
            try:
                yield raw[:-1].decode("utf-8") if ended else raw.decode("utf-8")
            except UnicodeDecodeError:
                raise Malformed("it is not UTF-8") from None
    if ended:
        yield ""


def body_bytes(document: Path, start: int) -> Iterator[bytes]:
    """A document's body as it is."""
    with document.open("rb") as file:
        file.seek(start)
        while piece := file.read(_PIECE):
            yield piece


def write_document(document: Path, header: Header, body: Iterable[bytes]) -> bool:
    """Replace a document in one step; False, and nothing touched, where it is the same."""
    make_folder(document.parent)
    partial = partial_name(document)
    try:
        write_pieces(partial, chain((write_header(header).encode(),), body))
        if _same(document, partial):
            partial.unlink()
            return False
        put_in_place(partial, document)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return True


def _same(one: Path, other: Path) -> bool:
    try:
        if one.stat().st_size != other.stat().st_size:
            return False
    except OSError:
        return False
    with one.open("rb") as first, other.open("rb") as second:
        while piece := first.read(_PIECE):
            if piece != second.read(_PIECE):
                return False
    return True
