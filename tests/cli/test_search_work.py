"""``minutebook search`` over what tools did: commands, output, errors, files, thinking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.archive.test_operations import put
from tests.cli.conftest import Run
from tests.conftest import Record, assistant, tool_result, tool_use, user

ONE, TWO = (f"{letter * 8}-2222-4333-8444-555555555555" for letter in "ab")
LINE = 'ERROR relation "users" does not exist (SQLSTATE 42P01) -rw-r--r-- 1 root'
LONG = "\n".join(f"row {n} of a long listing" for n in range(3_000))


def session(letter: str, said: str, *calls: tuple[str, dict[str, Any], str, bool]) -> list[Record]:
    """A prompt, some calls with what they printed, an answer."""
    records = [user(said, uuid=f"{letter}-prompt-of-the-round", cwd="/w")]
    for number, (tool, given, printed, failed) in enumerate(calls):
        id = f"{letter}{number}"
        records.append(assistant(tool_use(id, tool, **given), id=f"m{id}", uuid=f"a{id}"))
        result = tool_result(id, printed, uuid=f"r{id}")
        result["message"]["content"][0]["is_error"] = failed
        records.append(result)
    thought = {"type": "thinking", "thinking": "Perhaps the quokka is asleep.", "signature": "s"}
    records.append(assistant(thought, id=f"t{letter}", uuid=f"t{letter}"))
    return [*records, assistant("All is well now.", id=f"z{letter}", uuid=f"z{letter}")]


@pytest.fixture(params=["transcripts", "archive"])
def places(request: pytest.FixtureRequest, tmp_path: Path, run: Run) -> list[str]:
    """Two sessions, as transcripts and as an archive whose transcripts are gone."""
    put(
        tmp_path / "p",
        *session(
            "a",
            "Make the import work",
            ("Bash", {"command": "psql -f schema.sql && make import"}, LINE, True),
            ("Bash", {"command": "ls -la"}, f"{LONG}\na zebra at the end", False),
            ("Grep", {"pattern": "createUser\\(", "path": "/w/src"}, "src/users.py:12", False),
            ("WebFetch", {"url": "https://example.org/ostrich"}, "A page about birds", False),
            (
                "Edit",
                {"file_path": "/w/x.py", "old_string": "", "new_string": "def heron(): 1"},
                "",
                False,
            ),
        ),
        name=ONE,
    )
    put(tmp_path / "p", *session("b", "Is the zebra well? The users say so."), name=TWO)
    given = ["--root", str(tmp_path / "p"), "--archive", str(tmp_path / "archive")]
    if request.param == "archive":
        assert run("inscribe", "--all", "--ended", *given).status == 0
        for path in (tmp_path / "p").glob("*.jsonl"):
            path.unlink()
    else:
        (tmp_path / "archive").mkdir()
    return given


def found(run: Run, *args: object) -> list[dict[str, Any]]:
    ran = run("search", *args, "--json")
    assert ran.status == 0, ran.err
    hits: list[dict[str, Any]] = json.loads(ran.out)["hits"]
    return hits


def test_a_line_that_a_tool_printed_is_found(run: Run, places: list[str]) -> None:
    """SRCH-17, SRCH-19: typed as it stands there, quotes, dashes and all; the hit says what it
    is and where: the block, which `show` opens."""
    hit, *_ = found(run, LINE, *places)
    assert (hit["session_id"], hit["side"]) == (ONE, "error")
    assert "does not exist" in hit["snippet"]["text"]
    shown = run("show", f"{ONE[:8]}#{hit['round']}.{hit['block']}", *places)
    assert "SQLSTATE 42P01" in shown.out and "All is well" not in shown.out
    assert run("show", f"{ONE[:8]}#1.99", *places).status == 2
    for words in (run("context", ONE, *places).out, run("context", f"{ONE}#7", *places).err):
        assert "1 round" in words and "1 rounds" not in words


@pytest.mark.parametrize(
    ("typed", "side"),
    [
        ("psql -f schema.sql", "command"),
        ("createUser", "command"),
        ("https://example.org/ostrich", "command"),
        ("A page about birds", "output"),
        ("row 2999 of a long listing a zebra at the end", "output"),
        ("def heron", "edit"),
        ("the quokka is asleep", "thinking"),
        ("/w/x.py", "file"),
    ],
)
def test_each_surface_answers(run: Run, places: list[str], typed: str, side: str) -> None:
    """SRCH-17: commands, patterns, URLs, output (the end of a long one too), edits, thinking."""
    hits = {hit["session_id"]: hit for hit in found(run, typed, *places)}
    assert hits[ONE]["side"] == side


def test_what_people_said_comes_first(run: Run, places: list[str]) -> None:
    """SRCH-17: tools answer behind it; --in looks at what it names."""
    first, second = found(run, "zebra", *places)
    assert (first["session_id"], first["side"]) == (TWO, "asked")
    assert (second["session_id"], second["side"]) == (ONE, "output")
    (only,) = found(run, "zebra", "--in", "tools", *places)
    assert only["session_id"] == ONE
    (said,) = found(run, "zebra", "--in", "turns", *places)
    assert said["session_id"] == TWO
    assert found(run, "zebra", "--in", "thinking,files", *places) == []
    assert {h["session_id"] for h in found(run, "quokka", "--in", "thinking", *places)} == {
        ONE,
        TWO,
    }


def test_commands_and_errors_are_filters(run: Run, places: list[str]) -> None:
    """SRCH-17: by themselves they list rounds, newest first; with words both hold."""
    (hit,) = found(run, "--command", "make import", *places)
    assert (hit["session_id"], hit["side"]) == (ONE, "command")
    (hit,) = found(run, "--error", "relation users", *places)
    assert (hit["session_id"], hit["side"]) == (ONE, "error")
    assert found(run, "--error", "make import", *places) == []
    assert found(run, "zebra", "--command", "make import", *places)[0]["session_id"] == ONE
    assert found(run, "well", "--command", "rm -rf", *places) == []


def test_a_place_that_is_none(run: Run, places: list[str]) -> None:
    """One sentence that says which there are."""
    ran = run("search", "zebra", "--in", "attic", *places)
    assert (ran.status, "tools" in ran.err) == (2, True)
    assert run("search", "--command", "--", *places).status == 2


def test_without_tools_only_words_are_indexed(run: Run, places: list[str]) -> None:
    """A setting leaves what tools did out; set back, it is there again."""
    assert run("config", "search_tools", "0", *places[2:]).status == 0
    assert found(run, "SQLSTATE", "--mode", "lexical", *places) == []
    assert len(found(run, "zebra", "--mode", "lexical", *places)) == 1
    assert run("config", "search_tools", "1", *places[2:]).status == 0
    assert len(found(run, "SQLSTATE", "--mode", "lexical", *places)) == 1


def test_best_hits_are_on_the_screen(run: Run, examples: Path, tmp_path: Path) -> None:
    """SRCH-16, SRCH-19: two lines a hit at 80 columns, ten hits and what is said below in 24."""
    (tmp_path / "a").mkdir()
    ran = run("search", "the", "--root", examples, "--archive", tmp_path / "a", columns=80)
    lines = ran.out.splitlines()
    assert 4 <= len(lines) <= 20 and all(len(line) <= 80 for line in lines)
    assert len(ran.err.splitlines()) <= 3
    more = run("search", "the", "-v", "--root", examples, "--archive", tmp_path / "a", columns=80)
    assert len(more.out.splitlines()) > len(lines)
