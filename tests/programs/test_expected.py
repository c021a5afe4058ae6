"""Every agent's samples against what was really said and done in them (AGT-01 … AGT-04)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minutebook.derive.messages import INTERRUPTION, SYSTEM
from minutebook.model import Image, Notice, Round, Session, ToolCall
from minutebook.sources.base import Transcript
from tests.conftest import needs_corpus
from tests.programs.samples import expectations, expected, in_folder, programs, read, told

pytestmark = needs_corpus
# A shell call that went well, and has null where null means "not a shell call".
NOT_NOTED = {"3cbb4022-baab-4b76-aa77-f8eba959b587#0-0"}


def cases() -> list[tuple[Path, dict[str, Any]]]:
    """Sessions; and subagents, whose events one agent writes into their session's file."""
    found = []
    for path in expectations():
        for one in expected(path)["sessions"]:
            found.append((path, one))
            for agent in one.get("subagents_inside", ()):
                own = {"id": agent["toolCallId"], "kind": "subagent", "turns": [agent["turn"]]}
                fields = ("cwd", "git_branch", "model", "file")
                found.append((path, own | {"parent": one["id"]} | {f: one[f] for f in fields}))
    return found


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
    ids = (one["id"], one["id"].removeprefix("agent-"))
    (agent,) = [a for a in parent.subagents if a.id in ids or a.call_id == one["id"]]
    (call,) = [c for round in parent.rounds for c in round.calls if c.agent == agent.id]
    assert call.id == agent.call_id
    return one, Session(parent.info, agent.rounds)


def test_prompts_are_what_was_typed(case: tuple[dict[str, Any], Session]) -> None:
    """AGT-04, FMT-14: every prompt, in order, and nothing that was injected."""
    one, session = case
    typed = [turn.get(_typed(one), turn["prompt"]) for turn in one["turns"]]
    assert [turn["prompt"] for turn in told(session)] == typed


def _typed(one: dict[str, Any]) -> str:
    """`prompt` is the script's line. Qwen Code was given its picture as ``@red.png`` behind it, so
    that this is what was typed; what others store around the line nobody typed."""
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
            else:
                # Of an answer that was interrupted, as much as had arrived.
                said = want.get("text", want.get("text_sent_before_interrupt"))
                assert event["text"] == said


def test_what_was_injected_between_is_kept(case: tuple[dict[str, Any], Session]) -> None:
    """FMT-14, INS-16: no prompt and no answer; but it is there."""
    one, session = case
    blocks = [b for r in session.rounds for m in r.messages for b in m.blocks]
    kept = [block.text for block in blocks if isinstance(block, Notice)]
    for turn in one["turns"]:
        for want in turn["events"]:
            if want["type"] == "injected_user":
                assert any(text.startswith(want["text"]) for text in kept)


def assert_call(call: ToolCall, want: dict[str, Any]) -> None:
    """Name and input verbatim, the result where it belongs, failure told even where hidden."""
    assert (call.name, call.input) == (want["name"], want["input"])
    assert not want.get("id") or call.id == want["id"]
    result = call.result
    assert result is not None
    assert result.error is not want["ok"]
    noted = 0 if call.id in NOT_NOTED else want["exit_code"]
    assert result.exit_code == noted, call.id
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


def test_what_stopped_a_turn_is_seen(case: tuple[dict[str, Any], Session]) -> None:
    """AGT-04: an interruption and a failed request are in their round, and in no other."""
    one, session = case
    rounds = [round for round in session.rounds if round.prompt is not None]
    for round, turn in zip(rounds, one["turns"], strict=True):
        interrupted = bool(turn.get("interrupted"))
        assert (INTERRUPTION in noted(round)) == interrupted
        # Gemini CLI 0.29 writes nothing of an error.
        failed = turn.get("error") and not one["file"].startswith("gemini/0.29")
        assert bool(noted(round) & {INTERRUPTION, SYSTEM}) == (interrupted or bool(failed))
        if "retries" in turn:
            kinds = [b.kind for m in round.messages for b in m.blocks if isinstance(b, Notice)]
            assert kinds.count(SYSTEM) == turn["retries"]


def noted(round: Round) -> set[str]:
    """Kinds of notices in a round, without what only tells of the agent's own housekeeping."""
    blocks = [block for message in round.messages for block in message.blocks]
    return {
        block.kind
        for block in blocks
        if isinstance(block, Notice) and not block.text.startswith("Conversation checkpoint saved")
    }


def test_compactions_are_where_they_happened(case: tuple[dict[str, Any], Session]) -> None:
    """AGT-04: inside a turn, or between one and the next. What was only typed need not have
    happened: the file says."""
    one, session = case
    rounds = [round for round in session.rounds if round.prompt is not None]
    happened = set()
    open_to_doubt = set()
    for number, turn in enumerate(one["turns"]):
        if "typed" in turn.get("compaction_before", ""):
            open_to_doubt.add(number - 1)
        elif turn.get("compaction_before"):
            happened.add(number - 1)
        if turn.get("compaction_inside"):
            happened.add(number)
    found = {n for n, round in enumerate(rounds) if round.compactions}
    assert found - open_to_doubt == happened - open_to_doubt


def test_a_session_knows_its_parent_and_its_subagents(
    case: tuple[dict[str, Any], Session],
) -> None:
    """AGT-04: where the agent recorded it. However often a session was resumed, it is
    one, with all of its prompts."""
    one, session = case
    if one.get("kind") == "fork" and one.get("parent"):
        assert {link.session_id for link in session.info.links} == {one["parent"]}
    else:
        assert session.info.links == ()
    for agent in one.get("subagents", ()):
        assert any(agent.endswith(known.id) for known in session.subagents)


def test_metadata_is_what_the_agent_knew(case: tuple[dict[str, Any], Session]) -> None:
    """ING-03: folder, branch, model and title; and the agent's version, where it is written."""
    one, session = case
    info = session.info
    agent, version, _ = one["file"].split("/", 2)
    written = agent not in ("gemini", "pi") and version != "0.20.0"
    assert info.versions == ((version,) if written else ())
    assert info.cwd == one["cwd"]
    assert info.branch == one.get("git_branch")
    if "model" in one:
        assert info.models == ((one["model"],) if one["model"] else ())
    if one.get("title") and one.get("kind") != "subagent":  # that is its task's
        assert info.title == one["title"]


def test_every_program_has_expectations() -> None:
    """The samples of every agent that can be read are looked at."""
    assert {path.parent.parent.name for path in expectations()} >= set(programs()) - {"cursor"}
