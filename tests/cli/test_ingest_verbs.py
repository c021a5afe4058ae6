"""ingest and correct: what a person and a program see."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from minutebook import engagements
from minutebook.cli.terminal import width
from tests.archive.test_operations import SID, put
from tests.cli.conftest import Run
from tests.cli.test_process import in_terminal
from tests.cli.test_verbs import golden
from tests.conftest import assistant, user


@pytest.fixture
def places(examples: Path, tmp_path: Path) -> list[str]:
    return ["--root", str(examples), "--archive", str(tmp_path / "archive")]


@pytest.mark.parametrize("columns", [80, 200])
def test_the_report_fits_the_terminal(
    run: Run, places: list[str], tmp_path: Path, columns: int
) -> None:
    """ING-30: what was found, at 80 and 200 columns."""
    ran = run("ingest", *places, columns=columns)
    assert ran.status == 0, ran.err
    told = ran.out.replace(str(tmp_path), "TMP")
    assert max(width(line) for line in told.splitlines()) <= columns
    golden(f"ingest-{columns}.txt", told)


def test_a_dry_run_is_a_table(run: Run, places: list[str], tmp_path: Path) -> None:
    """ING-27: sizes, ghosts, calls, cost; nothing is there afterwards."""
    ran = run("ingest", *places, "--dry-run", columns=80)
    golden("ingest-dry-run.txt", ran.out)
    assert not (tmp_path / "archive").exists()
    document = json.loads(run("ingest", *places, "--dry-run", "--json").out)
    assert document["version"] == 1 and len(document["sessions"]) == 9


def test_a_dry_run_counts_what_is_no_transcript(run: Run, tmp_path: Path) -> None:
    """ING-27: each session is in one of the numbers, also a file that holds none."""
    (tmp_path / "p" / "projects" / "-orchard").mkdir(parents=True)
    (tmp_path / "p" / "projects" / "-orchard" / f"{SID}.jsonl").write_text('{"pears": 3}\n')
    given = ("--root", tmp_path / "p", "--archive", tmp_path / "archive", "--dry-run")
    assert "1 session: 1 skipped (not transcripts)." in run("ingest", *given).out


def test_the_explanation_names_reasons(run: Run, places: list[str]) -> None:
    """`--explain`: why a boundary and a method were chosen."""
    ran = run("ingest", *places, "--explain", "--session", "7c8fc3ae", columns=100)
    assert "cut before it" in ran.out and "method build" in ran.out
    golden("ingest-explain.txt", ran.out)
    document = json.loads(run("ingest", *places, "--explain", "--json").out)
    labelled = [session for session in document["sessions"] if not session["ghost"]]
    assert all(part["why"]["method_reasons"] for s in labelled for part in s["engagements"])


def test_the_explanation_names_rounds_as_every_verb_does(run: Run, tmp_path: Path) -> None:
    """ARC-03: one round is `#1`, several are `#1-3`."""
    done = assistant("It is done. " * 200, uuid="a1")
    put(tmp_path / "p", user("Fix the login", uuid="u1"), done)
    given = ("--explain", "--root", tmp_path / "p", "--archive", tmp_path / "archive")
    told = run("ingest", *given).out
    assert f"{SID[:8]}#1  " in told and "#1-1" not in told


def test_the_explanation_says_what_a_person_corrected(run: Run, places: list[str]) -> None:
    """ING-32, UND-07: labels that a person set otherwise are named beside the offline ones."""
    run("ingest", *places)
    run("correct", "7c8fc3ae", "5", "topic=Hide the pear form", "method=build", *places)
    run("correct", "7c8fc3ae", "title=Pears", *places)
    run("correct", "split", "7c8fc3ae", "1", "3", *places)
    told = run("ingest", "--explain", "--session", "7c8fc3ae", *places).out
    first, second = told.split("7c8fc3ae#5-6")
    assert "you corrected the title: Pears" in first and "you split #1 at round 3" in first
    assert "you corrected the topic: Hide the pear form" in second
    assert "you corrected the method: build" in second and "method discuss" in second
    run("correct", "7c8fc3ae", "title=", *places)
    assert "the title" not in run("ingest", "--explain", "--session", "7c8fc3ae", *places).out
    for _ in range(2):
        run("correct", "undo", "7c8fc3ae", *places)
    assert "you split" not in run("ingest", "--explain", "--session", "7c8fc3ae", *places).out


def test_the_explanation_tells_a_program_of_corrections(run: Run, places: list[str]) -> None:
    """ING-32, UND-07: the same as JSON."""
    run("ingest", *places)
    run("correct", "7c8fc3ae", "5", "topic=Hide the pear form", *places)
    told = json.loads(run("ingest", "--explain", "--session", "7c8fc3ae", "--json", *places).out)
    (session,) = told["sessions"]
    assert [part["corrected"] for part in session["engagements"]] == [
        {},
        {"topic": "Hide the pear form"},
    ]
    assert (session["extractor"], session["ghost"]) == ("offline", False)


def test_a_ghost_is_not_explained(run: Run, tmp_path: Path) -> None:
    """ING-32: what gets no labels has no reasons for any."""
    put(tmp_path / "p", user("Prune the pears", uuid="u1"), assistant("Done.", uuid="a1"))
    given = ("--explain", "--root", tmp_path / "p", "--archive", tmp_path / "archive")
    told = run("ingest", *given).out
    assert f"{SID[:8]} is a ghost: it gets no labels." in told and "method" not in told


def test_an_explanation_of_no_transcript_says_so(run: Run, tmp_path: Path) -> None:
    """ING-32: a file that holds no session is named as that, as in a run."""
    (tmp_path / "p" / "projects" / "-orchard").mkdir(parents=True)
    (tmp_path / "p" / "projects" / "-orchard" / f"{SID}.jsonl").write_text('{"pears": 3}\n')
    given = ("--explain", "--root", tmp_path / "p", "--archive", tmp_path / "archive")
    assert run("ingest", *given).out == "1 skipped (not transcripts).\n"


def test_only_offline_labels_are_explained(run: Run, places: list[str]) -> None:
    """ING-32: whoever names another extractor is told whose reasons these are."""
    given = ("--explain", "--session", "Reed", "--extractor", "claude-cli")
    assert "These are offline labels" in run("ingest", *given, *places).err
    assert "These are offline labels" not in run("ingest", *given[:-2], *places).err


def test_flags_combine(run: Run, places: list[str], examples: Path) -> None:
    """ING-23 … ING-28: by date, one session by prefix, and both; what is unknown is an error."""
    one = json.loads(run("ingest", *places, "--session", "Reed", "--json").out)
    assert one["report"]["sessions"] == 1
    old = next(examples.glob("projects/*/eb82c016*.jsonl"))
    stat = old.stat()
    os.utime(old, (1_700_000_000, 1_700_000_000))
    try:
        both = run("ingest", *places, "--session", "Reed", "--since", "7d", "--json")
        assert json.loads(both.out)["report"]["sessions"] == 0
    finally:
        os.utime(old, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    rest = json.loads(run("ingest", *places, "--skip-existing", "--json").out)
    assert (rest["report"]["ingested"], rest["report"]["unchanged"]) == (7, 1)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--session", "nobody"], "nobody"),
        (["--since", "yesteryear"], "is not a date"),
        (["--extractor", "anthropic"], "set ANTHROPIC_API_KEY"),
        (["--extractor", "openai"], "--base-url"),
        (["--extractor", "offline", "--batch"], "leave out --batch"),
        (["--extractor", "magic"], "magic"),
        (["--concurrency", "0"], "concurrency"),
        (["--max-cost", "much"], "much"),
    ],
)
def test_bad_input_is_one_sentence(
    run: Run, places: list[str], args: list[str], words: str
) -> None:
    """What a person got wrong is said, with status 2."""
    ran = run("ingest", *places, *args)
    assert ran.status == 2
    assert words in ran.err and "Traceback" not in ran.err


def test_correct_on_the_command_line(run: Run, places: list[str], tmp_path: Path) -> None:
    """ING-33: by id, by round; every mistake has its sentence."""
    run("ingest", *places)
    archive = ["--archive", str(tmp_path / "archive")]
    done = run("correct", "Reed", "1", "method=debug", *archive)
    assert done.status == 0 and "debug" in done.out
    again = run("ingest", *places, "--again", "--json")
    assert json.loads(again.out)["report"]["ingested"] == 8
    record = next(r for r in engagements(tmp_path / "archive").values() if r.agent_name == "Reed")
    assert record.engagements[0].method == "debug" and record.corrected
    for args, words in (
        (["nobody", "1", "method=debug"], "No session is called 'nobody'"),
        (["Reed", "wrong", "method=debug"], "has no engagement 'wrong'"),
        (["Reed", "1", "method=magic"], "choose one of review, write"),
        (["Reed", "1", "colour=red"], "the fields are topic"),
        (["Reed", "1", "topic="], "cannot be empty"),
        (["Reed", "1", "turn_range=2-99"], "has 3 rounds"),
        (["Reed", "1", "key_decisions=a;b;c;d"], "At most 3"),
    ):
        ran = run("correct", *args, *archive)
        assert (ran.status, words in ran.err) == (2, True), (args, ran.err)


def test_progress_and_colour_on_a_terminal(places: list[str]) -> None:
    """Methods are coloured where a person looks, and the page is named."""
    seen = in_terminal(["ingest", *places], COLUMNS="100")
    assert "\x1b[" in seen and "engagements-index.md" in seen


def test_every_session_is_in_one_class(run: Run, examples: Path, tmp_path: Path) -> None:
    """ING-30, OPS-18: a session whose transcript was deleted and restored is unchanged, so the
    classes add up; a file of the same id is in none; `status` says no more than it knows."""
    root, archive = tmp_path / "claude", tmp_path / "archive"
    shutil.copytree(examples, root)
    places = ["--root", str(root), "--archive", str(archive)]
    for file in root.rglob("*.jsonl"):
        os.utime(file, (1_600_000_000, 1_600_000_000))
    assert run("ingest", *places).status == 0
    (path,) = root.glob("projects/*/7c8fc3ae*.jsonl")
    path.unlink()
    ran = run("export-claude", "7c8fc3ae", "--out", str(path), "--archive", str(archive))
    assert ran.status == 0, ran.err
    os.utime(path, (1_700_000_000, 1_700_000_000))
    said = run("status", *places).out
    assert "1 session has a changed transcript" in said and "grown" not in said
    assert "archives what is new there, if anything" in said
    assert "9 sessions: 9 unchanged." in run("ingest", *places).out
    shutil.copytree(path.parent, root / "projects" / "-elsewhere")
    out = run("ingest", *places).out
    assert "9 sessions: 9 unchanged." in out and "of a session that another file has" in out


def test_what_repeats_is_paid_for_by_nobody_offline(run: Run, places: list[str]) -> None:
    """UND-08, ING-30: an offline run says that copies are extracted once, and names no price."""
    out = run("ingest", *places).out
    assert "rounds of another; they are extracted once." in out and "paid for" not in out
