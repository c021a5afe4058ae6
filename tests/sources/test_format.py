"""What Claude Code wrote, record by record (FMT-05 … FMT-27)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minutebook.model import (
    Attachment,
    Document,
    Image,
    Link,
    Notice,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    Usage,
)
from minutebook.sources.base import read_session
from minutebook.sources.claude_code.read import ClaudeReading
from tests.conftest import (
    ReadRecords,
    as_line,
    assistant,
    tool_result,
    tool_use,
    user,
)


def blocks(session: Any, role: str = "assistant") -> list[Any]:
    return [
        block
        for round in session.rounds
        for message in round.messages
        if message.role == role
        for block in message.blocks
    ]


def test_human_is_user(read_records: ReadRecords) -> None:
    """FMT-05: ``human`` = ``user``."""
    session, _ = read_records({"type": "human", "message": {"content": "hello"}})
    assert session.rounds[0].prompt is not None
    assert session.rounds[0].prompt.text == "hello"


@pytest.mark.parametrize("content", ["hello", [{"type": "text", "text": "hello"}], ["hello"]])
def test_content_is_a_string_or_blocks_for_both_roles(
    read_records: ReadRecords, content: Any
) -> None:
    """FMT-06: a string or a list of blocks, for user and assistant."""
    session, _ = read_records(
        {"type": "user", "message": {"content": content}},
        {"type": "assistant", "message": {"id": "m", "content": content}},
    )
    assert [message.text for message in session.rounds[0].messages] == ["hello", "hello"]


@pytest.mark.parametrize("message", ["hello", [{"type": "text", "text": "hello"}]])
def test_the_message_may_itself_be_the_content(read_records: ReadRecords, message: Any) -> None:
    """FMT-06: ``message`` is a string (or, in one tool's files, a list)."""
    session, _ = read_records(
        {"type": "user", "message": message}, {"type": "assistant", "message": message}
    )
    assert [m.text for m in session.rounds[0].messages] == ["hello", "hello"]


def test_legacy_top_level_calls_are_paired(read_records: ReadRecords) -> None:
    """FMT-07: top-level ``tool_use`` and ``tool_result`` records, with no ids at all."""
    session, _ = read_records(
        user("go"),
        {"type": "tool_use", "tool": "Edit", "input": {"path": "a.rs"}},
        {"type": "tool_use", "tool": "Bash", "input": {"command": "ls"}},
        {"type": "tool_result", "tool": "Edit", "output": "edited"},
        {"type": "tool_result", "tool": "Bash", "output": "a.rs"},
    )
    calls = list(session.rounds[0].calls)
    assert [(c.name, c.result and c.result.text) for c in calls] == [
        ("Edit", "edited"),
        ("Bash", "a.rs"),
    ]


def test_legacy_calls_beside_the_content_are_read(read_records: ReadRecords) -> None:
    """FMT-08: ``message.tool_use[]``."""
    record = {
        "type": "assistant",
        "message": {"content": "I look.", "tool_use": [tool_use("t1", "Read", path="a")]},
    }
    session, _ = read_records(user("go"), record, tool_result("t1", "text of a"))
    (call,) = session.rounds[0].calls
    assert call.name == "Read"
    assert call.result is not None
    assert call.result.text == "text of a"


@pytest.mark.parametrize("depth", ["skim", "full"])
def test_legacy_calls_need_not_say_that_they_are_calls(
    read_records: ReadRecords, depth: Any
) -> None:
    """FMT-08: items of ``message.tool_use[]`` without a ``type``."""
    item = {"id": "t1", "name": "Read", "input": {"path": "a"}}
    message = {"content": "I look.", "tool_use": [item, {**item, "id": "t2"}]}
    session, _ = read_records(
        user("go"), {"type": "assistant", "message": message}, tool_result("t2"), depth=depth
    )
    assert session.info.calls == 2
    calls = list(session.rounds[0].calls)
    if depth == "full":
        assert [(c.id, c.name, c.input, c.result is not None) for c in calls] == [
            ("t1", "Read", {"path": "a"}, False),
            ("t2", "Read", {"path": "a"}, True),
        ]


def test_every_kind_of_block_has_its_type(read_records: ReadRecords) -> None:
    """FMT-09, FMT-18: text, thinking, redacted thinking, calls, images, documents."""
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    session, report = read_records(
        user(
            [
                {"type": "text", "text": "look"},
                {"type": "image", "source": source},
                {"type": "document", "source": {**source, "media_type": "application/pdf"}},
            ]
        ),
        assistant(
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "thinking", "thinking": "", "signature": "only"},
            {"type": "redacted_thinking", "data": "xyz"},
            "done",
            tool_use("t1"),
        ),
        tool_result("t1", [{"type": "text", "text": "see"}, {"type": "image", "source": source}]),
    )
    assert blocks(session, "user") == [
        Text("look"),
        Image("image/png", "AAAA"),
        Document("application/pdf", "AAAA"),
    ]
    said = blocks(session)
    assert said[0] == Thinking("hm", "s")
    assert [b.shown for b in said if isinstance(b, Thinking)] == ["hm", "[thinking]", "[thinking]"]
    assert said[2].redacted
    assert said[4].result.content == (Text("see"), Image("image/png", "AAAA"))
    assert not report.unknown


def test_an_unknown_block_is_kept_verbatim_and_counted(read_records: ReadRecords) -> None:
    """FMT-09: nothing is dropped because we do not know it."""
    hologram = {"type": "hologram", "beams": [1, {"a": None}]}
    session, report = read_records(user("go"), assistant("one", hologram))
    assert blocks(session) == [Text("one"), Unknown("hologram", hologram)]
    assert report.unknown["block assistant hologram"] == 1


def test_a_broken_known_block_is_kept_verbatim(read_records: ReadRecords) -> None:
    """FMT-04, FMT-09: a text block whose text is a number is not lost."""
    odd = {"type": "text", "text": 5}
    session, report = read_records(user("go"), assistant(odd))
    assert blocks(session) == [Unknown("text", odd)]
    assert report.repaired["odd field"] == 1


@pytest.mark.parametrize("name", ["Edit", "MultiEdit", "Task", "Agent", "mcp__x__y", "Frobnicate"])
def test_tool_names_are_kept_verbatim(read_records: ReadRecords, name: str) -> None:
    """FMT-10: known tools and unknown ones."""
    session, _ = read_records(user("go"), assistant(tool_use("t1", name, a=1)))
    (call,) = session.rounds[0].calls
    assert (call.name, call.input) == (name, {"a": 1})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", "run"),
        ("BashOutput", "run"),
        ("KillShell", "run"),
        ("PowerShell", "run"),
        ("Read", "read"),
        ("LS", "read"),
        ("MultiEdit", "edit"),
        ("apply_patch", "edit"),
        ("Write", "write"),
        ("ToolSearch", "search"),
        ("WebSearch", "fetch"),
        ("Agent", "delegate"),
        ("Workflow", "delegate"),
        ("TaskCreate", "plan"),
        ("exit_plan_mode", "plan"),
        ("Skill", "other"),
        ("mcp__db__Bash", "other"),
    ],
)
def test_tools_are_known_by_what_they_do(read_records: ReadRecords, name: str, kind: str) -> None:
    """AGT-03: neutral kinds beside the names, answered or not."""
    session, _ = read_records(
        user("go"), assistant(tool_use("t1", name), tool_use("t2", name)), tool_result("t1")
    )
    assert [call.kind for call in session.rounds[0].calls] == [kind, kind]


@pytest.mark.parametrize("depth", ["skim", "full"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain words", None),
        (
            "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n"
            "<command-args>the move</command-args>",
            "/plan the move",
        ),
        ("<bash-input>git status</bash-input>", "! git status"),
        ("<ide_opened_file>a.py is open</ide_opened_file>fix it", "fix it"),
        ("<b>bold</b> words", None),
    ],
)
def test_what_was_typed_is_kept_beside_its_wrapping(
    read_records: ReadRecords, depth: Any, text: str, said: str | None
) -> None:
    """FMT-14: commands, shell input and the editor's remarks, at both depths."""
    session, _ = read_records(user(text), depth=depth)
    prompt = session.rounds[0].prompt
    assert prompt is not None
    assert prompt.blocks == (Text(text, said),)


def test_other_records_never_become_rounds(read_records: ReadRecords) -> None:
    """FMT-11: bookkeeping and unknown records are counted; unknown ones are kept, too."""
    session, report = read_records(
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        {"type": "mode", "mode": "normal"},
        user("go"),
        {"type": "quantum-state", "spin": "up"},
        assistant("done"),
    )
    assert len(session.rounds) == 1
    assert report.left_out["file-history-snapshot"] == 1
    assert report.unknown["record quantum-state"] == 1
    kept = [b for b in blocks(session, "user") if isinstance(b, Unknown)]
    assert kept == [Unknown("record quantum-state", {"type": "quantum-state", "spin": "up"})]


def test_a_fragmented_reply_is_one_message(read_records: ReadRecords) -> None:
    """FMT-12: lines with one message id, with results between them, are one message again."""
    session, _ = read_records(
        user("go"),
        assistant({"type": "thinking", "thinking": "hm", "signature": "s"}, id="m1"),
        assistant("I run two things.", id="m1"),
        assistant(tool_use("t1"), id="m1"),
        tool_result("t1", "one"),
        assistant(tool_use("t2"), id="m1"),
        tool_result("t2", "two"),
        assistant("done", id="m2"),
    )
    replies = list(session.rounds[0].replies)
    assert [len(reply.blocks) for reply in replies] == [4, 1]
    assert [call.result and call.result.text for call in session.rounds[0].calls] == ["one", "two"]


def test_parallel_results_in_any_order_reach_their_calls(read_records: ReadRecords) -> None:
    """FMT-12: paired by ``tool_use_id``, not by position or parent."""
    calls = [tool_use(f"t{n}") for n in range(3)]
    session, _ = read_records(
        user("go"),
        assistant(*calls),
        tool_result("t2", "r2"),
        tool_result("t0", "r0"),
        tool_result("t1", "r1"),
    )
    assert [c.result.text for c in session.rounds[0].calls if c.result] == ["r0", "r1", "r2"]


def test_a_result_that_comes_after_the_next_prompt_still_finds_its_call(
    read_records: ReadRecords,
) -> None:
    """FMT-12: a prompt typed meanwhile does not part a call from its result."""
    session, _ = read_records(
        user("go"), assistant(tool_use("t1")), user("faster"), tool_result("t1", "late")
    )
    (call,) = session.rounds[0].calls
    assert call.result is not None
    assert call.result.text == "late"
    assert len(session.rounds) == 2


def test_results_without_calls_and_second_results_are_kept(read_records: ReadRecords) -> None:
    """FMT-12: none is lost, none overwrites another."""
    session, _ = read_records(
        user("go"),
        assistant(tool_use("t1")),
        tool_result("t1", "first"),
        tool_result("t1", "second"),
        tool_result("t9", "whose?"),
    )
    strays = [b for b in blocks(session, "user") if isinstance(b, StrayResult)]
    assert [(s.call_id, s.result.text) for s in strays] == [("t1", "second"), ("t9", "whose?")]
    assert isinstance(blocks(session)[0], ToolCall)


def test_a_round_ends_at_the_next_real_message(read_records: ReadRecords) -> None:
    """FMT-13: not at a reply, a notice or a notification; the stop reason marks the end."""
    finished = assistant("one", id="m1")
    finished["message"]["stop_reason"] = "end_turn"
    session, _ = read_records(
        user("first"),
        finished,
        user("<task-notification>\n<summary>done</summary></task-notification>"),
        assistant("two", id="m2"),
        user("second"),
        assistant("three", id="m3"),
    )
    assert [[m.text for m in r.replies] for r in session.rounds] == [["one", "two"], ["three"]]
    assert next(session.rounds[0].replies).stop == "end_turn"


def test_usage_is_counted_once_a_message(read_records: ReadRecords) -> None:
    """FMT-26: repeated on every line, a placeholder first; the last and largest counts."""
    lines = []
    for output in (1, 1, 50):
        line = assistant("x", id="m1")
        line["message"]["usage"] = {"input_tokens": 10, "output_tokens": output}
        lines.append(line)
    session, _ = read_records(user("go"), *lines)
    assert session.rounds[0].usage == Usage(10, 50)
    assert session.info.usage == Usage(10, 50)


def test_durations_are_summed(read_records: ReadRecords) -> None:
    """FMT-17: ``system/turn_duration`` gives the round's duration and the session's sum."""
    session, _ = read_records(
        user("go"),
        assistant("ok"),
        {"type": "system", "subtype": "turn_duration", "durationMs": 1500},
        user("on"),
        {"type": "system", "subtype": "turn_duration", "durationMs": 500},
    )
    assert [round.duration_ms for round in session.rounds] == [1500, 500]
    assert session.info.duration_ms == 2000


def test_metadata_comes_from_the_records(read_records: ReadRecords) -> None:
    """FMT-19, FMT-20, FMT-21: model, branch, slug, cwd, version, first and last time."""
    common = {"cwd": "/a", "gitBranch": "main", "version": "2.1.9", "slug": "quiet-red-fox"}
    synthetic = assistant("oops", id="m0", **common)
    synthetic["message"]["model"] = "<synthetic>"
    session, _ = read_records(
        user("go", **{**common, "timestamp": "2026-03-01T09:00:00.000Z"}),
        synthetic,
        assistant("ok", **{**common, "cwd": "/a/b", "timestamp": "2026-03-01T11:00:00.000Z"}),
    )
    info = session.info
    assert info.models == ("claude-opus-4-6",)
    assert (info.branch, info.slug, info.versions) == ("main", "quiet-red-fox", ("2.1.9",))
    assert info.cwds == ("/a", "/a/b")
    assert (info.started, info.ended) == ("2026-03-01T09:00:00.000Z", "2026-03-01T11:00:00.000Z")


def test_links_to_other_sessions_are_found(read_records: ReadRecords) -> None:
    """FMT-16: ``forkedFrom``, ``parentSessionId`` and foreign session ids."""
    session, _ = read_records(
        user("a", forkedFrom={"sessionId": "f1"}, sessionId="own"),
        user("b", parentSessionId="p1", sessionId="own2"),
        name="own",
    )
    assert session.info.links == (
        Link("f1", "forkedFrom"),
        Link("p1", "parentSessionId"),
        Link("own2", "sessionId"),
    )


def test_a_repeated_record_is_read_once_and_counted(read_records: ReadRecords) -> None:
    """FMT-16: identity is the uuid, never the text; the same text twice is two messages."""
    session, report = read_records(
        user("again", uuid="u1"), user("again", uuid="u1"), user("again", uuid="u2")
    )
    assert len(session.rounds) == 2
    assert report.left_out["repeated record"] == 1


def test_compactions_are_labelled_and_no_prompt(read_records: ReadRecords) -> None:
    """FMT-25: flagged, unflagged and old-style summaries never count as a user message."""
    opening = "This session is being continued from a previous conversation that ran out"
    session, _ = read_records(
        user("go"),
        {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"},
        user("any text", isCompactSummary=True),
        user(opening),
        {"type": "summary", "summary": "Old title", "leafUuid": "elsewhere"},
    )
    assert session.info.prompts == 1
    assert session.info.compactions == 2
    notices = [b for b in blocks(session, "user") if isinstance(b, Notice)]
    assert {notice.kind for notice in notices} == {"compaction", "compaction-boundary"}
    assert session.info.title == "go", "a summary of another session is not this one's title"


def test_an_old_summary_of_this_session_is_its_title(read_records: ReadRecords) -> None:
    """FMT-25: ``summary`` whose leaf is one of our own messages."""
    session, _ = read_records(
        {"type": "summary", "summary": "Ours", "leafUuid": "u1"}, user("go", uuid="u1")
    )
    assert session.info.title == "Ours"


def test_the_last_title_wins(read_records: ReadRecords) -> None:
    """ID-04: custom title before generated title before the first prompt; the last of each."""
    titles: list[dict[str, Any]] = [
        {"type": "custom-title", "customTitle": "old"},
        {"type": "ai-title", "aiTitle": "machine"},
        {"type": "custom-title", "customTitle": "new"},
    ]
    assert read_records(user("go"), *titles)[0].info.title == "new"
    assert read_records(user("go"), titles[1])[0].info.title == "machine"
    assert read_records(user("go\nand more"))[0].info.title == "go"


def test_pull_requests_and_attachments_are_kept(read_records: ReadRecords) -> None:
    """INS-16: what the person gave along is part of the record; bookkeeping is counted."""
    mentioned = {"type": "file", "filename": "a.py", "content": {"x": 1}}
    session, report = read_records(
        user("go"),
        {"type": "attachment", "attachment": mentioned},
        {"type": "attachment", "attachment": {"type": "hook_success", "stdout": ""}},
        {"type": "pr-link", "prUrl": "https://x/1", "prNumber": 1},
        {"type": "pr-link", "prUrl": "https://x/1", "prNumber": 1},
    )
    assert [b for b in blocks(session, "user") if isinstance(b, Attachment)] == [
        Attachment("file", mentioned)
    ]
    assert report.left_out["attachment hook_success"] == 1
    assert [request.number for request in session.info.pull_requests] == [1]


@pytest.mark.parametrize("depth", ["skim", "full"])
def test_sources_are_never_written(tmp_path: Path, depth: Any) -> None:
    """FMT-24, invariant 1: bytes and times of a transcript are the same after reading."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(as_line(user("go")) + b"\n")
    path.chmod(0o400)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    read_session(ClaudeReading(path, depth))
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.jsonl"]


def test_a_vanished_spilled_output_is_reported(read_records: ReadRecords) -> None:
    """FMT-27: the pointer stays, the report says that its file is gone."""
    pointer = "<persisted-output>\nFull output saved to: /x/tool-results/gone.txt\n"
    session, report = read_records(
        user("go"), assistant(tool_use("t1")), tool_result("t1", pointer)
    )
    (call,) = session.rounds[0].calls
    assert call.result is not None
    assert call.result.text == pointer
    assert report.left_out["tool output whose file is gone"] == 1


def test_a_pointer_cannot_reach_outside_the_session(tmp_path: Path) -> None:
    """FMT-27: only the file's name is believed, never its folder."""
    (tmp_path / "secret.txt").write_text("secret")
    path = tmp_path / "s.jsonl"
    pointer = f"<persisted-output>\nsaved to: {tmp_path}/secret.txt"
    lines = [user("go"), assistant(tool_use("t1")), tool_result("t1", pointer)]
    path.write_bytes(b"".join(as_line(line) + b"\n" for line in lines))
    session = read_session(ClaudeReading(path))
    assert next(iter(session.rounds[0].calls)).result.text != "secret"  # type: ignore[union-attr]


def test_a_result_written_before_its_call_is_paired(read_records: ReadRecords) -> None:
    """FMT-12: real files have the result one line too early."""
    session, _ = read_records(
        user("go"), tool_result("t1", "early"), assistant(tool_use("t1")), assistant("ok", id="m2")
    )
    (call,) = session.rounds[0].calls
    assert call.result is not None
    assert call.result.text == "early"
    assert not [b for b in blocks(session, "user") if isinstance(b, StrayResult)]


def test_two_prompts_typed_during_parallel_calls(read_records: ReadRecords) -> None:
    """FMT-12, FMT-26: a reply that goes on over three rounds keeps its results and its usage."""
    lines = [assistant(tool_use(f"t{n}"), id="m1") for n in range(3)]
    for line, output in zip(lines, (1, 1, 500), strict=True):
        line["message"]["usage"] = {"input_tokens": 10, "output_tokens": output}
    session, _ = read_records(
        user("one"),
        lines[0],
        user("two"),
        lines[1],
        user("three"),
        lines[2],
        tool_result("t2", "r2"),
        tool_result("t1", "r1"),
        tool_result("t0", "r0"),
    )
    answers = [call.result.text for r in session.rounds for call in r.calls if call.result]
    assert answers == ["r0", "r1", "r2"]
    assert session.info.usage == Usage(10, 500)


def test_odd_items_in_a_list_stay_where_they_are(read_records: ReadRecords) -> None:
    """FMT-04, FMT-09: a number, a null, a block outside a list: kept, each in its place."""
    new = {"type": "new_kind", "x": 1}
    odd = {"type": "assistant", "message": {"id": "m", "content": [None, 5, new]}}
    alone = {"type": "user", "message": {"content": {"type": "text", "text": "hello"}}}
    session, _ = read_records(alone, odd)
    assert [b.data for b in blocks(session)] == [None, 5, new]
    assert session.rounds[0].prompt is not None
    assert session.rounds[0].prompt.text == "hello"


def test_a_machines_picture_is_no_prompt(read_records: ReadRecords) -> None:
    """FMT-14: a notification with an image is still a notification."""
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    session, _ = read_records(
        user("go"),
        user([{"type": "image", "source": source}], origin={"kind": "task-notification"}),
    )
    assert session.info.prompts == 1


def test_a_spilled_output_inside_a_list_is_read(tmp_path: Path) -> None:
    """FMT-27: the pointer may be a text block."""
    (tmp_path / "s" / "tool-results").mkdir(parents=True)
    (tmp_path / "s" / "tool-results" / "big.txt").write_text("all of it")
    pointer = "<persisted-output>\nsaved to: /x/tool-results/big.txt\n"
    lines = [
        user("go"),
        assistant(tool_use("t1")),
        tool_result("t1", [{"type": "text", "text": pointer}]),
    ]
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(as_line(line) + b"\n" for line in lines))
    (call,) = read_session(ClaudeReading(path)).rounds[0].calls
    assert call.result is not None
    assert (call.result.text, call.result.spilled) == ("all of it", "big.txt")


@pytest.mark.parametrize("depth", ["skim", "full"])
def test_absurd_durations_are_ignored(read_records: ReadRecords, depth: Any) -> None:
    """FMT-04: no number in a file overflows anything."""
    turn = {"type": "system", "subtype": "turn_duration", "durationMs": 1.7e308}
    session, _ = read_records(user("go"), turn, turn, depth=depth)
    assert session.info.duration_ms == 0


@pytest.mark.parametrize("depth", ["skim", "full"])
def test_a_glued_line_is_taken_apart_at_both_depths(read_records: ReadRecords, depth: Any) -> None:
    """FMT-03: what follows a tool result on the same line is not passed over."""
    glued = as_line(tool_result("t1")) + as_line(user("and this?"))
    session, _ = read_records(user("go"), assistant(tool_use("t1")), glued, depth=depth)
    assert session.info.prompts == 2
