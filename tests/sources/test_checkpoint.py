"""Reading on from a newline gives what reading from the start gives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.examples import example_scripts
from minutebook.model import Round, SessionInfo
from minutebook.sources.base import ExportHeader
from minutebook.sources.claude_code import ClaudeCode
from minutebook.sources.claude_code.read import ClaudeReading
from minutebook.sources.library import open_file
from tests.conftest import (
    as_line,
    assistant,
    corpus_files,
    is_listed,
    needs_corpus,
    short,
    tool_result,
    tool_use,
    user,
)
from tests.may_skip import WITHOUT_ROUNDS

SOURCE = ClaudeCode()
SESSIONS = [
    path
    for pattern in ("claude/projects/*/*.jsonl", "cli-versions/*/projects/*/*.jsonl")
    for path in corpus_files(pattern)
    if not path.name.startswith("agent-")
    and not is_listed(path, WITHOUT_ROUNDS)
    and path.stat().st_size < 1_500_000
]


def read(reading: ClaudeReading) -> tuple[list[Round], SessionInfo]:
    rounds = list(reading.rounds())
    return rounds, reading.info()


def in_steps(path: Path, lines: list[bytes], cuts: list[int]) -> tuple[list[Round], SessionInfo]:
    """Read a growing file, going on from checkpoints where there are any."""
    blob: bytes | None = None
    kept: list[Round] = []
    for cut in [*cuts, len(lines)]:
        path.write_bytes(b"".join(lines[:cut]))
        resumed = SOURCE.resume(open_file(path), blob) if blob is not None else None
        if resumed is None:
            kept = []
        reading = resumed or ClaudeReading(path)
        rounds, info = read(reading)
        whole = kept + rounds
        kept = whole[: reading.closed]
        blob = reading.checkpoint
    return whole, info


@needs_corpus
@pytest.mark.parametrize("source", SESSIONS, ids=short)
def test_a_real_session_read_in_steps_is_the_same(source: Path, tmp_path: Path) -> None:
    """Cut at random lines, calls open and prompts queued: same rounds, same metadata."""
    path = tmp_path / source.name
    lines = source.read_bytes().splitlines(keepends=True)
    chance = random.Random(source.name)
    cuts = sorted(chance.sample(range(1, len(lines)), min(6, len(lines) - 1)))
    stepwise = in_steps(path, lines, cuts)
    assert stepwise == read(ClaudeReading(path))


def at(minute: int) -> str:
    return f"2026-03-01T10:{minute:02d}:00.000Z"


def spent(minute: int, output: int) -> dict[str, Any]:
    """A line of one reply, which goes on for a while."""
    record = assistant(f"line {minute}", id="msg_long", uuid=f"long-{minute}", timestamp=at(minute))
    record["message"]["usage"] = {"output_tokens": output, "speed": "standard"}
    return record


REPEATED = {"type": "assistant", "uuid": "i", "timestamp": at(3), "message": spent(3, 7)["message"]}
FACTS: list[dict[str, Any]] = [
    {"type": "system", "subtype": "api_error", "timestamp": at(0)},
    user("one", uuid="p1", timestamp=at(1)),
    spent(2, 3),
    {"type": "progress", "timestamp": at(3), "data": {"message": REPEATED}},
    assistant(tool_use("e1", "Edit"), id="msg_e", uuid="e", timestamp=at(4)),
    tool_result("e1", timestamp=at(5), toolUseResult={"structuredPatch": [{"lines": ["+a"]}]}),
    {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "timestamp": at(6),
        "compactMetadata": {"trigger": "auto", "preTokens": 5},
    },
    user("This session is being continued from a previous conversation …", uuid="n"),
    spent(7, 9),
    user("two", uuid="p2", timestamp=at(8)),
    spent(9, 11),
    {**spent(9, 20), "timestamp": at(10)},
    {"type": "cost-state", "totalCostUSD": 0.5},
]
LINES = [
    *(line + b"\n" for script in example_scripts() for line in script.to_bytes().splitlines()),
    *(as_line(record) + b"\n" for record in FACTS),
]


def test_every_prefix_is_a_place_to_go_on_from(tmp_path: Path) -> None:
    """OPS-04, USE-03: clock, progress, usage and compactions of open rounds are kept as well."""
    path = tmp_path / "s.jsonl"
    lines = LINES[-len(FACTS) :]
    whole = in_steps(path, lines, list(range(1, len(lines))))
    assert whole == read(ClaudeReading(path))
    rounds, _ = whole
    assert all(round.clock for round in rounds)
    assert [len(round.progress) for round in rounds] == [1, 0]
    assert [len(round.compactions) for round in rounds] == [1, 0]


@needs_corpus
@pytest.mark.parametrize("source", SESSIONS[::12], ids=short)
def test_an_export_read_in_steps_is_the_same(source: Path, tmp_path: Path) -> None:
    """OPS-04, OPS-13: an export that the CLI goes on writing to."""
    exporter = SOURCE.exporter
    rounds, _ = read(ClaudeReading(source))
    lines = list(exporter.emit("s", ExportHeader(), rounds))
    lines += [as_line(record) + b"\n" for record in FACTS]
    chance = random.Random(source.name)
    cuts = sorted(chance.sample(range(1, len(lines)), min(6, len(lines) - 1)))
    path = tmp_path / "s.jsonl"
    assert in_steps(path, lines, cuts) == read(ClaudeReading(path))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(LINES), min_size=2, max_size=16, unique=True),
    st.lists(st.integers(1, 15), max_size=3),
)
def test_any_records_read_in_steps_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], cuts: list[int]
) -> None:
    """Records in any order, cut anywhere."""
    path = tmp_path_factory.mktemp("steps") / "s.jsonl"
    steps = sorted({cut for cut in cuts if cut < len(lines)})
    assert in_steps(path, lines, steps) == read(ClaudeReading(path))


def test_a_changed_prefix_is_not_gone_on_from(tmp_path: Path) -> None:
    """Rewritten, truncated or replaced: read from the start."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(as_line(user(f"p{n}")) + b"\n" for n in range(3)))
    reading = ClaudeReading(path)
    read(reading)
    assert reading.checkpoint is not None
    original = path.read_bytes()
    transcript = open_file(path)
    assert SOURCE.resume(transcript, reading.checkpoint) is not None
    path.write_bytes(original.replace(b"p1", b"pX"))
    assert SOURCE.resume(transcript, reading.checkpoint) is None
    path.write_bytes(original[:50])
    assert SOURCE.resume(transcript, reading.checkpoint) is None
    path.write_bytes(original)
    assert SOURCE.resume(transcript, b"{}") is None
    path.unlink()
    assert SOURCE.resume(transcript, reading.checkpoint) is None


def test_half_a_line_is_no_place_to_go_on_from(tmp_path: Path) -> None:
    """Only a newline is safe."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(as_line(user("p")) + b"\n" + as_line(user("q"))[:20])
    reading = ClaudeReading(path)
    read(reading)
    assert reading.checkpoint is None
