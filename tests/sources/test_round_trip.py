"""What a reading gives comes back from its export: the same rounds, all of them (OPS-16)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minutebook.derive.clock import Class, Moment, write_clock
from minutebook.model import (
    Attachment,
    Billing,
    Compaction,
    Hunk,
    Message,
    Notice,
    RecordedCost,
    Reply,
    Round,
    Session,
    Subagent,
    Text,
    Thinking,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
)
from minutebook.sources.base import ExportHeader, read_session
from minutebook.sources.claude_code.read import ClaudeReading
from minutebook.sources.registry import SOURCES
from tests.conftest import as_line, assistant, corpus_sessions, needs_corpus, short, user

SESSIONS = corpus_sessions(
    "claude/projects/*/*.jsonl", "cli-versions/**/*.jsonl", "fixtures/**/*.jsonl"
)
SID = "11111111-2222-4333-8444-555555555555"


def exported(
    folder: Path,
    rounds: tuple[Round, ...],
    agents: tuple[Subagent, ...] = (),
    header: ExportHeader | None = None,
) -> Path:
    """A transcript of these rounds, with its subagents beside it."""
    exporter = SOURCES["claude-code"].exporter
    assert exporter is not None
    path = folder / f"{SID}.jsonl"
    path.write_bytes(b"".join(exporter.emit(SID, header or ExportHeader(), iter(rounds))))
    for file, pieces in exporter.emit_agents(path, SID, agents):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"".join(pieces))
    return path


def read(path: Path) -> Session:
    return read_session(ClaudeReading(path))


@needs_corpus
@pytest.mark.parametrize("source", SESSIONS, ids=short)
def test_every_round_of_a_real_session_comes_back(source: Path, tmp_path: Path) -> None:
    """OPS-16, USE-01 … USE-03: messages, usage, billing, patches, clock, progress, compactions."""
    session = read(source)
    header = ExportHeader(cost=session.info.cost)
    again = read(exported(tmp_path, session.rounds, session.subagents, header))
    for one, other in zip(session.rounds, again.rounds, strict=True):
        assert one == other, f"round {one.number}"
    assert {agent.id: agent for agent in session.subagents} == {
        agent.id: agent for agent in again.subagents
    }
    for field in ("prompts", "calls", "prompt_ids", "answer_chars", "usage", "cost", "compactions"):
        assert getattr(session.info, field) == getattr(again.info, field), field


@needs_corpus
@pytest.mark.parametrize("source", SESSIONS[::6], ids=short)
def test_no_twin_is_made_up(source: Path, tmp_path: Path) -> None:
    """OPS-13: the CLI's renderer gets whole ``toolUseResult`` values or none."""
    session = read(source)
    for line in exported(tmp_path, session.rounds).read_bytes().splitlines():
        assert "toolUseResult" not in json.loads(line)


# ------------------------------------------------------------ any rounds at all

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
stamps = st.integers(0, 59).map(lambda second: f"2026-03-01T10:00:{second:02d}.000Z")
counts = st.integers(0, 10**9)
usages = st.builds(
    lambda i, o, r, five, hour: Usage(i, o, r, five + hour, hour),
    *(counts, counts, counts, counts, counts),
)
billings = st.builds(
    Billing,
    at=st.none() | stamps,
    usage=st.none() | usages,
    speed=st.none() | words,
    tier=st.none() | words,
    geo=st.none() | words,
    server_tools=st.dictionaries(words, st.integers(1, 99), max_size=2),
    cost_usd=st.none() | st.floats(0, 1000),
    thin=st.booleans(),
).map(lambda billing: None if billing == Billing() else billing)
hunks = st.builds(Hunk, *(counts, counts, counts, counts), st.lists(words, max_size=2).map(tuple))
results = st.builds(
    ToolResult,
    words | st.sampled_from(["Exit code 2\nno", "Exit code 3"]),
    error=st.booleans(),
    at=stamps,
    patch=st.lists(hunks, max_size=2).map(tuple),
    exit_code=st.none() | st.integers(0, 255),
    interrupted=st.booleans(),
    duration_ms=st.none() | counts,
)
kinds: st.SearchStrategy[ToolKind] = st.sampled_from(["run", "read", "edit", "delegate", "other"])
tools = st.sampled_from(["Bash", "Edit", "Task", "shell", "apply_patch"])
classes: st.SearchStrategy[Class] = st.sampled_from(
    ["prompt", "command", "reply", "result", "progress", "other"]
)
clocks = st.lists(st.builds(Moment, st.integers(0, 4 * 10**12), classes), max_size=5).map(
    write_clock
)
replies = st.builds(
    Reply,
    words,
    at=st.none() | stamps,
    model=st.none() | words,
    usage=usages,
    stop=st.none() | words,
    billing=billings,
)


@st.composite
def sessions(draw: st.DrawFn) -> tuple[Round, ...]:
    """Rounds as a reader could have made them, of any source."""
    made: list[Round] = []
    ids = iter(range(10_000))

    def call() -> ToolCall:
        result = draw(st.none() | results)
        agent = draw(st.none() | st.just("a1")) if result is not None else None
        name, kind = draw(tools), draw(kinds)
        return ToolCall(f"call-{next(ids)}", name, {"x": 1}, result, draw(stamps), agent, kind)

    def answer() -> Message:
        blocks: list[Any] = [Text(draw(words)) for _ in range(draw(st.integers(0, 1)))]
        blocks += [Thinking(draw(words), "sig")] * draw(st.integers(0, 1))
        blocks += [call() for _ in range(draw(st.integers(0, 2)))]
        usage = draw(st.none() | usages)
        return Message(
            "assistant",
            tuple(blocks) or (Text("."),),
            id=f"u-{next(ids)}",
            at=draw(stamps),
            reply_id=draw(st.sampled_from([None, "msg_a", f"msg_{next(ids)}"])),
            model=draw(st.none() | words),
            usage=usage,
            stop=draw(st.none() | words),
            billing=draw(billings) if usage is not None else None,
        )

    for number in range(1, draw(st.integers(1, 3)) + 1):
        typed = draw(words).replace("<", "x").replace("[", "x") or "x"
        prompt = Text(typed if typed.strip() else "go")
        if draw(st.booleans()):
            args = f"<command-message>m</command-message>\n<command-name>/{number}</command-name>"
            prompt = Text(args, f"/{number}")
        messages = [Message("user", (prompt,), id=f"p-{number}", at=draw(stamps))]
        messages += [answer() for _ in range(draw(st.integers(0, 2)))]
        if draw(st.booleans()):
            notice = Notice("compaction", "This session is being continued from a previous …")
            messages.append(Message("user", (notice,), id=f"n-{number}", at=draw(stamps)))
        found = {reply.id: reply for reply in draw(st.lists(replies, max_size=2))}
        made.append(
            Round(
                number,
                tuple(messages),
                cwd="/w",
                branch="main",
                duration_ms=draw(st.none() | st.integers(0, 10**6)),
                tool_count=sum(isinstance(b, ToolCall) for m in messages for b in m.blocks),
                clock=draw(clocks),
                progress=tuple(found.values()),
                compactions=tuple(
                    draw(st.lists(st.builds(Compaction, stamps, words, counts), max_size=1))
                ),
            )
        )
    return tuple(made)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sessions())
def test_any_rounds_come_back(
    tmp_path_factory: pytest.TempPathFactory, rounds: tuple[Round, ...]
) -> None:
    """OPS-11, OPS-16, AGT-06: whatever Claude's schema cannot hold travels beside it."""
    again = read(exported(tmp_path_factory.mktemp("trip"), rounds)).rounds
    assert again == rounds


def test_what_the_cli_adds_to_an_export_is_counted_again(tmp_path: Path) -> None:
    """OPS-13, USE-03: the export's clock up to its end, then that of the new records."""
    clock = write_clock([Moment(1_000, "prompt"), Moment(2_000, "reply")])
    message = Message("user", (Text("go"),), id="p-1", at="2026-03-01T10:00:00.000Z")
    path = exported(tmp_path, (Round(1, (message,), clock=clock),))
    later = [
        assistant("more", uuid="r", timestamp="2026-03-01T11:00:00.000Z"),
        user("next", uuid="q", timestamp="2026-03-01T12:00:00.000Z"),
    ]
    with path.open("ab") as file:
        file.writelines(as_line(record) + b"\n" for record in later)
    first, second = read(path).rounds
    new = Moment(1772362800000, "reply")
    assert first.clock == write_clock([Moment(1_000, "prompt"), Moment(2_000, "reply"), new])
    assert second.clock == write_clock([Moment(1772366400000, "prompt")])


def test_the_header_gives_the_cost_and_the_instructions_back(tmp_path: Path) -> None:
    """USE-02, FUT-03: a recorded cost, and CLAUDE.md as the session was given it."""
    context = {"type": "session_context", "context": {"claudeMd": "# Rules\nbe kind"}}
    messages = (
        Message("user", (Text("go"),), id="p", at="2026-03-01T10:00:00.000Z"),
        Message(
            "user",
            (Attachment("session_context", context),),
            id="a",
            at="2026-03-01T10:00:00.000Z",
        ),
    )
    cost = RecordedCost(0.5, {"claude-opus-5-5": {"costUSD": 0.5}})
    path = exported(tmp_path, (Round(1, messages),), header=ExportHeader(cost=cost))
    session = read(path)
    assert session.info.cost == cost
    assert session.rounds[0].messages == messages
