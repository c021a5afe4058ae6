"""Transcripts the real CLI wrote, 14 versions, against the scripts they were driven by.

Every prompt carries its own script (``SCRIPT<<[…]>>``), so what a session must contain
is known without reading it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook.model import Session, Text, Thinking, ToolCall
from minutebook.sources.base import read_session
from minutebook.sources.claude_code.locate import discover
from minutebook.sources.claude_code.read import ClaudeReading
from tests.conftest import CORPUS, needs_corpus, short

FOLDERS = sorted((CORPUS / "cli-versions").glob("*")) if CORPUS.is_dir() else []
SESSIONS = [
    transcript.path
    for folder in FOLDERS
    for place in (folder, folder / "tools")
    if place.is_dir()
    for transcript in discover([place])[0]
    if transcript.size and transcript.path.name != "history.jsonl"
]
SCRIPTED = [path for path in SESSIONS if b"SCRIPT<<" in path.read_bytes()]
# Resumed copies (a new file with the history in it) left the sidechain behind: up to 1.0.60.
COPIES = {
    "6f52ba08-d422-4e7c-9c9d-14196338a635",
    "d42c3085-0747-428f-8d92-bfe5ff468b4e",
    "21ae93d0-b8c9-4eff-bee0-7dfc0a213ea3",
}

pytestmark = needs_corpus


def script_of(prompt: str) -> list[Any]:
    match = re.search(r"SCRIPT<<(?=\[)", prompt)
    assert match
    script, _ = json.JSONDecoder().raw_decode(prompt, match.end())
    return list(script)


def blocks_of(script: list[Any]) -> Iterator[tuple[str, Any]]:
    """(kind, what) of each block the stub answered with, in order."""
    for step in script:
        if isinstance(step, str):
            yield "text", step
        elif "tool" in step:
            yield "call", (step["tool"], step["input"])
        elif "blocks" in step:
            for block in step["blocks"]:
                if block["type"] == "tool_use":
                    yield "call", (block["name"], block["input"])
                else:
                    yield block["type"], block.get("text") or block.get("thinking")


def session_at(path: Path) -> Session:
    return read_session(ClaudeReading(path))


def replied(session: Session, number: int) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for reply in session.rounds[number - 1].replies:
        for block in reply.blocks:
            if isinstance(block, Text):
                found.append(("text", block.text))
            elif isinstance(block, Thinking):
                found.append(("thinking", block.text))
            elif isinstance(block, ToolCall):
                found.append(("call", (block.name, block.input)))
    return found


def comparable(blocks: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Calls by name only where versions rename the tool or normalise its input."""
    return [
        (kind, "Task" if what[0] in ("Task", "Agent") else what[0])
        if kind == "call"
        else (kind, what)
        for kind, what in blocks
    ]


def test_all_fourteen_versions_are_here() -> None:
    """The corpus holds every version the CLI notes speak of."""
    versions = {path.relative_to(CORPUS / "cli-versions").parts[0] for path in SCRIPTED}
    assert len(versions - {"2.1.325-interactive"}) >= 14


@pytest.mark.parametrize("path", SCRIPTED, ids=short)
def test_the_scripted_round_holds_what_the_script_said(path: Path) -> None:
    """FMT-12, FMT-13: texts, thinking and calls of the scripted round, complete and in order."""
    session = session_at(path)
    prompt = session.rounds[0].prompt
    assert prompt is not None
    script = script_of(prompt.text)
    if path.parent.name[-7:] in ("0-2-126", "p-1-0-3", "-1-0-60"):
        script.pop(1)  # these send each parallel result alone, so the stub moved on by two
    expected = comparable(list(blocks_of(script)))
    found = comparable(replied(session, 1))
    # What the stub says once the script is through (a notification, say) comes after it.
    assert found[: len(expected)] == expected
    assert all(kind == "text" and "STUB-" in what for kind, what in found[len(expected) :])


@pytest.mark.parametrize("path", SCRIPTED, ids=short)
def test_every_scripted_call_has_its_own_result(path: Path) -> None:
    """FMT-12: parallel calls fork the tree, and none loses its result."""
    for round in session_at(path).rounds:
        for call in round.calls:
            assert call.result is not None, call.name
            text = call.result.text
            if call.input.get("command", "").startswith("echo stub-hi"):
                assert text == "stub-hi"
            if call.name == "Read" and call.input["file_path"].endswith("a.txt"):
                assert "alpha" in text
            if "exit 3" in call.input.get("command", ""):
                assert call.result.error


@pytest.mark.parametrize("path", SCRIPTED, ids=short)
def test_the_subagent_hangs_on_the_call_that_spawned_it(path: Path) -> None:
    """FMT-15: inline, as a sibling file or in the session's folder, by version."""
    session = session_at(path)
    calls = [c for round in session.rounds for c in round.calls if c.name in ("Task", "Agent")]
    agents = [agent for agent in session.subagents if not agent.helper]
    if path.stem in COPIES:
        assert agents == []
        return
    calls = [call for call in calls if not (call.result and call.result.error)]
    if not calls:  # 2.1.300 refused to start one; the interactive session asked for none
        assert agents == []
        return
    assert len(agents) == session.info.subagents == len(calls) == 1
    (agent,), (call,) = agents, calls
    assert agent.call_id == call.id
    assert call.agent == agent.id
    expected = list(blocks_of(script_of(call.input["prompt"])))
    found = [
        ("call", (b.name, b.input)) if isinstance(b, ToolCall) else ("text", b.text)
        for round in agent.rounds
        for reply in round.replies
        for b in reply.blocks
        if isinstance(b, ToolCall | Text)
    ]
    assert comparable(found) == comparable(expected)
    assert all(c.result and c.result.text == "from-sub" for r in agent.rounds for c in r.calls)


@pytest.mark.parametrize("path", SCRIPTED, ids=short)
def test_rounds_are_the_prompts(path: Path) -> None:
    """FMT-14: one round a prompt; agents' files, notifications and warm-ups make none."""
    session = session_at(path)
    prompts = [round.prompt.text for round in session.rounds if round.prompt]
    assert len(prompts) == len(session.rounds)
    raw = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    typed = [
        record["message"]["content"]
        for record in raw
        if record.get("type") == "user"
        and isinstance(record["message"]["content"], str)
        and not record["isSidechain"]
        and not record.get("isMeta")
        and not record.get("isCompactSummary")
        and not record["message"]["content"].startswith(
            ("<task-notification>", "<local-command", "<command-name>")
        )
    ]
    texts = [
        record["message"]["content"][0]["text"]
        for record in raw
        if record.get("type") == "user"
        and isinstance(record["message"]["content"], list)
        and record["message"]["content"][0]["type"] == "text"
        and not record["isSidechain"]
    ]
    assert sorted(prompts) == sorted(typed + texts)


def test_helpers_are_kept_but_not_counted() -> None:
    """FMT-15: 2.0.77 starts "Warmup" agents beside the real one."""
    (path,) = [p for p in SCRIPTED if p.stem == "2d694bce-da23-4f8b-a799-53f7ce67da71"]
    session = session_at(path)
    assert session.info.subagents == 1
    assert all(agent.helper for agent in session.subagents if agent.call_id is None)


def test_agent_files_are_never_sessions() -> None:
    """FMT-15: discovery lists no subagent transcript."""
    assert SESSIONS
    assert not [path for path in SESSIONS if path.name.startswith("agent-")]


def test_a_spilled_output_is_read_from_its_file() -> None:
    """FMT-27: the record holds a pointer, the session the whole output."""
    (path,) = [p for p in SCRIPTED if p.parent.name == "tools"]
    spilled = [
        call.result
        for round in session_at(path).rounds
        for call in round.calls
        if call.result and call.result.spilled
    ]
    assert [result.spilled for result in spilled] == ["bmg883cox.txt"]
    assert len(spilled[0].text) > 100_000
    assert not spilled[0].text.startswith("<persisted-output>")


def test_the_interactive_rename_is_seen() -> None:
    """ID-02, ID-04: ``/rename`` in ``system/local_command`` and as a title record."""
    renamed = [
        session_at(path).info for path in SESSIONS if "-pT" in str(path) or "-pN" in str(path)
    ]
    assert renamed
    for info in renamed:
        assert info.names.renames or info.names.titles
        assert info.title == info.names.titles[-1]
