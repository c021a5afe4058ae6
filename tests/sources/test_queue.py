"""Prompts typed while the model was busy are recovered, each once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ReadRecords, Record, assistant, tool_result, tool_use, user


def queue(operation: str, content: str | None = None, second: int = 1) -> Record:
    fields = {} if content is None else {"content": content}
    timestamp = f"2026-03-01T10:00:{second:02}.000Z"
    return {"type": "queue-operation", "operation": operation, "timestamp": timestamp, **fields}


def queued_command(prompt: Any, mode: str = "prompt", **fields: Any) -> Record:
    attachment = {"type": "queued_command", "prompt": prompt, "commandMode": mode, **fields}
    return {"type": "attachment", "attachment": attachment, "timestamp": "2026-03-01T10:00:09.000Z"}


def prompts(read_records: ReadRecords, *records: Record) -> list[tuple[str, bool]]:
    found = {}
    for depth in ("full", "skim"):
        session, _ = read_records(*records, depth=depth)
        opened = [round.prompt for round in session.rounds if round.prompt]
        found[depth] = [(prompt.text, prompt.queued) for prompt in opened]
    assert found["full"] == found["skim"]
    return found["full"]


BUSY = (user("go"), assistant(tool_use("t1"), id="m1"))


def test_an_injected_prompt_only_the_queue_holds_is_recovered(read_records: ReadRecords) -> None:
    """FMT-14: 2.1.0 to 2.1.8x kept such prompts nowhere else."""
    records = (*BUSY, queue("enqueue", "and faster"), tool_result("t1"), queue("remove"))
    expected = [("go", False), ("and faster", True)]
    assert prompts(read_records, *records, assistant("ok", id="m2")) == expected


@pytest.mark.parametrize("first", ["attachment", "remove"])
def test_an_attachment_carries_the_prompt_once(read_records: ReadRecords, first: str) -> None:
    """FMT-14: from 2.1.100 an attachment holds it too, before or after the queue's line."""
    pair = [queued_command("and faster"), queue("remove")]
    if first == "remove":
        pair.reverse()
    records = (*BUSY, queue("enqueue", "and faster"), tool_result("t1"), *pair)
    expected = [("go", False), ("and faster", True)]
    assert prompts(read_records, *records, assistant("ok", id="m2")) == expected


def test_a_dequeued_prompt_is_the_user_record(read_records: ReadRecords) -> None:
    """FMT-14: ``dequeue`` means an ordinary record follows."""
    records = (queue("enqueue", "go"), queue("dequeue"), user("go"), assistant("ok"))
    assert prompts(read_records, *records) == [("go", False)]


def test_a_queue_line_flushed_after_its_record_adds_nothing(read_records: ReadRecords) -> None:
    """FMT-14: 2.1.50 writes the user record before the queue's own lines."""
    records = (user("go", timestamp="2026-03-01T10:00:02.000Z"), assistant("ok"))
    late = (queue("enqueue", "go", second=1), queue("dequeue", second=2))
    assert prompts(read_records, *records, *late) == [("go", False)]


def test_the_same_words_again_are_another_prompt(read_records: ReadRecords) -> None:
    """FMT-14: "continue", then "continue" typed again while busy."""
    records = (
        user("continue", timestamp="2026-03-01T09:00:00.000Z"),
        assistant("ok", id="m1"),
        queue("enqueue", "continue", second=30),
        queue("remove", second=31),
        assistant("on", id="m2"),
    )
    assert prompts(read_records, *records) == [("continue", False), ("continue", True)]


def test_prompts_taken_back_were_never_said(read_records: ReadRecords) -> None:
    """FMT-14: ``popAll`` puts them back into the editor; the report counts them."""
    records = (*BUSY, queue("enqueue", "no wait"), queue("popAll", "no wait"), tool_result("t1"))
    assert prompts(read_records, *records, assistant("ok", id="m2")) == [("go", False)]
    _, report = read_records(*records)
    assert report.left_out["prompt taken back from the queue"] == 1


def test_a_prompt_still_waiting_at_the_end_is_not_lost(read_records: ReadRecords) -> None:
    """FMT-14: typed, never delivered: it is still what the person said."""
    assert prompts(read_records, *BUSY, queue("enqueue", "are you there?")) == [
        ("go", False),
        ("are you there?", True),
    ]


@pytest.mark.parametrize(
    "machine", ["<task-notification>x</task-notification>", '{"task_id": 1}', "/theme"]
)
def test_machine_items_in_the_queue_are_no_prompts(read_records: ReadRecords, machine: str) -> None:
    """FMT-14: notifications, task objects and commands go through the same queue."""
    records = (*BUSY, queue("enqueue", machine), queue("remove"), tool_result("t1"))
    assert prompts(read_records, *records, assistant("ok", id="m2")) == [("go", False)]


def test_a_queued_notification_is_a_notice(read_records: ReadRecords) -> None:
    """FMT-14: ``commandMode`` tells a machine's item from a person's."""
    records = (*BUSY, queued_command("done", mode="task-notification"), tool_result("t1"))
    assert prompts(read_records, *records) == [("go", False)]


def test_a_recovered_prompt_has_the_same_id_at_every_reading(read_records: ReadRecords) -> None:
    """CORP-01: turn pair ids are stable, also where the file gives none."""
    records = (*BUSY, queue("enqueue", "and faster"), queue("remove"), assistant("ok", id="m2"))
    ids = {read_records(*records)[0].rounds[1].prompt.id for _ in range(2)}  # type: ignore[union-attr]
    assert len(ids) == 1
    assert None not in ids


@pytest.mark.parametrize(
    "typed", ["/Users/me/shot.png why is this red?", '{"a":1} why does this JSON fail?']
)
def test_a_prompt_may_begin_like_a_command(read_records: ReadRecords, typed: str) -> None:
    """FMT-14: a path or a piece of JSON in front does not make a machine's item."""
    records = (*BUSY, queue("enqueue", typed), queue("remove"), tool_result("t1"))
    expected = [("go", False), (typed, True)]
    assert prompts(read_records, *records, assistant("ok", id="m2")) == expected


def test_prompts_sent_together_come_back_as_one(read_records: ReadRecords) -> None:
    """FMT-14: two queued lines, one user record."""
    records = (
        queue("enqueue", "one"),
        queue("enqueue", "two"),
        queue("dequeue"),
        queue("dequeue"),
        user("one\ntwo"),
        assistant("ok"),
    )
    assert prompts(read_records, *records) == [("one\ntwo", False)]
