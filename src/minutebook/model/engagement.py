"""Engagements: a session's work, cut into labelled ranges of rounds."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from minutebook.model.round import Usage
from minutebook.model.session import called

Method = Literal[
    "review",
    "write",
    "design",
    "build",
    "reorg",
    "triage",
    "discuss",
    "debug",
    "deploy",
    "research",
    "plan",
]
Phase = Literal["started", "in-progress", "blocked", "completed", "abandoned", "handed-off"]
METHODS: tuple[Method, ...] = get_args(Method)
PHASES: tuple[Phase, ...] = get_args(Phase)
OPEN_PHASES: tuple[Phase, ...] = ("started", "in-progress", "blocked", "handed-off")
"""Phases in which work is still to be done, by whomever."""

MOST_DECISIONS = 3
RECORD_FORMAT = 2


class Engagement(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work inside one session (ING-10 … ING-17)."""

    id: str
    """A slug, unique in its session and the same however often the session is read."""
    topic: str
    project: str
    method: str
    """One of `METHODS`; a word from elsewhere is kept as it is."""
    phase: str
    """One of `PHASES`; ``monitoring`` is met in older records."""
    key_decisions: tuple[str, ...] = ()
    outcome: str = ""
    turn_range: tuple[int, int]
    """Its first and its last round."""
    parts: tuple[tuple[int, int], ...] = ()
    """Ranges of rounds it covers, where a person left it more than one."""
    started: str | None = None
    ended: str | None = None
    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    """``1a2b3c4 subject``"""
    pull_requests: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    """Issues and pull requests that prompts and commits name: ``#41``, ``owner/repo#41``."""
    needs: tuple[str, ...] = ()
    """Those, and branches, that a prompt says are needed first."""
    tagged: bool = False
    """Whether it exists only because a person tagged rounds with its id."""
    starred: bool = False
    hidden: bool = False
    """Whether a person wants it left out of lists and statistics."""
    note: str = ""
    """A person's note."""
    said_thread: str | None = None
    """The thread a person put it into; empty for none, None where they said nothing."""
    kept: Literal["retrospective", "prospective"] = "retrospective"
    """Whether method and phase were found afterwards, or kept in an ``engagement.md`` (FUT-01)."""
    prospective: str | None = None
    """The id of that file's engagement."""
    step: str | None = None
    """The method's own step it is in, where the file names one."""

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The ranges of rounds it covers."""
        return self.parts or (self.turn_range,)

    def covers(self, round: int) -> bool:
        return any(first <= round <= last for first, last in self.ranges)


class Origin(msgspec.Struct, frozen=True):
    """The transcript a record was made from, as it was then."""

    path: str
    size: int
    mtime: float


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one session: a line of ``engagements.jsonl`` (ING-20)."""

    format: int = 1
    """Version of the record's format; the first release wrote none."""
    session_id: str
    source: str = "claude-code"
    slug: str | None = None
    title: str | None = None
    cwd: str | None = None
    project: str | None = None
    git_branch: str | None = None
    model: str | None = None
    version: str | None = None
    started: str | None = None
    ended: str | None = None
    rounds: int = 0
    user_messages: int = 0
    subagents: int = 0
    agent_id: str | None = None
    agent_name: str | None = None
    agent_name_source: str | None = None
    agent_role: str | None = None
    agent_name_guess: str | None = None
    """What a model guessed; never taken for the name (ID-09)."""
    session_summary: str = ""
    engagements: tuple[Engagement, ...] = ()
    ghost: bool = False
    backlog: bool = False
    """Whether it became due by an upgrade: a model sees it only when somebody asks for that."""
    truncated: bool = False
    """Whether the extractor saw a shortened skeleton (ING-08)."""
    extractor: str | None = None
    extractor_model: str | None = None
    prompt_version: str | None = None
    modelled: int = 0
    """Rounds a model saw, where the session has grown since and rules described the rest."""
    copy_of: str | None = None
    """The session that its beginning is a copy of; the engagements of that are from there."""
    copied: int = 0
    """How many rounds that beginning has."""
    usage: Usage | None = None
    cost_usd: float = 0.0
    remarks: tuple[str, ...] = ()
    """What is out of bounds in what a model said, and was taken all the same (ING-11)."""
    failure: str | None = None
    """Why there are no engagements (ING-19); the next run tries again."""
    digest: str = ""
    """Fingerprint of what the extractor saw; another one means the session has changed."""
    origin: Origin | None = None
    starred: bool = False
    hidden: bool = False
    """Whether a person wants it left out of lists and statistics."""
    note: str = ""
    """A person's note."""
    corrected: tuple[str, ...] = ()
    """``<engagement>.<field>``, or a field of the session, that a person set (ING-33)."""

    def branches_of(self, engagement: Engagement) -> tuple[str, ...]:
        """The branches of an engagement's rounds: a session may begin on one and go on to others.
        Where no round names any, the session's own."""
        return engagement.branches or ((self.git_branch,) if self.git_branch else ())

    @property
    def branches(self) -> tuple[str, ...]:
        """Those of its engagements; without any, the one it began on."""
        if not self.engagements:
            return (self.git_branch,) if self.git_branch else ()
        found = (name for e in self.engagements for name in self.branches_of(e))
        return tuple(dict.fromkeys(found))

    def projects(self, *, hidden: bool = False) -> tuple[str, ...]:
        """Those of its engagements (ING-12); of hidden ones only if asked for."""
        shown = (e.project or self.cwd for e in self.engagements if hidden or not e.hidden)
        return tuple(dict.fromkeys(project for project in shown if project))

    @property
    def told_summary(self) -> str:
        """The summary, where a person or a model wrote it; rules only repeat the topics."""
        by_rules = self.extractor == "offline" and "summary" not in self.corrected
        return "" if by_rules else self.session_summary

    @property
    def given_title(self) -> str | None:
        """The title, where a person gave it."""
        return self.title if "title" in self.corrected else None

    @property
    def called(self) -> str | None:
        """What the session is called in headings and lists."""
        return called(self.agent_name, self.given_title, self.title)
