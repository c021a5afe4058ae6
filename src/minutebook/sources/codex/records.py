"""Lines of a rollout, as far as they are read.

A line is an envelope around a payload (since 0.34), or the payload itself (before). Fields that
several kinds of payloads share under one name take whatever any of them puts there.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from minutebook.sources.codex.carried import Carried

Tokens = Annotated[int, msgspec.Meta(ge=0, le=10**12)]


class Piece(msgspec.Struct, gc=False):
    """A piece of a message's content, of a summary, of an output."""

    type: str = ""
    text: str | None = None
    image_url: str | None = None
    detail: str | None = None
    path: str | None = None
    encrypted_content: str | None = None


class UsageFields(msgspec.Struct, gc=False):
    """`input_tokens` is with what was cached, `output_tokens` with the reasoning."""

    input_tokens: Tokens | None = None
    cached_input_tokens: Tokens | None = None
    cache_write_input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    total_tokens: Tokens | None = None


class TokenInfo(msgspec.Struct, gc=False):
    total_token_usage: UsageFields | None = None
    """Of the whole session, its parent's included where it is a fork."""
    last_token_usage: UsageFields | None = None
    model_context_window: Tokens | None = None


class Change(msgspec.Struct, gc=False):
    """What became of one file."""

    type: str = ""
    unified_diff: str | None = None
    content: str | None = None
    move_path: str | None = None


class Git(msgspec.Struct, gc=False):
    branch: str | None = None


class Base(msgspec.Struct, gc=False):
    """The part of another rollout that a fork goes on from (0.166)."""

    thread_id: str | None = None


class Instructions(msgspec.Struct, gc=False):
    text: str | None = None


class Kinds(msgspec.Struct, gc=False):
    """What 0.166 says of each piece of a message: ``user.text``, ``agents_md.instructions``."""

    content_item_kinds: list[str] | None = None


class Payload(msgspec.Struct):
    """A response item, an event, a session's or a turn's head."""

    type: str = ""
    id: str | None = None
    timestamp: str | None = None
    # -- response items
    role: str | None = None
    content: str | list[Piece] | None = None
    summary: str | list[Piece] | None = None
    encrypted_content: str | None = None
    internal_chat_message_metadata_passthrough: Kinds | None = None
    name: str | None = None
    arguments: Any = None
    input: Any = None
    call_id: str | None = None
    output: str | list[Piece] | Piece | None = None
    action: Any = None
    status: Any = None
    tools: msgspec.Raw = msgspec.Raw()
    # -- events
    message: str | None = None
    kind: Any = None
    info: TokenInfo | None = None
    turn_id: str | None = None
    reason: str | None = None
    error: Any = None
    exit_code: int | None = None
    changes: dict[str, Change] | None = None
    success: bool | None = None
    thread_name: str | None = None
    num_turns: int | None = None
    model_context_window: Tokens | None = None
    duration_ms: int | float | None = None
    result: Any = None
    results: Any = None
    new_thread_id: str | None = None
    receiver_thread_ids: list[str] | None = None
    tool: str | None = None
    item: Payload | None = None
    # -- usage of one response (0.155)
    usage: UsageFields | None = None
    # -- heads
    cwd: str | None = None
    model: str | None = None
    originator: str | None = None
    cli_version: str | None = None
    source: Any = None
    git: Git | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    history_base: Base | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None
    base_instructions: Instructions | str | None = None
    instructions: str | None = None


class Line(msgspec.Struct):
    timestamp: str | None = None
    type: str = ""
    payload: Payload | None = None
    record_type: str | None = None
    minutebook: Carried | None = None
    """Only in exports."""
    id: str | None = None
    """Of the session, where the line is the head of a bare rollout."""

    @property
    def at(self) -> str | None:
        """When it was written; None for what is not a time."""
        at = self.timestamp
        return at if at is not None and at[:1].isdigit() and at[10:11] == "T" else None
