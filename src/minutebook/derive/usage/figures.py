"""What is said of a group of replies: tokens, cost, time, work. Frozen, and the same everywhere."""

from __future__ import annotations

import msgspec

from minutebook.derive.prices import PICO


class Tokens(msgspec.Struct, frozen=True):
    """Five kinds, never one sum: their prices are a factor of fifty apart."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0

    @property
    def prompt(self) -> int:
        """All that the models were given to read."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def hit_rate(self) -> float | None:
        """How much of what the models read came from the cache."""
        return self.cache_read / self.prompt if self.prompt else None


class Cost(msgspec.Struct, frozen=True):
    """At API prices: what the tokens would cost by the list, not what was paid."""

    exact: int = 0
    """In 10⁻¹² dollars, so that rows add up to their total."""
    unpriced: dict[str, int] = {}
    """Models nobody knows the price of → how many replies."""
    dearer: int = 0
    """Replies whose real price is higher than the list's: fast mode, priority, a region."""
    recorded_usd: float | None = None
    """What the agent recorded itself; kept beside, never mixed in."""
    unrecorded: int = 0
    """Replies of which no tokens were recorded."""
    cut_off: int = 0
    """Replies whose output, and so whose cost, is a lower bound."""

    @property
    def usd(self) -> float:
        return self.exact / PICO

    @property
    def at_least(self) -> bool:
        """Whether it is more in truth."""
        return bool(self.unpriced or self.dearer or self.unrecorded or self.cut_off)


class Times(msgspec.Struct, frozen=True):
    """Seconds; by the clock means that what ran at once counts once."""

    agent: float = 0.0
    """Sum over all sessions, what they copied included: agent hours."""
    yours: float = 0.0
    """The same of the person."""
    agent_clock: float = 0.0
    active_clock: float = 0.0
    wall: float = 0.0
    """From the first to the last record of each session, idle time and all."""
    copied_agent: float = 0.0
    """What of `agent` is history that a session has from another; no clock has it again."""
    copied_yours: float = 0.0

    @property
    def own_agent(self) -> float:
        """The agents' time, copied history once."""
        return self.agent - self.copied_agent

    @property
    def own_yours(self) -> float:
        return self.yours - self.copied_yours


class Work(msgspec.Struct, frozen=True):
    """What tools did."""

    calls: int = 0
    errors: int = 0
    tools: dict[str, int] = {}
    files: int = 0
    """Different files that were changed."""
    lines_added: int = 0
    lines_removed: int = 0
    commits: int = 0
    pull_requests: int = 0


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is counted of a group of replies."""

    replies: int = 0
    tokens: Tokens = Tokens()
    web_searches: int = 0
    open_ended: int = 0
    """Replies without a recorded end: their output is a lower bound."""
    thin: int = 0
    """Replies from an archive of the first release: writes are taken for those of five minutes."""
    damaged: int = 0
    """Replies whose counts or time could not be right."""
    cost: Cost | None = None
    """None where nobody asked for it."""
    times: Times | None = None
    """None where time cannot be told apart: by model."""
    work: Work = Work()
    sessions: int = 0


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a table."""

    key: str
    """Names the group: a day, a project, a session's id …"""
    label: str
    """The same for people."""
    figures: Figures
    subagents: Figures | None = None
    """What of it subagents used."""
    address: str = ""
    """Where an engagement is: ``1a2b3c4d#3-7``."""


class Costly(msgspec.Struct, frozen=True, kw_only=True):
    """A round that cost much, and why."""

    session_id: str
    round: int
    usd: float
    replies: int
    largest_prompt: int
    rewritten: int = 0
    """Tokens that had been in the cache, and were written to it again."""
    errors: int = 0


class Expensive(msgspec.Struct, frozen=True, kw_only=True):
    """What was expensive, and why."""

    rounds: list[Costly] = []
    long_prompts: int = 0
    """Replies to prompts of more than 200,000 tokens."""
    long_usd: float = 0.0
    rewrites: int = 0
    """How often a conversation was no longer in the cache."""
    rewritten: int = 0
    rewritten_usd: float = 0.0
    """What writing it again cost more than reading it would have."""
    calls: int = 0
    errors: int = 0


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to: what was used?"""

    by: str
    after: int | None = None
    """Seconds since the epoch: the period asked for."""
    before: int | None = None
    projects: list[str] = []
    """The projects that the filters ask for, by name; none where they ask for none."""
    rows: list[Row] = []
    total: Figures = Figures()
    subagents: Figures | None = None
    previous: Figures | None = None
    """The same for as long a period before, where one was asked for."""
    previous_after: int | None = None
    previous_before: int | None = None
    expensive: Expensive = Expensive()
    continued: dict[str, int] = {}
    """Of one session: replies it has from others, which count there."""
    ghosts: int = 0
    """Sessions counted that never reached substantive work."""
    hidden: int = 0
    """Sessions counted that a person hid."""
    timeless: int = 0
    """Sessions counted whose times nobody kept."""
    remarks: list[str] = []
    """What the figures leave out, and what else one has to know."""
