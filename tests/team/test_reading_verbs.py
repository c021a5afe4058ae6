"""`--team` on every verb that reads, in the viewer and for agents; and one's own when offline."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from minutebook import open_team
from minutebook.archive import Archive
from minutebook.mcp.tools import Tools
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.team.conftest import House

VERBS = (
    ("search", "login"),
    ("search", "login", "--mode", "lexical", "--in", "turns"),
    ("search", "--project", "orchard"),
    ("search", "login", "--project", "ORCHARD"),
    ("usage", "model", "--project", "orchard"),
    ("search", "--file", "*.py"),
    ("search", "--threads"),
    ("search", "login", "--stats"),
    ("show", "Reed#1"),
    ("similar", "Reed#1"),
    ("context", "Reed", "--compressed"),
    ("context", "--query", "passkey login"),
    ("stats",),
    ("usage", "model"),
    ("usage", "Reed"),
    ("report", "--since", "2026-01-01"),
    ("lineage",),
    ("lineage", "Reed"),
)
NOWHERE = "postgresql://ada@127.0.0.1:1/team"


@pytest.fixture
def shared(house: House, book: Archive, monkeypatch: pytest.MonkeyPatch) -> House:
    """Everything pushed by ada; the environment names the team as rea reaches it."""
    house.push(book)
    monkeypatch.setenv("MINUTEBOOK_TEAM_URL", house.url("rea"))
    return house


@pytest.fixture
def nobody(tmp_path: Path) -> Path:
    """An archive of somebody who has nothing."""
    (tmp_path / "nobody").mkdir()
    return tmp_path / "nobody"


def places(archive: Path, root: Path) -> tuple[str, ...]:
    return "--archive", str(archive), "--root", str(root)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.usefixtures("shared")
def test_a_verb_answers_from_the_team(run: Run, nobody: Path, verb: tuple[str, ...]) -> None:
    """TEAM-03: who has nothing of their own reads what the team shares, with the same flags."""
    found = run(*verb, "--team", *places(nobody, nobody))
    assert (found.status, "own archive" in found.err) == (0, False), found.err
    assert found.out or verb in (("search", "--threads"), ("similar", "Reed#1"))  # nothing there
    assert list(nobody.iterdir()) == []


@pytest.mark.parametrize("verb", [v for v in VERBS if v[0] != "search"], ids=" ".join)
@pytest.mark.usefixtures("shared")
def test_json_is_the_same(
    run: Run, book: Archive, examples: Path, nobody: Path, verb: tuple[str, ...]
) -> None:
    """TEAM-03: the same JSON as at home, but for whose it is and where its files are."""
    here = json.loads(run(*verb, "--json", *places(book.root, examples)).out)
    there = json.loads(run(*verb, "--json", "--team", *places(nobody, nobody)).out)
    assert _without(there) == _without(here)


def test_json_says_that_it_is_not_the_teams(
    run: Run, book: Archive, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-03: a program that asked for a team learns that one's own archive answered."""
    where = places(book.root, examples)
    monkeypatch.setenv("MINUTEBOOK_TEAM_URL", NOWHERE)
    told = json.loads(run("search", "login", "--team", "--json", *where).out)
    assert told["team"] is False
    assert "team" not in json.loads(run("search", "login", "--json", *where).out)


_APART = {"person", "withheld", "path", "resume", "resumable", "document", "score", "row", "origin"}
_APART |= {"names", "identity", "subagents"}


def _without(told: object) -> object:
    """JSON without what a team does not have: files of other people's machines."""
    if isinstance(told, dict):
        return {name: _without(value) for name, value in told.items() if name not in _APART}
    return [_without(item) for item in told] if isinstance(told, list) else told


def test_rows_say_whose_they_are(shared: House, run: Run, nobody: Path) -> None:
    """TEAM-03: hits, files and sessions name their person."""
    assert shared.sql("rea", "SELECT name FROM minutebook.people") == [("ada",)]
    where = places(nobody, nobody)
    assert " · ada" in run("search", "login", "--team", *where).out
    hits = json.loads(run("search", "login", "--team", "--json", *where).out)["hits"]
    assert {hit["person"] for hit in hits} == {"ada"}
    files = json.loads(run("search", "--file", "*.py", "--team", "--json", *where).out)["hits"]
    assert {hit["person"] for hit in files} == {"ada"}
    assert "ada · " in run("show", "Reed", "--team", *where).out
    assert json.loads(run("show", "Reed", "--team", "--json", *where).out)["person"] == "ada"


def test_minutes_alone_are_shown(
    house: House, book: Archive, run: Run, nobody: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-03: of a session shared as minutes, `show` shows those and says what is missing."""
    house.push(book, level="engagements")
    monkeypatch.setenv("MINUTEBOOK_TEAM_URL", house.url("rea"))
    where = places(nobody, nobody)
    shown = run("show", "Reed", "--team", *where)
    assert "Only its minutes are shared" in shown.err
    assert book.record(book.resolve("Reed")).engagements[0].topic in shown.out
    one = run("show", "Reed#1", "--team", *where)
    assert (one.status, one.out) == (2, "")
    assert "Only its minutes are shared" in one.err and one.err.count("\n") == 1
    told = run("context", "Reed", "--team", *where)
    assert told.status == 0 and "Only its minutes are shared" in told.out
    again = json.loads(run("show", "Reed", "--team", "--json", *where).out)
    assert again["engagements"] and again["rounds"] == []


# -- offline


@pytest.mark.parametrize("verb", [("search", "login"), ("stats",), ("show", "Reed#1")])
def test_without_a_server_ones_own_answers(
    run: Run,
    book: Archive,
    examples: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: tuple[str, ...],
) -> None:
    """TEAM-03: a server that is not reached is one sentence; the answer is of one's own."""
    where = places(book.root, examples)
    run(*verb, *where)  # makes what is missing
    own = run(*verb, *where)
    monkeypatch.setenv("MINUTEBOOK_TEAM_URL", NOWHERE)
    found = run(*verb, "--team", *where)
    assert (found.status, found.out) == (0, own.out)
    line, *others = found.err.splitlines()
    assert "cannot be reached" in line and "your own archive" in line
    assert others == own.err.splitlines()


def test_without_a_team_ones_own_answers(
    run: Run, book: Archive, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEAM-03: who has not joined is told so."""
    monkeypatch.delenv("MINUTEBOOK_TEAM_URL", raising=False)
    found = run("stats", "--team", *places(book.root, examples))
    assert found.status == 0 and "engagements" in found.out
    assert "You have not joined a team" in found.err


@pytest.mark.usefixtures("shared")
def test_another_schema_is_not_passed_over(shared: House, run: Run, nobody: Path) -> None:
    """TEAM-05: what must be mended is refused with a sentence, not answered from elsewhere."""
    shared.sql("postgres", "UPDATE minutebook.migrations SET version = 99 WHERE version = 3")
    found = run("stats", "--team", *places(nobody, nobody))
    assert (found.status, found.out) == (2, "")
    assert "upgrade minutebook" in found.err and found.err.count("\n") == 1


# -- agents and the viewer


@pytest.mark.usefixtures("shared")
def test_agents_read_the_team(book: Archive) -> None:
    """TEAM-03: the tools of MCP over a team's archive."""
    with open_team(book.root) as team:
        tools = Tools(team)
        assert "by ada" in tools.search("passkey login")
        assert tools.show("Reed#1") and tools.context(query="passkey login")
        own = Tools(book)
        for here, there in (
            (own.stats(), tools.stats()),
            (own.usage("model"), tools.usage("model")),
            (own.decisions(), tools.decisions()),
        ):
            assert _unmarked(there) == _unmarked(here)


def _unmarked(text: str) -> list[str]:
    """What is told, whatever order equals have; but for the marks around quoted text, which are
    new each time."""
    lines = [line for line in text.splitlines() if "untrusted-" not in line]
    return sorted(part for line in lines for part in re.split(r"[,:] ", line))


@pytest.fixture
def address(shared: House, nobody: Path, own_home: Path) -> Iterator[str]:
    """A viewer of the team's archive."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "minutebook", "serve", "--team", "--port", str(port)]
    env = {**os.environ, "HOME": str(own_home), "MINUTEBOOK_TEAM_URL": shared.url("rea")}
    viewer = subprocess.Popen(
        [*command, *places(nobody, nobody)], env=env, stdout=subprocess.PIPE, text=True
    )
    try:
        assert viewer.stdout is not None and "minutebook is at" in viewer.stdout.readline()
        yield f"http://127.0.0.1:{port}"
    finally:
        viewer.terminate()
        viewer.communicate(timeout=30)


def _page(url: str) -> str:
    for attempt in range(50):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError:
            raise
        except OSError:
            if attempt == 49:
                raise
            time.sleep(0.1)
    return ""


def test_the_viewer_shows_the_team(address: str, book: Archive, nobody: Path) -> None:
    """TEAM-03: home, search, usage, files, lineage, decisions and a session, with whose it is."""
    id = book.resolve("Reed")
    topic = book.record(id).engagements[0].topic
    assert topic in (home := _page(f"{address}/?range=all"))
    assert '<bdi class="person">ada</bdi>' in home
    assert '<bdi class="person">ada</bdi>' in _page(f"{address}/search?q=login")
    for page in ("usage", "files", "lineage", "decisions", "threads", "report"):
        assert "<h1" in _page(f"{address}/{page}") or "<main" in _page(f"{address}/{page}")
    session = _page(f"{address}/session/{id}")
    assert '<bdi class="person">ada</bdi>' in session
    status = json.loads(_page(f"{address}/api/v1/status"))
    assert status["archive"].startswith("postgresql://rea@")
    assert list(nobody.iterdir()) == []


def test_the_viewer_of_a_team_changes_nothing(address: str, book: Archive) -> None:
    """TEAM-03: it takes no minutes and no corrections."""
    request = urllib.request.Request(f"{address}/api/v1/ingest", data=b"{}", method="POST")
    request.add_header("Content-Type", "application/json")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    assert refused.value.code == 403
    refused.value.close()
    id = book.resolve("Reed")
    assert f"/session/{id}/mend" not in _page(f"{address}/session/{id}")
