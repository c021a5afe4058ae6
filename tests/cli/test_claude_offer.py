"""`ingest` without a key, where there is a `claude`: it is named, and not asked (UND-09)."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from minutebook.cli.terminal import width
from tests.cli.conftest import Run
from tests.cli.test_process import in_terminal

OFFER = "To ask it about"


@pytest.fixture
def places(examples: Path, tmp_path: Path) -> list[str]:
    return ["--root", str(examples), "--archive", str(tmp_path / "the archive's")]


def command_of(told: str) -> list[str]:
    """The command that an offer prints, without the program."""
    (line,) = [line for line in told.splitlines() if line.startswith("  minutebook ")]
    return shlex.split(line)[1:]


def figures(told: str) -> tuple[str, ...]:
    """Sessions, calls, characters and dollars, as an offer or a dry run says them."""
    sessions = re.search(r"ask it about (\d+) session|(\d+) to send", told)
    parts = (r"([\d,]+) calls?\b", r"([\d,]+) characters\b", r"about \$([\d.]+) at API prices")
    found = [re.search(part, told) for part in parts]
    assert sessions and all(found), told
    return (sessions[1] or sessions[2], *(match[1] for match in found if match))


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `claude` on the PATH that leaves a file behind when it is called."""
    program, called = tmp_path / "bin" / "claude", tmp_path / "called"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n/bin/echo called > {called}\n")
    program.chmod(0o755)
    monkeypatch.delenv("CLAUDE_BIN", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("PATH", str(program.parent))
    return called


def test_auto_names_it_and_what_it_would_send_and_cost(
    run: Run, places: list[str], claude: Path
) -> None:
    """UND-09: how to use it, how many sessions and characters, to whom, for about how much."""
    ran = run("ingest", *places)
    assert ran.status == 0 and "nothing left this machine" in ran.out
    assert f"{OFFER} 7 sessions" in ran.err and "to Anthropic" in ran.err
    assert "commit subjects" in ran.err and not claude.exists()


@pytest.mark.parametrize(
    "scope",
    [(), ("--session", "Reed"), ("--since", "1d"), ("--model", "claude-opus-5", "--again")],
    ids=" ".join,
)
@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["run", "dry"])
def test_the_command_does_what_is_said_of_it(
    run: Run, places: list[str], claude: Path, scope: tuple[str, ...], dry: tuple[str, ...]
) -> None:
    """UND-09: the command has the roots, the archive and the choice of the one that was typed,
    and its own dry run says the same sessions, calls, characters and cost."""
    offer = run("ingest", *places, *scope, *dry).err
    command = command_of(offer)
    same = run(*command, "--dry-run")
    assert same.status == 0 and figures(offer) == figures(same.out)
    given = scope[: scope.index("--again")] if "--again" in scope else scope
    assert command == ["ingest", *places, *given, "--extractor", "claude-cli"]
    assert not claude.exists()


@pytest.mark.usefixtures("claude")
def test_what_earlier_runs_labelled_is_counted(run: Run, places: list[str]) -> None:
    """UND-09: the command asks about all sessions that no model has read, not only about those
    of this run."""
    run("ingest", *places, "--session", "Reed")
    offer = run("ingest", *places).err
    assert figures(offer) == figures(run(*command_of(offer), "--dry-run").out)
    assert figures(offer)[0] == "7"


def test_a_long_list_is_not_read_again_to_be_counted(
    run: Run, places: list[str], claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UND-09: with very many sessions a run names the command, whose dry run counts."""
    monkeypatch.setattr("minutebook.cli.ingest_forecast._MOST_COUNTED", 3)
    offer = run("ingest", *places).err
    assert command_of(offer)[-1] == "claude-cli" and "--dry-run" in offer and "$" not in offer
    assert "about $" in run("ingest", *places, "--dry-run").err and not claude.exists()


@pytest.mark.usefixtures("claude")
def test_the_offer_fits_a_terminal(places: list[str]) -> None:
    """UND-09: sentences are wrapped at words; the command is one line, to be copied."""
    lines = in_terminal(["ingest", *places], COLUMNS="80").splitlines()
    start = next(at for at, line in enumerate(lines) if OFFER in line)
    assert max(width(line) for line in lines[start:] if "  minutebook " not in line) <= 80


def test_a_dry_run_names_it_too(run: Run, places: list[str], claude: Path) -> None:
    """ING-27, UND-09: with the length of what would be sent."""
    ran = run("ingest", *places, "--dry-run")
    assert "No key found, so `ingest` would run offline." in ran.out
    assert OFFER in ran.err and not claude.exists()


def test_a_dry_run_tells_a_program_the_same(run: Run, places: list[str], claude: Path) -> None:
    """ING-27: which extractor a run would use, the totals and the offer, as JSON."""
    told = json.loads(run("ingest", *places, "--dry-run", "--json").out)
    assert (told["extractor"], told["model"], told["forecast"]["extractor"]) == (
        "offline",
        None,
        "anthropic",
    )
    assert sum(told["counts"].values()) == len(told["sessions"]) == 9
    command = shlex.split(told["offer"]["command"])[1:]
    same = json.loads(run(*command, "--dry-run", "--json").out)
    assert same["extractor"] == "claude-cli" and same["forecast"] == told["offer"]["forecast"]
    assert same["offer"] is None and not claude.exists()


def test_it_is_not_repeated(run: Run, places: list[str], claude: Path) -> None:
    """A run that labels nothing new says nothing; offline that was asked for says nothing."""
    assert OFFER not in run("ingest", *places, "--extractor", "offline").err
    assert OFFER not in run("ingest", *places).err
    assert OFFER in run("ingest", *places, "--again").err
    assert not claude.exists()


def test_without_a_claude_nothing_is_said(
    run: Run, places: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """UND-09: only what is there is offered."""
    monkeypatch.delenv("CLAUDE_BIN", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    assert "claude-cli" not in run("ingest", *places).err


def test_no_key_for_anthropic_names_it(run: Run, places: list[str], claude: Path) -> None:
    """Who asks for Anthropic without a key is told the other ways."""
    ran = run("ingest", *places, "--extractor", "anthropic")
    assert ran.status == 2 and "`--extractor claude-cli` uses your own `claude`" in ran.err
    assert not claude.exists()


def test_a_limit_below_the_forecast_is_not_called_sending(
    run: Run, places: list[str], claude: Path
) -> None:
    """ING-30: what a limit does not allow is not announced as being sent."""
    ran = run("ingest", *places, "--extractor", "claude-cli", "--max-cost", "0")
    assert "Sending" not in ran.err and "At most $0.00 of it is spent" in ran.err
    assert "Stopped: the cost limit is reached." in ran.err and not claude.exists()
