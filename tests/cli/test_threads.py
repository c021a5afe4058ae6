"""Threads in every front end: found, listed, followed, corrected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from minutebook import said
from minutebook.archive import Archive, open_archive
from minutebook.archive.threads import threads
from minutebook.errors import NotFound
from minutebook.extract.offline import OfflineExtractor
from minutebook.mcp.tools import Tools
from minutebook.verbs.ingest import ingest
from minutebook.web import underway
from minutebook.web.api import engagements
from minutebook.web.said import say
from minutebook.web.state import ServerState
from minutebook.web.threads import thread_page, threads_page
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
    listed = told(run, "search", "--threads", *places)
    (thread,) = listed["threads"]
    assert (listed["total"], thread["sessions"], thread["started"], thread["ended"]) == (
        *(1, 2),
        *("2026-03-02", "2026-03-03"),
    )
    assert thread["id"].endswith("-aaaaaaaa") and thread["project"] == "orchard"
    ran = run("search", "--threads", *places, columns=columns)
    assert thread["id"] in ran.out and "in 2 sessions" in ran.out
    assert max(map(len, ran.out.splitlines())) <= columns
    assert told(run, "search", "--threads", "-p", "press", *places)["total"] == 0
    assert "No threads found" in run("search", "--threads", "-p", "press", *places).err


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
    assert run("search", "--file", "login.py", "--threads", *places).status == 2


def test_ghosts_are_in_no_thread(run: Run, places: list[str], tmp_path: Path) -> None:
    """FUT-06, SRCH-16: a thread's list leaves none out, and cannot show any; nor does MCP's."""
    put(tmp_path / "p", user("hi", uuid="u-hi", cwd="/home/mara/orchard"), name="e" * 36)
    assert run("ingest", "--extractor", "offline", *places).status == 0
    assert "1 ghost" in run("search", *places).err
    id = first_id(run, places)
    assert "ghost" not in run("search", "--thread", id, *places).err
    listed = told(run, "search", "--thread", id, "--ghosts", *places)
    assert listed["ghosts_hidden"] == 0
    assert {hit["session_id"] for hit in listed["hits"]} == {FIRST, SECOND}
    with open_archive(places[3], [places[1]]) as archive:
        assert "substantive" not in Tools(archive).search(thread=id)


def test_the_phase_of_a_thread_is_never_cut(run: Run, places: list[str]) -> None:
    """FUT-06: what is most worth knowing comes first, on a terminal however narrow."""
    id = first_id(run, places)
    phase = told(run, "search", "--threads", *places)["threads"][0]["phase"]
    for args in (("--threads",), ("--deps", id)):
        assert f"\n  {phase} · " in run("search", *args, *places, columns=40).out


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
    """FUT-06: `thread` by name or by id, --none, --forget; each one line in the one append-only
    file; it holds after everything is extracted again."""
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
    file = Path(places[3]) / "sessions" / "corrections.jsonl"
    assert len(file.read_bytes().splitlines()) == 4
    for odd in ((), ("x", "--none"), ("\x07",), ("x" * 100,), (" ",)):
        assert run("thread", SECOND[:8], 1, *odd, *places).status == 2


def test_a_name_is_one_however_it_is_written(run: Run, places: list[str]) -> None:
    """FUT-06: shown as it was first written, and found by any spelling; the file keeps what was
    said, and a found thread keeps its id."""
    run("thread", OTHER[:8], 1, "APPLES", *places)
    assert "belongs to thread APPLES." in run("thread", FIRST[:8], 1, "apples", *places).out
    named = [t for t in told(run, "search", "--threads", *places)["threads"] if t["named"]]
    assert [(t["id"], t["sessions"]) for t in named] == [("APPLES", 3)]
    assert told(run, "search", "--thread", "aPPles", *places)["total"] == 3
    chain = told(run, "search", "--chain", f"{FIRST[:8]}#1", *places)["chain"]
    assert sum(member["said"] for member in chain) == 2
    words = [item["words"] for item in told(run, "correct", "list", *places)["said"]]
    assert [word.split("'")[1] for word in words] == ["APPLES", "apples"]
    run("correct", "undo", *places)
    id = first_id(run, [*places, "--project", "orchard", "--branch", "feat/passkeys"])
    assert f"belongs to thread {id}." in run("thread", OTHER[:8], 1, id.upper(), *places).out


@pytest.mark.parametrize("whole", [True, False], ids=["session", "engagement"])
def test_the_thread_of_hidden_work_is_said(run: Run, places: list[str], whole: bool) -> None:
    """FUT-06, UND-07: which one it was put into, that threads leave it out, and what shows it."""
    hidden = [OTHER[:8]] if whole else [OTHER[:8], "1"]
    run("correct", "hide", *hidden, *places)
    ran = run("thread", OTHER[:8], 1, "mine", *places)
    id, shown = ran.out.split(" of ")[0], OTHER[:8]
    way = f"correct unhide {shown}" if whole else f"correct unhide {shown} {id}"
    assert ran.out.splitlines() == [
        f"{id} of {shown} belongs to thread mine.",
        f"It is hidden, so threads leave it out; `minutebook {way}` shows it again.",
    ]
    again = told(run, "thread", OTHER[:8], 1, "ours", *places)["threaded"]
    assert (again["thread"], again["hidden"]) == (None, True)
    run("correct", "unhide", *hidden, *places)
    named = [t for t in told(run, "search", "--threads", *places)["threads"] if t["named"]]
    assert [t["id"] for t in named] == ["ours"]


def test_a_thread_that_was_never_said_is_not_forgotten(run: Run, places: list[str]) -> None:
    """FUT-06: there is nothing to take back, and nothing is written; --none can be taken back."""
    ran = run("thread", FIRST[:8], 1, "--forget", *places)
    assert ran.status == 2 and "'1' has no thread that you named: nothing was changed." in ran.err
    assert told(run, "correct", "list", *places)["said"] == []
    for args in (("--none",), ("--forget",)):
        assert run("thread", FIRST[:8], 1, *args, *places).status == 0


def test_a_damaged_line_is_named_and_the_rest_is_read(run: Run, places: list[str]) -> None:
    """FUT-06, ARC-07: what cannot be read of what a person said is said."""
    run("thread", OTHER[:8], 1, "mine", *places)
    file = Path(places[3]) / "sessions" / "corrections.jsonl"
    file.write_bytes(b"{nonsense\n" + file.read_bytes())
    ran = run("search", "--threads", *places)
    assert ran.status == 0 and "mine" in ran.out
    assert "corrections.jsonl is damaged" in ran.err
    assert "To end this note, delete the unreadable lines from the file." in ran.err
    file.write_bytes(file.read_bytes().removeprefix(b"{nonsense\n"))
    assert "damaged" not in run("search", "--threads", *places).err


def test_a_thread_is_listed_and_taken_back_like_everything_said(
    run: Run, places: list[str]
) -> None:
    """FUT-06, UND-07: `correct list` shows it, `correct undo` takes back the last word alone."""
    run("thread", OTHER[:8], 1, "mine", *places)
    run("thread", OTHER[:8], 1, "yours", *places)
    listed = run("correct", "list", OTHER[:8], *places).out
    assert "into thread 'mine'" in listed and "into thread 'yours'" in listed
    taken = run("correct", "undo", *places).out
    assert taken.startswith("Taken back") and "into thread 'yours'" in taken
    assert told(run, "search", "--threads", *places)["threads"][0]["id"] == "mine"
    run("correct", "undo", *places)
    assert told(run, "search", "--threads", *places)["total"] == 1


def old_file(places: list[str], *said: tuple[str, str | None]) -> Path:
    """``threads.jsonl`` as an older version left it: session and thread of its first engagement."""
    with open_archive(places[3], [places[1]]) as archive:
        lines = [
            {
                "session_id": session,
                "engagement_id": (first := archive.record(session).engagements[0]).id,
                "turn_range": first.turn_range,
                "name": name,
            }
            for session, name in said
        ]
    file = Path(places[3]) / "sessions" / "threads.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


OLD = ((OTHER, "mine"), (LAST, "mine"), (SECOND, None), (LAST, ""))


def test_the_file_of_an_older_version_is_read(run: Run, places: list[str]) -> None:
    """FUT-06, ARC-08, ARC-09: as it stands, and nothing is written by reading."""
    file = old_file(places, *OLD)
    before = file.read_bytes()
    found = told(run, "search", "--threads", *places)["threads"]
    assert [(thread["id"], thread["sessions"]) for thread in found] == [("mine", 1)]
    assert "into no thread" in run("correct", "list", SECOND[:8], *places).out
    assert file.read_bytes() == before
    assert not file.with_name("corrections.jsonl").exists()


def test_the_file_of_an_older_version_is_folded_in(run: Run, places: list[str]) -> None:
    """FUT-06, ARC-08: the next word takes all of it into the one file, in its order and under the
    same ids; after everything that was said by then, which it held for; the old file is kept."""
    run("correct", "note", OTHER[:8], "1", "before", *places)
    file = old_file(places, *OLD)
    ids = [item["id"] for item in told(run, "correct", "list", LAST[:8], *places)["said"]]
    run("correct", "star", FIRST[:8], *places)
    assert not file.exists() and file.with_name("threads.folded.jsonl").exists()
    content = file.with_name("corrections.jsonl").read_text()
    lines = [json.loads(line) for line in content.splitlines()]
    kinds = [line["said"]["kind"] for line in lines]
    assert kinds == ["note", "thread", "thread", "thread", "unthread", "star"]
    assert [i["id"] for i in told(run, "correct", "list", LAST[:8], *places)["said"]] == ids
    found = told(run, "search", "--threads", *places)["threads"]
    assert [(thread["id"], thread["sessions"]) for thread in found] == [("mine", 1)]
    run("correct", "undo", SECOND[:8], *places)
    assert told(run, "search", "--threads", *places)["total"] == 2


def test_folding_that_was_killed_is_finished_once(run: Run, places: list[str]) -> None:
    """FUT-06: between the two steps the lines stand in both files; they are not written twice."""
    file = old_file(places, *OLD)
    content = file.read_bytes()
    run("correct", "star", FIRST[:8], *places)
    file.write_bytes(content)
    run("correct", "unstar", FIRST[:8], *places)
    assert not file.exists()
    lines = file.with_name("corrections.jsonl").read_bytes().splitlines()
    assert len(lines) == len(OLD) + 2


def test_a_thread_through_the_library_and_the_api(run: Run, places: list[str]) -> None:
    """FUT-06, UND-07: `said.Thread` and `said.Unthread`, as values and as JSON; a split keeps
    both parts in it, another extraction does too."""
    with open_archive(places[3], [places[1]]) as archive:
        spoken = archive.say(OTHER, said.Thread("1", name="mine"))
        assert spoken.thread == "mine"
        archive.say(OTHER, said.Split("1", round=2))
        parts = archive.record(OTHER).engagements
        assert [part.said_thread for part in parts] == ["mine", "mine"]
        state = ServerState(archive.root, archive.places)
        body = json.dumps({"kind": "thread", "engagement": parts[1].id, "name": "yours"})
        answer = json.loads(bytes(say(state, OTHER, body.encode()).body))
        assert (answer["thread"], answer["said"]["statement"]["kind"]) == ("yours", "thread")
        assert run("ingest", "--again", "--extractor", "offline", *places).status == 0
        known = threads(archive)
        assert known.named("mine").members == ((OTHER, parts[0].id),)
        assert known.named("yours").members == ((OTHER, parts[1].id),)
        archive.say(OTHER, said.Unthread(parts[1].id))
        assert threads(archive).of(OTHER, parts[1].id) is None
        with pytest.raises(NotFound):
            archive.say(OTHER, said.Thread(name="of nothing"))


def test_what_a_thread_needs(run: Run, places: list[str]) -> None:
    """FUT-06: a branch that a prompt names as needed; both ways, in text and JSON; or nothing."""
    id = first_id(run, places)
    alone = "It depends on no thread, and none depends on it."
    assert alone in run("search", "--deps", id, *places).err
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


def still_open(run: Run, places: list[str]) -> dict[str, set[str]]:
    """Topics that each front end says are still open, of two."""
    topics = ("Count the pears", "Press the pears")
    period = ("--date", "March 2026")
    report = told(run, "report", *period, *places)["report"]
    narrow = told(run, "report", *period, "-p", "press", *places)["report"]
    with open_archive(places[3], [places[1]]) as archive:
        page = archive.layout.engagements_index.read_text()
        state = ServerState(archive.root, archive.places)
        request: Any = type("Request", (), {"query_params": {}})()
        rows = json.loads(bytes(underway.listed(state, request).body))["open"]
        answer = Tools(archive).report(date="March 2026")
    head = page.split("## Still open")[1].split("\n## ")[0] if "## Still open" in page else ""
    parts = [part.split("### ")[0] for part in answer.split("Still open")[1:]]
    return {
        "index": {topic for topic in topics if topic in head},
        "report": {w["topic"] for p in report["projects"] for w in p["open"]},
        "report of one project": {w["topic"] for p in narrow["projects"] for w in p["open"]},
        "viewer": {row["topic"] for row in rows},
        "mcp": {topic for topic in topics if topic in "".join(parts)},
    }


def test_what_went_on_is_a_step_everywhere(run: Run, places: list[str]) -> None:
    """FUT-06: in the index, reports, the viewer and MCP, also where it went on in another project:
    what is open is the last engagement of its thread."""
    with open_archive(places[3], [places[1]]) as archive:
        for session in (FIRST, SECOND, LAST):
            for engagement in archive.record(session).engagements:
                archive.say(session, said.Set(engagement.id, values={"phase": "completed"}))
        pears: dict[str, Any] = {
            "topic": "Count the pears",
            "project": "/home/mara/press",
            "phase": "blocked",
        }
        archive.say(OTHER, said.Set("1", values=pears))
    assert set(map(tuple, still_open(run, places).values())) == {("Count the pears",)}
    for session in (OTHER, LAST):
        run("thread", session[:8], 1, "pears", *places)
    assert set(map(tuple, still_open(run, places).values())) == {()}
    run("correct", LAST[:8], 1, "topic=Press the pears", "phase=in-progress", *places)
    found = still_open(run, places)
    assert found.pop("report of one project") == set()
    assert set(map(tuple, found.values())) == {("Press the pears",)}


@pytest.fixture
def spread(run: Run, places: list[str]) -> list[str]:
    """A thread that a person named, over two projects; the first of it was left open."""
    run("correct", FIRST[:8], 1, "phase=blocked", *places)
    run("correct", OTHER[:8], 1, "project=/home/mara/press", "phase=completed", *places)
    for session in (FIRST, OTHER):
        run("thread", session[:8], 1, "cider", *places)
    return places


def test_a_thread_names_all_its_projects(run: Run, spread: list[str]) -> None:
    """FUT-06: in the list, in JSON beside the first one, and in the viewer."""
    (thread,) = told(run, "search", "--threads", *spread)["threads"]
    assert (thread["project"], thread["projects"]) == ("orchard", ["orchard", "press"])
    assert " · orchard, press · " in run("search", "--threads", *spread).out
    state = ServerState(Path(spread[3]), (Path(spread[1]),))
    asked: Any = {"query_params": {"q": "press"}, "path_params": {"id": "cider"}}
    request: Any = type("Request", (), asked)()
    for page in (threads_page(state, request), thread_page(state, request)):
        assert "<bdi>orchard, press</bdi>" in bytes(page.body).decode()


def test_a_thread_tells_what_was_left_open_on_its_way(run: Run, spread: list[str]) -> None:
    """FUT-06: its phase is that of its last engagement; earlier steps that were left open are
    counted."""
    (thread,) = told(run, "search", "--threads", *spread)["threads"]
    assert (thread["phase"], thread["left_open"]) == ("completed", 1)
    listed = run("search", "--threads", *spread, columns=40).out
    assert "\n  completed, 1 earlier step left open ·\n" in listed
    assert max(map(len, listed.splitlines())) <= 40
    run("correct", FIRST[:8], 1, "phase=completed", *spread)
    assert "left open" not in run("search", "--threads", *spread).out


def test_a_chain_says_what_you_put_there(run: Run, spread: list[str]) -> None:
    """FUT-06: your word is evidence, too; what was found is beside it."""
    chain = told(run, "search", "--chain", f"{OTHER[:8]}#1", *spread)["chain"]
    assert [(step["session_id"], step["said"]) for step in chain] == [
        *((FIRST, True), (SECOND, False)),
        (OTHER, True),
    ]
    told_of = run("search", "--chain", f"{OTHER[:8]}#1", *spread).out
    assert told_of.count("    by your word\n") == 2 and "    branch feat/passkeys" in told_of


def test_a_list_of_threads_counts_threads(run: Run, places: list[str]) -> None:
    """FUT-06, SRCH-16: and where filters leave none, it says that it is the filters."""
    assert run("search", "--threads", *places).err == "1 thread.\n"
    none = run("search", "--threads", "--since", "2026-03-20", *places).err
    assert none == "No threads found: 1 thread does not pass the filters.\n"
    for session in (FIRST, SECOND):
        run("thread", session[:8], 1, "--none", *places)
    none = run("search", "--threads", *places).err
    assert none == "No threads found: no work here spans several sessions.\n"


def test_every_copy_of_the_last_engagement_is_as_open(places: list[str]) -> None:
    """FUT-06, UND-08: whichever of them a filter leaves to be shown."""
    with open_archive(places[3], [places[1]]) as archive:
        known = threads(archive)
        (thread,) = known.every
        *_, last = thread.members
        copy = (OTHER, last[1])
        record, engagement = known.pairs[last]
        engagement = replace(engagement, phase="blocked")
        pairs = [(record, engagement), (replace(record, session_id=OTHER), engagement)]
        both = replace(known, copies={copy: last})
        assert both.still_open(pairs) == {last, copy}


def test_a_report_looks_at_its_own_period(run: Run, places: list[str]) -> None:
    """FUT-06, SHARE-02: what went on only later was still open then."""
    run("correct", FIRST[:8], 1, "phase=blocked", *places)
    run("correct", SECOND[:8], 1, "phase=completed", *places)

    def left(*period: str) -> list[str]:
        report = told(run, "report", *period, *places)["report"]
        return [work["session_id"] for p in report["projects"] for work in p["open"]]

    assert left("--date", "2026-03-02") == [FIRST]
    assert left("--since", "2026-03-02", "--until", "2026-03-03") == []
