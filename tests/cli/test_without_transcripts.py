"""With every transcript deleted, the command line shows what it showed before (ARC-02)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run

READING = [
    ["sessions", "--ghosts"],
    ["sessions", "--project", "orchard", "--limit", "2"],
    ["show", "Reed"],
    ["show", "7c8fc3ae#2-3"],
    ["show", "Migrate atlas to SQLite", "--secrets"],
    ["show", "c52bc01f"],
    ["search", "passkey login", "--mode", "lexical"],
    ["search", "passkey login"],
    ["search", "passkey", "--in", "engagements"],
    ["search", "--ghosts"],
    ["search", "-s", "passkey"],
    ["similar", "Reed#2"],
    ["stats"],
    ["stats", "-m", "build"],
    ["semantic", "status"],
    ["config"],
    ["ingest", "--dry-run"],
    ["ingest", "--explain", "--session", "Reed"],
]
# What tells whether the transcript is still there, and when the index was looked at.
_MAY_DIFFER = {"present", "resumable", "resume", "restore", "fresh_at", "refreshed"}


@pytest.fixture
def config(examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Transcripts that may be deleted, ingested."""
    folder = tmp_path / "config"
    shutil.copytree(examples, folder)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    monkeypatch.setenv("MINUTEBOOK_ARCHIVE", str(tmp_path / "archive"))
    return folder


@pytest.fixture
def ingested(run: Run, config: Path) -> Path:
    assert run("inscribe", "--all", "--ended").status == 0
    assert run("ingest").status == 0
    return config


def steady(value: Any) -> Any:
    """JSON without what may differ."""
    if isinstance(value, list):
        return [steady(item) for item in value]
    if isinstance(value, dict):
        return {key: steady(item) for key, item in value.items() if key not in _MAY_DIFFER}
    return value


def told(run: Run, args: list[str]) -> Any:
    ran = run(*args, "--json")
    assert ran.status == 0, (args, ran.err)
    return json.loads(ran.out)


def test_every_reading_verb_gives_the_same_json(run: Run, ingested: Path) -> None:
    """ARC-02: rows, counts, rounds, hits and numbers are the same before and after."""
    told(run, ["search", "x"])  # the index is there
    before = [told(run, args) for args in READING]
    shutil.rmtree(ingested / "projects")
    for args, known in zip(READING, before, strict=True):
        assert steady(told(run, args)) == steady(known), args


def test_a_hit_names_the_way_back(run: Run, ingested: Path) -> None:
    """ARC-02: a hit says in JSON, too, how to go on without its transcript."""
    hit = told(run, ["search", "ledger"])["hits"][0]
    assert hit["resume"] and hit["restore"] is None
    shutil.rmtree(ingested / "projects")
    hit = told(run, ["search", "ledger"])["hits"][0]
    assert hit["resume"] is None
    assert hit["restore"].startswith("minutebook export-claude ")
    assert hit["session_id"].startswith(hit["restore"].split()[-1])


def test_the_list_says_what_is_left(run: Run, ingested: Path) -> None:
    """`archived` and `present`: a transcript that is gone is named, and not hidden."""
    before = told(run, ["sessions"])["sessions"]
    assert {(row["archived"], row["present"]) for row in before} == {(True, True)}
    (gone,) = ingested.glob("projects/*/eb82c016*.jsonl")
    gone.unlink()
    after = {row["name"]: row for row in told(run, ["sessions"])["sessions"]}
    assert (after["Reed"]["archived"], after["Reed"]["present"]) == (True, False)
    assert after["Reed"]["path"] == str(gone)
    assert after["Wren"]["present"]


def test_the_overview_shows_the_archive(run: Run, ingested: Path) -> None:
    """Examples are only for those who have neither transcripts nor an archive."""
    shutil.rmtree(ingested / "projects")
    ran = run()
    assert ran.status == 0
    assert "example" not in ran.out and "Reed" in ran.out
    assert "Found 7 sessions, 25 rounds, 4 projects." in ran.out
    shutil.rmtree(ingested)
    assert run().out == ran.out


def test_text_is_the_same_too(run: Run, ingested: Path) -> None:
    """What a person reads, not only what a program does."""
    verbs = (["show", "Ledger outage"], ["show", "Reed", "--full"], ["sessions"], ["stats"])
    before = [run(*args).out for args in verbs]
    shutil.rmtree(ingested / "projects")
    assert [run(*args).out for args in verbs] == before


def test_ingest_reads_the_archive(run: Run, ingested: Path) -> None:
    """ING-24, ING-26: `--again`, `--session` and `--since` find sessions without transcripts."""
    shutil.rmtree(ingested / "projects")
    assert told(run, ["ingest"])["report"]["unchanged"] == 9
    again = told(run, ["ingest", "--again"])["report"]
    assert (again["sessions"], again["ingested"], again["failures"]) == (9, 8, [])
    one = told(run, ["ingest", "--session", "Reed", "--again"])["report"]
    assert (one["sessions"], one["ingested"]) == (1, 1)
    assert told(run, ["ingest", "--since", "1d", "--again"])["report"]["sessions"] == 9
    assert told(run, ["ingest", "--since", "2100-01-01", "--again"])["report"]["sessions"] == 0


def test_only_append_and_check_miss_the_source(run: Run, ingested: Path) -> None:
    """ARC-02: they say that it is gone."""
    shutil.rmtree(ingested / "projects")
    for verb in ("append", "inscribe"):
        ran = run(verb, "Reed")
        assert (ran.status, ran.err.count("\n")) == (2, 1)
        assert "the source is gone" in ran.err
    ran = run("check", "Reed")
    assert (ran.status, "the source is gone" in ran.out) == (0, True)


def test_what_a_person_says_still_counts(run: Run, ingested: Path, tmp_path: Path) -> None:
    """`tag`, `correct`, `export-claude` and `rebuild` need the archive only."""
    shutil.rmtree(ingested / "projects")
    assert run("correct", "Reed", "1", "project=/home/mara/elsewhere").status == 0
    assert run("tag", "Wren", "2", "side-track").status == 0
    assert run("rebuild").status == 0
    stats = told(run, ["stats"])["stats"]
    assert stats["projects"]["elsewhere"] == 1
    found = told(run, ["search", "--in", "engagements", "--limit", "100"])["hits"]
    assert "side-track" in {hit["engagement"]["id"] for hit in found}
    assert run("export-claude", "Reed", "--out", tmp_path / "back.jsonl").status == 0
    assert run("check", tmp_path / "back.jsonl").status == 0
