"""What a session holds that figures are counted from; `digesting` makes it of its rounds.

Every reply a session knows is one row, also those that other sessions know too: who owns a
reply can only be said over all sessions (`ownership`).
"""

from __future__ import annotations

from bisect import bisect_right

import msgspec

from minutebook.derive.replies import is_better
from minutebook.derive.usage.times import Span
from minutebook.model import SessionInfo

VERSION = 3
SYNTHETIC = "<synthetic>"

# Marks of a row. A subagent's reply is known from its own transcript, or from the lines by which
# its parent repeated it.
AGENT, PROGRESS = 1, 2
ENDED = 4
"""A line of it has a stop reason: its output is the whole output."""
FAST, BATCH, DEARER = 8, 16, 32
"""Billed by other prices: fast mode, in a batch, priority or a region that costs more."""
THIN = 64
"""From an archive of the first release, which kept neither the split of writes nor billing."""
BARE = 128
"""Nothing was counted for it: it only made calls."""
DAMAGED = 256
"""Its counts, or its time, cannot be right; they were left out."""


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A reply as one session knows it."""

    id: str
    at: int
    """Milliseconds since the epoch; 0 where it is not known."""
    model: int
    """Its place among the digest's models."""
    round: int
    marks: int
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    searches: int = 0
    recorded: float = 0.0
    """Dollars, as the agent recorded them."""

    @property
    def total(self) -> int:
        return (
            self.input + self.output + self.cache_read + self.cache_write_5m + self.cache_write_1h
        )


class Call(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A tool call: of which row, which tool, what it did to which file."""

    row: int
    tool: int
    error: bool = False
    path: int = -1
    added: int = 0
    removed: int = 0


class Digest(msgspec.Struct, frozen=True, array_like=True):
    """What one session holds."""

    version: int
    stamp: str
    """What it was made from; another one means that it has to be made again."""
    models: list[str] = []
    tools: list[str] = []
    paths: list[str] = []
    branches: list[str] = []
    rows: list[Row] = []
    calls: list[Call] = []
    commits: list[tuple[int, str]] = []
    """Row and hash."""
    pulls: list[tuple[int, str]] = []
    """Row and address."""
    spans: list[Span] = []
    first: int = 0
    last: int = 0
    """Its first and last record, in milliseconds."""
    replied: int = 0
    """When its last reply was written."""
    rounds: dict[int, int] = {}
    """Round → branch, where it changed."""
    recorded: float | None = None
    """Dollars, as the agent recorded them for the whole session."""
    info: SessionInfo | None = None
    """What the transcript says of itself, where the archive does not know the session."""

    def branch(self, round: int) -> str:
        """The branch of a round."""
        numbers = list(self.rounds)
        place = bisect_right(numbers, round) - 1
        return self.branches[self.rounds[numbers[max(0, place)]]] if numbers else ""


def better(row: Row, known: Row) -> bool:
    """Whether a sighting of a reply is believed rather than another: the largest total, of
    equals the earliest in the conversation itself."""
    here, there = (where(row), row.at or 1 << 60), (where(known), known.at or 1 << 60)
    return is_better(row.total - known.total, here, there)


def where(row: Row) -> int:
    """In the conversation itself, in a subagent's, or only repeated."""
    return row.marks & (AGENT | PROGRESS)
