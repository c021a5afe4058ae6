"""What `show` gives of a round: the parts and the block that were asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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
