"""Traces: what is measured in characters, and what is too short to be told apart by."""

from __future__ import annotations

import pytest

from minutebook.derive.kinship import kinship
from minutebook.derive.traces import Trace, long_lines, trace_of
from minutebook.model import Message, Round, Text


def trace(day: int, *said: tuple[str, str]) -> Trace:
    rounds = (
        Round(
            number,
            (
                Message("user", (Text(asked),), at=f"2026-03-{day:02}T09:{day * number:02}:00Z"),
                Message(
                    "assistant", (Text(answer),), at=f"2026-03-{day:02}T09:{day * number:02}:30Z"
                ),
            ),
        )
        for number, (asked, answer) in enumerate(said, 1)
    )
    return trace_of(rounds)


POLITE = "好的，我会继续处理剩下的部分，完成之后会运行测试并告诉你结果。" * 3


def test_short_answers_make_no_copies_in_any_script() -> None:
    """FUT-02: sessions that say the same little are no copies, however many bytes that takes."""
    talks = (("继续", POLITE[:85]), ("提交", POLITE[:84]))
    traces = {"one": trace(1, *talks), "other": trace(8, *talks)}
    assert [round.size for round in traces["one"].rounds] == [85, 84]
    assert kinship(traces, list(traces)) == []


def test_blanks_and_capitals_do_not_matter() -> None:
    """FUT-02: a copy that was wrapped otherwise has the same fingerprints."""
    told = "The pears of the north field are ripe,\n  and the crates are counted. " * 5
    one, other = trace(1, ("Count", told)), trace(2, ("count", " ".join(told.upper().split())))
    (here,), (there,) = one.rounds, other.rounds
    assert (here.asked, here.opening, here.whole) == (there.asked, there.opening, there.whole)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Count the crates of every field before the frost comes", True),
        ("-" * 12 + " " * 40 + "-" * 12, False),
        ("a short line", False),
        (
            "在北边果园里数一数每一块地里所有的箱子并且在霜冻来临之前把它们全部搬进谷仓里面去好吗谢谢你们大家",
            True,
        ),
        ("数一数箱子" + " " * 45 + "好吗", False),
    ],
)
def test_a_line_that_says_little_ties_nothing(line: str, told: bool) -> None:
    """FUT-02: rules and blanks are in every document; a line counts by its signs, not its bytes."""
    assert bool(long_lines(line, 9)) is told
