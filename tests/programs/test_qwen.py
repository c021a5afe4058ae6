"""Qwen Code: what is particular to its sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook.model import Attachment, Image, Notice, Session, Text, Thinking, Usage
from minutebook.sources.base import Transcript, read_session
from minutebook.sources.claude_code import ClaudeCode
from minutebook.sources.library import open_transcript
from minutebook.sources.qwen import Qwen
from tests.conftest import needs_corpus
from tests.programs.samples import AGENTS, in_folder, read

HOME = AGENTS / "qwen" / "0.24.4" / "home" / ".qwen"
TALK, TUI = "8827e74d-2229-4f8c-a9ae-c09f804a7657", "a892e814-3678-45c3-947f-97d259227074"
SAMPLES = in_folder(AGENTS / "qwen") if AGENTS.is_dir() else []


def raw(path: Path) -> Iterator[dict[str, Any]]:
    """Records of a file, taken apart by the standard library alone."""
    decoder = json.JSONDecoder()
    for line in path.read_text(encoding="utf-8").split("\n"):
        at = 0
        while at < len(line):
            record, at = decoder.raw_decode(line, at)
            yield record


def of(id: str) -> Session:
    (one,) = [t for t in SAMPLES if t.session_id == id]
    return read(one)


def blocks(session: Session, kind: type) -> list[Any]:
    return [b for r in session.rounds for m in r.messages for b in m.blocks if isinstance(b, kind)]


# ------------------------------------------------------------ nothing lost, nothing twice


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=lambda t: t.session_id[-12:])
def test_everything_that_was_said_is_there_once(transcript: Transcript) -> None:
    """AGT-04: texts, reasoning, calls and results of every sample, counted from the raw file."""
    session = read(transcript)
    said: list[str] = []
    thought: list[str] = []
    calls: list[str] = []
    for record in raw(transcript.path):
        parts = record.get("message", {}).get("parts", [])
        if record["type"] == "assistant":
            words = [p for p in parts if "text" in p]
            said += [p["text"] for p in words if not p.get("thought")]
            thought += [p["text"] for p in words if p.get("thought")]
            calls += [p["functionCall"]["id"] for p in parts if "functionCall" in p]
    replies = [m for r in session.rounds for m in r.replies]
    assert [b.text for m in replies for b in m.blocks if isinstance(b, Text)] == said
    assert [b.text for b in blocks(session, Thinking)] == thought
    assert [c.id for r in session.rounds for c in r.calls] == calls
    assert session.info.calls == len(calls)


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=lambda t: t.session_id[-12:])
def test_every_result_is_with_its_call(transcript: Transcript) -> None:
    """AGT-04: as many answered calls as the raw file has results."""
    session = read(transcript)
    results = [r for r in raw(transcript.path) if r["type"] == "tool_result"]
    assert sum(c.result is not None for r in session.rounds for c in r.calls) == len(results)


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=lambda t: t.session_id[-12:])
def test_prompts_are_the_records_of_a_person(transcript: Transcript) -> None:
    """FMT-14: user records, without notifications."""
    typed = [
        record["uuid"]
        for record in raw(transcript.path)
        if record["type"] == "user" and record.get("subtype") != "notification"
    ]
    assert list(read(transcript).info.prompt_ids) == typed


@needs_corpus
@pytest.mark.parametrize("id", [TALK, TUI])
def test_ids_of_messages_are_unique(id: str) -> None:
    """AGT-04: an id names one message of its session."""
    ids = [m.id for r in of(id).rounds for m in r.messages]
    assert None not in ids
    assert len(set(ids)) == len(ids)


# ------------------------------------------------------------ usage


@needs_corpus
@pytest.mark.parametrize("id", [TALK, TUI])
def test_usage_is_what_the_files_say(id: str) -> None:
    """USE-01: each reply once, with what was cached apart, and reasoning counted in the output."""
    (path,) = HOME.glob(f"projects/*/chats/{id}.jsonl")
    told = [r["usageMetadata"] for r in raw(path) if "usageMetadata" in r]
    cached = sum(one["cachedContentTokenCount"] for one in told)
    prompts = sum(one["promptTokenCount"] for one in told)
    output = sum(one["candidatesTokenCount"] for one in told)
    assert of(id).info.usage == Usage(prompts - cached, output, cached)


@needs_corpus
@pytest.mark.parametrize("id", [TALK, TUI])
def test_all_requests_add_up_to_the_agents_own_totals(id: str) -> None:
    """USE-01: replies, helpers and subagents together are every ``api_response`` of the file, but
    for those that were stopped; nothing is counted twice."""
    session = of(id)
    (path,) = HOME.glob(f"projects/*/chats/{id}.jsonl")
    events = [r.get("systemPayload", {}).get("uiEvent", {}) for r in raw(path)]
    counted = [e for e in events if e.get("event.name") == "qwen-code.api_response"]
    own = [m.usage for r in session.rounds for m in r.messages if m.usage]
    helpers = [reply.usage for r in session.rounds for reply in r.progress]
    agents = [m.usage for a in session.subagents for r in a.rounds for m in r.messages if m.usage]
    found = [*own, *helpers, *agents]
    assert len(found) == len(counted)
    assert sum(u.input + u.cache_read for u in found) == sum(
        e["input_token_count"] for e in counted
    )
    assert sum(u.output for u in found) == sum(e["output_token_count"] for e in counted)


# ------------------------------------------------------------ what is not said


@needs_corpus
def test_reminders_and_read_files_are_context() -> None:
    """FMT-14: what stands around a prompt in its own record is kept, and not said."""
    prompt = of(TALK).rounds[5].prompt
    assert prompt is not None
    assert prompt.said == "Turn six: what is in this picture? @red.png"
    context = [b.data["text"] for b in prompt.blocks if isinstance(b, Attachment)]
    assert context[0].startswith("<system-reminder>")
    assert context[-1] == "\n--- End of content ---"


@needs_corpus
def test_a_failed_request_leaves_a_notice() -> None:
    """AGT-04: telemetry is the only trace of it."""
    assert [b.text for b in blocks(of(TALK), Notice) if b.kind == "system"] == [
        "400 stub error 400"
    ]


@needs_corpus
def test_an_interruption_is_seen_and_the_words_before_it_stay() -> None:
    """AGT-04: once, in the round that was stopped."""
    rounds = [
        r.number
        for r in of(TUI).rounds
        for m in r.messages
        for b in m.blocks
        if isinstance(b, Notice) and b.kind == "interruption"
    ]
    assert rounds == [2]


@needs_corpus
def test_a_compaction_has_its_trigger_and_tokens() -> None:
    """FMT-25: the one that was applied; one that was not leaves only the command."""
    session = of(TUI)
    seen = [c for r in session.rounds for c in r.compactions]
    assert [(c.trigger, c.tokens_before) for c in seen] == [("manual", 1023)]
    assert session.info.compactions == 1


@needs_corpus
def test_a_persons_title_names_the_session() -> None:
    """ID-04: ``/rename``."""
    info = of(TUI).info
    assert info.names.titles == ("Café rename test",)


# ------------------------------------------------------------ subagents


@needs_corpus
def test_a_subagent_is_attached_to_its_call_and_not_listed() -> None:
    """FMT-15: by the notes beside its file."""
    session = of(TALK)
    (agent,) = session.subagents
    (call,) = [c for r in session.rounds for c in r.calls if c.agent]
    assert (call.id, call.agent, call.kind) == (agent.call_id, agent.id, "delegate")
    assert (agent.kind, agent.description) == ("general-purpose", "Count lines")
    assert session.info.subagents == 1
    assert {t.session_id for t in Qwen().discover([HOME])[0]} == {TALK, TUI}


@needs_corpus
def test_a_changed_subagent_is_noticed(tmp_path: Path) -> None:
    """AGT-04: `beside` changes with its files, and the file names its session."""
    import shutil

    shutil.copytree(HOME, tmp_path / ".qwen")
    (one,) = [t for t in Qwen().discover([tmp_path / ".qwen"])[0] if t.session_id == TALK]
    before = Qwen().beside(one)
    (agent,) = tmp_path.glob(".qwen/projects/*/subagents/*/*.jsonl")
    agent.write_bytes(agent.read_bytes() + b"\n")
    assert Qwen().beside(one) != before
    notes = agent.with_suffix(".meta.json")
    assert Qwen().sessions_of([agent, notes]) == {TALK}
    assert all(map(Qwen().matters, (agent, notes, one.path)))
    assert not Qwen().matters(tmp_path / ".qwen" / "usage_record.jsonl")
    one.path.unlink()
    (orphan,) = Qwen().orphans(one.path.parent, {TUI})
    assert orphan.path == agent


@needs_corpus
def test_edits_are_hunks() -> None:
    """AGT-04: as the agent recorded them."""
    calls = {c.id: c.result for r in of(TALK).rounds for c in r.calls}
    edit, write = calls["call_A2"], calls["call_A2b"]
    assert edit is not None
    assert write is not None
    assert edit.patch[0].lines == (" def add(a, b):", "-    return a - b", "+    return a + b")
    assert [line[0] for line in write.patch[0].lines] == ["+", "+", "+"]


# ------------------------------------------------------------ its own folder, and odd records


@needs_corpus
def test_its_folder_is_not_taken_for_claude_codes() -> None:
    """AGT-02: both have a folder called ``projects``."""
    assert Qwen().claims(HOME)
    assert not ClaudeCode().claims(HOME)


def session_of(path: Path, *records: dict[str, Any]) -> Session:
    lines = []
    for number, record in enumerate(records):
        base = {"uuid": f"u{number}", "sessionId": "s", "cwd": "/w", "version": "0.24.4"}
        stamp = {"timestamp": f"2026-03-01T10:00:{number:02d}.000Z"}
        lines.append(json.dumps({**base, **stamp, **record}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    stat = path.stat()
    one = Transcript(path, "qwen", path.stem, stat.st_size, stat.st_mtime)
    return read_session(open_transcript(one))


def user(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "parts": list(parts)}, **more}


def test_what_was_typed_is_told_from_what_was_sent(tmp_path: Path) -> None:
    """FMT-14: a command that was expanded keeps what the person typed."""
    record = user({"text": "a long prompt"}, systemPayload={"displayText": "/review 7"})
    prompt = session_of(tmp_path / "s.jsonl", record).rounds[0].prompt
    assert prompt is not None
    assert (prompt.text, prompt.said) == ("a long prompt", "/review 7")


def test_pictures_of_a_prompt_are_kept(tmp_path: Path) -> None:
    """INS-16: inline data."""
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    prompt = session_of(tmp_path / "s.jsonl", user({"text": "look"}, picture)).rounds[0].prompt
    assert prompt is not None
    assert prompt.blocks[1] == Image("image/png", "AAAA")


def test_a_fork_and_a_parent_are_linked(tmp_path: Path) -> None:
    """FMT-16: ``forkedFrom`` of copied records, ``parent_session``."""
    copied = user({"text": "one"}, forkedFrom={"sessionId": "other", "messageUuid": "u0"})
    parent = {"type": "system", "subtype": "parent_session"}
    spawned = {**parent, "systemPayload": {"parentSessionId": "above"}}
    links = session_of(tmp_path / "s.jsonl", copied, spawned).info.links
    assert [(link.session_id, link.evidence) for link in links] == [
        ("other", "forkedFrom"),
        ("above", "parentSessionId"),
    ]


def test_unknown_records_are_kept_and_counted(tmp_path: Path) -> None:
    """FMT-23: a type, and a subtype, that nobody told us about."""
    path = tmp_path / "s.jsonl"
    session_of(path, user({"text": "one"}), {"type": "new"}, {"type": "system", "subtype": "odd"})
    reading = open_transcript(Transcript(path, "qwen", "s", path.stat().st_size, 0.0))
    read_session(reading)
    assert dict(reading.report.unknown) == {"record new": 1, "system odd": 1}


@pytest.mark.parametrize(
    ("response", "code", "error"),
    [
        ({"output": "Output: x\nError: (none)\nExit Code: 0\nSignal: (none)"}, 0, False),
        ({"error": "Output: x\nError: (none)\nExit Code: 3\nSignal: (none)"}, 3, True),
        ({"error": "The command is not allowed."}, None, True),
    ],
)
def test_a_subagents_commands_tell_how_they_ended(
    tmp_path: Path, response: dict[str, str], code: int | None, error: bool
) -> None:
    """AGT-04: its file has neither a status nor what the terminal showed."""
    call = {"functionCall": {"id": "c", "name": "run_shell_command", "args": {}}}
    told = {"functionResponse": {"id": "c", "name": "run_shell_command", "response": response}}
    session = session_of(
        tmp_path / "s.jsonl",
        user({"text": "go"}),
        {"type": "assistant", "message": {"role": "model", "parts": [call]}},
        {"type": "tool_result", "message": {"parts": [told]}, "toolCallResult": {"callId": "c"}},
    )
    (result,) = [c.result for r in session.rounds for c in r.calls]
    assert result is not None
    assert (result.exit_code, result.error) == (code, error)
