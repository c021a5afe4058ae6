"""Tells the facts of a transcript, straight from its raw JSON."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from minutebook.sources.assembly.repair import Unreadable, rescue
from minutebook.sources.assembly.seen import SeenIds
from minutebook.sources.claude_code import known

Json = dict[str, Any]
_MOST_REPLIES = 1_000  # that may still get a line


def records_of(lines: Iterable[bytes]) -> Iterator[Json]:
    """Every object in a transcript's lines that can be read at all."""
    for line in lines:
        if not line.strip():
            continue
        try:
            for raw, _ in rescue(line):
                yield raw
        except Unreadable:
            continue


class _Reply:
    """A reply, as far as its lines have told."""

    __slots__ = ("model", "stop", "usage")

    def __init__(self, model: Any) -> None:
        self.model = model
        self.stop: Any = None
        self.usage: tuple[int, ...] = ()


Add = Callable[[str, str], None]
"""Told of every fact: its name, and a text that compares like its value."""


class Teller:
    """Tells the facts of a transcript, record by record; little of it is held."""

    def __init__(self, add: Add) -> None:
        self._told = add
        self.fields: Counter[str] = Counter()
        self._seen = SeenIds()
        self._replies: OrderedDict[str, _Reply] = OrderedDict()
        self._nameless = 0
        self._duration = 0
        self._title: tuple[int, str] = (0, "")

    def _add(self, name: str, *values: Any) -> None:
        self._told(name, "\x1f".join(_plain(value) for value in values))

    def record(self, record: Json) -> None:
        kind = record.get("type")
        self.fields.update(f"{kind}.{field}" for field in record)
        if record.get("isSidechain"):
            return
        uuid = record.get("uuid")
        carried = record.get("minutebook")
        talk = kind in ("user", "assistant") or _is_queued(record)
        if talk and isinstance(uuid, str) and not self._seen.add(uuid):
            return
        if isinstance(carried, dict) and "adds" not in carried:
            if isinstance(carried.get("message"), dict):
                self._carried(carried["message"])
        elif kind == "user":
            self._user(record)
        elif kind == "assistant":
            self._assistant(record)
        elif kind == "system":
            self._system(record)
        elif kind == "attachment":
            self._attachment(record)
        elif kind in ("custom-title", "ai-title"):
            title = record.get("customTitle") or record.get("aiTitle")
            rank = 2 if kind == "custom-title" else 1
            if isinstance(title, str) and rank >= self._title[0]:
                self._title = (rank, title)

    def _identity(self, record: Json) -> None:
        if isinstance(record.get("uuid"), str):
            self._add("message id", record["uuid"])
        if isinstance(record.get("timestamp"), str):
            self._add("timestamp", record["timestamp"])

    def _user(self, record: Json) -> None:
        words = False
        for block in _blocks(record):
            kind = block.get("type")
            if kind == "tool_result":
                self._result(block.get("tool_use_id"), block.get("content"), block.get("is_error"))
            else:
                words = True
                self._spoken("user text", block)
        if words:
            self._identity(record)

    def _spoken(self, name: str, block: Json) -> None:
        if block.get("type") == "text":
            self._add(name, block.get("text"))
        elif block.get("type") in ("image", "document"):
            source = block.get("source")
            data = source.get("data") or source.get("url") if isinstance(source, dict) else None
            self._add("picture", data)

    def _assistant(self, record: Json) -> None:
        message = record.get("message")
        message = message if isinstance(message, dict) else {"content": message}
        id = message.get("id")
        reply = self._replies.get(id) if isinstance(id, str) else None
        if reply is None:
            self._identity(record)
            reply = self._begin(id if isinstance(id, str) else None, message.get("model"))
        reply.stop = message.get("stop_reason") or reply.stop
        reply.usage = max(reply.usage, _usage(message.get("usage")), key=sum)
        for block in _blocks(record):
            kind = block.get("type")
            if kind == "thinking":
                self._add("thinking", block.get("thinking"), block.get("signature"))
            elif kind == "redacted_thinking":
                self._add("thinking", "", block.get("data"))
            elif kind == "tool_use":
                self._add("tool call", block.get("id"), block.get("name"), block.get("input"))
            else:
                self._spoken("assistant text", block)

    def _result(self, id: Any, content: Any, error: Any) -> None:
        if isinstance(content, list) and all(isinstance(part, dict) for part in content):
            for part in content:
                self._spoken("tool result", part)
            # Fields of other tools inside a block would be refused by the API: left behind.
            content = [
                {"type": "text", "text": part.get("text")} if part.get("type") == "text" else part
                for part in content
            ]
        if isinstance(content, str) and content.startswith("<persisted-output>"):
            content = "(spilled)"
        self._add("tool result", id, content or "", bool(error))

    def _system(self, record: Json) -> None:
        subtype, content = record.get("subtype"), record.get("content")
        duration = record.get("durationMs")
        if subtype == "turn_duration" and isinstance(duration, int | float):
            self._duration += round(duration)
        elif isinstance(content, str) and (subtype in known.SYSTEM_NOTICES or not subtype):
            self._add("notice", content)
            self._identity(record)

    def _attachment(self, record: Json) -> None:
        data = record.get("attachment")
        if not isinstance(data, dict):
            return
        if _is_queued(record):
            self._identity(record)
            prompt = data.get("prompt")
            for block in (
                [{"type": "text", "text": prompt}] if isinstance(prompt, str) else prompt or []
            ):
                self._spoken("user text", block)
        elif data.get("type") not in known.ATTACHMENT_BOOKKEEPING and not known.is_empty(data):
            self._add("attachment", data)
            self._identity(record)

    def _carried(self, message: Json) -> None:
        """A message as it was before the export."""
        self._identity({"uuid": message.get("id"), "timestamp": message.get("at")})
        name = "user text" if message["role"] == "user" else "assistant text"
        if name == "assistant text":
            usage = message.get("usage") or {}
            counts = tuple(
                usage.get(k, 0)
                for k in ("input", "output", "cache_read", "cache_write", "cache_write_1h")
            )
            key = message.get("reply_id")
            reply = self._replies.get(key) if key else None
            if reply is None:
                reply = self._begin(key, message.get("model"))
            reply.usage = _sum(reply.usage, counts if usage else ())
            reply.stop = message.get("stop") or reply.stop
        for block in message["blocks"]:
            self._carried_block(name, block)

    def _carried_block(self, name: str, block: Json) -> None:
        kind = block["type"]
        if kind in ("text", "notice"):
            self._add(name, block["text"])
        elif kind == "thinking":
            self._add("thinking", block.get("text", ""), block.get("signature"))
        elif kind == "tool_call":
            self._add("tool call", block["id"], block["name"], block.get("input"))
            if block.get("result") is not None:
                self._carried_result(block["id"], block["result"])
        elif kind == "stray_result":
            self._carried_result(block["call_id"], block["result"])
        elif kind in ("image", "document"):
            self._add("picture", block.get("data") or block.get("url"))
        elif kind == "attachment" and block["kind"] in ("image", "document"):
            self._add("picture", block["data"].get("data"))
        elif kind == "attachment":
            self._add("attachment", block["data"])

    def _carried_result(self, id: Any, result: Json) -> None:
        content = result.get("content", "")
        if result.get("spilled"):
            content = "<persisted-output>"
        if isinstance(content, list):
            content = [_api_part(part) for part in content]
        self._result(id, content, result.get("error"))

    def _begin(self, id: str | None, model: Any) -> _Reply:
        """A reply; the oldest is told, for no further line of it will come."""
        self._nameless += id is None
        reply = self._replies[id or f"\0{self._nameless}"] = _Reply(model)
        if len(self._replies) > _MOST_REPLIES:
            self._tell(*self._replies.popitem(last=False))
        return reply

    def _tell(self, id: str, reply: _Reply) -> None:
        if not id.startswith("\0"):
            self._add("reply id", id)
        if reply.model is not None:
            self._add("model", reply.model)
        if reply.stop:
            self._add("stop reason", reply.stop)
        if any(reply.usage):
            self._add("usage", list(reply.usage))

    def finish(self) -> None:
        """Tell what is known only at the end."""
        for id, reply in self._replies.items():
            self._tell(id, reply)
        if self._duration:
            self._add("turn duration", self._duration)
        if self._title[0]:
            self._add("title", self._title[1])


def _is_queued(record: Json) -> bool:
    data = record.get("attachment")
    return isinstance(data, dict) and data.get("type") == "queued_command"


def _blocks(record: Json) -> Iterator[Json]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else message
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, str):
            yield {"type": "text", "text": block}
        elif isinstance(block, dict):
            yield block


def _usage(value: Any) -> tuple[int, ...]:
    if not isinstance(value, dict):
        return ()
    names = (
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    )
    counts = [_count(value.get(name)) for name in names]
    split = value.get("cache_creation")
    hour = _count(split.get("ephemeral_1h_input_tokens")) if isinstance(split, dict) else 0
    return (*counts, min(counts[3], hour))


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _sum(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True)) if one and other else one or other


def _api_part(part: Json) -> Json:
    if part["type"] in ("image", "document"):
        source = {"data": part.get("data"), "media_type": part.get("media_type"), "type": "base64"}
        return {"type": part["type"], "source": source}
    return part["data"] if part["type"] == "unknown" else part


def _plain(value: Any) -> str:
    """A value as short text that compares like it."""
    if value is None:
        return ""
    text = (
        value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    )
    if len(text) > 200:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
        text = f"{text[:120]}… ({len(text)} characters, {digest})"
    return text
