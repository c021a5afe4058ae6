"""A small language for writing transcripts the way Claude Code writes them."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

_NAMESPACE = uuid.UUID("6d696e75-7465-626f-6f6b-6578616d706c")
Record = dict[str, Any]


class Script:
    """Builds one session's records; every id and time follows from the arguments."""

    def __init__(
        self,
        name: str,
        *,
        cwd: str,
        start: str,
        branch: str = "main",
        model: str = "claude-sonnet-4-5",
        version: str = "2.1.210",
        load: int = 1,
    ) -> None:
        self.name = name
        self.session_id = self._id("session")
        self.cwd = cwd
        self.branch = branch
        self.model = model
        self.version = version
        self.load = load  # how many times as much as the smallest session a reply reads and writes
        self.records: list[Record] = []
        self.agents: dict[str, Script] = {}
        self.agent_meta: dict[str, Record] = {}
        self._clock = datetime.fromisoformat(start).replace(tzinfo=UTC)
        self._parent: str | None = None
        self._count = 0
        self._agent: str | None = None
        self._turn_started = self._clock

    # -- what people and models say

    def user(self, content: str | list[Record], after: float = 60, **fields: Any) -> str:
        self.wait(after)
        self._turn_started = self._clock
        message = {"role": "user", "content": content}
        return self._chained("user", message=message, **fields)

    def meta(self, text: str) -> None:
        self._chained("user", message={"role": "user", "content": text}, isMeta=True)

    def reply(self, *blocks: Record | str, after: float = 8, stop: str = "end_turn") -> list[str]:
        """One API message: a record a block, as every version since 1.0.1x writes it."""
        self.wait(after)
        contents = [text(block) if isinstance(block, str) else block for block in blocks]
        calls = [block for block in contents if block["type"] == "tool_use"]
        message_id = f"msg_{self._id(f'message{self._count}').replace('-', '')[:24]}"
        for block in contents:
            self.wait(0.4)
            self._chained(
                "assistant",
                message={
                    "model": self.model,
                    "id": message_id,
                    "type": "message",
                    "role": "assistant",
                    "content": [block],
                    "stop_reason": "tool_use" if calls else stop,
                    "stop_sequence": None,
                    "usage": self._usage(contents),
                },
                requestId=f"req_{message_id[4:]}",
            )
        return [call["id"] for call in calls]

    def tool(
        self, name: str, input: Record, result: Any, *, say: str = "", error: bool = False
    ) -> str:
        """A call and its answer."""
        call = self.call(name, input)
        self.reply(*([say] if say else []), call, stop="tool_use")
        self.answer(call["id"], result, error=error)
        return str(call["id"])

    def call(self, name: str, input: Record) -> Record:
        self._count += 1
        digest = self._id(f"call{self._count}").replace("-", "")[:22]
        return {"type": "tool_use", "id": f"toolu_{digest}", "name": name, "input": input}

    def answer(self, call_id: str, result: Any, *, error: bool = False, **extra: Any) -> None:
        self.wait(3)
        block = {"tool_use_id": call_id, "type": "tool_result", "content": result}
        if error:
            block["is_error"] = True
        twin = {"toolUseResult": extra} if extra else {}
        self._chained("user", message={"role": "user", "content": [block]}, **twin)

    def subagent(self, kind: str, task: str, prompt: str, report: str) -> Script:
        """A call that spawns an agent; the agent's own script is returned to be filled."""
        call = self.call("Task", {"description": task, "prompt": prompt, "subagent_type": kind})
        self.reply(call, stop="tool_use")
        agent_id = "a" + self._id(f"agent{self._count}").replace("-", "")[:16]
        agent = Script(
            f"{self.name}/{agent_id}", cwd=self.cwd, start="2026-01-01T00:00:00", model=self.model
        )
        agent.session_id, agent._agent = self.session_id, agent_id
        agent._clock, agent.version, agent.load = self._clock, self.version, self.load
        agent.user(prompt, after=0)
        self.agents[agent_id] = agent
        self.agent_meta[agent_id] = {
            "agentType": kind,
            "description": task,
            "toolUseId": call["id"],
        }
        self.wait(95)
        self.answer(call["id"], [text(report)], status="completed", agentId=agent_id)
        return agent

    # -- what the harness writes

    def turn_end(self) -> None:
        duration = round((self._clock - self._turn_started).total_seconds() * 1000)
        self._chained("system", subtype="turn_duration", durationMs=duration, isMeta=False)

    def system(self, subtype: str, content: str) -> None:
        self._chained("system", subtype=subtype, content=content, level="info", isMeta=False)

    def compaction(self, summary: str) -> None:
        self._parent = None
        metadata = {"trigger": "auto", "preTokens": 156_000}
        self._chained(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            compactMetadata=metadata,
        )
        opening = "This session is being continued from a previous conversation that ran out of "
        self._chained(
            "user",
            message={"role": "user", "content": f"{opening}context. {summary}"},
            isCompactSummary=True,
            isVisibleInTranscriptOnly=True,
        )

    def rename(self, name: str) -> None:
        command = (
            f"<command-name>/rename</command-name>\n            "
            f"<command-message>rename</command-message>\n            "
            f"<command-args>{name}</command-args>"
        )
        self.bare("custom-title", customTitle=name)
        self.bare("agent-name", agentName=name)
        self.system("local_command", command)
        stdout = f"Session renamed to: {name}"
        self.system("local_command", f"<local-command-stdout>{stdout}</local-command-stdout>")

    def title(self, title: str) -> None:
        self.bare("ai-title", aiTitle=title)

    def queue(self, operation: str, content: str | None = None) -> None:
        fields = {"content": content} if content is not None else {}
        self.bare("queue-operation", operation=operation, timestamp=self.now(), **fields)

    def bare(self, type: str, **fields: Any) -> None:
        """A record outside the chain."""
        self.records.append({"type": type, **fields, "sessionId": self.session_id})

    # -- time and bytes

    def wait(self, seconds: float) -> None:
        self._clock += timedelta(seconds=seconds)

    def now(self) -> str:
        return self._clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def fork(self, name: str, *, after_days: float) -> Script:
        """A session that begins with a copy of this one: same message ids, new session id."""
        copy = Script(name, cwd=self.cwd, start="2026-01-01T00:00:00", branch=self.branch)
        copy.model, copy.version = self.model, self.version
        copy._clock = self._clock + timedelta(days=after_days)
        copy._parent = self._parent
        for record in self.records:
            copy.records.append({**record, "sessionId": copy.session_id})
        return copy

    def files(self) -> dict[str, bytes]:
        """Relative path → bytes: the transcript, and its subagents' beside it."""
        folder = re.sub(r"[^A-Za-z0-9]", "-", self.cwd)
        files = {f"{folder}/{self.session_id}.jsonl": self.to_bytes()}
        for agent_id, agent in self.agents.items():
            base = f"{folder}/{self.session_id}/subagents/agent-{agent_id}"
            files[f"{base}.jsonl"] = agent.to_bytes()
            files[f"{base}.meta.json"] = json.dumps(self.agent_meta[agent_id]).encode()
        return files

    def to_bytes(self) -> bytes:
        lines = (
            json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in self.records
        )
        return "".join(f"{line}\n" for line in lines).encode()

    def _chained(self, type: str, **fields: Any) -> str:
        self._count += 1
        id = self._id(f"record{self._count}")
        record = {
            "parentUuid": self._parent,
            "isSidechain": self._agent is not None,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session_id,
            "version": self.version,
            "gitBranch": self.branch,
            **({"agentId": self._agent} if self._agent else {}),
            "type": type,
            **fields,
            "uuid": id,
            "timestamp": self.now(),
        }
        self.records.append(record)
        self._parent = id
        return id

    def _usage(self, contents: list[Record]) -> Record:
        written = sum(len(json.dumps(block)) for block in contents)
        return {
            "input_tokens": 4,
            "cache_creation_input_tokens": 900 * self.load,
            "cache_read_input_tokens": (12_000 + 40 * self._count) * self.load,
            "output_tokens": written // 4 * self.load,
        }

    def _id(self, what: str) -> str:
        return example_id(f"{self.name}/{what}")


def example_id(what: str) -> str:
    """The id that something of the examples always has."""
    return str(uuid.uuid5(_NAMESPACE, what))


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def thinking(words: str) -> Record:
    return {"type": "thinking", "thinking": words, "signature": "ZXhhbXBsZQ=="}


def picture(data: str) -> Record:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": source}
