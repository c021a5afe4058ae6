"""`ingest` without a key, where there is a `claude`: it is named, and not asked (UND-09)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

OFFER = "`minutebook ingest --extractor claude-cli` asks it"


@pytest.fixture
def places(examples: Path, tmp_path: Path) -> list[str]:
    return ["--root", str(examples), "--archive", str(tmp_path / "archive")]


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
    assert OFFER in ran.err and "in 8 sessions" in ran.err and "to Anthropic" in ran.err
    assert re.search(
        r"would send [\d,]+ characters or so .* about \$0\.\d\d at API prices", ran.err
    )
    assert "commit subjects" in ran.err and not claude.exists()


def test_a_dry_run_names_it_too(run: Run, places: list[str], claude: Path) -> None:
    """ING-27, UND-09: with the length of what would be sent."""
    ran = run("ingest", *places, "--dry-run")
    assert "No key found, so `ingest` would run offline." in ran.out
    assert OFFER in ran.err and not claude.exists()


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
