"""The first run: reading verbs create nothing; what is named must be there."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from minutebook.cli import terminal
from tests.cli.conftest import Run
from tests.conftest import as_line, user

READING = [
    [],
    ["sessions"],
    ["sessions", "--ghosts", "--json"],
    ["show", "Reed"],
    ["show", "Reed#1", "--json"],
    ["doctor"],
    ["status"],
    ["config"],
    ["config", "ghost_calls", "--json"],
    ["ingest", "--dry-run"],
    ["ingest", "--explain"],
]
NOTHING_YET = [
    ["stats"],
    ["search", "passkey", "--no-refresh"],
    ["check", "--all"],
    ["rebuild"],
    ["semantic", "status"],
    ["append", "Reed"],
    ["tag", "Reed", "1", "x"],
    ["correct", "Reed", "1", "topic=x"],
    ["export-claude", "Reed", "--out", "out.jsonl"],
]
NAMED = [
    *(args for args in READING if args and args[0] != "ingest"),
    *NOTHING_YET,
    ["search", "passkey"],
    ["similar", "Reed"],
    ["semantic", "use", "static"],
    ["config", "ghost_calls", "5"],
]


@pytest.fixture
def here(
    examples: Path, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, ...]:
    """Transcripts, no archive; and every folder in which something might appear."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(examples))
    monkeypatch.chdir(tmp_path)
    return own_home, examples, tmp_path


def everything(places: tuple[Path, ...]) -> set[Path]:
    return {path for place in places for path in place.rglob("*")}


@pytest.mark.parametrize("args", READING, ids=" ".join)
def test_reading_creates_nothing(run: Run, here: tuple[Path, ...], args: list[str]) -> None:
    """Transcripts are read; no file and no folder appears anywhere."""
    before = everything(here)
    ran = run(*args)
    assert (ran.status, bool(ran.out)) == (0, True), ran.err
    assert everything(here) == before


@pytest.mark.parametrize("args", NOTHING_YET, ids=" ".join)
def test_what_needs_an_archive_says_so(run: Run, here: tuple[Path, ...], args: list[str]) -> None:
    """One sentence, status 2, and nothing appears either."""
    before = everything(here)
    ran = run(*args)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1), ran.err
    assert everything(here) == before


@pytest.mark.parametrize("args", NAMED, ids=" ".join)
def test_a_named_archive_must_be_there(run: Run, here: tuple[Path, ...], args: list[str]) -> None:
    """By flag or environment: a typing mistake is not an empty archive."""
    before = everything(here)
    ran = run(*args, "--archive", here[2] / "typo")
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1), ran.err
    assert f"There is no archive at {here[2]}/typo." in ran.err
    assert everything(here) == before


@pytest.mark.parametrize("verb", ["sessions", "stats", "status", "search", "ingest", "inscribe"])
def test_a_named_root_must_be_there(run: Run, here: tuple[Path, ...], verb: str) -> None:
    """FMT-01: said with its path; nothing is made for it."""
    before = everything(here)
    args = ["--all"] if verb == "inscribe" else []
    ran = run(verb, *args, "--root", here[2] / "nowhere")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert f"{here[2]}/nowhere" in ran.err
    assert everything(here) == before


@pytest.mark.usefixtures("here")
def test_a_first_search_says_what_it_made(run: Run, own_home: Path) -> None:
    """One note, once: an index that only its owner can read, and may delete."""
    first = run("search", "passkey", "--mode", "lexical")
    assert first.status == 0 and "passkey" in first.out
    assert first.err.count("Created a search index in") == 1
    made = [path for path in (own_home / "data").rglob("*") if path.is_file()]
    assert made and all("search" in str(path) or "embed" in path.name for path in made)
    assert "Created a search index" not in run("search", "passkey", "--mode", "lexical").err


@pytest.mark.parametrize("verb", [["ingest"], ["inscribe", "--all"]], ids=" ".join)
def test_a_writing_verb_makes_the_archive(
    run: Run, here: tuple[Path, ...], verb: list[str]
) -> None:
    """A new archive may be named there, and only there."""
    ran = run(*verb, "--archive", here[2] / "new")
    assert ran.status == 0
    assert (here[2] / "new" / "archive.json").is_file()
    assert run("sessions", "--archive", here[2] / "new").status == 0


def test_an_archive_that_is_a_file(run: Run, here: tuple[Path, ...]) -> None:
    """Said, instead of a list of nothing."""
    path = here[2] / "file"
    path.write_bytes(as_line(user("x")))
    for verb in (["sessions"], ["ingest"], ["status"]):
        ran = run(*verb, "--archive", path)
        assert (ran.status, ran.out) == (2, "")
        assert "is a file, not an archive" in ran.err


def test_a_server_says_what_it_makes(own_home: Path, examples: Path) -> None:
    """The viewer needs an index too: one note before it serves."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = ["serve", "--port", str(port), "--root", str(examples), "--no-ingest"]
    process = subprocess.Popen(
        [sys.executable, "-m", "minutebook", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(own_home)},
    )
    assert process.stdout is not None
    try:
        assert f"http://127.0.0.1:{port}/" in process.stdout.readline()
    finally:
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    assert told.count("Creating a search index in") == 1


@pytest.mark.parametrize("columns", [80, 200])
def test_the_first_screen_fits_a_terminal_of_any_width(run: Run, columns: int) -> None:
    """FMT: what was found, where the archive is and three things to do; only paths are longer."""
    lines = run(columns=columns).out.splitlines()
    assert all(terminal.width(line) <= columns for line in lines if "/" not in line)
    assert not any("\x1b" in line for line in lines)  # a pipe has no colours
    told = "\n".join(lines)
    found, archive, steps = (told.index(t) for t in ("Found ", "Archive: ", "What to do next:"))
    assert found < archive < steps
    assert len([line for line in lines[-3:] if line.startswith("  minutebook ")]) == 3
