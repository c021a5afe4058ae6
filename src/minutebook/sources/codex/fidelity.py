"""What an export keeps of its source: facts of both files, counted the same way (OPS-14).

Written against the raw JSON, not against our own reader: a check that used the reader twice
could not see what the reader loses.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from minutebook.sources.base import FactReport, FieldFate
from minutebook.sources.jsonl import LineReader

_EXAMPLES = 3
_LONGEST = 200
MATTERS = (
    "user text",
    "assistant text",
    "thinking",
    "tool call",
    "tool result",
    "picture",
    "compaction",
    "usage",
)
"""Facts whose loss makes a check fail."""

FIELDS: dict[str, tuple[str, str]] = {
    "session_meta": ("transformed", "id, time, folder, branch, version, the model's instructions"),
    "turn_context": ("transformed", "folder and model, once a round"),
    "response_item message": ("kept", "compared text by text above"),
    "response_item reasoning": ("kept", "compared above; ciphertext where the provider reads it"),
    "response_item function_call": ("kept", "compared above"),
    "response_item function_call_output": ("kept", "compared above"),
    "response_item custom_tool_call": ("kept", "compared above"),
    "response_item custom_tool_call_output": ("kept", "compared above"),
    "response_item web_search_call": ("kept", "compared above"),
    "compacted": ("transformed", "without the history that replaced the other"),
    "event_msg user_message": ("kept", ""),
    "event_msg agent_message": ("kept", ""),
    "event_msg agent_reasoning": ("kept", ""),
    "event_msg token_count": ("transformed", "once a reply, without limits"),
    "token_usage_record": ("transformed", "as a count"),
    "event_msg item_completed": ("transformed", "as items and results"),
    "event_msg turn_aborted": ("kept", ""),
    "event_msg task_complete": ("left behind", "the duration of a round is carried"),
    "world_state": ("left behind", "state of the agent"),
    "event_msg thread_settings_applied": ("left behind", "state of the agent"),
}
"""Kinds of lines, and what becomes of each; any other is left behind."""

_HEADED = re.compile(r"Exit code: -?\d{1,9}\n(?:[^\n]{0,200}\n){0,4}?Output:\n")


class Facts:
    """What one rollout says, as counters of comparable texts."""

    def __init__(self, path: Path) -> None:
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in MATTERS}
        self.kinds: Counter[str] = Counter()
        self._shown: Counter[str] = Counter()
        self._summaries: list[str] = []
        self._total: Counter[str] = Counter()
        self._base: Counter[str] | None = None
        for line in _objects(path):
            self._line(line)
        self._finish()

    def _count(self, name: str, text: Any) -> None:
        if isinstance(text, str) and text.strip():
            self.counts[name][text] += 1

    def _line(self, line: dict[str, Any]) -> None:
        payload = line.get("payload")
        kind = str(line.get("type") or "")
        if not isinstance(payload, dict):
            self.kinds[kind or "head"] += 1
            self._item(line)
            return
        inner = payload.get("type") if kind in ("response_item", "event_msg") else ""
        self.kinds[f"{kind} {inner}".rstrip()] += 1
        if kind == "response_item":
            self._item(payload)
        elif kind == "compacted":
            self.counts["compaction"][str(payload.get("message") or "")] += 1
            self._summaries.append(str(payload.get("message") or ""))
        elif payload.get("type") == "agent_reasoning" and isinstance(payload.get("text"), str):
            self._shown[payload["text"]] += 1
        elif payload.get("type") == "token_count" and isinstance(payload.get("info"), dict):
            self._usage(payload["info"])

    def _item(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        if kind == "message":
            self._message(item)
        elif kind == "reasoning":
            parts = [*_list(item.get("summary")), *_list(item.get("content"))]
            texts = [t for part in parts if isinstance(t := part.get("text"), str) and t]
            self._count("thinking", "\n\n".join(texts))
        elif kind in ("function_call", "custom_tool_call"):
            given = item.get("arguments", item.get("input"))
            self._count(
                "tool call", f"{item.get('call_id')} {item.get('name')} {_canonical(given)}"
            )
        elif kind == "web_search_call":
            self._count("tool call", f"web_search {_canonical(item.get('action'))}")
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._count("tool result", f"{item.get('call_id')} {_answer(item.get('output'))}")

    def _message(self, item: dict[str, Any]) -> None:
        name = "assistant text" if item.get("role") == "assistant" else "user text"
        for piece in _list(item.get("content")):
            if piece.get("type") == "input_image" and not piece.get("image_url"):
                continue  # nothing to see
            if piece.get("type") == "input_image":
                self._count("picture", str(piece.get("image_url"))[:_LONGEST])
            elif piece.get("text") != "</image>" and not str(piece.get("text")).startswith(
                "<image"
            ):
                self._count(name, piece.get("text"))

    def _usage(self, info: dict[str, Any]) -> None:
        total, last = info.get("total_token_usage"), info.get("last_token_usage")
        if isinstance(total, dict) and isinstance(last, dict):
            self._total = _numbers(total)
            if self._base is None:  # a fork's sum goes on from its parent's
                self._base = self._total - _numbers(last)

    def _finish(self) -> None:
        thinking = self.counts["thinking"]
        for text, times in self._shown.items():
            thinking[text] = max(thinking[text], times)
        said = self.counts["assistant text"]
        for text in [t for t in said if any(s.endswith(t.strip()) for s in self._summaries if s)]:
            del said[text]  # the request for a summary is no answer
        used = self._total - (self._base or Counter())
        for name, number in used.items():
            self.counts["usage"][f"{name} {number}"] += 1


def compare(source: Path, exported: Path) -> tuple[list[FactReport], list[FieldFate]]:
    """Both directions, fact by fact; and what became of every kind of line."""
    before, after = Facts(source), Facts(exported)
    reports = []
    for name in MATTERS:
        lost = before.counts[name] - after.counts[name]
        added = after.counts[name] - before.counts[name]
        same = before.counts[name].total() - lost.total()
        reports.append(
            FactReport(name, same, lost.total(), added.total(), _examples(lost), _examples(added))
        )
    unknown = ("left behind", "nothing of it is read")
    fates = [
        FieldFate(kind, count, *FIELDS.get(kind, unknown))
        for kind, count in before.kinds.most_common()
    ]
    return reports, fates


def _examples(counts: Counter[str]) -> list[str]:
    return [text[:_LONGEST] for text in list(counts)[:_EXAMPLES]]


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    reader, decoder = LineReader(path), json.JSONDecoder()
    for start, end in reader:
        text = bytes(reader.view[start:end]).decode("utf-8", "replace").strip()
        position = 0
        while position < len(text):
            try:
                value, position = decoder.raw_decode(text, position)
            except (ValueError, RecursionError):
                break
            if isinstance(value, dict):
                yield value


def _list(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _numbers(usage: dict[str, Any]) -> Counter[str]:
    names = ("input_tokens", "cached_input_tokens", "output_tokens")
    return Counter({n: usage[n] for n in names if isinstance(usage.get(n), int)})


def _canonical(given: Any) -> str:
    """What a call was given, however it is written."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return str(given)
    return json.dumps(given, sort_keys=True, ensure_ascii=False)


def _answer(output: Any) -> str:
    if isinstance(output, list):
        return "\n".join(str(piece.get("text") or "") for piece in _list(output))
    if isinstance(output, dict) and isinstance(output.get("text"), str):
        return str(output["text"])
    text = output if isinstance(output, str) else json.dumps(output)
    if text.startswith('{"output":'):
        with suppress(ValueError, RecursionError, KeyError, TypeError):
            text = str(json.loads(text)["output"])
    return _HEADED.sub("", text, count=1)
