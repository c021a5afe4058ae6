"""NFR-01: whatever the umask and whichever verb comes first, an archive is its owner's alone."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.conftest import Run

FIRST = [
    ["ingest"],
    ["inscribe", "--all", "--ended"],
    ["search", "passkey"],
    ["corpus", "build"],
    ["similar", "Reed"],
    ["semantic", "use", "static"],
    ["config", "ghost_prompts", "4"],
    ["hook"],
    ["welcome"],
    ["refresh"],
]
THEN = [
    ["append", "Reed", "--ended"],
    ["tag", "Reed", "1", "side"],
    ["correct", "Reed", "1", "method=debug"],
    ["rebuild"],
    ["search", "passkey"],
    ["semantic", "embed"],
    ["check", "--all"],
    ["sessions"],
    ["stats"],
    ["status"],
]


def open_to_others(folder: Path) -> list[str]:
    """Files and folders that somebody else may read, write or enter."""
    found = []
    for path in (folder, *folder.rglob("*")):
        with suppress(FileNotFoundError):  # a worker in the background may just have moved it
            if stat.S_IMODE(path.stat().st_mode) & 0o077:
                found.append(str(path))
    return found


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077], ids=oct)
@pytest.mark.parametrize("first", FIRST, ids=lambda args: args[0])
def test_an_archive_is_private(
    run: Run,
    examples: Path,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    mask: int,
    first: list[str],
) -> None:
    """The verb that makes it, then every other one that writes."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(examples))
    source = next(examples.glob("projects/*/eb82c016*.jsonl"))
    event = {"session_id": source.stem, "transcript_path": str(source), "reason": "exit"}
    monkeypatch.setenv("MINUTEBOOK_EVENT", json.dumps(event))
    archive = own_home / "data" / "minutebook"
    os.umask(mask)
    assert run(*first).status == 0
    assert archive.is_dir()
    assert open_to_others(archive) == []
    os.umask(mask)
    run("ingest")
    for args in THEN:
        os.umask(mask)
        ran = run(*args)
        assert ran.status == 0, (args, ran.err)
    assert open_to_others(archive) == []


def test_the_umask_of_a_process_does_not_matter(spawn: Run, examples: Path, own_home: Path) -> None:
    """The same as a process of its own, under the most generous umask."""
    before = os.umask(0)
    try:
        assert spawn("ingest", "--root", examples).status == 0
        assert spawn("search", "passkey", "--root", examples).status == 0
    finally:
        os.umask(before)
    assert open_to_others(own_home / "data" / "minutebook") == []


@pytest.mark.parametrize("verb", ["serve", "watch"])
def test_a_process_that_stays_is_private_too(examples: Path, own_home: Path, verb: str) -> None:
    """What is written in the background, by whichever process, is its owner's alone."""
    archive = own_home / "data" / "minutebook"
    port = ["--port", str(free_port())] if verb == "serve" else []
    before = os.umask(0)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "minutebook", verb, "--root", str(examples), *port],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    finally:
        os.umask(before)
    try:
        deadline = time.monotonic() + 60
        page = archive / "sessions" / "engagements-index.md"
        while not page.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert page.exists()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
    assert open_to_others(archive) == []


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
