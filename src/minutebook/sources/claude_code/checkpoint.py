"""Taking up a reading where the last one ended.

A transcript is append-only. What a reader knows at the end of the last whole line is a value
that can be kept; when the file has grown, reading goes on from there. A file whose bytes
before that point have changed is read from the start.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from minutebook.sources.assembly.assemble import AssemblerState
from minutebook.sources.claude_code.info import InfoCollector
from minutebook.sources.claude_code.queue import PromptQueue

_TAIL = 4096


class Checkpoint(msgspec.Struct):
    """All a reading knows at a newline."""

    offset: int
    tail: str
    """Digest of the bytes before the offset."""
    info: InfoCollector
    queue: PromptQueue
    assembler: AssemblerState
    first_prompt: str
    rounds: int
    agent_calls: dict[str, str]
    clocked: bool
    """Whether this is inside an export, whose own records say nothing of time."""
    seen: str = ""
    """Ids of the records met so far (`SeenIds`). They stand on a line of their own behind the
    rest: gathering them takes longer than all the rest, so it is done only for who asks."""

    def fits(self, path: Path) -> bool:
        """Whether the file still is what it was, up to here."""
        try:
            return path.stat().st_size >= self.offset and tail_of(path, self.offset) == self.tail
        except OSError:
            return False


def tail_of(path: Path, offset: int) -> str:
    """A digest of the bytes before a position."""
    with path.open("rb") as file:
        file.seek(max(0, offset - _TAIL))
        return hashlib.sha256(file.read(min(offset, _TAIL))).hexdigest()[:16]


def join_checkpoint(known: bytes, seen: str) -> bytes:
    return known + b"\n" + seen.encode()


def decode_checkpoint(blob: bytes) -> Checkpoint | None:
    """A checkpoint, or None where it is not ours or from another version."""
    known, newline, seen = blob.partition(b"\n")
    if not newline:
        return None
    try:
        found = msgspec.json.decode(known, type=Checkpoint)
        found.seen = seen.decode("ascii")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found
