"""Records as one version of Claude Code writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from tests.generated import words
from tests.generated.versions import Version

Record = dict[str, Any]
_SURROGATE = re.compile("[\ud800-\udfff]")


def as_line(record: Record) -> bytes:
    """Compact JSON; half a surrogate pair is written as an escape, as JavaScript does."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode() + b"\n"


class Pen:
    """Writes one conversation into `lines`, and files beside it into `beside`."""

    def __init__(
        self,
        chance: Random,
        version: Version,
        cwd: str,
        at: datetime,
        *,
        session_id: str | None = None,
        agent_id: str | None = None,
    ) -> None:
        self.chance = chance
        self.version = version
        self.cwd = cwd
        self.branch = chance.choice(words.BRANCHES)
        self.slug = chance.choice(words.SLUGS)
        self.at = at
        self.session_id = session_id or self.uuid()
        self.agent_id = agent_id
        self.sidechain = agent_id is not None
        self.lines: list[bytes] = []
        self.beside: dict[str, bytes] = {}
        """By path from the transcript's own folder."""
        self.parent: str | None = None
        self.leaf: str | None = None
        """The last message; what stands beside the conversation is none."""
        self.prompt_id = self.uuid()
        self.prompts = 0
        self.context = 12_000
        """Tokens the model is given so far."""
        self._written: dict[str, str] = {}  # call id → uuid of the line that made it

    # -- small things

    def uuid(self) -> str:
        return str(UUID(int=self.chance.getrandbits(128), version=4))

    def token(self, prefix: str, length: int = 24) -> str:
        letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
        return prefix + "".join(self.chance.choices(letters, k=length))

    def hexadecimal(self, length: int) -> str:
        return f"{self.chance.getrandbits(4 * length):0{length}x}"

    def wait(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    def stamp(self) -> str:
        self.at += timedelta(milliseconds=self.chance.randint(4, 3_000))
        return self.at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.at.microsecond // 1000:03d}Z"

    def path(self, name: str) -> str:
        return f"{self.cwd}/{name}"

    # -- lines

    def bare(self, **fields: Any) -> None:
        """A record without an envelope."""
        self.lines.append(as_line(fields))

    def write(
        self, body: Record, *, parent: str | None = None, root: bool = False, **tail: Any
    ) -> str:
        """A record of the conversation, next in the chain unless a parent is named; its uuid."""
        uuid, at, version = self.uuid(), self.stamp(), self.version
        head: Record = {"parentUuid": None if root else parent or self.parent}
        head["isSidechain"] = self.sidechain
        place: Record = {"userType": "external"}
        if version.since("2.1.78"):
            place["entrypoint"] = "cli"
        place |= {"cwd": self.cwd, "sessionId": self.session_id, "version": version.name}
        if version.since("1.0.55"):
            place["gitBranch"] = self.branch
        if version.within("2.0.56", "2.1.99"):
            place["slug"] = self.slug
        agent = {"agentId": self.agent_id} if self.agent_id else {}
        own = {**body, "uuid": uuid, "timestamp": at, **tail}
        if version.envelope_last:
            prompt = {"promptId": self.prompt_id} if body["type"] == "user" else {}
            record = {**head, **prompt, **agent, **own, **place}
        else:
            record = {**head, **place, **agent, **own}
        self.lines.append(as_line(record))
        self.parent = uuid
        if body["type"] in ("user", "assistant") and not self.sidechain:
            self.leaf = uuid
        return uuid

    # -- the person

    def user(self, content: Any, **tail: Any) -> str:
        """A record under the user's role, whoever wrote it."""
        return self.write({"type": "user", "message": {"role": "user", "content": content}}, **tail)

    def prompt(self, text: str | None = None, *blocks: Record, **tail: Any) -> str:
        """What a person typed; with `blocks`, what they pasted with it. Returns the text."""
        self.wait(self.chance.randint(20, 900))
        self.prompt_id = self.uuid()
        text = self.asked(text)
        if self.version.since("2.1.15"):
            tail.setdefault("permissionMode", "default")
        self.user([{"type": "text", "text": text}, *blocks] if blocks else text, **tail)
        return text

    def asked(self, text: str | None = None) -> str:
        """The words of a prompt, with a ticket nobody else has."""
        self.prompts += 1
        text = self.chance.choice(words.ASKED) if text is None else text
        return f"{words.ticket(self.prompts)}: {text}"

    # -- the model

    def reply(self, *blocks: Record | str, stop: str = "end_turn", **tail: Any) -> None:
        """A whole reply; a string is a text block."""
        reply = Reply(self, len(blocks), stop, tail)
        for block in blocks:
            reply.add({"type": "text", "text": block} if isinstance(block, str) else block)

    def call(self, name: str, input: Record) -> Record:
        """A block that calls a tool."""
        block = {"type": "tool_use", "id": self.token("toolu_01", 22), "name": name, "input": input}
        if self.version.since("2.1.60"):
            block["caller"] = {"type": "direct"}
        return block

    def thinking(self, text: str | None = None) -> Record:
        """From 2.1.60 on only the signature is recorded."""
        text = self.chance.choice(words.THOUGHT) if text is None else text
        signature = self.token("Er", 120) + "=="
        kept = "" if self.version.since("2.1.60") else text
        return {"type": "thinking", "thinking": kept, "signature": signature}

    def wrote(self, block: Record, uuid: str) -> None:
        self._written[block["id"]] = uuid

    # -- tools

    def result(self, call: Record, content: Any, twin: Any = None, *, error: bool = False) -> str:
        """A tool's answer, with its structured twin."""
        block: Record = {"tool_use_id": call["id"], "type": "tool_result"}
        if content is not None:
            block["content"] = content
        if error or (call["name"] == "Bash" and self.version.since("1.0.10")):
            block["is_error"] = error
        source = self._written.pop(call["id"], None)
        # from 2.0 on each answer hangs on its own call, so parallel calls fork the tree
        parent = source if self.version.since("2.0.0") else None
        tail = {} if twin is None else {"toolUseResult": twin}
        if source is not None and self.version.since("2.1.1"):
            tail["sourceToolAssistantUUID"] = source
        return self.user([block], parent=parent, **tail)

    # -- beside the conversation

    def system(self, subtype: str | None, *, root: bool = False, **fields: Any) -> str:
        kind = {"subtype": subtype} if subtype else {}
        return self.write({"type": "system", **kind, **fields}, root=root, isMeta=False)

    def attachment(self, kind: str, **fields: Any) -> str:
        return self.write({"attachment": {"type": kind, **fields}, "type": "attachment"})

    def queue(self, operation: str, content: str | None = None) -> None:
        said = {} if content is None else {"content": content}
        self.bare(
            type="queue-operation",
            operation=operation,
            timestamp=self.stamp(),
            sessionId=self.session_id,
            **said,
        )


class Reply:
    """One message of the model: a line a block, with a usage that grows; or all in one line."""

    def __init__(self, pen: Pen, size: int, stop: str, tail: Record | None = None) -> None:
        self.pen = pen
        self.left = size
        self.stop = stop
        self.tail = tail or {}
        self.id = pen.token("msg_01", 22)
        self.request = pen.token("req_011C", 20)
        self.output = pen.chance.randint(40, 900)
        self._held: list[Record] = []
        pen.context += pen.chance.randint(200, 3_000)
        self._read = pen.context - pen.chance.randint(100, 190)

    def add(self, block: Record) -> None:
        self.left -= 1
        self._held.append(block)
        if self.left and self.pen.version.whole_messages:
            return
        uuid = self._line(self._held)
        for held in self._held:
            if held["type"] == "tool_use":
                self.pen.wrote(held, uuid)
        self._held = []

    def _line(self, blocks: Sequence[Record]) -> str:
        pen, version, last = self.pen, self.pen.version, self.left == 0
        message: Record = {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": version.model,
            "content": list(blocks),
            "stop_reason": self.stop if last and version.says_why_it_stopped else None,
            "stop_sequence": None,
            "usage": self._usage(self.output if last else min(8, self.output)),
        }
        body: Record = {"message": message}
        if version.whole_messages:
            body |= {"costUSD": round(self.output * 15e-6, 6), "durationMs": self.output * 11}
        else:
            body["requestId"] = self.request
        return pen.write({**body, "type": "assistant"}, **self.tail)

    def _usage(self, output: int) -> Record:
        pen, version = self.pen, self.pen.version
        new = pen.context - self._read
        usage: Record = {
            "input_tokens": 4,
            "cache_creation_input_tokens": new,
            "cache_read_input_tokens": self._read,
        }
        if version.since("1.0.100"):
            short = new // 3
            usage["cache_creation"] = {
                "ephemeral_5m_input_tokens": short,
                "ephemeral_1h_input_tokens": new - short,
            }
        usage |= {"output_tokens": output, "service_tier": "standard"}
        if version.since("2.1.50"):
            usage |= {
                "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
                "inference_geo": "not_available",
                "iterations": [],
                "speed": "fast" if pen.context % 2 else "standard",
            }
        return usage
