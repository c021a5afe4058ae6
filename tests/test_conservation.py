"""Conservation: what stands in a file is in the model exactly once, or in the report.

The expectation is counted here straight from the raw JSON, by code that shares nothing
with the reader.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook.model import (
    Attachment,
    Image,
    Message,
    Notice,
    Round,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from minutebook.sources.claude_code.read import ClaudeReading
from tests.conftest import CORPUS, corpus_files, is_listed, needs_corpus, short
from tests.may_skip import FOREIGN

SESSIONS = [
    path
    for pattern in ("claude/projects/**/*.jsonl", "cli-versions/**/*.jsonl", "fixtures/**/*.jsonl")
    for path in corpus_files(pattern)
    if not is_listed(path, FOREIGN)
]

pytestmark = needs_corpus


# ------------------------------------------------------------ counted from the raw JSON


def raw_records(path: Path) -> list[dict[str, Any]]:
    """Records in file order, a repeated uuid only once."""
    records, seen = [], set()
    for line in path.read_bytes().decode("utf-8").split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if not isinstance(record, dict):
            continue
        uuid = record.get("uuid")
        queued = (record.get("attachment") or {}).get("type") == "queued_command"
        if isinstance(uuid, str) and (queued or record.get("type") in ("user", "assistant")):
            if uuid in seen:
                continue
            seen.add(uuid)
        records.append(record)
    return records


def raw_blocks(records: Iterable[dict[str, Any]], role: str) -> Iterator[dict[str, Any]]:
    for record in records:
        message = record.get("message")
        if record.get("type") != role or message is None:
            continue
        content = message.get("content") if isinstance(message, dict) else message
        if isinstance(content, str):
            yield {"type": "text", "text": content}
        for block in content if isinstance(content, list) else []:
            yield block if isinstance(block, dict) else {"type": "text", "text": block}


def raw_images(block: dict[str, Any]) -> int:
    if block.get("type") == "image":
        return 1
    inner = block.get("content") if block.get("type") == "tool_result" else None
    return sum(raw_images(part) for part in inner) if isinstance(inner, list) else 0


NOT_TYPED = re.compile(
    r"\s*(<local-command-(stdout|stderr|caveat)>|<bash-std(out|err)>|<task-notification>"
    r"|<teammate-message|<user-memory-input>|\[Request interrupted by user|\[Image: (source|orig)"
    r"|This session is being continued from a previous conversation|Caveat: The messages below)"
)
BARE_COMMAND = re.compile(r"\s*<command-name>(?!.*<command-args>\s*[^\s<])", re.DOTALL)


def is_typed(text: str) -> bool:
    return bool(text.strip()) and not NOT_TYPED.match(text) and not BARE_COMMAND.match(text)


def raw_prompts(records: list[dict[str, Any]]) -> Counter[str]:
    """Texts of real user messages: typed ones, and those only the queue holds."""
    prompts: Counter[str] = Counter()
    elsewhere: Counter[str] = Counter()
    queued: Counter[str] = Counter()
    for record in records:
        kind = record.get("type")
        origin = (record.get("origin") or {}).get("kind", "human")
        if kind == "user":
            texts = [b["text"] for b in raw_blocks([record], "user") if b.get("type") == "text"]
            elsewhere.update(text.strip() for text in texts)
            pictures = any(
                b.get("type") in ("image", "document") for b in raw_blocks([record], "user")
            )
            machine = record.get("isMeta") or record.get("isCompactSummary") or origin != "human"
            typed = [text for text in texts if is_typed(text)]
            if not machine and (typed or pictures):
                prompts[typed[0].strip() if typed else ""] += 1
        elif kind == "attachment" and record["attachment"].get("type") == "queued_command":
            attachment = record["attachment"]
            text = attachment["prompt"] if isinstance(attachment["prompt"], str) else ""
            elsewhere[text.strip()] += 1
            human = (attachment.get("origin") or {}).get("kind", "human") == "human"
            if attachment.get("commandMode") == "prompt" and human and is_typed(text):
                prompts[text.strip()] += 1
        elif kind == "queue-operation":
            text = record.get("content") or ""
            if record["operation"] == "enqueue" and is_typed(text) and text[0] not in "/{":
                queued[text.strip()] += 1
            elif record["operation"] == "popAll":
                # the person took back what was still waiting, joined into one text
                for waiting in list(queued):
                    if waiting in text:
                        queued[waiting] -= text.count(waiting)
    for text, count in queued.items():
        prompts[text] += max(0, count - elsewhere[text])
    return +prompts


# ------------------------------------------------------------ counted from the model


def messages(rounds: Iterable[Round]) -> Iterator[Message]:
    for round in rounds:
        yield from round.messages


def model_blocks(rounds: Iterable[Round], role: str) -> Iterator[Any]:
    for message in messages(rounds):
        if message.role == role:
            yield from message.blocks


def results(rounds: Iterable[Round]) -> Iterator[tuple[str, ToolResult]]:
    for message in messages(rounds):
        for block in message.blocks:
            if isinstance(block, ToolCall) and block.result is not None:
                yield block.id, block.result
            elif isinstance(block, StrayResult):
                yield block.call_id, block.result


def images(rounds: list[Round]) -> int:
    shown = sum(
        isinstance(block, Image) or (isinstance(block, Attachment) and block.kind == "image")
        for block in model_blocks(rounds, "user")
    )
    in_results = sum(
        isinstance(part, Image)
        for _, result in results(rounds)
        for part in result.content
        if not isinstance(result.content, str)
    )
    return shown + in_results


def conserved(records: list[dict[str, Any]], rounds: list[Round], homeless: int) -> None:
    """Every block of these records is in these rounds exactly once."""
    said = list(raw_blocks(records, "assistant"))
    heard = list(raw_blocks(records, "user"))
    replied = list(model_blocks(rounds, "assistant"))

    def of(kind: str, blocks: list[dict[str, Any]], key: str) -> Counter[Any]:
        return Counter(block.get(key) or "" for block in blocks if block.get("type") == kind)

    assert Counter(b.text for b in replied if isinstance(b, Text)) == of("text", said, "text")
    thought = Counter(b.text for b in replied if isinstance(b, Thinking) and not b.redacted)
    assert thought == of("thinking", said, "thinking")
    redacted = sum(isinstance(b, Thinking) and b.redacted for b in replied)
    assert redacted == len(list(of("redacted_thinking", said, "data").elements()))
    every = [b for b in replied if isinstance(b, ToolCall)]
    calls = [call for call in every if not call.id.startswith("legacy-")]
    legacy = [record for record in records if record.get("type") == "tool_use"]
    assert len(every) - len(calls) == len(legacy)
    assert Counter(call.id for call in calls) == of("tool_use", said, "id")
    assert Counter(call.name for call in calls) == of("tool_use", said, "name")
    answered = Counter(id for id, _ in results(rounds) if not id.startswith("legacy-"))
    assert answered == of("tool_result", heard, "tool_use_id")
    inside = {call.id for call in calls}
    lost = [
        block.call_id
        for round in rounds
        for message in round.messages
        for block in message.blocks
        if isinstance(block, StrayResult)
        and block.call_id in inside
        and not any(c.id == block.call_id and c.result for c in calls)
    ]
    assert lost == [], "a result and its call are both here, and did not meet"
    assert images(rounds) == sum(raw_images(block) for block in heard)
    texts = Counter(b.text for b in model_blocks(rounds, "user") if isinstance(b, Text | Notice))
    missing = of("text", heard, "text") - texts
    assert missing.total() <= homeless, f"user text lost: {missing}"
    known = {"text", "thinking", "redacted_thinking", "tool_use"}
    odd = Counter(b.get("type") for b in said if b.get("type") not in known)
    kept = Counter(b.kind for b in replied if isinstance(b, Unknown))
    assert kept == odd


@pytest.mark.parametrize("name", [name for name, _ in FOREIGN], ids=lambda name: short(Path(name)))
def test_what_is_passed_over_is_foreign(name: str) -> None:
    """FMT-02: the files the tests below do not see hold no conversation of Claude Code."""
    reading = ClaudeReading(CORPUS / name)
    list(reading.rounds())
    assert reading.report.foreign


@pytest.mark.parametrize("path", SESSIONS, ids=short)
def test_every_block_is_in_the_model_once(path: Path) -> None:
    """FMT-09, FMT-12, FMT-15: nothing is lost, nothing is counted twice."""
    records = raw_records(path)
    nested = path.name.startswith("agent-")
    reading = ClaudeReading(path, nested=nested)
    rounds = list(reading.rounds())
    homeless = reading.report.left_out["notice outside any round"]
    main = [r for r in records if nested or not r.get("isSidechain")]
    conserved(main, rounds, homeless)
    if not nested:
        inline = [r for r in records if r.get("isSidechain")]
        chains = [a for a in reading.subagents() if not list(path.parent.rglob(f"*{a.id}*"))]
        conserved(inline, [round for agent in chains for round in agent.rounds], homeless=0)


@pytest.mark.parametrize("path", SESSIONS, ids=short)
def test_every_real_prompt_opens_a_round(path: Path) -> None:
    """FMT-14: real user messages, the queued ones included, are the prompts, one a round."""
    if path.name.startswith("agent-"):
        return
    reading = ClaudeReading(path)
    rounds = list(reading.rounds())
    records = [r for r in raw_records(path) if not r.get("isSidechain")]
    expected = raw_prompts(records)
    found: Counter[str] = Counter()
    for round in rounds:
        real = [m for m in round.messages if m.role == "user" and m.is_real]
        assert len(real) <= 1, "a second real message did not open a round"
        for message in real:
            texts = [b.text for b in message.blocks if isinstance(b, Text)]
            found[texts[0].strip() if texts else ""] += 1
    assert found == expected
    assert reading.info().prompts == expected.total()
    assert [round.number for round in rounds] == list(range(1, len(rounds) + 1))


@pytest.mark.parametrize("path", SESSIONS, ids=short)
def test_every_line_is_accounted_for(path: Path) -> None:
    """FMT-02, FMT-03, FMT-11: each line is a counted record or a reported bad line, and no
    other file is taken for another tool's."""
    reading = ClaudeReading(path, nested=path.name.startswith("agent-"))
    list(reading.rounds())
    report = reading.report
    assert report.foreign is None
    lines = path.read_bytes().split(b"\n")
    written = len(lines) - (not lines[-1])
    assert report.lines == written
    assert report.records.total() + len(report.bad_lines) == written


@pytest.mark.parametrize("path", SESSIONS, ids=short)
def test_a_skim_agrees_with_a_full_read(path: Path) -> None:
    """Both depths see the same rounds, the same words and as many tool calls."""
    nested = path.name.startswith("agent-")
    skim, full = (ClaudeReading(path, depth, nested=nested) for depth in ("skim", "full"))

    def words(rounds: Iterable[Round]) -> list[tuple[Any, ...]]:
        return [
            (
                round.number,
                round.prompt and round.prompt.text,
                round.tool_count,
                [text for reply in round.replies if (text := reply.text)],
            )
            for round in rounds
        ]

    assert words(skim.rounds()) == words(full.rounds())
    one, other = skim.info(), full.info()
    fields = "started ended rounds prompts calls title names subagents prompt_ids answer_chars cost"
    for field in fields.split():
        assert getattr(one, field) == getattr(other, field), field
