"""One long conversation, written as each agent with a file of lines writes it.

Fields, and what is written twice, are those of the real files (see the README.md of each adapter);
words and sizes are made up, the same for all: most of the bytes are what tools printed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]
_WORDS = """the parser reads a line and keeps its place so that tests pass when files grow while
import return value self path = () { } : def class None True error 404 "quoted" -> src/app/main.py
login redirect orchard migration café checks fails because branch merge commit index record
""".split()
CWD, ID = "/home/bench/project", "80000000-0000-4000-8000-000000000001"


class Step(NamedTuple):
    """A call of the model: what it thought, said and ran, and what that printed."""

    id: int
    thought: str
    said: str
    command: str
    printed: str


class Turn(NamedTuple):
    prompt: str
    steps: list[Step]
    answer: str


def turns() -> Iterator[Turn]:
    """Without an end; the same every time."""
    chance = random.Random(1717)

    def words(size: float) -> str:
        text, length = [], 0
        while length < size:
            text.append(chance.choice(_WORDS) + ("\n" if chance.random() < 0.1 else ""))
            length += len(text[-1]) + 1
        return " ".join(text)

    number = 0
    while True:
        steps = []
        for _ in range(chance.randint(3, 12)):
            number += 1
            thought = words(chance.expovariate(1 / 400)) if chance.random() < 0.4 else ""
            said = words(chance.expovariate(1 / 160)) if chance.random() < 0.5 else ""
            printed = words(min(30_000, chance.lognormvariate(7.2, 1.3)))
            command = words(chance.expovariate(1 / 250))
            steps.append(Step(number, thought, said, command, printed))
        prompt, answer = words(chance.expovariate(1 / 300) + 20), words(300 + number % 900)
        yield Turn(prompt, steps, answer)


def _at(seconds: int) -> str:
    moment = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


class Writer:
    """Lines of one file; every record has a number, a time and a parent."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> tuple[str, str, str]:
        self.count += 1
        id, before = (f"{n:08x}-0000-4000-8000-000000000000" for n in (self.count, self.count - 1))
        return id, before, _at(self.count * 3)

    def claude(self, turn: Turn) -> Iterator[Json]:
        def record(type: str, **fields: Any) -> Json:
            id, before, at = self.next()
            base = {"parentUuid": before, "isSidechain": False, "userType": "external"}
            more = {"cwd": CWD, "sessionId": ID, "version": "2.1.0", "gitBranch": "main"}
            return {**base, **more, "type": type, **fields, "uuid": id, "timestamp": at}

        def reply(key: str, block: Json) -> Json:
            usage = {"input_tokens": 9, "cache_read_input_tokens": 30_000, "output_tokens": 200}
            body: Json = {"model": "claude-opus-4-6", "id": f"msg_{key}", "type": "message"}
            body |= {"role": "assistant", "content": [block], "stop_reason": None, "usage": usage}
            return record("assistant", message=body, requestId=f"req_{key}")

        yield record("user", message={"role": "user", "content": turn.prompt})
        for step in turn.steps:
            key = str(step.id)
            if step.thought:
                thought = {"type": "thinking", "thinking": step.thought, "signature": "c2ln" * 90}
                yield reply(key, thought)
            if step.said:
                yield reply(key, {"type": "text", "text": step.said})
            call = {"type": "tool_use", "id": f"toolu_{key}", "name": "Bash"}
            yield reply(key, call | {"input": {"command": step.command}})
            result = {"tool_use_id": f"toolu_{key}", "type": "tool_result", "content": step.printed}
            twin = {"stdout": step.printed, "stderr": "", "interrupted": False, "isImage": False}
            message = {"role": "user", "content": [result]}
            yield record("user", message=message, toolUseResult=twin)
        yield reply(f"{turn.steps[-1].id}end", {"type": "text", "text": turn.answer})

    def codex(self, turn: Turn) -> Iterator[Json]:
        def line(type: str, payload: Json) -> Json:
            return {"timestamp": self.next()[2], "type": type, "payload": payload}

        def item(role: str, kind: str, text: str) -> Json:
            piece = {"type": kind, "text": text}
            return line("response_item", {"type": "message", "role": role, "content": [piece]})

        def counted() -> Json:
            self.total = getattr(self, "total", 0) + 1000
            usage = {"input_tokens": 30_000, "cached_input_tokens": 29_000, "output_tokens": 200}
            info: Json = {"total_token_usage": {**usage, "input_tokens": self.total}}
            info |= {"last_token_usage": usage, "model_context_window": 258_400}
            return line("event_msg", {"type": "token_count", "info": info, "rate_limits": None})

        if self.count == 0:
            meta = {"id": ID, "timestamp": _at(0), "cwd": CWD, "cli_version": "0.144.1"}
            yield line("session_meta", {**meta, "originator": "codex_exec", "source": "exec"})
        yield line("event_msg", {"type": "task_started", "turn_id": str(self.count)})
        yield line("turn_context", {"cwd": CWD, "model": "gpt-5.5", "effort": "high"})
        yield item("user", "input_text", turn.prompt)
        yield line("event_msg", {"type": "user_message", "message": turn.prompt, "images": []})
        for step in turn.steps:
            if step.thought:
                yield line("event_msg", {"type": "agent_reasoning", "text": step.thought})
                summary = [{"type": "summary_text", "text": step.thought}]
                thought = {"type": "reasoning", "summary": summary, "encrypted_content": "gA" * 300}
                yield line("response_item", thought)
            if step.said:
                yield line("event_msg", {"type": "agent_message", "message": step.said})
                yield item("assistant", "output_text", step.said)
            arguments = json.dumps({"cmd": step.command, "workdir": CWD})
            call = {"type": "function_call", "name": "exec_command", "call_id": f"call_{step.id}"}
            yield line("response_item", call | {"arguments": arguments})
            yield counted()
            head = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
            output = {"type": "function_call_output", "call_id": f"call_{step.id}"}
            yield line("response_item", output | {"output": head + step.printed})
        yield line("event_msg", {"type": "agent_message", "message": turn.answer})
        yield item("assistant", "output_text", turn.answer)
        yield counted()
        yield line("event_msg", {"type": "task_complete", "last_agent_message": turn.answer})

    def gemini(self, turn: Turn) -> Iterator[Json]:
        def message(type: str, content: Any, **fields: Any) -> Json:
            id, _, at = self.next()
            return {"id": id, "timestamp": at, "type": type, "content": content, **fields}

        if self.count == 0:
            head = {"sessionId": ID, "projectHash": "1c" * 32, "startTime": _at(0)}
            yield {**head, "lastUpdated": _at(0), "kind": "main"}
        yield message("user", [{"text": turn.prompt}])
        tokens = {"input": 30_000, "output": 200, "cached": 29_000, "thoughts": 80, "tool": 0}
        for step in turn.steps:
            thoughts = [{"subject": "Plan", "description": step.thought, "timestamp": _at(1)}]
            used: Json = {"thoughts": thoughts if step.thought else [], "tokens": tokens}
            said = message("gemini", step.said, **used, model="gemini-2.5-pro")
            yield said
            response = {"id": f"run__{step.id}", "name": "run_shell_command"}
            answered = {"functionResponse": {**response, "response": {"output": step.printed}}}
            call = {**response, "args": {"command": step.command}, "result": [answered]}
            call |= {"status": "success", "timestamp": _at(2), "resultDisplay": step.printed}
            yield {**said, "toolCalls": [call]}
            yield message("user", [answered])
        yield message("gemini", turn.answer, thoughts=[], tokens=tokens, model="gemini-2.5-pro")

    def copilot(self, turn: Turn) -> Iterator[Json]:
        def event(type: str, **data: Any) -> Json:
            id, before, at = self.next()
            return {"type": type, "data": data, "id": id, "timestamp": at, "parentId": before}

        if self.count == 0:
            known = {"sessionId": ID, "version": 1, "copilotVersion": "1.0.102"}
            context = {"cwd": CWD, "gitRoot": CWD, "branch": "main"}
            yield event("session.start", **known, startTime=_at(0), context=context)
        typed = f"<current_datetime>{_at(0)}</current_datetime>\n\n{turn.prompt}"
        yield event("user.message", content=turn.prompt, transformedContent=typed, attachments=[])
        for step in turn.steps:
            yield event("assistant.turn_start", turnId="0", interactionId=str(step.id))
            given = {"toolCallId": f"call_{step.id}", "arguments": {"command": step.command}}
            model = {"messageId": f"m{step.id}", "model": "claude-sonnet-4.5"}
            asked = [{**given, "name": "bash", "type": "function"}]
            thought = {"reasoningText": step.thought, "reasoningOpaque": "c2ln" * 60}
            reason = thought if step.thought else {}
            yield event(
                "assistant.message", **model, content=step.said, toolRequests=asked, **reason
            )
            usage = {"model": "claude-sonnet-4.5", "inputTokens": 30_000, "outputTokens": 200}
            yield event("session.usage_record", usage={**usage, "cacheReadTokens": 29_000})
            yield event("tool.execution_start", **given, toolName="bash")
            result = {"content": step.printed, "detailedContent": step.printed}
            done = {"success": True, "result": result, "shellExecution": {"exitCode": 0}}
            yield event("tool.execution_complete", toolCallId=f"call_{step.id}", **done)
            yield event("assistant.turn_end", turnId="0")
        model = {"messageId": f"end{self.count}", "model": "claude-sonnet-4.5"}
        yield event("assistant.message", **model, content=turn.answer, toolRequests=[])

    def pi(self, turn: Turn) -> Iterator[Json]:
        def message(role: str, **fields: Any) -> Json:
            id, before, at = self.next()
            entry = {"type": "message", "id": id[:8], "parentId": before[:8], "timestamp": at}
            return {**entry, "message": {"role": role, **fields, "timestamp": 1794822961873}}

        if self.count == 0:
            yield {"type": "session", "version": 3, "id": ID, "timestamp": _at(0), "cwd": CWD}
        usage: Json = {"input": 9, "output": 200, "cacheRead": 30_000, "cacheWrite": 50}
        usage |= {"totalTokens": 30_259, "cost": {"total": 0.01}}
        told = {"api": "anthropic-messages", "provider": "x", "model": "claude-opus-4-6"}
        yield message("user", content=[{"type": "text", "text": turn.prompt}])
        for step in turn.steps:
            pieces: list[Json] = []
            if step.thought:
                pieces.append({"type": "thinking", "thinking": step.thought})
                pieces[-1]["thinkingSignature"] = "c2ln" * 90
            if step.said:
                pieces.append({"type": "text", "text": step.said})
            call = {"type": "toolCall", "id": f"call_{step.id}", "name": "bash"}
            pieces.append({**call, "arguments": {"command": step.command}})
            yield message("assistant", content=pieces, **told, usage=usage, stopReason="toolUse")
            text = [{"type": "text", "text": step.printed}]
            answered = {"toolCallId": f"call_{step.id}", "toolName": "bash", "content": text}
            yield message("toolResult", **answered, isError=False)
        text = [{"type": "text", "text": turn.answer}]
        yield message("assistant", content=text, **told, usage=usage, stopReason="stop")

    def qwen(self, turn: Turn) -> Iterator[Json]:
        def record(type: str, provenance: str, **fields: Any) -> Json:
            id, before, at = self.next()
            base = {"uuid": id, "parentUuid": before, "sessionId": ID, "timestamp": at}
            base |= {"type": type, "provenance": provenance, "cwd": CWD, "version": "0.24.4"}
            return {**base, "gitBranch": "main", **fields}

        def said(parts: list[Json]) -> Json:
            usage = {"promptTokenCount": 30_000, "candidatesTokenCount": 200}
            message = {"role": "model", "parts": parts}
            model = {"model": "qwen3", "message": message, "usageMetadata": usage}
            return record("assistant", "assistant_output", **model)

        def telemetry(name: str) -> Json:
            event = {"event.name": f"qwen-code.{name}", "event.timestamp": _at(0), "model": "qwen3"}
            payload = {"uiEvent": {**event, "duration_ms": 100, "prompt_id": "p" * 40}}
            return record("system", "system", subtype="ui_telemetry", systemPayload=payload)

        prompt = {"role": "user", "parts": [{"text": turn.prompt}]}
        yield record("user", "real_user", message=prompt)
        for step in turn.steps:
            yield telemetry("api_response")
            parts: list[Json] = [{"text": step.thought, "thought": True}] if step.thought else []
            parts += [{"text": step.said}] if step.said else []
            call = {"id": f"call_{step.id}", "name": "run_shell_command"}
            yield said([*parts, {"functionCall": {**call, "args": {"command": step.command}}}])
            yield telemetry("tool_call")
            answered = {"functionResponse": {**call, "response": {"output": step.printed}}}
            shown = {"type": "shell_result", "exitCode": 0, "output": step.printed}
            kept = {"callId": call["id"], "status": "success", "resultDisplay": shown}
            message = {"role": "user", "parts": [answered]}
            yield record("tool_result", "tool_result", message=message, toolCallResult=kept)
        yield telemetry("api_response")
        yield said([{"text": turn.answer}])

    def cursor(self, turn: Turn) -> Iterator[Json]:
        def line(role: str, *content: Json) -> Json:
            self.count += 1
            return {"role": role, "message": {"content": list(content)}}

        text = f"<user_query>\n{turn.prompt}\n</user_query>"
        yield line("user", {"type": "text", "text": text})
        for step in turn.steps:
            said = [{"type": "text", "text": step.said}] if step.said else []
            call = {"type": "tool_use", "name": "Shell", "input": {"command": step.command}}
            yield line("assistant", *said, call)
        yield line("assistant", {"type": "text", "text": turn.answer})


# Where a file has to stand so that its adapter claims it.
PLACES = {
    "claude": f"projects/-home-bench-project/{ID}.jsonl",
    "codex": f"sessions/2026/03/01/rollout-2026-03-01T00-00-00-{ID}.jsonl",
    "gemini": "tmp/project/chats/session-2026-03-01T00-00-80000000.jsonl",
    "copilot": f"session-state/{ID}/events.jsonl",
    "pi": f"sessions/--home-bench-project--/2026-03-01T00-00-00-000Z_{ID}.jsonl",
    "qwen": f"projects/-home-bench-project/chats/{ID}.jsonl",
    "cursor": f"projects/home-bench-project/agent-transcripts/{ID}/{ID}.jsonl",
}


def write(agent: str, root: Path, size: int, *, results: bool = True) -> Path:
    """A session of at least that many bytes; of Claude Code also without what tools printed."""
    path = root / agent / PLACES[agent]
    path.parent.mkdir(parents=True)
    lines: Callable[[Turn], Iterator[Json]] = getattr(Writer(), agent)
    written, conversation = 0, turns()
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            for record in lines(next(conversation)):
                if "toolUseResult" in record and not results:
                    continue
                line = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
                written += file.write(line + "\n")
    return path
