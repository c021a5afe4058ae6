"""Round files: a round as one JSON object, written once and never changed (RND-01 … RND-06)."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from minutebook.record.media import FOLDER, MediaStore
from minutebook.derive.messages import spoken
from minutebook.derive.tokens import BYTES_A_TOKEN
from minutebook.model import (
    Block,
    Document,
    Image,
    Round,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)

SCHEMA = 1
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


def round_file(session_id: str, round: Round, media: MediaStore) -> bytes:
    """The bytes of a round file."""
    prompt = round.prompt
    tokens, estimated = token_count(round)
    document: Json = {
        "schema": SCHEMA,
        "session_id": session_id,
        "round": round.number,
        "started": round.started,
        "ended": round.ended,
        "engagement_id": None,
        "user": _user(prompt.blocks, media) if prompt is not None else None,
        "agent": [
            _block(block, media)
            for message in round.messages
            if message is not prompt
            for block in message.blocks
        ],
        "token_count": tokens,
        "token_estimate": estimated,
        "usage": round.usage,
        "model": round.model,
        "duration_ms": round.duration_ms,
        "cwd": round.cwd,
        "branch": round.branch,
        "queued": prompt.queued if prompt is not None else False,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def _user(blocks: tuple[Block, ...], media: MediaStore) -> Any:
    """The message itself where it is only words, else its blocks."""
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        return blocks[0].text
    return [_block(block, media) for block in blocks]


def _block(block: Block, media: MediaStore) -> Any:
    if isinstance(block, Image | Document):
        return _picture(block, media)
    if isinstance(block, ToolCall) and block.result is not None:
        plain = msgspec.to_builtins(msgspec.structs.replace(block, result=None))
        return {**plain, "result": _result(block.result, media)}
    if isinstance(block, StrayResult):
        return {
            "type": "stray_result",
            "call_id": block.call_id,
            "result": _result(block.result, media),
        }
    return block


def _result(result: ToolResult, media: MediaStore) -> Any:
    if isinstance(result.content, str):
        return result
    plain = msgspec.to_builtins(msgspec.structs.replace(result, content=""))
    parts = [_picture(p, media) if isinstance(p, Image | Document) else p for p in result.content]
    return {**plain, "content": parts}


def _picture(block: Image | Document, media: MediaStore) -> Any:
    """Pictures are files beside the rounds; the round only names them."""
    name = media.keep(block.media_type, block.data) if block.data else None
    if name is None:
        return block
    plain = msgspec.to_builtins(block)
    del plain["data"]
    return {**plain, "file": f"{FOLDER}/{name}"}


def token_count(round: Round) -> tuple[int, bool]:
    """Tokens of a round as the provider counted them, else an estimate; and: is it one?"""
    counted = round.usage.total
    if counted:
        return counted, False
    size = sum(len(message.text.encode()) for message in round.messages)
    return math.ceil(size / BYTES_A_TOKEN), True


def row_of(session_id: str, round: Round, file: str) -> RoundRow:
    """The index row of a round (DB-03, DB-04)."""
    thoughts = [b for m in round.messages for b in m.blocks if isinstance(b, Thinking)]
    said = next((reply.text for reply in round.replies if reply.text.strip()), "")
    asked = spoken(round.prompt.text) if round.prompt is not None else ""
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


class KeptRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round as its file tells it."""

    round: int
    started: str | None = None
    ended: str | None = None
    user: str | tuple[Block, ...] | None = None
    agent: tuple[Block, ...] = ()
    token_count: int = 0
    usage: Usage = Usage()
    model: str | None = None
    duration_ms: int | None = None
    cwd: str | None = None
    branch: str | None = None
    queued: bool = False

    @property
    def asked(self) -> tuple[Block, ...]:
        """The blocks of the prompt; none where replies stand alone."""
        return (Text(self.user),) if isinstance(self.user, str) else self.user or ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks; a block's place in this row is its address within the round."""
        return (*self.asked, *self.agent)


_decoder = msgspec.json.Decoder(KeptRound)


def read_round(content: bytes) -> KeptRound:
    """A round file's content; blocks of a kind this version does not know are kept as unknown."""
    try:
        return _decoder.decode(content)
    except msgspec.ValidationError:
        plain: Json = msgspec.json.decode(content, type=dict[str, Any])
        user = plain.get("user")
        plain["user"] = [_known(b) for b in user] if isinstance(user, list) else user
        plain["agent"] = [_known(block) for block in plain.get("agent") or ()]
        return msgspec.convert(plain, KeptRound)


def _known(plain: Any) -> Any:
    try:
        msgspec.convert(plain, Block)
        return plain
    except msgspec.ValidationError:
        kind = plain.get("type") if isinstance(plain, dict) else None
        return msgspec.to_builtins(Unknown(str(kind), plain))


def kept(session_id: str, round: Round, media: MediaStore) -> KeptRound:
    """A round as its file would tell it, were it written."""
    return read_round(round_file(session_id, round, media))
