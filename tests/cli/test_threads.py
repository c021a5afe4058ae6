"""Threads in every front end: found, listed, followed, corrected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive import Archive, open_archive
from minutebook.archive.threads import threads
from minutebook.extract.offline import OfflineExtractor
from minutebook.mcp.tools import Tools
from minutebook.verbs.ingest import ingest
from minutebook.web.api import engagements
from minutebook.web.state import ServerState
from tests.archive.test_operations import put
from tests.cli.conftest import Run
from tests.conftest import Record, assistant, user

FIRST, SECOND, OTHER, LAST = (f"{letter * 8}-2222-4333-8444-555555555555" for letter in "abcd")


def rounds(day: int, branch: str, *asked: str) -> list[Record]:
    found: list[Record] = []
    for number, words in enumerate(asked):
        at = f"2026-03-{day:02}T10:{number:02}:00.000Z"
        where = {"cwd": "/home/mara/orchard", "gitBranch": branch}
        id = f"{day:02}-{number:02}-4333-8444-000000"
        found += [
            user(words, uuid=f"u{id}", timestamp=at, **where),
            assistant("It is done, with care. " * 40, id=f"a{id}", uuid=f"a{id}", **where),
        ]
    return found


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    """Two sessions on one branch, one on the trunk, two on a branch that needs the first."""
    asked = [f"Add the passkey table, step {n}" for n in range(3)]
    put(tmp_path / "p", *rounds(2, "feat/passkeys", *asked), name=FIRST)
    more = [f"Go on with the passkey login form, part {n}" for n in range(3)]
    put(tmp_path / "p", *rounds(3, "feat/passkeys", *more), name=SECOND)
    away = [f"Count the apples of row {n}" for n in range(3)]
    put(tmp_path / "p", *rounds(4, "main", *away), name=OTHER)
    waits = ["Drop the password form; this is based on branch feat/passkeys", *away[1:]]
    put(tmp_path / "p", *rounds(5, "feat/drop", *waits), name=LAST)
    archive = Archive(tmp_path / "archive", (tmp_path / "p",))
    ingest(archive, OfflineExtractor(), ended=True)
    return ["--root", str(tmp_path / "p"), "--archive", str(archive.root)]


def told(run: Run, *args: object) -> Any:
    ran = run(*args, "--json")
    assert ran.status == 0, ran.err
    return json.loads(ran.out)


def first_id(run: Run, places: list[str]) -> str:
    (thread,) = told(run, "search", "--threads", *places)["threads"]
    id: str = thread["id"]
    return id


@pytest.mark.parametrize("columns", [80, 200])
def test_threads_are_listed(run: Run, places: list[str], columns: int) -> None:
    """FUT-06: newest first, with totals; filters narrow them; within the terminal's width."""
    said = told(run, "search", "--threads", *places)
    (thread,) = said["threads"]
    assert (said["total"], thread["sessions"], thread["started"], thread["ended"]) == (
        *(1, 2),
        *("2026-03-02", "2026-03-03"),
    )
    assert thread["id"].endswith("-aaaaaaaa") and thread["project"] == "orchard"
    ran = run("search", "--threads", *places, columns=columns)
    assert thread["id"] in ran.out and "in 2 sessions" in ran.out
    assert max(map(len, ran.out.splitlines())) <= columns
    assert told(run, "search", "--threads", "-p", "press", *places)["total"] == 0
    assert "No work goes over" in run("search", "--threads", "-p", "press", *places).err


def test_a_thread_is_a_filter(run: Run, places: list[str]) -> None:
    """FUT-06, SRCH-08: alone it lists the thread's engagements, with words it narrows them; an
    unknown one is an error with a way on."""
    id = first_id(run, places)
    listed = told(run, "search", "--thread", id, *places)
    assert {hit["session_id"] for hit in listed["hits"]} == {FIRST, SECOND}
    assert {hit["thread"] for hit in listed["hits"]} == {id}
    narrow = told(run, "search", "login", "form", "--thread", id, "--mode", "lexical", *places)
    assert {hit["session_id"] for hit in narrow["hits"]} == {SECOND}
    apples = told(run, "search", "apples", "--thread", id, "--mode", "lexical", *places)
    assert apples["hits"] == []
    odd = run("search", "--thread", "nothing-like-it", *places)
    assert (odd.status, "--threads" in odd.err) == (2, True)
    assert run("search", "words", "--threads", *places).status == 2


def test_a_chain_goes_back_and_forth(run: Run, places: list[str]) -> None:
    """FUT-06: what came before and after, oldest first, each with its evidence."""
    chain = told(run, "search", "--chain", f"{SECOND[:8]}#2", *places)
    assert [item["session_id"] for item in chain["chain"]] == [FIRST, SECOND]
    before, here = chain["chain"]
    assert (before["here"], here["here"]) == (False, True)
    assert here["continues"] == [FIRST, before["engagement"]["id"]]
    assert [tie["evidence"] for tie in here["ties"]] == ["feat/passkeys"]
    ran = run("search", "--chain", f"{SECOND[:8]}#2", *places)
    assert f"{FIRST[:8]}#1" in ran.out and "branch feat/passkeys" in ran.out
    alone = run("search", "--chain", f"{OTHER[:8]}#1", *places)
    assert (alone.status, alone.out) == (0, "") and "no thread" in alone.err
    assert run("search", "--chain", OTHER[:8], *places).status == 2


def test_a_person_puts_work_together_and_takes_it_apart(run: Run, places: list[str]) -> None:
    """FUT-06: `thread` by name or by id, --none, --forget; each one line in an append-only file;
    it holds after everything is extracted again."""
    id = first_id(run, places)
    done = told(run, "thread", OTHER[:8], 1, id, *places)["threaded"]
    assert done["thread"] == id
    (thread,) = told(run, "search", "--threads", *places)["threads"]
    assert (thread["sessions"], thread["named"]) == (3, True)
    assert "no thread" in run("thread", SECOND[:8], 1, "--none", *places).out
    assert run("ingest", "--again", "--extractor", "offline", *places).status == 0
    listed = told(run, "search", "--thread", id, *places)["hits"]
    assert {hit["session_id"] for hit in listed} == {FIRST, OTHER}
    for session in (SECOND, OTHER):
        assert run("thread", session[:8], 1, "--forget", *places).status == 0
    listed = told(run, "search", "--thread", id, *places)["hits"]
    assert {hit["session_id"] for hit in listed} == {FIRST, SECOND}
    file = Path(places[3]) / "sessions" / "threads.jsonl"
    assert len(file.read_bytes().splitlines()) == 4
    for odd in ((), ("x", "--none"), ("\x07",), ("x" * 100,)):
        assert run("thread", SECOND[:8], 1, *odd, *places).status == 2


def test_a_damaged_line_is_named_and_the_rest_is_read(run: Run, places: list[str]) -> None:
    """FUT-06, ARC-07: what cannot be read of what a person said is said."""
    run("thread", OTHER[:8], 1, "mine", *places)
    file = Path(places[3]) / "sessions" / "threads.jsonl"
    file.write_bytes(b"{nonsense\n" + file.read_bytes())
    ran = run("search", "--threads", *places)
    assert ran.status == 0 and "mine" in ran.out
    assert "threads.jsonl is damaged" in ran.err


def test_what_a_thread_needs(run: Run, places: list[str]) -> None:
    """FUT-06: a branch that a prompt names as needed; both ways, in text and JSON."""
    id = first_id(run, places)
    run("thread", LAST[:8], 1, "drop-passwords", *places)
    needs = told(run, "search", "--deps", "drop-passwords", *places)
    assert [(d["thread"], d["evidence"]) for d in needs["depends_on"]] == [(id, "feat/passkeys")]
    assert told(run, "search", "--deps", id, *places)["needed_by_threads"] == ["drop-passwords"]
    assert f"needs {id}" in run("search", "--deps", "drop-passwords", *places).out
    assert "is needed by drop-passwords" in run("search", "--deps", id, *places).out


def test_library_viewer_and_agents_say_the_same(run: Run, places: list[str]) -> None:
    """FUT-06: hits of the library, rows of the JSON API and lines of the MCP tools carry the
    thread; a report counts what went on in it as a step."""
    id = first_id(run, places)
    with open_archive(places[3], [places[1]]) as archive:
        hits = archive.search("passkey", mode="lexical")
        assert {hit.thread for hit in hits if hit.session_id in (FIRST, SECOND)} == {id}
        assert threads(archive).of(OTHER, "none") is None
        tools = Tools(archive)
        assert tools.engagements().count(f"thread={id}") == 2
        assert f"thread={id}" in tools.search("passkey", mode="lexical")
        assert OTHER[:8] not in tools.search(thread=id)
        state = ServerState(archive.root, archive.places)
        request: Any = type("Request", (), {"query_params": {}})()
        rows = json.loads(bytes(engagements(state, request).body))["engagements"]
        assert {row["session_id"] for row in rows if row["thread"] == id} == {FIRST, SECOND}
    report = told(run, "report", "--date", "March 2026", *places)["report"]
    works = [w for p in report["projects"] for w in (*p["done"], *p["open"])]
    assert {w["session_id"] for w in works if w["thread"] == id} == {FIRST, SECOND}
