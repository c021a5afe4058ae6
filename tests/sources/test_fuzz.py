"""Dropping, nulling or retyping any field of any record never raises (FMT-04)."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.derive.identity import identify
from minutebook.derive.skeleton import skeleton
from minutebook.derive.turn_pairs import turn_pairs
from minutebook.examples import example_scripts
from minutebook.sources.base import Depth, read_session
from minutebook.sources.claude_code.read import ClaudeReading
from tests.conftest import Record, as_line, corpus_files

Place = tuple[str | int, ...]

EXTRA: list[Record] = [
    {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "p"}, "uuid": "a1"},
    {"type": "attachment", "attachment": {"type": "file", "filename": "f"}, "uuid": "a2"},
    {"type": "summary", "summary": "s", "leafUuid": "l"},
    {"type": "tool_use", "tool": "Edit", "input": {"path": "x"}},
    {"type": "tool_result", "tool": "Edit", "output": ["y"]},
    {"type": "fork-context-ref", "parentSessionId": "p"},
    {"type": "never-heard-of", "x": 1},
    {"type": "system", "subtype": "never-heard-of", "content": "x"},
    {
        "type": "user",
        "isSidechain": True,
        "uuid": "s1",
        "message": {"content": "side"},
        "forkedFrom": {"sessionId": "f"},
        "origin": {"kind": "human"},
    },
    {"type": "assistant", "isSidechain": True, "parentUuid": "s1", "message": {"content": []}},
]
RECORDS = [record for script in example_scripts() for record in script.records] + EXTRA

odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.just([None, 1, "x", {"type": None}]),
    st.just({"type": 7, "content": {"a": [1]}}),
)


def places(value: Any, here: Place = ()) -> Iterator[Place]:
    """Every field and item inside a record."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*here, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*here, key))


@st.composite
def broken_records(draw: st.DrawFn) -> list[Record]:
    start = draw(st.integers(0, len(RECORDS) - 1))
    records = copy.deepcopy(RECORDS[start : start + 12] + EXTRA[:3])
    for _ in range(draw(st.integers(1, 4))):
        record = draw(st.sampled_from(records))
        found = list(places(record))
        if not found:
            continue
        *path, last = draw(st.sampled_from(found))
        holder: Any = record
        for key in path:
            holder = holder[key]
        if draw(st.booleans()):
            del holder[last]
        else:
            holder[last] = copy.deepcopy(draw(odd_values))
    return records


def read_everything(path: Path, depth: Depth) -> None:
    reading = ClaudeReading(path, depth)
    session = read_session(reading)
    identify(session.info)
    skeleton(session.rounds)
    list(turn_pairs(session.info, session.rounds))
    assert reading.report.lines == path.read_bytes().count(b"\n")


@settings(max_examples=400, deadline=None)
@given(broken_records())
def test_no_broken_field_raises(records: list[Record]) -> None:
    """FMT-04: at both depths, and in everything derived from the session."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_text("".join(as_line(record).decode() + "\n" for record in records))
        read_everything(path, "full")
        read_everything(path, "skim")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=80), max_size=8), st.integers(0, len(RECORDS) - 1))
def test_no_bytes_between_records_raise(noise: list[bytes], start: int) -> None:
    """FMT-03: arbitrary bytes as lines, between good ones."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        good = [as_line(record) for record in RECORDS[start : start + 6]]
        lines = [line for pair in zip(noise, good, strict=False) for line in pair]
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        read_everything(path, "full")
        read_everything(path, "skim")


@pytest.mark.skipif(not corpus_files("claude/projects/*/*.jsonl"), reason="needs the corpus")
def test_every_field_of_real_records_may_go_missing(tmp_path: Path) -> None:
    """FMT-04: one record of each shape in the corpus, each of its fields dropped and nulled."""
    shapes: dict[tuple[str, ...], Record] = {}
    for path in corpus_files("claude/projects/*/*.jsonl"):
        for line in path.read_text("utf-8").split("\n"):
            if len(line) < 20_000 and line:
                record = json.loads(line)
                shapes.setdefault((str(record.get("type")), *sorted(record)), record)
    lines = []
    for record in shapes.values():
        for place in places(record):
            for drop in (True, False):
                broken = copy.deepcopy(record)
                holder: Any = broken
                for key in place[:-1]:
                    holder = holder[key]
                if drop:
                    del holder[place[-1]]
                else:
                    holder[place[-1]] = None
                lines.append(as_line(broken).decode())
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(lines) + "\n")
    read_everything(path, "full")
    read_everything(path, "skim")
