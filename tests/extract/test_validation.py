"""Replies of models: what is taken, and what is sent back with a reason (ING-19)."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.extract.validation import BadReply, parse_reply
from tests.extract.stub import good_reply


def with_field(**fields: Any) -> dict[str, Any]:
    reply: dict[str, Any] = good_reply((1, 3))
    reply["engagements"][0] |= fields
    return reply


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I would rather not", "not JSON"),
        ("", "not JSON"),
        ("[]", "does not fit the schema"),
        ("null", "does not fit the schema"),
        ({**good_reply(), "engagements": []}, "has no engagements"),
        ({**good_reply(), "more": 1}, "does not fit the schema"),
        (with_field(method="wizardry"), "does not fit the schema: Invalid enum value 'wizardry'"),
        (with_field(phase="done"), "does not fit the schema: Invalid enum value 'done'"),
        (with_field(topic="  "), "has no topic"),
        (with_field(topic=None), "does not fit the schema"),
        (with_field(turn_range=[3, 1]), "ends before it begins"),
        (with_field(turn_range=[0, 2]), "outside the rounds 1 to 6"),
        (with_field(turn_range=[2, 7]), "outside the rounds 1 to 6"),
        (with_field(turn_range=[]), "is not [first, last]"),
        (with_field(turn_range=[1, 2, 3]), "is not [first, last]"),
        (with_field(turn_range=["1", "2"]), "does not fit the schema"),
        (with_field(turn_range=[1.5, 2]), "does not fit the schema"),
        (good_reply((1, 4), (4, 6)), "overlap"),
        (good_reply((1, 6), (2, 3)), "overlap"),
    ],
)
def test_a_bad_reply_says_what_is_wrong(answer: Any, reason: str) -> None:
    """ING-13, 14, 17, 19: every way a reply can be wrong has its own sentence."""
    with pytest.raises(BadReply) as error:
        parse_reply(answer, 6)
    assert reason in str(error.value)


def test_a_good_reply_in_any_wrapping() -> None:
    """As text, as bytes, in a fence, as an object, ranges in any order."""
    reply = good_reply((4, 6), (1, 3))
    text = json.dumps(reply)
    for answer in (reply, text, text.encode(), f"```json\n{text}\n```"):
        parsed = parse_reply(answer, 6)
        assert [part.turn_range for part in parsed.engagements] == [[1, 3], [4, 6]]


def test_a_course_is_taken_and_not_kept() -> None:
    """UND-09: what a model noted before it cut is nobody's minutes; a reply without is as good."""
    told = {"course": ["1: asks for a fix; new", "2: agrees; same work"], **good_reply()}
    assert parse_reply(told, 3) == parse_reply(good_reply(), 3)
    assert parse_reply(told, 3).course == []


@pytest.mark.parametrize(
    "course", [None, "1: fixes", [1, 2], [{"round": 1}], {"1": "a"}, ["a", None]]
)
def test_a_reply_is_not_paid_again_for_the_shape_of_its_course(course: object) -> None:
    """ING-19: what is not kept cannot make a reply useless, whatever an endpoint made of it."""
    told = {**good_reply(), "course": course}
    assert parse_reply(told, 3) == parse_reply(json.dumps(told), 3) == parse_reply(good_reply(), 3)


@pytest.mark.parametrize(
    ("field", "said", "meant"),
    [
        ("method", "Debugging", "debug"),
        ("method", " BUILD ", "build"),
        ("method", "refactor", "reorg"),
        ("method", "Reorganisation", "reorg"),
        ("method", "code review", "review"),
        ("phase", "in progress", "in-progress"),
        ("phase", "In_Progress", "in-progress"),
        ("phase", "handed off", "handed-off"),
        ("phase", "Hand-off", "handed-off"),
        ("phase", "COMPLETE", "completed"),
    ],
)
def test_another_spelling_of_a_label_is_taken(field: str, said: str, meant: str) -> None:
    """ING-13, ING-14: case, spaces and forms of the very word are not paid for again."""
    for answer in (with_field(**{field: said}), json.dumps(with_field(**{field: said}))):
        assert getattr(parse_reply(answer, 6).engagements[0], field) == meant


@pytest.mark.parametrize(("field", "said"), [("method", "fix"), ("phase", "done"), ("phase", "")])
def test_another_word_is_not_guessed_at(field: str, said: str) -> None:
    """ING-13, ING-14: what only means about the same is sent back."""
    with pytest.raises(BadReply, match="Invalid enum value"):
        parse_reply(with_field(**{field: said}), 6)


def test_a_single_number_is_a_single_round() -> None:
    """``[7]`` can only mean round 7."""
    assert parse_reply(with_field(turn_range=[3]), 6).engagements[0].turn_range == [3, 3]


def test_texts_are_lines_a_terminal_only_shows() -> None:
    """ING-15: escape sequences, line breaks and text-direction tricks are gone; at most three
    decisions are kept; other scripts stay as they are."""
    parsed = parse_reply(
        with_field(
            topic="\x1b[31mred\x1b[0m\nline \u202eabc 修复登录",
            key_decisions=["one", " ", "two\r\n", "three", "four"],
            outcome="x" * 5000,
        ),
        6,
    )
    part = parsed.engagements[0]
    assert part.topic == "red line abc 修复登录"
    assert part.key_decisions == ["one", "two"]
    assert len(part.outcome) == 2000


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_either_a_reply_or_a_bad_one(answer: Any) -> None:
    """Nothing a model answers raises anything but `BadReply`."""
    with suppress(BadReply):
        parse_reply(json.dumps(answer), 6)


def test_a_reply_of_nothing_but_brackets_is_refused() -> None:
    """ING-13: a session can talk a model into one that is nested too deep to be read."""
    with pytest.raises(BadReply, match="not JSON"):
        parse_reply("[" * 50_000, 3)
