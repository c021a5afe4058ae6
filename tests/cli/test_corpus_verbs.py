"""``minutebook corpus build`` and ``search`` (CORP-08, CORP-09, CORP-11 … CORP-13)."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def places(examples: Path, tmp_path: Path) -> list[str]:
    archive = tmp_path / "archive"
    archive.mkdir(mode=0o700)
    return ["--root", str(examples), "--archive", str(archive)]


def told(run: Run, *args: object) -> dict[str, Any]:
    ran = run("corpus", *args, "--json")
    assert ran.status == 0, ran.err
    document: dict[str, Any] = json.loads(ran.out)
    assert document["version"] == 1
    return document


def test_build_says_what_it_did(run: Run, places: list[str], tmp_path: Path) -> None:
    """CORP-09: one line; the second time there is nothing to do."""
    ran = run("corpus", "build", "--since", "all", *places)
    assert ran.status == 0 and ran.out.count("\n") == 1
    assert "of 9 sessions in the corpus" in ran.out
    again = told(run, "build", *places)
    assert again["indexed"] == {"added": 0, "removed": 0, "embedded": 0, "sessions": 0}
    assert again["options"] == {"since": None} and again["sessions"] == 9
    folder = tmp_path / "archive" / "corpora" / "sessions"
    assert again["folder"] == str(folder)
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_options_are_remembered(run: Run, places: list[str]) -> None:
    """CORP-11, CORP-12: for the next build and for searches, until they are reset."""
    first = told(run, "build", "--since", "all", "--project", "orchard", "--full", *places)
    assert first["options"] == {"since": None, "projects": ["orchard"], "include_full": True}
    found = told(run, "search", "passkey", "login", *places)["hits"]
    assert {hit["pair"]["metadata"]["project"] for hit in found} == {"orchard"}
    one = told(run, "build", "--max-sessions", "1", *places)
    assert one["sessions"] == 1 and one["options"]["projects"] == ["orchard"]
    assert told(run, "build", "--reset", *places)["options"] == {}


def test_search_finds_turns_by_surface(run: Run, places: list[str]) -> None:
    """CORP-08, CORP-13: the turn, its metadata with its usage, and where it was found."""
    run("corpus", "build", "--since", "all", *places)
    for surface in ("user_prompt", "assistant_summary", "title"):
        args = ["search", "passkey", "login", "--surface", surface, "--mode", "lexical", "-k", "3"]
        document = told(run, *args, *places)
        assert document["mode"] == "lexical" and 0 < len(document["hits"]) <= 3
        for hit in document["hits"]:
            assert hit["surface"] == surface
            assert hit["pair"]["id"].startswith(hit["pair"]["metadata"]["session_id"])
            assert hit["pair"]["metadata"]["usage"]["output"] > 0


def test_search_builds_what_is_not_there(run: Run, places: list[str]) -> None:
    """CORP-09, CORP-11: with the preset's defaults, of which one is a window of 90 days."""
    ran = run("corpus", "search", "passkey", *places)
    assert ran.status == 0 and "Created a corpus in" in ran.err
    assert "Nothing found for 'passkey'" in ran.err  # the examples are older


def test_a_window_that_leaves_sessions_out_is_said(run: Run, places: list[str]) -> None:
    """CORP-11: "0 turns of 0 sessions" comes with how many are older, and how to have them."""
    ran = run("corpus", "build", *places)
    assert "0 turns of 0 sessions" in ran.out
    assert "9 sessions are older than 20" in ran.err and "--since all includes them" in ran.err
    assert told(run, "build", *places)["older"] == 9
    everything = run("corpus", "build", "--since", "all", *places)
    assert not everything.err and told(run, "build", *places)["older"] == 0


def test_a_search_says_whether_there_may_be_more(run: Run, places: list[str]) -> None:
    """SRCH-16: the best so many, or all there are; `similar` too."""
    run("corpus", "build", "--since", "all", *places)
    found = run("corpus", "search", "passkey", "-k1", *places)
    assert "The best 1 (-k for more)." in found.err
    few = run("corpus", "search", "authenticator", "--mode", "lexical", *places)
    assert f"{len(few.out.splitlines()) // 2} turn" in few.err
    alike = run("similar", "3a4d64e0#1", "--limit", "1", *places)
    assert "The best 1 (--limit for more)." in alike.err


def test_hits_are_two_lines(run: Run, places: list[str]) -> None:
    """When and where, and the words; ``-word`` leaves out."""
    run("corpus", "build", "--since", "all", *places)
    ran = run("corpus", "search", "passkey", "--mode", "lexical", "-k", "2", *places, columns=80)
    lines = ran.out.splitlines()
    assert len(lines) == 4 and all(len(line) <= 80 for line in lines)
    assert lines[0].startswith("2026-03-") and "#" in lines[0]
    assert "passkey" in lines[1].lower()
    without = run("corpus", "search", "passkey", "-login", "--mode", "lexical", *places)
    assert without.status == 0 and without.out != ran.out


def test_a_manual_corpus_waits_for_a_build(run: Run, places: list[str]) -> None:
    """CORP-09: it is not made by a search, and the message says what makes it."""
    ran = run("corpus", "search", "passkey", "--no-refresh", *places)
    assert ran.status == 2 and "corpus build" in ran.err
    run("corpus", "build", "--since", "all", "--schedule", "manual", *places)
    assert told(run, "search", "passkey", *places)["indexed"] is None


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["search"], "Give words to search for."),
        (["search", "x", "--surface", "assistant_full"], "The surfaces of this corpus are"),
        (["search", "x", "--surface", "thinking"], "'thinking' is not one of"),
        (["search", "x method:debug"], "leave method: out of the query"),
        (["search", "x", "agent:Reed", "phase:blocked"], "leave agent: and phase: out"),
        (["search", "x", "-k", "0"], "0 is not in the range"),
        (["build", "--since", "never"], "'never' is not a date"),
        (["build", "--max-sessions", "0"], "0 is not in the range"),
        (["build", "--schedule", "hourly"], "'hourly' is not one of"),
        (["burn"], "No such command 'burn'"),
    ],
)
def test_bad_input_is_refused(run: Run, places: list[str], args: list[str], said: str) -> None:
    """Status 2, and a sentence that says why."""
    ran = run("corpus", *args, *(places if args != ["burn"] else []))
    assert ran.status == 2 and said in ran.err and "Traceback" not in ran.err
