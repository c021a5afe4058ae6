"""pi: what is particular to its sessions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    Image,
    Notice,
    Session,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from minutebook.sources.base import Transcript
from minutebook.sources.library import Library
from minutebook.sources.pi import Pi
from tests.conftest import needs_corpus
from tests.programs.samples import AGENTS, in_folder, read

SAMPLES = in_folder(AGENTS / "pi") if AGENTS.is_dir() else []
Json = dict[str, Any]


def name(transcript: Transcript) -> str:
    return transcript.path.name[-20:]


def raw(transcript: Transcript) -> list[Json]:
    """Lines by the standard library alone."""
    return [json.loads(line) for line in transcript.path.read_text("utf-8").split("\n") if line]


def messages(transcript: Transcript, role: str) -> list[Json]:
    found = [line["message"] for line in raw(transcript) if line["type"] == "message"]
    return [message for message in found if message["role"] == role]


def pieces(transcript: Transcript, role: str, kind: str) -> list[Json]:
    """Pieces of a kind, whatever form the content has."""
    found: list[Json] = []
    for message in messages(transcript, role):
        content = message["content"]
        whole = [{"type": "text", "text": content}] if isinstance(content, str) else content
        found += [piece for piece in whole if piece["type"] == kind]
    return found


def blocks(session: Session, role: str) -> list[Any]:
    said = [m for round in session.rounds for m in round.messages if m.role == role]
    return [block for message in said for block in message.blocks]


# ------------------------------------------------------------ conservation


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_everything_that_was_said_is_there_once(transcript: Transcript) -> None:
    """AGT-04: words, reasoning and pictures of both sides, in their order."""
    session = read(transcript)
    asked, told = blocks(session, "user"), blocks(session, "assistant")
    assert [b.text for b in asked if isinstance(b, Text)] == [
        piece["text"] for piece in pieces(transcript, "user", "text")
    ]
    assert [b.data for b in asked if isinstance(b, Image)] == [
        piece["data"] for piece in pieces(transcript, "user", "image")
    ]
    assert [b.text for b in told if isinstance(b, Text)] == [
        piece["text"] for piece in pieces(transcript, "assistant", "text")
    ]
    assert [(b.text, b.signature) for b in told if isinstance(b, Thinking)] == [
        (piece["thinking"], piece.get("thinkingSignature"))
        for piece in pieces(transcript, "assistant", "thinking")
    ]
    assert len([r for r in session.rounds if r.prompt]) == len(messages(transcript, "user"))


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_calls_are_there_once_with_their_results(transcript: Transcript) -> None:
    """AGT-04: names and inputs verbatim; each result with its call."""
    session = read(transcript)
    calls = [b for b in blocks(session, "assistant") if isinstance(b, ToolCall)]
    assert [(call.id, call.name, call.input) for call in calls] == [
        (piece["id"], piece["name"], piece["arguments"])
        for piece in pieces(transcript, "assistant", "toolCall")
    ]
    results = {m["toolCallId"]: m for m in messages(transcript, "toolResult")}
    for call in calls:
        result, said = call.result, results.pop(call.id)
        assert result is not None
        assert result.error == said["isError"]
        assert result.text == "\n".join(p["text"] for p in said["content"] if p["type"] == "text")
    assert results == {}
    assert not any(isinstance(block, StrayResult) for block in blocks(session, "user"))


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_usage_is_what_the_file_says(transcript: Transcript) -> None:
    """USE-01: of every response, once, and of the calls that wrote summaries."""
    told = [m["usage"] for m in messages(transcript, "assistant") if "usage" in m]
    summaries = [line for line in raw(transcript) if line["type"] == "compaction"]
    told += [line["usage"] for line in summaries if "usage" in line]
    session = read(transcript)
    each = [round.usage for round in session.rounds]
    each += [reply.usage for round in session.rounds for reply in round.progress]
    used = sum(each, start=Usage())
    names = ("input", "output", "cacheRead", "cacheWrite")
    assert (used.input, used.output, used.cache_read, used.cache_write) == tuple(
        sum(usage[name] for usage in told) for name in names
    )


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_notices_are_as_many_as_what_they_tell_of(transcript: Transcript) -> None:
    """AGT-04: compactions, interruptions and failed requests; each once."""
    found = Counter(
        block.kind for block in blocks(read(transcript), "user") if isinstance(block, Notice)
    )
    stops = Counter(message.get("stopReason") for message in messages(transcript, "assistant"))
    lines = Counter(line["type"] for line in raw(transcript))
    assert found[kinds.COMPACTION] == lines["compaction"]
    assert found[kinds.INTERRUPTION] == stops["aborted"]
    assert found[kinds.SYSTEM] == stops["error"] + lines["branch_summary"]


@needs_corpus
def test_edits_are_hunks() -> None:
    """INS-12: what an edit changed, as the tool said."""
    session = next(read(t) for t in SAMPLES if t.session_id.startswith("01a1e3c8"))
    edits = [c for r in session.rounds for c in r.calls if c.kind == "edit" and c.result]
    changed = [line for c in edits if c.result for hunk in c.result.patch for line in hunk.lines]
    assert [line for line in changed if line[:1] in "+-"] == [
        "-    return a - b",
        "+    return a + b",
    ]


# ------------------------------------------------------------ what the samples lack


def write(tmp_path: Path, *lines: Json, day: int = 1) -> Session:
    head = {"type": "session", "version": 3, "id": "s1", "timestamp": at(0, day), "cwd": "/w"}
    numbered = [{"id": f"e{n}", "timestamp": at(n, day), **line} for n, line in enumerate(lines, 1)]
    path = tmp_path / "sessions" / "--w--" / "2026-03-01T10-00-00-000Z_s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in (head, *numbered)), "utf-8")
    (transcript,) = Library([tmp_path]).transcripts
    return read(transcript)


def at(minute: int, day: int = 1) -> str:
    return f"2026-03-{day:02d}T10:{minute:02d}:00.000Z"


def message(role: str, **fields: Any) -> Json:
    return {"type": "message", "message": {"role": role, **fields}}


def test_files_before_a_prompt_were_not_typed(tmp_path: Path) -> None:
    """FMT-14: `@file` puts the file in front."""
    files = '<file name="/w/a.py">\nx = 1\n\n</file>\n<file name="/w/red.png"></file>\n'
    text = f"{files}Explain </file>\nof it"
    session = write(tmp_path, message("user", content=[{"type": "text", "text": text}]))
    (round,) = session.rounds
    assert round.prompt is not None
    assert (round.prompt.said, round.prompt.text) == ("Explain </file>\nof it", text)


def test_a_command_the_person_ran_is_theirs(tmp_path: Path) -> None:
    """FMT-14: `!ls` is what somebody typed; what it printed is not."""
    ran = message("bashExecution", command="ls", output="a.py", exitCode=0)
    (round,) = write(tmp_path, ran).rounds
    assert round.prompt is not None and round.prompt.said == "! ls"
    told = [b for m in round.messages for b in m.blocks if isinstance(b, Notice)]
    assert [(block.kind, block.text) for block in told] == [(kinds.COMMAND_OUTPUT, "a.py")]


def test_what_an_extension_says_is_context(tmp_path: Path) -> None:
    """FMT-14: kept verbatim, and no prompt; an unknown record is named."""
    session = write(
        tmp_path,
        message("user", content="Go on"),
        {"type": "custom_message", "customType": "notes", "content": "remember the pears"},
        {"type": "weather", "rain": True},
    )
    (round,) = session.rounds
    kept = [b.data for m in round.messages for b in m.blocks if isinstance(b, Attachment)]
    assert kept[0]["content"] == "remember the pears"
    assert "weather" in str([b for m in round.messages for b in m.blocks])


def test_a_providers_id_may_come_again(tmp_path: Path) -> None:
    """USE-01: models that run at home use theirs again: two responses are two, in one round, in
    two, and in two sessions."""
    said = {"responseId": "chatcmpl-7", "model": "m", "stopReason": "stop"}
    one, two = ({**said, "usage": {"input": 10, "output": n}} for n in (1, 2))
    lines = [
        message("user", content="Paint the shed"),
        message("assistant", content=[{"type": "text", "text": "First."}], **one),
        message("assistant", content=[{"type": "text", "text": "Then."}], **two),
        message("user", content="And the gate"),
        message("assistant", content=[{"type": "text", "text": "Last."}], **one),
    ]
    session, other = write(tmp_path / "one", *lines), write(tmp_path / "two", *lines[:2], day=2)
    assert [[m.text for m in r.replies] for r in session.rounds] == [["First.", "Then."], ["Last."]]
    assert [round.usage for round in session.rounds] == [Usage(20, 3), Usage(10, 1)]
    known = [{m.reply_id for r in s.rounds for m in r.replies} for s in (session, other)]
    assert [len(ids) for ids in known] == [3, 1]
    assert not known[0] & known[1]


def test_the_last_name_is_the_title(tmp_path: Path) -> None:
    """ING-03: `/name` may be used again."""
    named = ({"type": "session_info", "name": name} for name in ("Pears", "Plums"))
    session = write(tmp_path, message("user", content="Go on"), *named)
    assert (session.info.title, session.info.title_is_prompt) == ("Plums", False)


def test_the_places_it_may_be_moved_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AGT-01: its own environment variable is followed."""
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path))
    assert Pi().default_root() == tmp_path
