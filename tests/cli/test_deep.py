"""JSON in a transcript may be nested as deep as Python goes, and no deeper anywhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from minutebook.derive.secrets import masked
from tests.archive.test_operations import put
from tests.cli.conftest import Run
from tests.conftest import assistant, tool_result, tool_use, user

DEPTHS = (60, 300, 500, 700, *range(800, 1000, 5))
"""At one of them a reader has just enough of the stack, and what comes after it has not."""


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    for number, depth in enumerate(DEPTHS):
        id = f"{number:08}-2222-4333-8444-555555555555"
        call = tool_use(f"t{number}", "Odd", value="DEEP")
        records = [
            user(f"hello {number}", uuid=f"u{number}", cwd="/w"),
            assistant(call, id=f"m{number}", uuid=f"a{number}"),
            tool_result(f"t{number}", "ok", uuid=f"r{number}"),
            assistant("done", id=f"n{number}", uuid=f"b{number}"),
        ]
        path = put(tmp_path / "p", *records, name=id)
        file = next((tmp_path / "p").rglob(f"{id}.jsonl"), path)
        deep = "[" * depth + '"password=hunter2hunter2"' + "]" * depth
        file.write_text(file.read_text().replace('"DEEP"', deep))
    (tmp_path / "archive").mkdir()
    return ["--root", str(tmp_path / "p"), "--archive", str(tmp_path / "archive")]


def test_no_session_is_nested_too_deeply_for_the_others(run: Run, places: list[str]) -> None:
    """ARC-07: what cannot be read of one is that one's problem; every verb goes on."""
    for verb in ("ingest --extractor offline", "search hello", "lineage", "usage", "check --all"):
        ran = run(*verb.split(), *places)
        assert "RecursionError" not in ran.err, ran.err
    found = json.loads(run("search", "hello", "-n", "100", "--json", *places).out)
    assert found["total"] > len(DEPTHS) - 8


@pytest.mark.parametrize("number", range(4))
def test_a_deep_call_is_shown(run: Run, places: list[str], number: int) -> None:
    """ARC-06: as text from the fiftieth level on, and masked as ever."""
    ran = run("show", f"{number:08}", "--full", *places)
    assert ran.status == 0 and "hunter2" not in ran.out and "[[[" in ran.out.replace(" ", "")


def test_a_deep_value_is_masked() -> None:
    """ARC-06: text beyond the levels that are gone into, the same value within them."""
    shallow: object = {"password": "hunter2hunter2", "n": 1}
    for _ in range(40):
        shallow = [shallow]
    assert "hunter2" not in json.dumps(masked(shallow)) and json.dumps(masked(shallow))[40] == "{"
    deep: object = {"password": "hunter2hunter2"}
    for _ in range(400):
        deep = [deep]
    assert "hunter2" not in json.dumps(masked(deep))
