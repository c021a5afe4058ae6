"""Sessions: what a transcript says about itself, its rounds and its subagents."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import msgspec

from minutebook.model.round import Reply, Round, Usage


@lru_cache(maxsize=4_096)
def called(name: str | None, given: str | None, title: str | None = None) -> str | None:
    """What a session is called, wherever one is named (UND-06): by the title that a person gave,
    beside its agent's name where it has one; else by that name, else by its own title."""
    if name and given and name != given:
        return f"{name} · {given}"
    return given or name or title


def project_of(path: str) -> str:
    """The last part of a folder's path, of either kind; a worktree belongs to its repository."""
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    for at in range(1, len(parts) - 1):
        if parts[at] == ".worktrees":
            return parts[at - 1]
        if parts[at : at + 2] == [".claude", "worktrees"]:
            return parts[at - 1]
    return parts[-1] if parts else path


class Link(msgspec.Struct, frozen=True, omit_defaults=True):
    """A recorded tie to another session, and the field that says so."""

    session_id: str
    evidence: Literal["forkedFrom", "parentSessionId", "sessionId", "shared-messages", "surgery"]
    shared: int = 0
    """How many messages both sessions hold, where that is the evidence."""


class PullRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    url: str
    number: int | None = None
    repository: str | None = None
    at: str | None = None


class NameEvidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything in a transcript that may name the agent, in file order."""

    renames: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()


class RecordedCost(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the agent itself said a session cost; kept and compared, never mixed in."""

    usd: float | None = None
    models: dict[str, Any] = {}
    """By model, as the agent wrote it."""


class Loose(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a transcript has that belongs to none of its rounds."""

    clock: str = ""
    replies: tuple[Reply, ...] = ()


class SessionInfo(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What is known of a session without its rounds."""

    id: str
    source: str
    started: str | None = None
    ended: str | None = None
    rounds: int = 0
    prompts: int = 0
    """Real user messages; rounds that open without one are not among them."""
    calls: int = 0
    subagents: int = 0
    compactions: int = 0
    title: str | None = None
    title_is_prompt: bool = False
    """Whether nobody gave it one: it only is the beginning of the first prompt."""
    slug: str | None = None
    cwds: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    entrypoint: str | None = None
    names: NameEvidence = NameEvidence()
    links: tuple[Link, ...] = ()
    pull_requests: tuple[PullRequest, ...] = ()
    usage: Usage = Usage()
    origin: str | None = None
    """The transcript an exported one was made from."""
    duration_ms: int = 0
    """Sum of the turn durations the agent recorded; 0 where it recorded none."""
    answer_chars: int = 0
    """Characters of the model's own words."""
    prompt_ids: tuple[str, ...] = ()
    """Ids of the real user messages: copies of a conversation share them."""
    cost: RecordedCost | None = None

    @property
    def cwd(self) -> str | None:
        return self.cwds[0] if self.cwds else None

    @property
    def project(self) -> str | None:
        return project_of(self.cwd) if self.cwd else None

    @property
    def branch(self) -> str | None:
        return self.branches[0] if self.branches else None

    @property
    def model(self) -> str | None:
        return self.models[0] if self.models else None


class Subagent(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The transcript of an agent that a call of this session spawned."""

    id: str
    call_id: str | None = None
    kind: str | None = None
    description: str | None = None
    helper: bool = False
    """Made by the harness itself (compaction, suggestions, warm-up): kept, but not counted."""
    rounds: tuple[Round, ...] = ()


class Session(msgspec.Struct, frozen=True):
    """A whole conversation."""

    info: SessionInfo
    rounds: tuple[Round, ...]
    subagents: tuple[Subagent, ...] = ()
