"""Round files: a round as one JSON object, written once and never changed (RND-01 … RND-06).

They are the permanent record: documents, databases and indexes are made from them. Beside
the keys of seed 003 (``user``, ``agent`` and so on) a file has ``messages``, which says how the
blocks of both were divided into messages, and what each message carried; so a round file
gives back the very `Round` it was made from.
"""

from __future__ import annotations

from typing import Any

import msgspec

from minutebook.derive.tokens import tokens as estimate
from minutebook.model import (
    Billing,
    Block,
    Compaction,
    Message,
    Reply,
    Role,
    Round,
    Text,
    Thinking,
    Unknown,
    Usage,
)

SCHEMA = 2
PREVIEW = 120
Json = dict[str, Any]


class RoundRow(msgspec.Struct, frozen=True):
    """A round as the databases know it; the columns of seed 003, in its order."""

    session_id: str
    round: int
    started: str | None
    engagement_id: str | None
    user_preview: str
    agent_preview: str
    tool_count: int
    thinking_count: int
    thinking_chars: int
    token_count: int
    round_file: str


class Damaged(ValueError):
    """A round file that cannot be read; the message says why."""


class Newer(Damaged):
    """A round file that a newer minutebook has written: it is left as it is."""


class _Message(msgspec.Struct, omit_defaults=True):
    """A message without its blocks: those stand in ``user`` and ``agent``."""

    role: Role
    blocks: int
    is_prompt: bool = False
    """Whether its blocks are those of ``user``."""
    id: str | None = None
    at: str | None = None
    reply_id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    stop: str | None = None
    queued: bool = False
    billing: Billing | None = None

    def message(self, blocks: tuple[Block, ...]) -> Message:
        return Message(
            self.role,
            blocks,
            self.id,
            self.at,
            self.reply_id,
            self.model,
            self.usage,
            self.stop,
            self.queued,
            self.billing,
        )


def round_file(session_id: str, round: Round) -> bytes:
    """The bytes of a round file; pictures must have been taken out."""
    prompt = round.prompt
    tokens, estimated = token_count(round)
    document: Json = {
        "schema": SCHEMA,
        "session_id": session_id,
        "round": round.number,
        "started": round.started,
        "ended": round.ended,
        "engagement_id": None,
        "user": _user(prompt.blocks) if prompt is not None else None,
        "agent": [b for m in round.messages if m is not prompt for b in m.blocks],
        "token_count": tokens,
        "token_estimate": estimated,
        "usage": round.usage,
        "model": round.model,
        "duration_ms": round.duration_ms,
        "cwd": round.cwd,
        "branch": round.branch,
        "tool_count": round.tool_count,
        "messages": [_outline(message, message is prompt) for message in round.messages],
    }
    for name in ("clock", "progress", "compactions"):
        if value := getattr(round, name):
            document[name] = value
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def _user(blocks: tuple[Block, ...]) -> Any:
    """The message itself where it is only words, else its blocks."""
    if len(blocks) == 1 and isinstance(blocks[0], Text) and blocks[0].said is None:
        return blocks[0].text
    return blocks


def _outline(message: Message, is_prompt: bool) -> _Message:
    return _Message(
        message.role,
        len(message.blocks),
        is_prompt,
        message.id,
        message.at,
        message.reply_id,
        message.model,
        message.usage,
        message.stop,
        message.queued,
        message.billing,
    )


def token_count(round: Round) -> tuple[int, bool]:
    """Tokens of a round as the provider counted them, else an estimate; and: is it one?"""
    counted = round.usage.total
    if counted:
        return counted, False
    return estimate(*(message.text for message in round.messages)), True


def row_of(session_id: str, round: Round, file: str) -> RoundRow:
    """The index row of a round (DB-03, DB-04)."""
    thoughts = [b for m in round.messages for b in m.blocks if isinstance(b, Thinking)]
    said = next((reply.text for reply in round.replies if reply.text.strip()), "")
    asked = round.prompt.said if round.prompt is not None else ""
    return RoundRow(
        session_id=session_id,
        round=round.number,
        started=round.started,
        engagement_id=None,
        user_preview=asked[:PREVIEW],
        agent_preview=said[:PREVIEW],
        tool_count=round.tool_count,
        thinking_count=len(thoughts),
        thinking_chars=sum(len(thought.text) for thought in thoughts),
        token_count=token_count(round)[0],
        round_file=file,
    )


# -- reading them again


class _RoundFile(msgspec.Struct, kw_only=True):
    schema: int = 0
    round: int
    user: str | tuple[Block, ...] | None = None
    agent: tuple[Block, ...] = ()
    messages: tuple[_Message, ...]
    duration_ms: int | None = None
    cwd: str | None = None
    branch: str | None = None
    tool_count: int = 0
    clock: str = ""
    progress: tuple[Reply, ...] = ()
    compactions: tuple[Compaction, ...] = ()


class _Version(msgspec.Struct):
    schema: int = 0


_decoder = msgspec.json.Decoder(_RoundFile)
_version = msgspec.json.Decoder(_Version)


def schema_of(content: bytes) -> int:
    """Which version of the format a round file has; 0 for what is not one."""
    try:
        return _version.decode(content).schema
    except (msgspec.DecodeError, RecursionError):
        return 0


def read_round(content: bytes) -> Round:
    """The round a file holds; blocks of a kind this version does not know are kept as unknown.

    A file of a newer format is refused, also where it reads like one of ours.
    """
    try:
        found = _decoder.decode(content)
        _refuse_newer(found.schema)
    except (msgspec.DecodeError, RecursionError) as error:
        found = _patiently(content, error)
    user = (Text(found.user),) if isinstance(found.user, str) else found.user or ()
    messages: list[Message] = []
    position = 0
    for outline in found.messages:
        if outline.is_prompt:
            messages.append(outline.message(user))
            continue
        blocks = found.agent[position : position + outline.blocks]
        position += outline.blocks
        messages.append(outline.message(blocks))
    if position != len(found.agent):
        raise Damaged("its messages and its blocks do not fit together")
    return Round(
        found.round,
        tuple(messages),
        found.cwd,
        found.branch,
        found.duration_ms,
        found.tool_count,
        found.clock,
        found.progress,
        found.compactions,
    )


def _refuse_newer(schema: int) -> None:
    if schema > SCHEMA:
        raise Newer(f"it was written by a newer minutebook (format {schema})") from None


def _patiently(content: bytes, error: Exception) -> _RoundFile:
    """The same for a file with blocks nobody has told us about."""
    _refuse_newer(schema_of(content))
    try:
        plain: Json = msgspec.json.decode(content, type=dict[str, Any])
        user = plain.get("user")
        plain["user"] = [_known(b) for b in user] if isinstance(user, list) else user
        plain["agent"] = [_known(block) for block in plain.get("agent") or ()]
        return msgspec.convert(plain, _RoundFile)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, TypeError):
        raise Damaged(f"it is damaged ({error})") from None


def _known(plain: Any) -> Any:
    try:
        msgspec.convert(plain, Block)
        return plain
    except msgspec.ValidationError:
        kind = plain.get("type") if isinstance(plain, dict) else None
        return msgspec.to_builtins(Unknown(str(kind), plain))


# -- only the words, for an index: tool calls and results are passed over by the decoder


class _Words(msgspec.Struct, gc=False):
    type: str = ""
    text: str = ""
    said: str | None = None


class _WordsOutline(msgspec.Struct, gc=False):
    role: Role
    blocks: int
    is_prompt: bool = False
    id: str | None = None
    at: str | None = None
    model: str | None = None
    usage: Usage | None = None
    billing: Billing | None = None


class _WordsFile(msgspec.Struct, kw_only=True, gc=False):
    schema: int = 0
    round: int
    user: str | list[_Words] | None = None
    agent: list[_Words] = []
    messages: list[_WordsOutline]
    cwd: str | None = None
    branch: str | None = None
    tool_count: int = 0
    compactions: tuple[Compaction, ...] = ()


_words_decoder = msgspec.json.Decoder(_WordsFile)


def read_words(content: bytes) -> Round:
    """A round with nothing but its texts and usage; several times faster than all of it."""
    try:
        found = _words_decoder.decode(content)
        _refuse_newer(found.schema)
    except (msgspec.DecodeError, RecursionError):
        return read_round(content)
    messages: list[Message] = []
    position = 0
    for outline in found.messages:
        if outline.is_prompt:
            blocks = _user_words(found.user)
        else:
            blocks = _texts(found.agent[position : position + outline.blocks])
            position += outline.blocks
        messages.append(
            Message(
                outline.role,
                blocks,
                outline.id,
                outline.at,
                model=outline.model,
                usage=outline.usage,
                billing=outline.billing,
            )
        )
    return Round(
        found.round,
        tuple(messages),
        found.cwd,
        found.branch,
        tool_count=found.tool_count,
        compactions=found.compactions,
    )


def _user_words(user: str | list[_Words] | None) -> tuple[Block, ...]:
    if isinstance(user, str):
        return (Text(user),)
    # A prompt that is only a picture is a prompt all the same.
    return _texts(user or []) or (Text(""),)


def _texts(blocks: list[_Words]) -> tuple[Block, ...]:
    return tuple(Text(block.text, block.said) for block in blocks if block.type == "text")
