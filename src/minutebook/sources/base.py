"""What a source is: an adapter that finds and reads one agent's transcripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from minutebook.model import FormatReport, Round, Session, SessionInfo, Subagent

Depth = Literal["skim", "full"]
"""*skim*: metadata and the words of both sides; *full*: every block."""


class Transcript(msgspec.Struct, frozen=True):
    """A session's file on disk, found but not read."""

    path: Path
    source: str
    session_id: str
    size: int
    mtime: float
    root: Path | None = None
    """The configuration folder it was found in; None for a file named by a person."""


class Trouble(msgspec.Struct, frozen=True):
    """A file or folder that could not be used, and why."""

    path: Path
    reason: str


def reason_of(error: OSError) -> str:
    """Why a file could not be used, in words."""
    return (error.strerror or str(error)).lower()


class Reading(Protocol):
    """One pass over a transcript. Iterate the rounds first; the rest is complete after that."""

    report: FormatReport
    closed: int
    """How many rounds, from the first, can no longer grow; known once all were iterated."""

    at_end: bool
    """Whether the file has been read to its end: rounds given out before can no longer grow."""

    checkpoint: bytes | None
    """What a later reading of the grown file can go on from; None where it cannot."""

    def rounds(self) -> Iterator[Round]: ...

    def info(self) -> SessionInfo: ...

    def subagents(self) -> Iterator[Subagent]: ...


def read_session(reading: Reading) -> Session:
    """A whole session as one value."""
    rounds = tuple(reading.rounds())
    return Session(reading.info(), rounds, tuple(reading.subagents()))
