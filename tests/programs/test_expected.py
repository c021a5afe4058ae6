"""Every agent's samples against what was really said and done in them (AGT-01 … AGT-04)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minutebook.model import Image, Session, ToolCall
from minutebook.sources.base import Transcript
from tests.conftest import needs_corpus
from tests.programs.samples import expectations, expected, in_folder, programs, read, told

pytestmark = needs_corpus


def cases() -> list[tuple[Path, dict[str, Any]]]:
    return [(path, one) for path in expectations() for one in expected(path)["sessions"]]


def case_id(case: tuple[Path, dict[str, Any]]) -> str:
    path, one = case
    return f"{path.parent.parent.name}-{path.parent.name}-{one['id'][-12:]}"


def transcript_of(path: Path, id: str) -> Transcript:
    (one,) = [t for t in in_folder(path.parent / "home") if t.session_id == id]
    return one


@pytest.fixture(params=cases(), ids=case_id)
def case(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Session]:
    path, one = request.param
    if one.get("kind") != "subagent" or not one.get("parent"):
        return one, read(transcript_of(path, one["id"]))
    parent = read(transcript_of(path, one["parent"]))
    (agent,) = [agent for agent in parent.subagents if one["id"].endswith(agent.id)]
    assert agent.id in {call.agent for round in parent.rounds for call in round.calls}
    return one, Session(parent.info, agent.rounds)


def test_prompts_are_what_was_typed(case: tuple[dict[str, Any], Session]) -> None:
    """AGT-04, FMT-14: every prompt, in order, and nothing that was injected."""
    one, session = case
    typed = [turn.get(_typed(one), turn["prompt"]) for turn in one["turns"]]
    assert [turn["prompt"] for turn in told(session)] == typed


def _typed(one: dict[str, Any]) -> str:
    """Qwen Code's stored prompt has the ``@file`` that was typed; others put something around."""
    return "prompt_as_stored" if one["file"].startswith("qwen/") else "prompt"


def test_texts_and_calls_come_in_their_order(case: tuple[dict[str, Any], Session]) -> None:
    """AGT-04: what the model said, thought and called, in the order it did."""
    one, session = case
    for seen, turn in zip(told(session), one["turns"], strict=True):
        # Some agents drop the half of an answer that was there when it was interrupted.
        written = [want for want in turn["events"] if want.get("persisted", True)]
        written = [want for want in written if want["type"] != "injected_user"]
        for event, want in zip(seen["events"], written, strict=True):
            assert event["type"] == want["type"], turn["prompt"]
            if want["type"] == "call":
                assert_call(event["call"], want)
            elif "text" in want:
                assert event["text"] == want["text"]


def assert_call(call: ToolCall, want: dict[str, Any]) -> None:
    """Name and input verbatim, the result where it belongs, failure told even where hidden."""
    assert (call.name, call.input) == (want["name"], want["input"])
    assert not want.get("id") or call.id == want["id"]
    result = call.result
    assert result is not None
    assert result.error is not want["ok"]
    if want["exit_code"] is not None or call.kind != "run":  # not noted for every command
        assert result.exit_code == want["exit_code"]
    if want.get("result_contains"):
        assert want["result_contains"] in result.text


def test_pictures_stay_with_their_prompt(case: tuple[dict[str, Any], Session]) -> None:
    """INS-16: a picture somebody showed the model is kept."""
    one, session = case
    rounds = [round for round in session.rounds if round.prompt is not None]
    for round, turn in zip(rounds, one["turns"], strict=True):
        pictures = [block for block in round.asked if isinstance(block, Image)]
        assert len(pictures) == turn.get("images", 0)
        assert all(picture.data for picture in pictures)


def test_metadata_is_what_the_agent_knew(case: tuple[dict[str, Any], Session]) -> None:
    """ING-03: folder, branch, model and title."""
    one, session = case
    info = session.info
    assert info.cwd == one["cwd"]
    assert info.branch == one.get("git_branch")
    assert not one.get("model") or one["model"] in info.models
    if one.get("title") and one.get("kind") != "subagent":  # that is its task's
        assert info.title == one["title"]


def test_every_program_has_expectations() -> None:
    """The samples of every agent that can be read are looked at."""
    assert {path.parent.parent.name for path in expectations()} >= set(programs()) - {"cursor"}
