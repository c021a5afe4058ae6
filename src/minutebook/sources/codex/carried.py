"""Our own field in exported rollouts: what Codex's schema cannot hold.

Codex ignores fields it does not know. A line of an export has a field ``minutebook`` with a
`Carried`; what follows without one, Codex has written since.
"""

from __future__ import annotations

import msgspec

from minutebook.model import Compaction, Message, Reply
from minutebook.sources.base import ExportHeader


class RoundStart(msgspec.Struct, omit_defaults=True):
    """A round begins here."""

    cwd: str | None = None
    branch: str | None = None
    prompted: bool = False
    duration_ms: int | None = None
    tool_count: int = 0
    clock: str = ""
    progress: tuple[Reply, ...] = ()
    compactions: tuple[Compaction, ...] = ()


class AgentNote(msgspec.Struct, omit_defaults=True):
    """A subagent as it was before the export: Codex wants other ids."""

    id: str
    call_id: str | None = None
    kind: str | None = None
    description: str | None = None
    helper: bool = False


class Carried(msgspec.Struct, omit_defaults=True):
    """The field. Where it is present and empty, the line is only there for Codex."""

    message: Message | None = None
    round: RoundStart | None = None
    origin: ExportHeader | None = None
    agent: AgentNote | None = None
