"""What `show` gives: the head of a session, and the parts and the block that were asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import minutebook
from minutebook import said
from minutebook.archive import Archive
from tests.cli.conftest import Run


def _blocks(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [b for r in document["rounds"] for m in r["messages"] for b in m.get("blocks", ())]


@pytest.mark.parametrize(
    ("parts", "kinds"),
    [
        ("user", {"text"}),
        ("calls", {"tool_call"}),
        ("results", {"stray_result"}),
        ("thinking", {"thinking"}),
        ("user,assistant,calls", {"text", "tool_call"}),
    ],
)
def test_json_has_the_parts_that_were_chosen(
    run: Run, examples: Path, parts: str, kinds: set[str]
) -> None:
    """OPS: ``--only`` counts for ``--json`` as it does for text."""
    shown = run("show", "7c8fc3ae", "--json", "--only", parts, "--root", examples)
    found = _blocks(json.loads(shown.out))
    assert {block["type"] for block in found} <= kinds
    assert "user" not in parts or found


def test_json_without_calls_has_no_subagents(run: Run, examples: Path) -> None:
    """OPS: a subagent belongs to the call that started it."""
    whole = json.loads(run("show", "Reed", "--json", "--root", examples).out)
    asked = json.loads(run("show", "Reed", "--json", "--only", "user", "--root", examples).out)
    assert len(whole["subagents"]) == 1
    assert asked["subagents"] == []


def test_json_of_a_block_is_that_block(run: Run, examples: Path) -> None:
    """OPS: ``#1.2`` is the second block of the round and no other, as in text."""
    whole = json.loads(run("show", "Reed#1", "--json", "--root", examples).out)
    alone = json.loads(run("show", "Reed#1.2", "--json", "--root", examples).out)
    assert _blocks(alone) == [_blocks(whole)[1]]


def test_json_of_a_block_that_is_not_there_is_refused(run: Run, examples: Path) -> None:
    """OPS: the same sentence as in text."""
    refused = run("show", "Reed#1.99", "--json", "--root", examples)
    assert refused.status == 2
    assert "there is no block 99" in refused.err


@pytest.fixture
def corrected(examples: Path, tmp_path: Path) -> Archive:
    """Reed's session in two engagements, the second one hidden."""
    minutebook.ingest(examples, archive=tmp_path / "archive", extractor="offline")
    archive = minutebook.open_archive(tmp_path / "archive", [examples])
    archive.say("Reed", said.Set("1", values={"method": "build", "phase": "completed"}))
    archive.say("Reed", said.Split("1", round=3))
    archive.say("Reed", said.Set("1", values={"topic": "Graft the pears", "outcome": "They took"}))
    archive.say("Reed", said.Hide("3"))
    archive.say("Reed", said.Set(values={"agent_role": "gardener", "summary": "All grafted."}))
    return archive


def _head(run: Run, archive: Archive, name: str, columns: int = 100) -> list[str]:
    places = ("--root", archive.places[0], "--archive", archive.root)
    out = run("show", name, "--only", "user", *places, columns=columns).out
    return out.split("\n\n── ")[0].splitlines()[3:]


@pytest.mark.parametrize("columns", [80, 200])
def test_the_head_has_role_and_engagements(run: Run, corrected: Archive, columns: int) -> None:
    """UND-07, ARC-05: one line each as a person corrected it, marked where it is hidden, with what
    they said came of it."""
    role, summary, first, outcome, second = _head(run, corrected, "Reed", columns)
    assert (role, summary) == ("role: gardener", "summary: All grafted.")
    assert first.split() == ["#1-2", "build,", "completed", "Graft", "the", "pears"]
    assert outcome.strip() == "outcome: They took"
    assert second.startswith("  #3    build, completed  (hidden) ")


def test_the_head_has_the_engagements_of_the_rounds_that_are_shown(
    run: Run, corrected: Archive
) -> None:
    """UND-07: of a range only those that have a round in it."""
    assert ["#3" in line for line in _head(run, corrected, "Reed#3")[2:]] == [True]


def test_json_has_what_the_head_has(run: Run, corrected: Archive) -> None:
    """UND-07, ARC-05: summary, role and engagements, all of the session."""
    places = ("--root", corrected.places[0], "--archive", corrected.root)
    shown = json.loads(run("show", "Reed#3", "--json", *places).out)
    assert (shown["summary"], shown["identity"]["role"]) == ("All grafted.", "gardener")
    assert [(e["turn_range"], e["hidden"]) for e in shown["engagements"]] == [
        ([1, 2], False),
        ([3, 3], True),
    ]
