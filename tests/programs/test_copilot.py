"""GitHub Copilot CLI: what is particular to it (issue 17)."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive import Archive
from minutebook.derive import messages as kinds
from minutebook.model import (
    Attachment,
    Image,
    Message,
    Notice,
    Round,
    Session,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from minutebook.sources.base import Transcript
from minutebook.sources.copilot.locate import default_root
from minutebook.sources.copilot.workspace import Workspace, read_workspace
from minutebook.sources.library import open_file, open_transcript
from minutebook.sources.registry import SOURCES
from minutebook.verbs.inscribe import inscribe
from tests.conftest import needs_corpus
from tests.programs.samples import AGENTS, in_folder, read

COPILOT = AGENTS / "copilot"
SAMPLES = in_folder(COPILOT) if COPILOT.is_dir() else []
STUB = "f0aa8e27-abc0-4fe0-87bc-2d92af89d65d"
TERMINAL = "3474d3bb-92fb-479c-a24b-d9df0f8fc376"
PUBLIC = "70b173ed-7b83-485a-b71a-5adb0591db07"


def name(transcript: Transcript) -> str:
    return transcript.session_id


def sample(id: str) -> Transcript:
    return next(transcript for transcript in SAMPLES if transcript.session_id == id)


def events(transcript: Transcript) -> list[dict[str, Any]]:
    return [json.loads(line) for line in transcript.path.read_text("utf-8").splitlines()]


def conversations(session: Session) -> Iterator[tuple[Round, ...]]:
    yield session.rounds
    yield from (agent.rounds for agent in session.subagents)


def messages(session: Session) -> Iterator[Message]:
    for rounds in conversations(session):
        for round in rounds:
            yield from round.messages


def blocks(session: Session) -> list[Any]:
    return [block for message in messages(session) for block in message.blocks]


# ------------------------------------------------------------ conservation


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_prompts_and_texts_are_all_there_once(transcript: Transcript) -> None:
    """AGT-04: the words of both sides, subagents included, as often as in the file."""
    raw = events(transcript)
    typed = Counter(
        event["data"]["content"]
        for event in raw
        if event["type"] == "user.message"
        and not event.get("agentId")
        and not event["data"].get("source")
    )
    said = Counter(
        event["data"]["content"]
        for event in raw
        if event["type"] == "assistant.message" and event["data"]["content"]
    )
    session = read(transcript)
    prompts = [r.prompt.said for r in session.rounds if r.prompt is not None]
    assert Counter(prompts) == typed
    told = [m for m in messages(session) if m.role == "assistant"]
    assert Counter(b.text for m in told for b in m.blocks if isinstance(b, Text)) == said


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_calls_are_there_once_with_their_results(transcript: Transcript) -> None:
    """AGT-04: a call is told twice in the file, by request and by execution, and counts once."""
    raw = events(transcript)
    asked: dict[tuple[str, str], None] = {}
    results = 0
    for event in raw:
        data = event["data"]
        whose = event.get("agentId") or data.get("parentToolCallId") or ""
        for request in data.get("toolRequests") or ():
            asked.setdefault((whose, request["toolCallId"]))
        if event["type"] == "tool.execution_start":
            asked.setdefault((whose, data["toolCallId"]))
        results += event["type"] == "tool.execution_complete"
    found = blocks(read(transcript))
    calls = [block for block in found if isinstance(block, ToolCall)]
    assert Counter(call.id for call in calls) == Counter(id for _, id in asked)
    answered = sum(call.result is not None for call in calls)
    assert answered + sum(isinstance(block, StrayResult) for block in found) == results


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_reasoning_is_all_there(transcript: Transcript) -> None:
    """INS-16: every reasoning, plain or encrypted."""
    raw = events(transcript)
    plain, sealed = 0, 0
    for event in raw:
        if event["type"] == "assistant.message":
            plain += bool(event["data"].get("reasoningText"))
            sealed += bool(event["data"].get("encryptedContent"))
        plain += event["type"] == "assistant.reasoning"
    thoughts = [block for block in blocks(read(transcript)) if isinstance(block, Thinking)]
    assert sum(bool(thought.text) for thought in thoughts) == plain
    assert sum(thought.redacted for thought in thoughts) == sealed


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_nothing_in_the_samples_is_unknown_or_odd(transcript: Transcript) -> None:
    """FMT-23: every event of the samples is understood, none needs help."""
    reading = open_transcript(transcript)
    list(reading.rounds())
    list(reading.subagents())
    assert (reading.report.unknown, reading.report.repaired) == (Counter(), Counter())


@needs_corpus
@pytest.mark.parametrize("id", [STUB, TERMINAL, PUBLIC])
def test_ids_are_the_events_own(id: str) -> None:
    """AGT-04: each message goes by the id of one event, so a grown file changes none."""
    session = read(sample(id))
    ids = [message.id for message in messages(session)]
    assert len(set(ids)) == len(ids)
    assert set(ids) <= {event["id"] for event in events(sample(id))}


# ------------------------------------------------------------ usage


def recorded(transcript: Transcript) -> tuple[Usage, int]:
    """What the API calls of a session and its compactions used, and how many they were."""
    total, calls = Usage(), 0
    for event in events(transcript):
        used = event["data"].get("usage") if event["type"] == "session.usage_record" else None
        used = used or event["data"].get("compactionTokensUsed")
        if used is not None:
            read, write = used["cacheReadTokens"], used["cacheWriteTokens"]
            total += Usage(used["inputTokens"] - read - write, used["outputTokens"], read, write)
            calls += 1
    return total, calls


@needs_corpus
@pytest.mark.parametrize(("id", "calls"), [(STUB, 11), (TERMINAL, 4)])
def test_usage_is_that_of_the_records(id: str, calls: int) -> None:
    """USE-01: each API call once; input without what was cached; shutdown totals never added."""
    session = read(sample(id))
    total, counted = recorded(sample(id))
    assert counted == calls
    told = [m.usage for m in messages(session) if m.usage is not None]
    beside = [r.usage for rounds in conversations(session) for one in rounds for r in one.progress]
    assert len(told) + len(beside) == calls
    assert sum([*told, *beside], start=Usage()) == total


@needs_corpus
def test_totals_of_a_shutdown_are_kept_beside() -> None:
    """USE-01: they are cumulative, so the last one is what the agent said in the end."""
    info = read(sample(STUB)).info
    assert info.cost is not None
    assert info.cost.usd is None
    assert info.cost.models["claude-sonnet-4.5"]["usage"]["inputTokens"] == 18217


@needs_corpus
def test_older_versions_tell_only_the_output() -> None:
    """USE-01: what 1.0.74 says of a message's tokens is counted, each message once."""
    raw = events(sample(PUBLIC))
    output = sum(e["data"].get("outputTokens", 0) for e in raw if e["type"] == "assistant.message")
    used = [m.usage for m in messages(read(sample(PUBLIC))) if m.usage is not None]
    assert sum(used, start=Usage()) == Usage(output=output)


# ------------------------------------------------------------ subagents


@needs_corpus
def test_a_subagent_is_attached_to_its_call() -> None:
    """AGT-04: its events stand among the session's; they are its own rounds, with its prompt."""
    session = read(sample(STUB))
    (agent,) = session.subagents
    (call,) = [c for r in session.rounds for c in r.calls if c.agent == agent.id]
    assert (call.id, agent.call_id, call.kind) == ("call_A5", "call_A5", "delegate")
    assert (agent.kind, agent.description) == ("task", "Count lines")
    (round,) = agent.rounds
    assert round.prompt is not None
    assert round.prompt.said == "Child task: count the lines of README.md"
    (inner,) = round.calls
    assert (inner.id, inner.result is not None and inner.result.exit_code) == ("call_C1", 0)
    assert session.info.subagents == 1


@needs_corpus
def test_background_agents_are_told_apart() -> None:
    """AGT-04: two subagents and the session go on at the same time in one file."""
    session = read(sample(PUBLIC))
    raw = events(sample(PUBLIC))
    by_agent = Counter(e.get("agentId") for e in raw if e["type"] == "tool.execution_start")
    assert {a.id: sum(r.tool_count for r in a.rounds) for a in session.subagents} == {
        id: count for id, count in by_agent.items() if id is not None
    }
    assert session.info.calls == by_agent[None]


@needs_corpus
def test_subagents_are_not_sessions() -> None:
    """AGT-02: only sessions are listed."""
    found, _ = SOURCES["copilot"].discover([COPILOT / "1.0.102" / "home" / ".copilot"])
    assert {transcript.session_id for transcript in found} == {STUB, TERMINAL}


# ------------------------------------------------------------ particulars


@needs_corpus
def test_what_was_injected_is_not_a_prompt() -> None:
    """FMT-14: reminders in the user's name are notices, the system prompt is an attachment."""
    session = read(sample(PUBLIC))
    (round,) = session.rounds
    notices = [b.kind for b in round.blocks if isinstance(b, Notice)]
    assert notices.count(kinds.REMINDER) == 2
    assert notices.count(kinds.TASK) == 1
    attached = [b.kind for b in round.blocks if isinstance(b, Attachment)]
    assert attached.count("system.message") == 2


@needs_corpus
def test_what_was_put_around_a_prompt_is_kept_beside_it() -> None:
    """INS-16: the date and the reminders the model got along with the words."""
    (round,) = read(sample(PUBLIC)).rounds
    (context,) = [b for b in round.asked if isinstance(b, Attachment)]
    assert context.data["before"].startswith("<current_datetime>")
    assert context.data["after"].startswith("<system_reminder>")


@needs_corpus
def test_an_edit_has_its_changed_lines() -> None:
    """AGT-03: the diff of an edit and of a new file; that of a view is not a change."""
    calls = {c.id: c for r in read(sample(STUB)).rounds for c in r.calls}
    edited, created, viewed = (calls[id].result for id in ("call_A2", "call_A2b", "call_A1b"))
    assert edited is not None and created is not None and viewed is not None
    assert [line for line in edited.patch[0].lines if line[0] in "+-"] == [
        "-    return a - b",
        "+    return a + b",
    ]
    assert "+assert add(2, 2) == 4" in created.patch[0].lines
    assert viewed.patch == ()


@needs_corpus
def test_hidden_exit_codes_are_found_in_the_text() -> None:
    """AGT-04: 1.0.74 says it only in the last line of a shell's output."""
    calls = [b for b in blocks(read(sample(PUBLIC))) if isinstance(b, ToolCall)]
    codes = [c.result.exit_code for c in calls if c.result is not None]
    coded = sum("completed with exit code" in c.result.text for c in calls if c.result is not None)
    assert sum(code is not None for code in codes) == 98 <= coded
    assert all(c.result.error for c in calls if c.result is not None and c.result.exit_code)


@needs_corpus
def test_a_compaction_is_seen_with_its_size() -> None:
    """FMT-16: summary, trigger and tokens; the copy of the history around it is left out."""
    session = read(sample(TERMINAL))
    (compaction,) = [c for r in session.rounds for c in r.compactions]
    assert (compaction.trigger, compaction.tokens_before) == ("manual", 13899)
    assert session.info.compactions == 1
    texts = [b.text for b in blocks(session) if isinstance(b, Notice) and b.kind == "compaction"]
    assert texts == ["Done."]


@needs_corpus
def test_an_interruption_and_an_error_are_seen() -> None:
    """FMT-14: ``abort`` and ``session.error`` stay with their round."""
    second = read(sample(TERMINAL)).rounds[1]
    assert [b.kind for b in second.blocks if isinstance(b, Notice)] == [kinds.INTERRUPTION]
    fifth = read(sample(STUB)).rounds[4]
    assert [b.text for b in fifth.blocks if isinstance(b, Notice)] == ["400 stub error 400"]


@needs_corpus
def test_a_picture_is_found_by_its_asset() -> None:
    """INS-16: an attachment refers to a picture that stands elsewhere in the file."""
    last = read(sample(STUB)).rounds[-1]
    (picture,) = [block for block in last.asked if isinstance(block, Image)]
    assert picture.media_type == "image/png"
    assert picture.data.startswith("iVBORw0KGgo")


# ------------------------------------------------------------ made here


def line(type: str, data: dict[str, Any], n: int, **more: Any) -> str:
    event = {"type": type, "data": data, "id": f"e{n}", "timestamp": f"2026-03-01T10:00:{n:02d}Z"}
    return json.dumps({**event, **more}) + "\n"


START = line("session.start", {"sessionId": "one", "producer": "copilot-agent"}, 0)


def made(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / ".copilot" / "session-state" / "one" / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join([START, *lines]), encoding="utf-8")
    return path


def test_a_command_that_prints_an_exit_code_is_not_believed(tmp_path: Path) -> None:
    """AGT-04: only a shell's own last line says how a command ended; a file may say anything."""
    ask = {"toolCallId": "v", "name": "view", "arguments": {"path": "log"}}
    text = "<exited with exit code 3>"
    path = made(
        tmp_path,
        line("user.message", {"content": "look"}, 1),
        line("assistant.message", {"content": "", "toolRequests": [ask]}, 2),
        line(
            "tool.execution_complete",
            {"toolCallId": "v", "success": True, "result": {"content": text}},
            3,
        ),
    )
    (call,) = read(open_file(path)).rounds[0].calls
    assert call.result is not None
    assert (call.result.exit_code, call.result.error) == (None, False)


def test_usage_of_an_answer_that_never_came_counts(tmp_path: Path) -> None:
    """USE-01: the call was made; it stays in its round when the next prompt comes."""
    used = {"apiCallId": "a1", "inputTokens": 30, "outputTokens": 5, "cacheReadTokens": 20}
    path = made(
        tmp_path,
        line("user.message", {"content": "one"}, 1),
        line("session.usage_record", {"usage": used}, 2),
        line("abort", {"reason": "user_abort"}, 3),
        line("user.message", {"content": "two"}, 4),
    )
    first, second = read(open_file(path)).rounds
    assert [reply.usage for reply in first.progress] == [Usage(10, 5, 20)]
    assert second.progress == ()


@pytest.mark.parametrize("usage_first", [True, False])
def test_a_providers_id_may_come_again(tmp_path: Path, usage_first: bool) -> None:
    """USE-01: a model that runs at home uses its ids again: what it names a call ties the call to
    its usage, and is no name for the reply."""

    def call(id: str, n: int) -> list[str]:
        told = {"apiCallId": id, "inputTokens": 10, "outputTokens": n}
        used = line("session.usage_record", {"usage": told}, 10 * n)
        said = line("assistant.message", {"apiCallId": id, "content": f"Reply {n}."}, 10 * n + 1)
        return [used, said] if usage_first else [said, used]

    path = made(
        tmp_path,
        line("user.message", {"content": "one"}, 1),
        *call("a", 1),
        *call("b", 2),
        *call("a", 3),
        line("user.message", {"content": "two"}, 50),
        *call("b", 6),
    )
    first, second = read(open_file(path)).rounds
    assert [m.text for m in first.replies] == ["Reply 1.", "Reply 2.", "Reply 3."]
    assert [m.usage for m in first.replies] == [Usage(10, n) for n in (1, 2, 3)]
    assert (second.usage, second.progress) == (Usage(10, 6), ())
    assert len({m.reply_id for m in (*first.replies, *second.replies)}) == 4


def test_a_subagent_of_a_subagent_hangs_on_its_own_call(tmp_path: Path) -> None:
    """AGT-04: nested agents are in the same file, each attached to the call that started it."""

    def task(id: str) -> dict[str, Any]:
        request = {"toolCallId": id, "name": "task", "arguments": {}}
        return {"content": "", "toolRequests": [request]}

    path = made(
        tmp_path,
        line("user.message", {"content": "go"}, 1),
        line("assistant.message", task("c1"), 2),
        line("subagent.started", {"toolCallId": "c1"}, 3, agentId="outer"),
        line("user.message", {"content": "a", "source": "agent-one"}, 4, agentId="outer"),
        line("assistant.message", task("c2"), 5, agentId="outer"),
        line("subagent.started", {"toolCallId": "c2"}, 6, agentId="inner"),
        line("user.message", {"content": "b", "source": "agent-one"}, 7, agentId="inner"),
        line("assistant.message", {"content": "done"}, 8, agentId="inner"),
    )
    session = read(open_file(path))
    outer, inner = session.subagents
    assert [c.agent for r in session.rounds for c in r.calls] == ["outer"]
    assert [c.agent for r in outer.rounds for c in r.calls] == ["inner"]
    assert inner.call_id == "c2"
    assert [m.text for r in inner.rounds for m in r.replies] == ["done"]


def test_older_files_lie_flat(tmp_path: Path) -> None:
    """AGT-01: ``session-state/<id>.jsonl`` is a session, too."""
    folder = tmp_path / "session-state"
    folder.mkdir()
    (folder / "old.jsonl").write_text(START, encoding="utf-8")
    found, _ = SOURCES["copilot"].discover([tmp_path])
    assert [transcript.session_id for transcript in found] == ["old"]


def test_the_folder_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AGT-01: ``COPILOT_HOME``."""
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    assert default_root() == tmp_path
    assert SOURCES["copilot"].resume_command("x y", "/w") == "cd /w && copilot --resume='x y'"


def test_a_new_name_is_noticed(tmp_path: Path) -> None:
    """ING-03: the title stands beside the events, and may change when nothing else does."""
    path = made(
        tmp_path,
        line("user.message", {"content": "Mend the gate"}, 1),
        line("assistant.message", {"content": "The gate is mended."}, 2),
    )
    os.utime(path, (1, 1))
    notes = path.with_name("workspace.yaml")
    notes.write_text("name: Mend the gate\nuser_named: false\n", encoding="utf-8")
    archive = Archive(tmp_path / "archive", (tmp_path / ".copilot",))
    inscribe(archive, ended=True)
    assert {one.outcome for one in inscribe(archive, ended=True).sessions} == {"unchanged"}
    notes.write_text("name: The north gate\nuser_named: true\n", encoding="utf-8")
    inscribe(archive, ended=True)
    info = archive.ledger().sessions["one"].info
    assert (info.title, info.names.titles) == ("The north gate", ("The north gate",))


@pytest.mark.parametrize(
    ("content", "title"),
    [
        (b"name: 2026", "2026"),
        (b"name: null", None),
        (b"name: [a, b]", None),
        (b"name: !!python/object/apply:os.getcwd []", None),
        (b"[" * 16_000, None),
        (b"\xff\xfe\x00", None),
        (b"- name", None),
        (b"name: 2026-99-99", "2026-99-99"),
    ],
)
def test_odd_notes_do_no_harm(content: bytes, title: str | None) -> None:
    """FMT-04: whatever stands in ``workspace.yaml``, the session is read."""
    assert read_workspace(content) == Workspace(title)


def test_notes_that_are_too_large_are_not_read(tmp_path: Path) -> None:
    """FMT-22: a file of that name may be anything."""
    path = made(tmp_path)
    path.with_name("workspace.yaml").write_text("name: x\n" + "#" * 20_000, encoding="utf-8")
    assert read(open_file(path)).info.title is None
    assert SOURCES["copilot"].beside(open_file(path)) == ""
