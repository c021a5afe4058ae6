"""Subagents find the call that spawned them (FMT-15)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from minutebook.archive.archive import Archive
from minutebook.model import Session
from minutebook.sources.base import read_session
from minutebook.sources.claude_code.read import ClaudeReading
from minutebook.verbs.doctor import diagnose
from tests.conftest import Record, as_line, assistant, tool_result, tool_use, user


def task(id: str, prompt: str = "Do it") -> Record:
    return assistant(tool_use(id, "Task", prompt=prompt), id=f"m-{id}")


def agent(folder: Path, id: str, prompt: str = "Do it", meta: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"agent-{id}.jsonl"
    lines = [
        user(prompt, isSidechain=True, sessionId="s", uuid=f"{id}-1"),
        assistant(f"I am {id}", isSidechain=True, sessionId="s", uuid=f"{id}-2"),
    ]
    path.write_bytes(b"".join(as_line(line) + b"\n" for line in lines))
    if meta:
        path.with_suffix(".meta.json").write_text(meta)
    return path


def write(folder: Path, *records: Record) -> Path:
    path = folder / "s.jsonl"
    path.write_bytes(b"".join(as_line(record) + b"\n" for record in records))
    return path


def links(session: Session) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Agent by call, and call by agent."""
    calls = {call.id: call.agent for round in session.rounds for call in round.calls}
    return calls, {agent.id: agent.call_id for agent in session.subagents}


def done(id: str, **twin: Any) -> Record:
    return tool_result(id, "done", toolUseResult=twin)


def test_the_result_tells_two_calls_with_one_prompt_apart(tmp_path: Path) -> None:
    """The ``agentId`` of the result beats an equal prompt."""
    for id in ("a1", "a2"):
        agent(tmp_path / "s" / "subagents", id)
    path = write(
        tmp_path,
        user("go"),
        task("c1"),
        task("c2"),
        done("c2", agentId="a1"),
        done("c1", agentId="a2"),
    )
    calls, agents = links(read_session(ClaudeReading(path)))
    assert calls == {"c1": "a2", "c2": "a1"}
    assert agents == {"a1": "c2", "a2": "c1"}


def test_equal_prompts_without_any_id_are_dealt_out_once_each(tmp_path: Path) -> None:
    """By prompt, where nothing better is known; no agent twice."""
    for id in ("a1", "a2"):
        agent(tmp_path / "s" / "subagents", id)
    path = write(tmp_path, user("go"), task("c1"), task("c2"), done("c1"), done("c2"))
    calls, agents = links(read_session(ClaudeReading(path)))
    assert sorted(filter(None, calls.values())) == ["a1", "a2"]
    assert set(agents.values()) == {"c1", "c2"}


def test_the_agents_own_notes_beat_everything(tmp_path: Path) -> None:
    """``meta.json`` names the call, and what kind of agent it was."""
    meta = '{"agentType":"Explore","description":"look","toolUseId":"c2"}'
    agent(tmp_path / "s" / "subagents", "a1", meta=meta)
    session = read_session(ClaudeReading(write(tmp_path, user("go"), task("c1"), task("c2"))))
    assert links(session) == ({"c1": None, "c2": "a1"}, {"a1": "c2"})
    assert (session.subagents[0].kind, session.subagents[0].description) == ("Explore", "look")


def test_a_sibling_belongs_to_the_session_it_names(tmp_path: Path) -> None:
    """2.0.x: agent files beside the sessions."""
    agent(tmp_path, "a1")
    session = read_session(ClaudeReading(write(tmp_path, user("go"), task("c1"), done("c1"))))
    assert links(session)[1] == {"a1": "c1"}
    assert session.info.subagents == 1


def test_an_unreadable_subagent_does_not_take_the_session_down(tmp_path: Path) -> None:
    """Reported by doctor with its own path; the session is read all the same."""
    folder = tmp_path / "s" / "subagents"
    broken = agent(folder, "a1")
    broken.write_bytes(broken.read_bytes() + b'{"broken\n')
    (folder / "agent-a2.jsonl").symlink_to(tmp_path / "nowhere")
    path = write(tmp_path, user("go"), task("c1"), done("c1", agentId="a1"))
    session = read_session(ClaudeReading(path))
    assert len(session.rounds) == 1
    diagnosis = diagnose(Archive(tmp_path / "archive", (path,)))
    assert diagnosis.sessions == 1
    found = {
        file.path.name: [(b.line, b.reason) for b in file.bad_lines] for file in diagnosis.bad_files
    }
    assert found == {
        "agent-a1.jsonl": [(3, "half-written or broken JSON")],
        "agent-a2.jsonl": [(0, "no such file or directory")],
    }


def test_agents_of_nobody_are_named(tmp_path: Path) -> None:
    """Siblings whose session is gone, and those that cannot be read: doctor says so."""
    write(tmp_path, user("go"))
    agent(tmp_path, "lost").write_bytes(as_line(user("x", sessionId="gone")) + b"\n")
    (tmp_path / "agent-garbage.jsonl").write_bytes(b"\x00\x01\n")
    (tmp_path / "agent-link.jsonl").symlink_to(tmp_path / "nowhere")
    agent(tmp_path / "deleted" / "subagents", "left")
    diagnosis = diagnose(Archive(tmp_path / "archive", (tmp_path,)))
    troubles = {t.path.name: t.reason for t in diagnosis.troubles}
    assert troubles == {
        "agent-lost.jsonl": "a subagent of a session that is not here",
        "agent-left.jsonl": "a subagent of a session that is not here",
        "agent-garbage.jsonl": "a subagent's file that cannot be read",
        "agent-link.jsonl": "a subagent's file that cannot be read",
    }
