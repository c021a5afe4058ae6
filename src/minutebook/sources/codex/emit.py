"""A session → a rollout that ``codex resume`` accepts. Pure: values in, bytes out.

The shape is the one every version since 0.34 reads: an envelope around items and events, calls
before their outputs, sums of usage. Each message is carried whole besides (`carried.py`), so that
reading the file back gives the same rounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    Block,
    Document,
    Image,
    Message,
    Notice,
    ResultPart,
    Round,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from minutebook.sources.assembly.ids import as_uuid
from minutebook.sources.base import ExportHeader
from minutebook.sources.codex.carried import AgentNote, Carried, RoundStart
from minutebook.sources.codex.context import context_text

Json = dict[str, Any]
_NO_TIME = "2000-01-01T00:00:00.000Z"
_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_HEADED = ("Exit code:", "Chunk ID:", "Command: ", "exec_command failed")
_CIPHER = "gAAAA"
"""How ciphertexts begin that Codex's provider can read; it refuses others."""
_NOTHING: Json = {"type": "token_count", "info": None, "rate_limits": None}
"""An event that every version knows and that says nothing."""


class Emitter:
    """Builds the lines of one session, in order."""

    def __init__(
        self,
        session_id: str,
        header: ExportHeader,
        *,
        parent: str | None = None,
        agent: AgentNote | None = None,
    ) -> None:
        self._id, self._header = as_uuid(session_id), header
        self._parent, self._agent = parent, agent
        self._at = _NO_TIME
        self._total = Usage()
        self._model: str | None = None
        self._waiting: list[Carried] = []

    def lines(self, rounds: Iterable[Round]) -> Iterator[bytes]:
        """Lines of the file."""
        rest = iter(rounds)
        first = next(rest, None)
        yield self._line("session_meta", self._meta(first), Carried(
            origin=self._header, agent=self._agent
        ))  # fmt: skip
        for round in chain([first] if first is not None else [], rest):
            yield from self._round(round)

    def _line(self, kind: str, payload: Json, carried: Carried | None = None) -> bytes:
        line = {"timestamp": self._at, "type": kind, "payload": payload}
        return msgspec.json.encode(line | {"minutebook": carried or Carried()}) + b"\n"

    def _told(self, kind: str, payload: Json) -> bytes:
        """The first line of a message carries it."""
        return self._line(kind, payload, self._waiting.pop() if self._waiting else None)

    def _meta(self, first: Round | None) -> Json:
        header = self._header
        self._at = (first.started if first is not None else None) or _NO_TIME
        source: Any = "cli"
        if self._parent is not None:
            role = self._agent.kind if self._agent is not None else None
            spawn = {"parent_thread_id": self._parent, "depth": 1, "agent_role": role}
            source = {"subagent": {"thread_spawn": spawn}}
        meta: Json = {
            "id": self._id,
            "timestamp": self._at,
            "cwd": header.cwd or (first.cwd if first is not None else None) or "/",
            "originator": "minutebook",
            "cli_version": header.version or "0.0.0",
            "source": source,
        }
        if self._parent is not None:
            meta["parent_thread_id"] = self._parent
        if header.branch:
            meta["git"] = {"branch": header.branch}
        blocks = first.blocks if first is not None else ()
        system = (b for b in blocks if isinstance(b, Attachment) and b.kind == "system")
        text = next((b.data.get("text") for b in system), None)
        if isinstance(text, str):
            meta["base_instructions"] = {"text": text}
        return meta

    # -- rounds

    def _round(self, round: Round) -> Iterator[bytes]:
        start = RoundStart(
            round.cwd,
            round.branch,
            round.prompt is not None,
            round.duration_ms,
            round.tool_count,
            round.clock,
            round.progress,
            round.compactions,
        )
        self._at = round.started or self._at
        yield self._line("turn_context", self._turn(round), Carried(round=start))
        for message in round.messages:
            self._at = message.at or self._at
            self._waiting = [Carried(message=message)]
            is_prompt = message is round.prompt
            if message.role == "assistant":
                yield from self._reply(message)
            elif is_prompt:
                yield from self._prompt(message)
            else:
                for block in message.blocks:
                    yield from self._aside(block)
            if self._waiting:
                yield self._told("event_msg", _NOTHING)
        for reply in round.progress:
            yield self._count(reply.usage)

    def _turn(self, round: Round) -> Json:
        self._model = round.model or self._model
        return {
            "cwd": round.cwd or self._header.cwd or "/",
            "approval_policy": "on-request",
            "sandbox_policy": {"type": "read-only"},
            "model": self._model or "unknown",
            "summary": "auto",
        }

    def _prompt(self, message: Message) -> Iterator[bytes]:
        pieces = [piece for block in message.blocks if (piece := _piece(block)) is not None]
        yield self._told("response_item", _message("user", pieces))
        event = {"type": "user_message", "message": message.text, "images": [], "text_elements": []}
        yield self._line("event_msg", event)

    def _aside(self, block: Block) -> Iterator[bytes]:
        """Context, as Codex would give it; what is another agent's is only carried."""
        if isinstance(block, Attachment):
            if (told := context_text(block)) is not None:
                role, text = told
                yield self._told("response_item", _message(role, [_words(text)]))
        elif isinstance(block, Notice):
            if block.kind == kinds.COMPACTION:
                yield self._told("compacted", {"message": block.text})
            elif is_marker(block):
                yield self._told("response_item", _message("user", [_words(block.text)]))
            elif block.kind == kinds.INTERRUPTION:
                yield self._told("event_msg", {"type": "turn_aborted", "reason": "interrupted"})

    # -- replies

    def _reply(self, message: Message) -> Iterator[bytes]:
        calls = [block for block in message.blocks if isinstance(block, ToolCall)]
        for block in message.blocks:
            if isinstance(block, Text):
                event = {"type": "agent_message", "message": block.text}
                yield self._told("event_msg", event)
                piece = {"type": "output_text", "text": block.text}
                yield self._line("response_item", _message("assistant", [piece]))
            elif isinstance(block, Thinking):
                yield from self._thought(block)
            elif isinstance(block, ToolCall):
                yield self._told("response_item", _call(block))
        for call in calls:
            if call.result is not None and not _is_providers(call):
                yield self._told("response_item", _output(call, call.result))
        if message.usage is not None:
            yield self._count(message.usage)

    def _thought(self, thinking: Thinking) -> Iterator[bytes]:
        if thinking.text:
            yield self._told("event_msg", {"type": "agent_reasoning", "text": thinking.text})
        if is_readable(thinking):
            summary = [{"type": "summary_text", "text": thinking.text}] if thinking.text else []
            payload = {"type": "reasoning", "summary": summary, "content": None}
            payload["encrypted_content"] = thinking.signature
            yield self._told("response_item", payload)

    def _count(self, usage: Usage) -> bytes:
        self._total += usage
        info: Json = {"total_token_usage": _usage(self._total), "last_token_usage": _usage(usage)}
        info["model_context_window"] = None
        return self._line("event_msg", {"type": "token_count", "info": info, "rate_limits": None})


def is_readable(thinking: Thinking) -> bool:
    """Whether the provider can read the reasoning again."""
    return (thinking.signature or "").startswith(_CIPHER)


def is_marker(notice: Notice) -> bool:
    """Whether Codex itself put a notice into a message."""
    return notice.text.startswith(("<turn_aborted>", "<subagent_notification>"))


def _message(role: str, content: list[Json]) -> Json:
    return {"type": "message", "role": role, "content": content}


def _words(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _piece(block: Block | ResultPart) -> Json | None:
    if isinstance(block, Text):
        return _words(block.text)
    if isinstance(block, Image):
        url = f"data:{block.media_type};base64,{block.data}" if block.data else block.url
        return {"type": "input_image", "image_url": url} if url else None
    if isinstance(block, Document):
        return _words(f"[{block.title or 'a document'}]")
    return None


def _is_providers(call: ToolCall) -> bool:
    return call.name == "web_search" and isinstance(call.input, dict) and "type" in call.input


def _call(call: ToolCall) -> Json:
    name, given = _NAME.sub("_", call.name)[:64] or "tool", call.input
    if _is_providers(call):
        return {"type": "web_search_call", "status": "completed", "action": given}
    if isinstance(given, str):
        told = {"type": "custom_tool_call", "status": "completed", "name": name, "input": given}
    else:
        arguments = msgspec.json.encode(given if given is not None else {}).decode()
        told = {"type": "function_call", "name": name, "arguments": arguments}
    return told | {"call_id": call.id}


def _output(call: ToolCall, result: ToolResult) -> Json:
    kind = "custom_tool_call_output" if isinstance(call.input, str) else "function_call_output"
    output: Any = result.content
    if not isinstance(output, str):
        output = [piece for part in output if (piece := _piece(part)) is not None]
    elif result.exit_code and not output.startswith(_HEADED):
        output = f"Exit code: {result.exit_code}\nOutput:\n{output}"  # other agents say it beside
    return {"type": kind, "call_id": call.id, "output": output}


def _usage(usage: Usage) -> Json:
    given = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": given,
        "cached_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "reasoning_output_tokens": 0,
        "total_tokens": given + usage.output,
    }
