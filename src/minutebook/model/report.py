"""What a reader met in a transcript, and what it could not use (FMT-23)."""

from __future__ import annotations

from collections import Counter

import msgspec


class BadLine(msgspec.Struct, frozen=True):
    """A line that could not be read."""

    line: int
    """Counted from 1; 0 where it is the whole file."""
    reason: str
    path: str | None = None
    """The file, where it is not the transcript itself but a subagent's beside it."""


class FormatReport(msgspec.Struct):
    """Counts of everything met in one or more transcripts.

    The one mutable value of the model: a reader fills it while it reads, and reports
    of several files add up. What a reader leaves out of the session is counted here.
    """

    files: int = 0
    lines: int = 0
    records: Counter[str] = msgspec.field(default_factory=Counter)
    blocks: Counter[str] = msgspec.field(default_factory=Counter)
    versions: Counter[str] = msgspec.field(default_factory=Counter)
    unknown: Counter[str] = msgspec.field(default_factory=Counter)
    """Record and block types nobody told us about; each is kept in the session."""
    left_out: Counter[str] = msgspec.field(default_factory=Counter)
    """Understood, and not part of the conversation: bookkeeping, copies, withdrawn prompts."""
    repaired: Counter[str] = msgspec.field(default_factory=Counter)
    """Lines that needed help: glued records, wrongly typed fields, lone surrogates."""
    bad_lines: list[BadLine] = msgspec.field(default_factory=list)
    foreign: str | None = None
    """Name of the other tool, or a reason, when this is no transcript of the source at all."""

    def add(self, other: FormatReport) -> None:
        """Count another file's report in; its bad lines are for the caller to place."""
        self.files += other.files
        self.lines += other.lines
        for name in ("records", "blocks", "versions", "unknown", "left_out", "repaired"):
            getattr(self, name).update(getattr(other, name))
