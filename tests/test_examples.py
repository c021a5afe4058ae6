"""The demonstration is worth looking at: what a stranger sees first has something of everything."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from minutebook.api import ingest
from minutebook.archive import Archive, open_archive
from minutebook.archive.threads import threads
from minutebook.examples import write_demonstration
from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # the command line in this process


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demonstration, with its minutes."""
    folder = tmp_path_factory.mktemp("demonstration")
    write_demonstration(folder)
    ingest(folder, archive=folder / "archive", extractor="offline")
    return folder


@pytest.fixture
def demonstration(taken: Path) -> Iterator[Archive]:
    with open_archive(taken / "archive", [taken]) as archive:
        yield archive


def test_there_are_projects_agents_and_weeks(demonstration: Archive) -> None:
    """Several of each, and more than one person's folders."""
    found = demonstration.sessions().sessions
    assert {row.program for row in found} >= {"claude", "codex"}
    assert len({row.info.project for row in found}) >= 4
    assert {Path(row.info.cwd or "").parts[2] for row in found} == {"mara", "jonas"}
    days = sorted(row.info.started or "" for row in found)
    assert days[0] < "2026-02-06" and days[-1] > "2026-03-20"


def test_the_engagements_are_of_many_kinds(demonstration: Archive) -> None:
    """Methods and phases of several kinds, decisions with what they were chosen over, a thread."""
    engagements = [engagement for _, engagement in demonstration.engagements()]
    assert len({engagement.method for engagement in engagements}) >= 7
    assert {"completed", "blocked"} <= {engagement.phase for engagement in engagements}
    decided = [d for engagement in engagements for d in engagement.key_decisions]
    assert any("instead of" in decision for decision in decided)
    assert len(threads(demonstration).every) >= 2


def test_there_are_costs_a_subagent_and_a_compaction(taken: Path, run: Run) -> None:
    """USE-02: every model has a price, so that the first `usage` shows what it is for."""
    places = ("--root", taken, "--archive", taken / "archive")
    told = run("usage", "project", *places).out
    total = next(line for line in told.splitlines() if line.startswith("total"))
    assert "$" in total and "$0." not in total and "no price" not in told
    assert "of which subagents" in told
    assert "compact" in run("budget", *places).out


def test_what_the_first_screen_says_to_type_works(
    run: Run, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The `export` line names every agent's folder; then the sessions of all of them are listed."""
    monkeypatch.setenv("HOME", str(own_home))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    told = run("demo").out
    assert "2 coding agents" in told
    line = next(line for line in told.splitlines() if line.strip().startswith("export "))
    for given in line.split()[1:]:
        name, _, value = given.partition("=")
        monkeypatch.setenv(name, value)
    listed = run("sessions", "--limit", "50").out
    assert "Upgrade the dependencies" in listed and "passkey" in listed
    shutil.rmtree(own_home / ".local")
