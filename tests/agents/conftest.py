"""An archive to build contexts from."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive import Archive, open_archive
from minutebook.extract.offline import OfflineExtractor
from minutebook.verbs.ingest import ingest
from tests.conftest import Record, as_line, assistant, tool_result, tool_use, user

Run = Callable[..., subprocess.CompletedProcess[str]]


def taken(root: Path, folder: Path) -> Archive:
    """An archive of some transcripts, with their minutes, made offline."""
    archive = open_archive(folder, [root], create=True)
    ingest(archive, OfflineExtractor(), ended=True)
    return archive


def written(root: Path, session_id: str, *records: Record) -> Path:
    """A transcript with these records, where Claude Code keeps it."""
    path = root / "projects" / "-x" / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(as_line({"sessionId": session_id, **r}) + b"\n" for r in records))
    return path


def continued(folder: Path) -> tuple[Archive, str]:
    """A session archived in the middle of its second round, which then went on; and its id."""
    id = "c0ffee00-2222-4333-8444-555555555555"

    def at(number: int, record: Record) -> Record:
        return {**record, "uuid": f"u{number}", "timestamp": f"2026-03-01T10:{number:02}:00.000Z"}

    records = [
        at(1, user("First question about the garden")),
        at(2, assistant("First answer", id="msg_1")),
        at(3, user("Second question about the garden")),
        at(4, assistant("Let me look.", tool_use("t1", command="ls"), id="msg_2")),
    ]
    later = [
        at(5, tool_result("t1", "apples")),
        at(6, assistant("It went on for a while.", id="msg_3")),
        at(7, user("Third question about the garden")),
        at(8, assistant("Third answer", id="msg_4")),
    ]
    written(folder / "claude", id, *records)
    taken(folder / "claude", folder / "archive")
    written(folder / "claude", id, *records, *later)
    return open_archive(folder / "archive", [folder / "claude"]), id


@pytest.fixture(scope="session")
def archive(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """The example sessions, ingested; for tests that change nothing."""
    return taken(examples, tmp_path_factory.mktemp("agents") / "archive")


@pytest.fixture
def own_archive(examples: Path, tmp_path: Path) -> Archive:
    """The same in folders of a test's own."""
    shutil.copytree(examples, tmp_path / "claude")
    return taken(tmp_path / "claude", tmp_path / "archive")


def without_transcripts(archive: Archive) -> Archive:
    """The archive once every transcript has been deleted."""
    for root in archive.places:
        shutil.rmtree(root / "projects")
        (root / "projects").mkdir()
    found = open_archive(archive.root, archive.places)
    assert not found.library.transcripts
    return found


def session_of(archive: Archive, words: str) -> str:
    """The id of the example session whose first prompt has these words."""
    for id in archive.records():
        prompt = archive.open(id).round(1).prompt
        if prompt is not None and words in prompt.text:
            return id
    raise AssertionError(words)


@pytest.fixture
def run(archive: Archive, examples: Path) -> Run:
    """The command line on the example archive."""

    def call(*args: object, ok: bool = True, **env: str) -> subprocess.CompletedProcess[str]:
        places = ["--root", str(examples)] if args[0] != "export-claude" else []
        done = subprocess.run(
            [
                *(sys.executable, "-m", "minutebook", *map(str, args), *places),
                *("--archive", str(archive.root)),
            ],
            capture_output=True,
            text=True,
            env={**os.environ, **env},
            timeout=120,
        )
        assert (done.returncode == 0) is ok, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return call


def told(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)
