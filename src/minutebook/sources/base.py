"""What a source is: an adapter that finds and reads one agent's transcripts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import msgspec

from minutebook.derive.instructions import Given
from minutebook.model import (
    Block,
    FormatReport,
    Loose,
    RecordedCost,
    Round,
    Session,
    SessionInfo,
    Subagent,
    ToolKind,
)

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
    key: str = ""
    """Which of the sessions in the file it is, where a file holds several."""

    @property
    def location(self) -> str:
        """Its path as text that can be written down: a file name need not be UTF-8."""
        path = str(self.path).encode("utf-8", "backslashreplace").decode()
        return f"{path}#{self.key}" if self.key else path


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

    loose: Loose
    """What belongs to none of the rounds; only a full reading gathers it."""

    @property
    def checkpoint(self) -> bytes | None:
        """What a later reading of the grown file can go on from; None where it cannot."""
        ...

    def rounds(self) -> Iterator[Round]: ...

    def info(self) -> SessionInfo: ...

    def subagents(self) -> Iterator[Subagent]: ...


def read_session(reading: Reading) -> Session:
    """A whole session as one value."""
    rounds = tuple(reading.rounds())
    return Session(reading.info(), rounds, tuple(reading.subagents()))


# ------------------------------------------------------------ the way back


class Surgery(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a transcript comes from that was cut, joined or shortened (OPS-17)."""

    kind: str
    """``full-after``, ``engagement``, ``compress-engagement``, ``merge``, ``split``."""
    parents: tuple[str, ...] = ()
    what: str | None = None
    """The moment or the engagement."""
    parent_session: str | None = None
    """Of a part: the session that was split."""
    part: str | None = None
    references: tuple[str, ...] = ()
    """Rounds that are not here but referred to, ``<session>#<round>``."""


class ExportHeader(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What an exported transcript says of the session it was made from."""

    source: str | None = None
    """Path of the transcript the session was read from."""
    program: str | None = None
    """The source it was read by: what one agent's model signed, another's cannot read."""
    title: str | None = None
    custom_title: str | None = None
    """The title, where a person gave it."""
    rename: str | None = None
    signature: str | None = None
    cwd: str | None = None
    branch: str | None = None
    version: str | None = None
    cost: RecordedCost | None = None
    surgery: Surgery | None = None


class FactReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """One kind of fact in two transcripts, counted in both directions."""

    name: str
    identical: int
    lost: int = 0
    """In the source, and not in the export."""
    added: int = 0
    """In the export, and not in the source."""
    lost_examples: list[str] = []
    added_examples: list[str] = []


class FieldFate(msgspec.Struct, frozen=True):
    """A field of the source's records, and what becomes of it in an export."""

    field: str
    count: int
    fate: str
    """``kept``, ``transformed`` or ``left behind``."""
    reason: str


class Exporter(Protocol):
    """The way back: writes transcripts its agent can resume. Nothing is held in memory."""

    matters: tuple[str, ...]
    """Names of the facts whose loss makes a check fail."""
    fates: dict[str, tuple[str, str]]
    """Fields of records: what becomes of each, and why. Any other is left behind."""

    def id_for(self, session_id: str, program: str | None) -> str:
        """What the agent calls a session that was read by a source, its own or another's."""
        ...

    def place_for(self, root: Path, cwd: str, session_id: str) -> Path:
        """Where the agent looks for a session's transcript."""
        ...

    def emit(
        self, session_id: str, header: ExportHeader, rounds: Iterable[Round]
    ) -> Iterator[bytes]:
        """Lines of the transcript."""
        ...

    def emit_agents(
        self, place: Path, session_id: str, agents: Iterable[Subagent]
    ) -> Iterator[tuple[Path, Iterator[bytes]]]:
        """Files that go with the transcript at `place`, and the pieces of each."""
        ...

    def not_sent(self, rounds: Iterable[Round], program: str | None = None) -> dict[str, int]:
        """What the file of a session that another source read holds, and the agent will not see
        when it resumes, counted (OPS-11)."""
        ...

    def compare(self, source: Path, exported: Path) -> tuple[list[FactReport], list[FieldFate]]:
        """What of the source is in the export, and what became of every field (OPS-14)."""
        ...


# ------------------------------------------------------------ the adapter


@runtime_checkable
class ServerAware(Protocol):
    """An adapter that can say which MCP servers a person has told its agent of."""

    def mcp_servers(self, root: Path) -> frozenset[str]:
        """Their names, in the configuration of this root."""
        ...


class Source(Protocol):
    """An agent, as far as its transcripts go. Nothing outside its folder knows more of it."""

    name: str
    """``claude-code``; what records and documents name it by."""
    program: str
    """``claude``: the command, and the bucket of sessions without a role (AGT-05)."""
    title: str
    """``Claude Code``, for people."""
    home: str
    """Where its transcripts are by default, for people."""

    @property
    def exporter(self) -> Exporter | None:
        """None where this agent's transcripts cannot be written."""
        ...

    # -- finding

    def default_root(self) -> Path: ...

    def discover(self, places: Iterable[Path]) -> tuple[list[Transcript], list[Trouble]]: ...

    def claims(self, path: Path) -> bool:
        """Whether a file, or a folder, looks like this agent's."""
        ...

    def current(self, transcript: Transcript) -> Transcript | None:
        """The transcript with the size and time it has now; None where it was deleted since."""
        ...

    def head(self, transcript: Transcript, size: int) -> str:
        """A digest of how the transcript began when it had this size: a rewritten one has
        another. OSError where it cannot be read."""
        ...

    def beside(self, transcript: Transcript) -> str:
        """Changes when a file that belongs to the transcript does."""
        ...

    def orphans(self, folder: Path, session_ids: Collection[str]) -> list[Trouble]: ...

    def retention_days(self, root: Path) -> int | None:
        """After how many days the agent deletes a transcript of this root; None: never."""
        ...

    # -- reading

    def read(self, transcript: Transcript, depth: Depth) -> Reading: ...

    def resume(self, transcript: Transcript, checkpoint: bytes) -> Reading | None:
        """Go on from a checkpoint; None where the file is not what it was up to there."""
        ...

    def tool_kind(self, name: str) -> ToolKind: ...

    instruction_files: tuple[str, ...]
    """Where a folder has instructions for the agent, from that folder; a name may be a glob."""

    def home_instructions(self, root: Path | None) -> list[Path]:
        """Files of instructions for every project of a configuration folder."""
        ...

    def instructions(self, block: Block) -> tuple[Given, ...]:
        """Files of instructions that a block is about, with their content where it has it."""
        ...

    def context_windows(self, model: str) -> tuple[int, ...]:
        """Tokens a model's window can have, its usual one first; none where nobody knows."""
        ...

    # -- watching

    def folders(self, places: Iterable[Path]) -> list[Path]:
        """What to watch: the folders of these places, else of the default root."""
        ...

    def matters(self, path: Path) -> bool:
        """Whether a changed path may be a transcript, or belong to one."""
        ...

    def sessions_of(self, paths: Iterable[Path]) -> set[str]:
        """What the sessions of changed files may be called."""
        ...

    # -- going on

    def resume_command(self, session_id: str, cwd: str | None) -> str:
        """What to type in a shell to go on with a session."""
        ...
