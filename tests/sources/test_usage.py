"""What a reply used, and when records were written (USE-01 … USE-03)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minutebook.derive.clock import Moment, read_clock
from minutebook.model import Billing, Message, Usage
from minutebook.sources.claude_code.read import ClaudeReading
from tests.conftest import ReadRecords, Record, as_line, assistant, user

# ------------------------------------------------------------ replies


def line(at: int, id: str | None = "msg_1", **usage: Any) -> Record:
    """A line of a reply, so many seconds after ten."""
    record = assistant(f"at {at}", uuid=f"u{at}", timestamp=f"2026-03-01T10:00:{at:02d}.000Z")
    record["message"] = {**record["message"], "id": id, "usage": usage}
    return record


def reply_of(read_records: ReadRecords, *records: Record) -> Message:
    session, _ = read_records(user("go", uuid="p"), *records)
    (reply,) = session.rounds[0].replies
    return reply


def test_the_largest_line_is_believed_and_of_equals_the_earliest(
    read_records: ReadRecords,
) -> None:
    """USE-01: early lines hold a placeholder; the day is that of the line believed."""
    lines = [
        line(1, input_tokens=5, output_tokens=1),
        line(2, input_tokens=5, output_tokens=9),
        line(3, input_tokens=9, output_tokens=5),
        line(4, input_tokens=1),
    ]
    reply = reply_of(read_records, *lines)
    assert reply.usage == Usage(5, 9)
    assert reply.at == "2026-03-01T10:00:01.000Z"
    assert reply.billing == Billing(at="2026-03-01T10:00:02.000Z")
    late = reply_of(read_records, line(9, output_tokens=3), line(8, output_tokens=3))
    assert late.billing == Billing(at="2026-03-01T10:00:08.000Z")


@pytest.mark.parametrize("absurd", [-1, True, 1.5, "7", None, 10**30, [], {}])
def test_what_cannot_be_a_count_is_none(read_records: ReadRecords, absurd: Any) -> None:
    """USE-01: negative, boolean, fractional or endless counts are 0, and break nothing."""
    usage: dict[str, Any] = {
        "input_tokens": absurd,
        "output_tokens": 7,
        "cache_read_input_tokens": absurd,
        "cache_creation_input_tokens": 3,
        "cache_creation": {"ephemeral_1h_input_tokens": absurd},
        "server_tool_use": {"web_search_requests": absurd},
    }
    reply = reply_of(read_records, line(1, **usage))
    assert reply.usage == Usage(0, 7, 0, 3)
    assert reply.billing is None


def test_hour_long_writes_are_no_more_than_all_writes(read_records: ReadRecords) -> None:
    """USE-01: write_1h = min(write, ephemeral_1h)."""
    for hour, expected in ((4, 4), (40, 10)):
        split = {"ephemeral_1h_input_tokens": hour}
        usage: dict[str, Any] = {"cache_creation_input_tokens": 10, "cache_creation": split}
        assert reply_of(read_records, line(1, **usage)).usage == Usage(0, 0, 0, 10, expected)


def test_what_a_reply_costs_beside_its_tokens(read_records: ReadRecords) -> None:
    """USE-02: speed, tier, place, the provider's own tools, and the cost old versions wrote."""
    usage: dict[str, Any] = {
        "output_tokens": 1,
        "speed": "fast",
        "service_tier": "batch",
        "inference_geo": "us",
        "server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 0, "odd": "x"},
    }
    record = {**line(1, **usage), "costUSD": 0.25}
    assert reply_of(read_records, record).billing == Billing(
        speed="fast",
        tier="batch",
        geo="us",
        server_tools={"web_search_requests": 3},
        cost_usd=0.25,
    )


def test_a_reply_without_an_id_is_counted_by_its_line(read_records: ReadRecords) -> None:
    """USE-01: the message has the line's id, and its usage is the session's."""
    session, _ = read_records(user("go"), line(1, None, output_tokens=2), line(2, None))
    replies = list(session.rounds[0].replies)
    assert [(r.reply_id, r.id, r.usage) for r in replies] == [
        (None, "u1", Usage(output=2)),
        (None, "u2", Usage()),
    ]
    assert session.info.usage == Usage(output=2)


def test_a_reply_that_goes_on_in_a_later_round(read_records: ReadRecords) -> None:
    """FMT-26: a round holds what is new, and the whole beside it."""
    session, _ = read_records(
        user("one", uuid="p1"),
        line(1, output_tokens=3),
        user("two", uuid="p2"),
        line(2, output_tokens=5, speed="fast"),
    )
    (first,), (second,) = (list(round.replies) for round in session.rounds)
    assert (first.usage, first.billing) == (Usage(output=3), None)
    assert second.usage == Usage(output=2)
    assert second.billing == Billing(usage=Usage(output=5), speed="fast")
    assert session.info.usage == Usage(output=5)


def test_a_repeated_line_does_not_lose_the_larger_usage(read_records: ReadRecords) -> None:
    """USE-01: in an open round it counts there, later as a reply of its own."""
    again = {**line(1, output_tokens=8), "uuid": "u1"}
    assert reply_of(read_records, line(1, output_tokens=3), again).usage == Usage(output=8)
    session, _ = read_records(
        user("one", uuid="p1"), line(1, output_tokens=3), user("two", uuid="p2"), again
    )
    (repeated,) = session.rounds[1].progress
    assert (repeated.id, repeated.usage) == ("msg_1", Usage(output=8))


# ------------------------------------------------------------ progress


def progress(at: int, id: str, *, type: str = "assistant", **usage: Any) -> Record:
    inner = {**line(at, id, **usage), "type": type, "uuid": f"inner-{at}"}
    stamp = f"2026-03-01T10:01:{at:02d}.000Z"
    data = {"type": "agent_progress", "message": inner, "prompt": "", "agentId": "a"}
    return {"type": "progress", "data": data, "uuid": f"g{at}", "timestamp": stamp}


def test_progress_counts_once_a_reply_and_round(read_records: ReadRecords) -> None:
    """USE-01: a subagent's replies that only its parent repeats; the best sighting of each."""
    session, _ = read_records(
        user("one", uuid="p1"),
        progress(1, "a", output_tokens=1),
        progress(2, "a", output_tokens=4),
        progress(3, "b", output_tokens=2),
        progress(4, "c", type="user", output_tokens=2),
        {"type": "progress", "data": {"type": "bash_progress", "output": '"usage"'}},
        {"type": "progress", "data": "odd"},
        {"type": "progress", "data": {"message": ["odd"]}},
        user("two", uuid="p2"),
        progress(5, "a", output_tokens=4),
    )
    first, second = session.rounds
    assert [(r.id, r.at, r.usage.output) for r in first.progress] == [
        ("a", "2026-03-01T10:00:02.000Z", 4),
        ("b", "2026-03-01T10:00:03.000Z", 2),
    ]
    assert [r.id for r in second.progress] == ["a"]
    skimmed, _ = read_records(user("one"), progress(1, "a", output_tokens=1), depth="skim")
    assert skimmed.rounds[0].progress == ()


def test_what_no_round_holds_is_loose(tmp_path: Path) -> None:
    """USE-03: a file without a round still has its time and its subagents' usage."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(as_line(progress(1, "a", output_tokens=1)) + b"\n")
    reading = ClaudeReading(path)
    assert list(reading.rounds()) == []
    assert [reply.id for reply in reading.loose.replies] == ["a"]
    assert [m.made_by for m in read_clock(reading.loose.clock)] == ["progress"]


# ------------------------------------------------------------ clocks


def test_each_record_goes_with_the_round_it_falls_into(read_records: ReadRecords) -> None:
    """USE-03: what comes before the first prompt with the first round, in file order."""

    def at(second: int) -> dict[str, str]:
        return {"timestamp": f"2026-03-01T10:00:{second:02d}.000Z"}

    session, _ = read_records(
        {"type": "system", "subtype": "api_error", **at(0)},
        user("one", **at(2)),
        {**user("side", **at(1)), "isSidechain": True, "uuid": "s1"},
        {**assistant("x", **at(3)), "uuid": "r"},
        {**assistant("x", **at(3)), "uuid": "r"},
        user("no time", timestamp="yesterday"),
        user("<command-name>/model</command-name>", **at(5)),
        {"type": "last-prompt", **at(6)},
        user("<task-notification>done</task-notification>", **at(7)),
    )
    whole = [list(read_clock(round.clock)) for round in session.rounds]
    start = 1772359200000
    assert [[((m.at - start) // 1000, m.made_by) for m in clock] for clock in whole] == [
        [(0, "other"), (2, "prompt"), (1, "prompt"), (3, "reply"), (3, "reply")],
        [(5, "command"), (7, "other")],
    ]
    assert Moment(start, "other") == whole[0][0]
