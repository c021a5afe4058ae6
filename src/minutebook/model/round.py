"""Rounds: a real user message and everything until the next one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from minutebook.model.blocks import Block, Document, Image, Text, ToolCall

Role = Literal["user", "assistant"]


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens as the provider counted them."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    """All writes to the cache."""
    cache_write_1h: int = 0
    """Of those, the writes that are kept for an hour; the rest is kept for five minutes."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cache_write_1h + other.cache_write_1h,
        )

    def beyond(self, other: Usage) -> Usage:
        """What this counts more than the other."""
        return Usage(
            max(0, self.input - other.input),
            max(0, self.output - other.output),
            max(0, self.cache_read - other.cache_read),
            max(0, self.cache_write - other.cache_write),
            max(0, self.cache_write_1h - other.cache_write_1h),
        )

    @property
    def cache_write_5m(self) -> int:
        return self.cache_write - self.cache_write_1h

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write


class Billing(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reply's price depends on beside its tokens (USE-01, USE-02)."""

    at: str | None = None
    """Time of the line its usage is from, where that is not the message's own time."""
    usage: Usage | None = None
    """Usage of the whole reply, where the message holds only what an earlier round has not."""
    speed: str | None = None
    tier: str | None = None
    geo: str | None = None
    server_tools: dict[str, int] = {}
    """Requests the provider made on its own (web searches, fetches), by their name there."""
    cost_usd: float | None = None
    """Cost as the agent recorded it."""
    window: int | None = None
    """Tokens that the model's window had, as the agent recorded it."""
    thin: bool = False
    """Whether it comes from an archive of the first release, which kept none of this."""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reply known only by its accounting: a subagent's, repeated by its parent."""

    id: str
    at: str | None = None
    model: str | None = None
    usage: Usage = Usage()
    stop: str | None = None
    billing: Billing | None = None


class Compaction(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place where the agent replaced what it had in its window by a summary."""

    at: str | None = None
    trigger: str | None = None
    tokens_before: int | None = None


QUEUED = "queued-"
"""How the id of a prompt begins that only an agent's queue holds, which gives it none."""


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One role's contribution to a round. Its identity is (session, `id`), never its text."""

    role: Role
    blocks: tuple[Block, ...]
    id: str | None = None
    at: str | None = None
    reply_id: str | None = None
    """The provider's id of the reply; what `usage` is counted by."""
    model: str | None = None
    usage: Usage | None = None
    stop: str | None = None
    queued: bool = False
    """Typed while the model was busy, and recovered from the agent's queue."""
    billing: Billing | None = None

    @property
    def is_real(self) -> bool:
        """Whether anybody (rather than the harness) said something here."""
        return any(isinstance(block, Text | Image | Document) for block in self.blocks)

    @property
    def text(self) -> str:
        """The message's own words, without tools, thinking and notices."""
        return "\n\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def said(self) -> str:
        """The same as it was typed, without what the agent wrapped around it."""
        return "\n\n".join(block.spoken for block in self.blocks if isinstance(block, Text))


class Round(msgspec.Struct, frozen=True, omit_defaults=True):
    """The only unit of address: ``<session>#<number>``."""

    number: int
    messages: tuple[Message, ...]
    cwd: str | None = None
    branch: str | None = None
    duration_ms: int | None = None
    tool_count: int = 0
    """Tool calls in the round; known even where a skim left the calls themselves out."""
    clock: str = ""
    """When its records were written, and by whom (`minutebook.derive.clock`)."""
    progress: tuple[Reply, ...] = ()
    """Subagents' replies that the agent repeated here while they were running."""
    compactions: tuple[Compaction, ...] = ()

    @property
    def prompt(self) -> Message | None:
        """The real user message that opened the round; None where replies stand alone.

        What the harness says in the user's name is a Notice, so a user message with
        words or pictures of its own is a real one.
        """
        return next((m for m in self.messages if m.role == "user" and m.is_real), None)

    @property
    def asked(self) -> tuple[Block, ...]:
        """The blocks of the prompt; none where replies stand alone."""
        return self.prompt.blocks if self.prompt is not None else ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, the prompt's first; a block's place in this row is its address (`#3.7`)."""
        prompt = self.prompt
        rest = (b for message in self.messages if message is not prompt for b in message.blocks)
        return (*self.asked, *rest)

    @property
    def replies(self) -> Iterator[Message]:
        return (message for message in self.messages if message.role == "assistant")

    @property
    def calls(self) -> Iterator[ToolCall]:
        return (
            block
            for message in self.messages
            for block in message.blocks
            if isinstance(block, ToolCall)
        )

    @property
    def started(self) -> str | None:
        return next((message.at for message in self.messages if message.at), None)

    @property
    def asked_at(self) -> str | None:
        """When its prompt was written, as people date it; hooks may have spoken days before."""
        return (self.prompt.at if self.prompt is not None else None) or self.started

    @property
    def ended(self) -> str | None:
        return max((message.at for message in self.messages if message.at), default=None)

    @property
    def model(self) -> str | None:
        return next((message.model for message in self.replies if message.model), None)

    @property
    def usage(self) -> Usage:
        return sum((m.usage for m in self.messages if m.usage), start=Usage())
