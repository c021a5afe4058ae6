"""What a session knows beside its words: results, compactions, costs, counts."""

from __future__ import annotations

from typing import Any

from minutebook.model import Compaction, Hunk
from tests.conftest import ReadRecords, Record, assistant, tool_result, tool_use, user


def test_what_the_twin_of_a_result_says(read_records: ReadRecords) -> None:
    """USE-05: the patch, the exit code, whether it was interrupted, how long it took."""
    hunk = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 3, "lines": [" a", "+b"]}
    broken = [{"lines": 7}, None, {"oldStart": "x", "lines": []}]
    twins: list[Any] = [
        {"structuredPatch": [hunk], "originalFile": "a"},
        {"structuredPatch": [hunk, *broken]},
        {"structuredPatch": "odd", "interrupted": True, "durationMs": 12.4},
        {"exitCode": 3, "totalDurationMs": 7, "durationMs": None},
        {"exitCode": "x", "durationMs": -1, "interrupted": "yes"},
        "Error: no",
        [{"type": "text"}],
        None,
    ]
    calls = [assistant(tool_use(f"c{n}", "Edit"), id=f"m{n}") for n in range(len(twins))]
    results = [tool_result(f"c{n}", toolUseResult=twin) for n, twin in enumerate(twins)]
    session, _ = read_records(user("go"), *calls, *results)
    found = [call.result for call in session.rounds[0].calls]
    told = [(r.patch, r.exit_code, r.interrupted, r.duration_ms) for r in found if r]
    patch = (Hunk(1, 2, 1, 3, (" a", "+b")),)
    assert told == [
        (patch, None, False, None),
        (patch, None, False, None),
        ((), None, True, 12),
        ((), 3, False, 7),
        *[((), None, False, None)] * 4,
    ]


def test_an_exit_code_in_the_words_of_a_failed_command(read_records: ReadRecords) -> None:
    """USE-05: only at the start of an error of a tool that runs something."""
    failed = {"content": "Exit code 127\nnot found", "is_error": True}
    asked = [("Bash", True), ("PowerShell", True), ("Read", True), ("Bash", False)]
    records: list[Record] = [user("go")]
    for n, (name, error) in enumerate(asked):
        block = {"type": "tool_result", "tool_use_id": f"c{n}", **failed, "is_error": error}
        records += [assistant(tool_use(f"c{n}", name), id=f"m{n}"), user([block])]
    session, _ = read_records(*records)
    codes = [call.result.exit_code for call in session.rounds[0].calls if call.result]
    assert codes == [127, 127, None, None]


def test_compactions_are_told_once(read_records: ReadRecords) -> None:
    """FUT-04: by their boundary, or by their summary where there is none."""
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "timestamp": "2026-03-01T10:00:01.000Z",
        "compactMetadata": {"trigger": "auto", "preTokens": 156326},
    }
    summary = user("This session is being continued from a previous conversation that …")
    session, _ = read_records(
        user("one"), boundary, {**summary, "isCompactSummary": True}, user("two"), summary
    )
    assert [round.compactions for round in session.rounds] == [
        (Compaction("2026-03-01T10:00:01.000Z", "auto", 156326),),
        (Compaction(summary["timestamp"]),),
    ]
    assert session.info.compactions == 2


def test_the_last_recorded_cost_is_kept(read_records: ReadRecords) -> None:
    """USE-02: what the agent says a session cost, at both depths."""
    states = [
        {"type": "cost-state", "totalCostUSD": usd, "modelUsage": {"opus": {"costUSD": usd}}}
        for usd in (0.1, 0.4)
    ]
    for depth in ("skim", "full"):
        session, _ = read_records(user("go"), *states, depth=depth)
        assert session.info.cost is not None
        assert (session.info.cost.usd, session.info.cost.models["opus"]["costUSD"]) == (0.4, 0.4)


def test_both_depths_count_the_answer_and_the_prompts(read_records: ReadRecords) -> None:
    """ING-05, UND-08: characters of the model's words, and ids that copies share."""
    records = [
        user("one", uuid="p1"),
        assistant("four", tool_use("c1"), id="m1"),
        tool_result("c1", uuid="t"),
        assistant("ten letter", id="m2"),
        user("two", uuid="p2"),
    ]
    for depth in ("skim", "full"):
        session, _ = read_records(*records, depth=depth)
        assert (session.info.answer_chars, session.info.prompt_ids) == (14, ("p1", "p2"))
