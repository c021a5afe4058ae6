"""``minutebook search --file``: who read or changed a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.archive.files import matcher
from tests.archive.test_operations import put
from tests.cli.conftest import Run
from tests.conftest import assistant, tool_result, tool_use, user

KEY = "sk-ant-api03-Vq7RmZ2xKpL9wTfBn4HsYdC6JgEaUi0o8QbXyWe3Nr5MtSvDhGkPzAj1lFuOcI"


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    """Two sessions that worked on the same files."""
    for number, name in enumerate(("aaaaaaaa", "bbbbbbbb"), start=1):
        calls = [
            ("Read", {"file_path": "/w/src/login.py"}),
            ("Edit", {"file_path": "/w/src/login.py", "old_string": "a", "new_string": "b"}),
            ("Edit", {"file_path": "/w/src/login.py", "old_string": "b", "new_string": "c"}),
            ("Write", {"file_path": f"/w/docs/{name}.md", "content": "words"}),
            ("Write", {"file_path": f"/w/{KEY}/secret.txt", "content": "words"}),
            ("Bash", {"command": "cat /w/src/login.py"}),
        ]
        records = [user("change the login", uuid=f"{name}-u", timestamp=_at(number), cwd="/w")]
        for place, (tool, given_input) in enumerate(calls):
            id = f"{name}-{place}"
            call = tool_use(id, tool, **given_input)
            records += [
                assistant(call, id=f"m{id}", uuid=f"a{id}", timestamp=_at(number)),
                tool_result(id, "ok", uuid=f"r{id}", timestamp=_at(number)),
            ]
        put(tmp_path / "p", *records, name=f"{name}-2222-4333-8444-555555555555")
    return ["--root", str(tmp_path / "p"), "--archive", str(tmp_path / "archive")]


def _at(day: int) -> str:
    return f"2026-03-0{day}T10:00:00.000Z"


def found(run: Run, *args: object) -> dict[str, Any]:
    ran = run("search", *args, "--json")
    assert ran.status == 0, ran.err
    document: dict[str, Any] = json.loads(ran.out)
    return document


@pytest.mark.parametrize("archived", [False, True])
def test_who_touched_a_file(run: Run, places: list[str], archived: bool) -> None:
    """SRCH-17: newest first, what was done and how often; archived or not, transcripts or none."""
    (Path(places[3])).mkdir()
    if archived:
        run("inscribe", "--all", "--ended", *places)
        for path in Path(places[1]).glob("*.jsonl"):
            path.unlink()
    document = found(run, "--file", "src/login.py", *places)
    assert [hit["session_id"][:8] for hit in document["hits"]] == ["bbbbbbbb", "aaaaaaaa"]
    assert document["hits"][0]["how"] == {"read": 1, "edited": 2}
    assert (document["total"], document["sessions"], document["files"]) == (2, 2, 1)
    assert found(run, "--file", "*.md", *places)["files"] == 2
    assert found(run, "--file", "login.py", "--until", "2026-03-01", *places)["total"] == 1
    assert found(run, "--file", "login.py", "--project", "elsewhere", *places)["total"] == 0
    assert found(run, "--file", "ogin.py", *places)["total"] == 0
    paged = found(run, "--file", "login.py", "--limit", "1", "--page", "2", *places)
    assert [hit["session_id"][:8] for hit in paged["hits"]] == ["aaaaaaaa"]


@pytest.mark.parametrize("columns", [80, 200])
def test_a_person_reads_two_lines_a_hit(run: Run, places: list[str], columns: int) -> None:
    """SRCH-17: with the command that shows the diffs; no key, whatever a folder is called."""
    (Path(places[3])).mkdir()
    ran = run("search", "--file", "login.py", *places, columns=columns)
    lines = ran.out.splitlines()
    assert len(lines) == 4 and max(map(len, lines)) <= columns
    assert "read, edited 2× (#1.3, #1.4): " in lines[1]
    assert lines[1].endswith("login.py  minutebook show bbbbbbbb#1 --full")
    shown = run("show", "bbbbbbbb#1", "--full", *places).out
    assert "- a" in shown
    secret = run("search", "--file", "secret.txt", *places, columns=columns)
    assert secret.out and KEY[20:] not in secret.out
    assert KEY[20:] not in run("search", "--file", "secret.txt", "--json", *places).out
    nothing = run("search", "--file", "nowhere.py", *places)
    assert nothing.status == 0 and "No tool has read or changed" in nothing.err
    assert run("search", "login", "--file", "login.py", *places).status == 2


def test_a_hit_names_the_block_of_its_edit(run: Run, places: list[str]) -> None:
    """SRCH-17: one edit is shown alone, as a diff without the names of the tool's fields."""
    (Path(places[3])).mkdir()
    one = run("search", "--file", "bbbbbbbb.md", *places).out.splitlines()[1]
    address = one.rpartition("minutebook show ")[2]
    assert address == "bbbbbbbb#1.5"
    shown = run("show", address, *places).out
    assert "+ words" in shown and "/w/docs/bbbbbbbb.md +1 -0" in shown
    assert "content" not in shown and "login.py" not in shown
    several = run("search", "--file", "login.py", *places).out.splitlines()[1]
    assert "(#1.3, #1.4)" in several and several.endswith("minutebook show bbbbbbbb#1 --full")


def test_the_name_of_a_file_is_never_cut(run: Run, places: list[str]) -> None:
    """SRCH-17: where there is no room for it, the command has a line of its own, to paste."""
    (Path(places[3])).mkdir()
    lines = run("search", "--file", "login.py", *places, columns=60).out.splitlines()
    assert lines[1].endswith("login.py") and "…" not in lines[1].rpartition("/")[2]
    assert lines[2].strip() == "minutebook show bbbbbbbb#1 --full"


def test_edits_are_shown_as_diffs(run: Run, places: list[str]) -> None:
    """SRCH-17: what was replaced by what has signs, not the names of the tool's fields."""
    (Path(places[3])).mkdir()
    shown = run("show", "bbbbbbbb#1", "--only", "calls", "--full", *places).out
    assert "- a\n" in shown and "+ b\n" in shown and "old_string" not in shown


def test_a_glob_lists_a_round_once(run: Run, places: list[str]) -> None:
    """SRCH-17: its files are counted and the first named; JSON has a hit for each of them."""
    (Path(places[3])).mkdir()
    ran = run("search", "--file", "*", *places, columns=200)
    first, second, *more = ran.out.splitlines()
    assert len(more) == 2 and "2026-03-02" in first
    assert second.startswith("  3 files, ") and "read, edited 2×" in ran.out.replace(
        "written 2×, ", ""
    )
    assert "login.py" in second and "minutebook show bbbbbbbb#1 --full" in second
    assert "2 rounds of 2 sessions." in ran.err
    paged = run("search", "--file", "*", "--limit", "1", *places)
    assert len(paged.out.splitlines()) == 2 and "1–1 of 2. More: --page 2." in paged.err
    document = found(run, "--file", "*", *places)
    assert (document["total"], document["rounds"], document["left_out"]) == (6, 2, 0)


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (["--command", "git"], "--command"),
        (["--error", "no"], "--error"),
        (["--no-tools"], "--has-tools"),
        (["--side", "both"], "--side"),
        (["--sort", "date"], "--sort"),
        (["--in", "turns"], "--in"),
        (["--mode", "lexical"], "--mode"),
        (["-s"], "--stats"),
        (["--sort", "date", "--mode", "lexical"], "--mode, --sort"),
    ],
)
def test_what_says_nothing_about_a_file_is_refused(
    run: Run, places: list[str], option: list[str], named: str
) -> None:
    """SRCH-17: one sentence names the options that would be ignored."""
    (Path(places[3])).mkdir()
    ran = run("search", "--file", "login.py", *option, *places)
    assert ran.status == 2 and f"--file does not go with {named}:" in ran.err


def test_filters_that_leave_nothing_are_named(run: Run, places: list[str]) -> None:
    """SRCH-17: the file was touched; it is the filters that leave nothing."""
    (Path(places[3])).mkdir()
    ran = run("search", "--file", "login.py", "-p", "elsewhere", *places)
    assert ran.status == 0 and "2 rounds touched a file like 'login.py'" in ran.err
    assert "no round passes the filters" in ran.err and "No tool has" not in ran.err
    assert found(run, "--file", "login.py", "-p", "elsewhere", *places)["left_out"] == 2


def test_only_the_work_of_a_thread_is_asked(run: Run, places: list[str]) -> None:
    """SRCH-17, FUT-06: `--thread` chooses among the rounds that touched a file."""
    assert run("inscribe", "--all", "--ended", *places).status == 0
    assert run("ingest", "--extractor", "offline", *places).status == 0
    for session, thread in (("aaaaaaaa", "mine"), ("bbbbbbbb", "yours")):
        assert run("tag", session, "1", f"login-{thread}", *places).status == 0
        assert run("thread", session, 1, thread, *places).status == 0
    document = found(run, "--file", "login.py", "--thread", "mine", *places)
    assert {hit["session_id"][:8] for hit in document["hits"]} == {"aaaaaaaa"}
    assert document["left_out"] == 1


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("login.py", "/w/src/login.py", True),
        ("./src/login.py", "/w/src/login.py", True),
        ("/w/src/login.py", "/w/src/login.py", True),
        ("src\\login.py", "D:\\w\\src\\login.py", True),
        ("in.py", "/w/src/login.py", False),
        ("*.py", "/w/src/login.py", True),
        ("src/*.py", "/w/src/login.py", True),
        ("test_*.py", "/w/src/login.py", False),
        ("", "/w/src/login.py", False),
        ("app/[slug]/page.tsx", "/w/app/[slug]/page.tsx", True),
        ("app/[slug]/page.tsx", "/w/app/s/page.tsx", True),
        ("page?.tsx", "/w/page?.tsx", True),
    ],
)
def test_the_end_of_a_path_or_a_glob(pattern: str, path: str, fits: bool) -> None:
    """SRCH-17: whole names, slashes of either kind."""
    assert matcher(pattern)(path) is fits


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_pattern_is_safe(pattern: str, path: str) -> None:
    """SRCH-17: whatever is typed."""
    assert matcher(pattern)(path) in (True, False)
