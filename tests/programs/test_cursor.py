"""Cursor, as far as its samples go: what is particular to it (issue 17)."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    Notice,
    Session,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
)
from minutebook.sources.base import Transcript
from minutebook.sources.cursor.store import Meta, read_meta
from minutebook.sources.library import Library, open_file, open_transcript
from minutebook.sources.registry import SOURCES
from tests.conftest import needs_corpus
from tests.programs.samples import AGENTS, in_folder, read

CURSOR = AGENTS / "cursor"
SAMPLES = in_folder(CURSOR) if CURSOR.is_dir() else []


def name(transcript: Transcript) -> str:
    return transcript.session_id


def sample(id: str) -> Transcript:
    return next(transcript for transcript in SAMPLES if transcript.session_id == id)


def pieces(transcript: Transcript, role: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in transcript.path.read_text("utf-8").splitlines()]
    return [p for line in lines if line.get("role") == role for p in line["message"]["content"]]


def blocks(session: Session) -> list[Any]:
    return [b for round in session.rounds for m in round.messages for b in m.blocks]


def typed(text: str) -> str:
    return text.replace("<user_query>", "").replace("</user_query>", "").strip()


# ------------------------------------------------------------ conservation


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_prompts_and_texts_are_all_there_once(transcript: Transcript) -> None:
    """AGT-04: the words of both sides, as often as in the file."""
    session = read(transcript)
    prompts = [typed(p["text"]) for p in pieces(transcript, "user") if p["type"] == "text"]
    assert [r.prompt.said for r in session.rounds if r.prompt is not None] == prompts
    said = [p["text"] for p in pieces(transcript, "assistant") if p["type"] == "text"]
    replies = [m for round in session.rounds for m in round.replies]
    assert [b.text for m in replies for b in m.blocks if isinstance(b, Text)] == said


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_calls_results_and_thoughts_are_all_there_once(transcript: Transcript) -> None:
    """AGT-04: names and inputs verbatim; a result is with a call, though neither has an id."""
    found = blocks(read(transcript))
    calls = [block for block in found if isinstance(block, ToolCall)]
    theirs = pieces(transcript, "assistant")
    asked = [(p["name"], p["input"]) for p in theirs if p["type"] in ("tool_use", "tool_call")]
    assert [(call.name, call.input) for call in calls] == asked
    results = [p for p in pieces(transcript, "user") if p["type"] in ("tool_result", "tool-result")]
    told = [call.result.text for call in calls if call.result is not None]
    assert told == [p["content"][0]["text"] for p in results]
    assert not any(isinstance(block, StrayResult) for block in found)
    thoughts = [block.text for block in found if isinstance(block, Thinking)]
    assert thoughts == [p["thinking"] for p in theirs if p["type"] == "thinking"]


@needs_corpus
def test_a_block_nobody_knows_is_kept() -> None:
    """FMT-23: counted, and shown as such."""
    reading = open_transcript(sample("schema_drift"))
    list(reading.rounds())
    assert reading.report.unknown == Counter({"block custom_block": 1})


@needs_corpus
def test_samples_are_claimed_by_cursor_alone() -> None:
    """AGT-02: its lines look a little like those of others."""
    assert len(SAMPLES) == 6
    for transcript in SAMPLES:
        claiming = [source.name for source in SOURCES.values() if source.claims(transcript.path)]
        assert claiming == ["cursor"]


# ------------------------------------------------------------ a home like a real one


def line(role: str, *content: dict[str, Any]) -> str:
    return json.dumps({"role": role, "message": {"content": list(content)}}) + "\n"


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def made(tmp_path: Path, *lines: str, id: str = "one") -> Path:
    folder = tmp_path / ".cursor" / "projects" / "w-orchard" / "agent-transcripts" / id
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{id}.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_its_folder_is_its_own(tmp_path: Path) -> None:
    """AGT-02: Claude Code has a folder ``projects``, too, and leaves this one alone."""
    made(tmp_path, line("user", text("Prune the tree")))
    home = tmp_path / ".cursor"
    assert [source.name for source in SOURCES.values() if source.claims(home)] == ["cursor"]
    assert [t.session_id for t in Library([home]).transcripts] == ["one"]


def test_a_subagent_is_attached_to_the_call_that_asked_it(tmp_path: Path) -> None:
    """AGT-04: it is found by what it was asked, counted, and not listed as a session."""
    call = {"type": "tool_use", "name": "Task", "input": {"prompt": "Count the apples"}}
    path = made(tmp_path, line("user", text("How many?")), line("assistant", call))
    folder = path.parent / "subagents"
    folder.mkdir()
    asked = line("user", text("<user_query>\nCount the apples\n</user_query>"))
    (folder / "kid.jsonl").write_text(asked + line("assistant", text("Nine.")), encoding="utf-8")
    session = read(open_file(path))
    (agent,) = session.subagents
    (made_by,) = session.rounds[0].calls
    assert (made_by.agent, agent.id, agent.call_id) == ("kid", "kid", made_by.id)
    assert session.info.subagents == 1
    assert [m.text for r in agent.rounds for m in r.replies] == ["Nine."]
    found = Library([tmp_path / ".cursor"]).transcripts
    assert [transcript.session_id for transcript in found] == ["one"]
    assert SOURCES["cursor"].sessions_of([folder / "kid.jsonl"]) == {"one"}


def test_what_stands_around_a_prompt_is_not_typed(tmp_path: Path) -> None:
    """FMT-14: context is kept; only the query is the prompt, and a reminder is none."""
    path = made(
        tmp_path,
        line("user", text("<user_info>Linux</user_info>"), text("<user_query>Go</user_query>")),
        line("assistant", text("Gone.")),
        line("user", text("<system_reminder>Be brief</system_reminder>")),
    )
    (round,) = read(open_file(path)).rounds
    assert round.prompt is not None
    assert round.prompt.said == "Go"
    (context,) = [block for block in round.asked if isinstance(block, Attachment)]
    assert context.data == {"text": "<user_info>Linux</user_info>"}
    assert [b.kind for b in round.blocks if isinstance(b, Notice)] == [kinds.META]


def test_a_prompt_that_is_not_closed_is_one(tmp_path: Path) -> None:
    """FMT-04: half a tag loses no words."""
    (round,) = read(open_file(made(tmp_path, line("user", text("<user_query>\nGo on"))))).rounds
    assert round.prompt is not None
    assert round.prompt.said == "Go on"


def test_subagents_asked_the_same_are_told_apart(tmp_path: Path) -> None:
    """AGT-04: two calls with the same words started two subagents."""
    call = {"type": "tool_use", "name": "Task", "input": {"prompt": "Count"}}
    path = made(tmp_path, line("user", text("Both")), line("assistant", call, call))
    (path.parent / "subagents").mkdir()
    for kid in ("a", "b"):
        (path.parent / "subagents" / f"{kid}.jsonl").write_text(line("user", text("Count")))
    session = read(open_file(path))
    assert [call.agent for call in session.rounds[0].calls] == ["a", "b"]
    assert len({agent.call_id for agent in session.subagents}) == 2


def test_ids_stay_when_the_file_grows(tmp_path: Path) -> None:
    """AGT-04: two lines that say the same are two messages, and keep their ids."""
    lines = [line("user", text("again")), line("assistant", text("done"))] * 2
    before = ids(read(open_file(made(tmp_path, *lines))))
    assert len(set(before)) == 4
    after = ids(read(open_file(made(tmp_path, *lines, line("user", text("more"))))))
    assert after[:4] == before


def test_glued_lines_are_told_apart(tmp_path: Path) -> None:
    """FMT-03: two records on one line have an id each."""
    glued = line("user", text("one")).strip() + line("user", text("two"))
    found = ids(read(open_file(made(tmp_path, line("user", text("zero")), glued))))
    assert len(set(found)) == 3


def ids(session: Session) -> list[str | None]:
    return [message.id for round in session.rounds for message in round.messages]


def database(path: Path, value: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
    connection.execute("INSERT INTO meta VALUES ('0', ?)", (value,))
    connection.commit()
    connection.close()
    return path


def test_a_database_beside_tells_the_name(tmp_path: Path) -> None:
    """ING-03: title, model and beginning; a changed database is noticed, and none is touched."""
    path = made(tmp_path, line("user", text("Prune the tree")))
    os.utime(path, (1_793_800_000, 1_793_800_000))
    source, transcript = SOURCES["cursor"], open_file(path)
    before = source.beside(transcript)
    meta = {"name": "Pruning", "lastUsedModel": "m-1", "createdAt": 1775522590321}
    folder = tmp_path / ".cursor" / "chats" / "5eb6" / "one"
    database(folder / "store.db", json.dumps(meta).encode().hex())
    assert source.beside(transcript) != before
    info = read(transcript).info
    assert (info.title, info.models) == ("Pruning", ("m-1",))
    assert (info.started, info.ended) == ("2026-04-07T00:43:10.321Z", "2026-11-04T13:46:40.000Z")
    assert [file.name for file in folder.iterdir()] == ["store.db"]


@pytest.mark.parametrize("value", ["", "zz", "7b", b"[1]".hex(), b'{"name": 7}'.hex(), "00" * 99])
def test_an_odd_database_does_no_harm(tmp_path: Path, value: str) -> None:
    """FMT-04: whatever is in it, the session is read without it."""
    assert read_meta(database(tmp_path / "store.db", value)) == Meta()


def test_what_is_not_a_database_does_no_harm(tmp_path: Path) -> None:
    """FMT-04: nor does a file of that name."""
    (tmp_path / "store.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 500)
    assert read_meta(tmp_path / "store.db") == Meta()
    assert read_meta(tmp_path / "none.db") == Meta()
