"""Values as Claude's records hold them, and what those records cannot hold."""

from __future__ import annotations

import re
from typing import Any

from minutebook.derive import messages as kinds
from minutebook.model import (
    Billing,
    Block,
    Document,
    Image,
    Message,
    Notice,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from minutebook.sources.claude_code.blocks import user_blocks
from minutebook.sources.claude_code.carried import Adds
from minutebook.sources.claude_code.results import ResultFacts, facts_of
from minutebook.sources.claude_code.tools import tool_kind

Json = dict[str, Any]
_NOT_OF_AN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 128
_CLAUDE = re.compile(r"(?:[\w.-]+/)?(claude-[\w.-]+)")
_ORIGIN_KINDS = {kinds.TASK: "task-notification", kinds.TEAMMATE: "peer"}


def api_id(id: str) -> str:
    """An id, or a tool's name, in the letters the API takes; other agents have others."""
    return _NOT_OF_AN_ID.sub("_", id)


def api_model(model: str) -> str:
    """A Claude model as Anthropic writes it (``claude-sonnet-4.5`` is Copilot's way): the CLI
    leaves out the thinking of a model it does not know."""
    found = _CLAUDE.fullmatch(model)
    return found[1].replace(".", "-") if found is not None else model


def foreign_block(block: Any, model: str | None) -> Json | None:
    """A block of another agent's reply as the API takes it; None for what must not be sent."""
    if isinstance(block, Thinking) and "claude" not in (model or ""):
        return None  # another provider's signature
    if isinstance(block, ToolCall):
        return {
            "type": "tool_use",
            "id": api_id(block.id),
            "name": api_id(block.name)[:_LONGEST_NAME],
            "input": block.input if isinstance(block.input, dict) else {"input": block.input},
        }
    return api_block(block)


def is_plain(block: Any) -> bool:
    if isinstance(block, Text):
        return block.said is None
    if isinstance(block, Thinking):
        return bool(block.signature)
    if not isinstance(block, ToolCall) or block.at is None:
        return False
    result = block.result
    if result is None:
        return block.agent is None
    return result.at is not None and result.spilled is None


def flags_of(message: Message) -> Json:
    """Record fields that tell a reader, and the CLI, whose words these are."""
    notices = {block.kind for block in message.blocks if isinstance(block, Notice)}
    if message.is_real or not notices:
        return {}
    if kinds.COMPACTION in notices:
        return {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
    if notices == {kinds.META}:
        return {"isMeta": True}
    for kind, origin in _ORIGIN_KINDS.items():
        if notices == {kind}:
            return {"origin": {"kind": origin}}
    return {}


def comes_back(message: Message, flags: Json) -> bool:
    """Whether the record alone gives the message again: classify it as a reader would."""
    if message.queued or message.id is None or message.at is None:
        return False
    pieces: list[Block] = [
        Text(b.text) if isinstance(b, Notice | Text) else b for b in message.blocks
    ]
    if not all(isinstance(piece, Text | Image | Document) for piece in pieces):
        return False
    origin = flags.get("origin", {}).get("kind")
    blocks, _ = user_blocks(
        pieces,
        meta=flags.get("isMeta", False),
        compaction=flags.get("isCompactSummary", False),
        origin=origin,
    )
    return tuple(blocks) == message.blocks


def api_block(block: Any) -> Json | None:
    """A block as the API takes it; None for what must not be sent."""
    if isinstance(block, Text | Notice):
        return {"type": "text", "text": block.text}
    if isinstance(block, Thinking):
        if block.redacted and block.signature:
            return {"type": "redacted_thinking", "data": block.signature}
        if not block.signature:
            return None  # the API refuses thinking without its signature
        return {"type": "thinking", "thinking": block.text, "signature": block.signature}
    if isinstance(block, ToolCall):
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
    if isinstance(block, Image | Document):
        kind = "image" if isinstance(block, Image) else "document"
        source: Json = {"type": "base64", "media_type": block.media_type, "data": block.data}
        if block.url is not None and not block.data:
            source = {"type": "url", "url": block.url}
        title = {"title": block.title} if isinstance(block, Document) and block.title else {}
        return {"type": kind, "source": source, **title}
    return None


def verbatim(part: Any) -> Any:
    return part.data if isinstance(part, Unknown) else None


def usage_fields(message: Message) -> Json:
    usage, billing = message.usage, message.billing or Billing()
    assert usage is not None
    found: Json = {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    }
    if usage.cache_write_1h:
        found["cache_creation"] = {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        }
    told = {
        "server_tool_use": billing.server_tools or None,
        "service_tier": billing.tier,
        "inference_geo": billing.geo,
        "speed": billing.speed,
    }
    return found | {name: value for name, value in told.items() if value is not None}


def added(message: Message | None, block: Block | None) -> Json:
    """Fields of a reply's record beside the message: what a reader would not find in it.

    `message` is given with its first record alone.
    """
    fields: Json = {}
    billing = settled(message) if message is not None else None
    if message is not None and message.billing is not None and message.billing.cost_usd is not None:
        fields["costUSD"] = message.billing.cost_usd
    kind = None
    if isinstance(block, ToolCall) and block.kind != tool_kind(block.name):
        kind = block.kind
    adds = Adds(billing=billing, kind=kind)
    if adds != Adds():
        fields["minutebook"] = {"adds": adds}
    return fields


def settled(message: Message) -> Billing | None:
    """A reply's billing, where its lines would be read as another one."""
    billing = message.billing
    odd = billing is not None and (
        message.usage is None or billing.at is not None or billing.usage is not None or billing.thin
    )
    calls = (block.at for block in message.blocks if isinstance(block, ToolCall))
    early = message.usage is not None and any(at and at < (message.at or "") for at in calls)
    return (billing or Billing()) if odd or early else None


def added_result(call: ToolCall, result: ToolResult) -> ResultFacts | None:
    """What is known of a result, where its record would be read as something else."""
    known_facts = ResultFacts(
        result.patch, result.exit_code, result.interrupted, result.duration_ms
    )
    failed_run: Any = None
    if result.error and tool_kind(call.name) == "run":
        failed_run = result.content
        if not isinstance(failed_run, str):
            failed_run = [api_block(part) or verbatim(part) for part in failed_run]
    read = facts_of(None, failed_run=failed_run)
    return None if read == known_facts else known_facts
