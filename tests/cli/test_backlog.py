"""`ingest --backlog`: sessions that an upgrade made due are sent only when a person says so."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive.settings import NAMES
from tests.cli.conftest import Run
from tests.extract.stub import Stub, good_reply, serve


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A model that answers every question well."""
    with serve(lambda *_: good_reply((1, 1))) as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


@pytest.fixture
def places(run: Run, examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An archive whose sessions were all ghosts, until the rule changed."""
    archive = tmp_path / "archive"
    archive.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(examples))
    for name in NAMES:
        run("config", name, "100000", "--archive", archive)
    ran = run("ingest", "--archive", archive, "--extractor", "offline", "--json")
    assert json.loads(ran.out)["report"]["ghosts"] == 9
    (archive / "config.json").unlink()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    return ["--archive", str(archive), "--concurrency", "1"]


def report(run: Run, *args: str) -> dict[str, Any]:
    ran = run("ingest", *args, "--json")
    assert ran.status == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)["report"]
    return found


def on_a_terminal(args: list[str], answer: str) -> tuple[str, int]:
    """What a person sees who types an answer, and the exit status."""
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "minutebook", *args]
    process = subprocess.Popen(command, stdin=child, stdout=child, stderr=child)
    os.close(child)
    os.write(parent, f"{answer}\n".encode())
    seen = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(parent)
    return seen.decode(), process.wait()


def test_a_plain_run_labels_them_offline_and_says_so(
    run: Run, places: list[str], stub: Stub
) -> None:
    """How many, what asking would cost, and how; no call is made."""
    ran = run("ingest", *places)
    assert ran.status == 0, ran.err
    assert "8 sessions that an upgrade or a setting made due were labelled offline." in ran.err
    assert "`minutebook ingest --backlog` asks the model about them, for about $0.15." in ran.err
    assert stub.requests == []
    again = run("ingest", *places)
    assert "8 sessions that an upgrade or a setting made due" in again.err and stub.requests == []


def test_without_a_key_it_is_said_once(
    run: Run, places: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When they are labelled; afterwards there is nothing to decide."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    ran = run("ingest", *places)
    assert "8 sessions that an upgrade or a setting made due were labelled offline." in ran.err
    assert "`minutebook ingest --backlog` asks a model about them." in ran.err
    assert "became due" not in run("ingest", *places).err


def test_with_yes_the_model_is_asked(run: Run, places: list[str], stub: Stub) -> None:
    """Only about them, a copy excepted (UND-08); afterwards there is no backlog left."""
    run("ingest", *places)
    done = report(run, *places, "--backlog", "--yes")
    assert (done["ingested"], done["calls"], done["backlog"]["sessions"]) == (7, 7, 0)
    assert (done["copies"], len(stub.requests)) == (1, 7)
    assert "became due" not in run("ingest", *places).err
    assert report(run, *places, "--backlog", "--yes")["calls"] == 0


def test_without_a_plain_run_before(run: Run, places: list[str], stub: Stub) -> None:
    """`--backlog` finds them by itself; `--session` chooses among them."""
    assert report(run, *places, "--backlog", "--yes", "--session", "Reed")["calls"] == 1
    assert report(run, *places, "--backlog", "--yes")["calls"] == 6
    assert len(stub.requests) == 7


def test_without_a_terminal_it_needs_yes(run: Run, places: list[str], stub: Stub) -> None:
    """No one can be asked: one sentence, status 2, no call, nothing labelled."""
    ran = run("ingest", *places, "--backlog")
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "--yes" in ran.err and stub.requests == []


def test_a_person_is_always_asked(run: Run, places: list[str], stub: Stub) -> None:
    """Number and cost first, even where it is cheap; a no sends nothing, a yes does."""
    run("ingest", *places)
    seen, status = on_a_terminal(["ingest", *places, "--backlog"], "n")
    assert "7 sessions" in seen and "about $0.13" in seen and "Go on?" in seen
    assert (status, stub.requests) == (2, [])
    seen, status = on_a_terminal(["ingest", *places, "--backlog"], "y")
    assert (status, len(stub.requests)) == (0, 7)


def test_a_dry_run_says_what_it_would_cost(run: Run, places: list[str], stub: Stub) -> None:
    """Without being asked, and without sending."""
    ran = run("ingest", *places, "--backlog", "--dry-run")
    assert (ran.status, "7 calls" in ran.out, "about $0.13" in ran.out) == (0, True, True)
    assert stub.requests == []


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--extractor", "offline"], "offline does not"),
        (["--extractor", "anthropic"], "set ANTHROPIC_API_KEY"),
        ([], "there is no key"),
    ],
)
def test_it_needs_a_model(
    run: Run, places: list[str], monkeypatch: pytest.MonkeyPatch, args: list[str], words: str
) -> None:
    """Rules have labelled them already."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    ran = run("ingest", *places, "--backlog", "--yes", *args)
    assert (ran.status, ran.out, words in ran.err) == (2, "", True), ran.err
