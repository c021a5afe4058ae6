"""Our own field in exported transcripts: what Claude's schema cannot hold.

The CLI keeps unknown fields and records, and never sends them. A record of ours
(``{"type": "minutebook", "minutebook": {…}}``) or a field ``minutebook`` on one of Claude's
carries a `Carried`.
"""

from __future__ import annotations

import msgspec

from minutebook.model import Billing, Compaction, Message, Reply, ToolKind
from minutebook.sources.base import ExportHeader
from minutebook.sources.claude_code.results import ResultFacts


class RoundStart(msgspec.Struct, omit_defaults=True):
    cwd: str | None = None
    branch: str | None = None
    prompted: bool = False
    """Its prompt follows, behind other messages."""


class RoundFacts(msgspec.Struct, omit_defaults=True):
    """What a round knows beside its messages."""

    clock: str = ""
    progress: tuple[Reply, ...] = ()
    compactions: tuple[Compaction, ...] = ()


class Adds(msgspec.Struct, omit_defaults=True, gc=False):
    """What one of Claude's records says only here. It is read like any other otherwise."""

    billing: Billing | None = None
    """Settles the reply's billing, whatever its lines say; an empty one means none."""
    kind: ToolKind | None = None
    """Of the call in this record, where its name does not tell."""
    agent: str | None = None
    """The subagent whose result this is."""
    result: ResultFacts | None = None
    """Settles what is known of the result, whatever its text says."""


class Carried(msgspec.Struct, gc=False):
    """The field. Where it is present and empty, the record is only there for Claude."""

    message: Message | None = None
    """A message as it was before the export."""
    adds: Adds | None = None
    origin: ExportHeader | None = None
    clocked: bool = False
    """With `origin`: from here to `end`, only `facts` say when records were written."""
    round: RoundStart | None = None
    """A round begins here, with something else than a prompt."""
    facts: RoundFacts | None = None
    """Of the round that is open here."""
    end: bool = False
    """The export ends here; what follows, the CLI has written."""
