"""Locks of either kind of system, and paths of either kind."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from minutebook.errors import Locked
from minutebook.model.session import project_of
from minutebook.record import locks
from minutebook.record.store import writing

# What Windows offers, by what this system has: a lock of single bytes that nobody waits for.
BYTES = """
import fcntl, types
from minutebook.record import locks
def locking(descriptor, mode, count):
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, count, 0, 1)
    except BlockingIOError as error:
        raise PermissionError(13, "Permission denied") from error
locks.fcntl, locks.msvcrt = None, types.SimpleNamespace(locking=locking, LK_NBLCK=2)
"""
# What POSIX has and Windows has not, taken away before a verb is imported.
WITHOUT = """
import os, signal, subprocess, sys
for name in ("fcntl", "pwd", "grp", "resource", "termios", "tty", "pty"):
    sys.modules[name] = None
for name in ("fork", "forkpty", "killpg", "geteuid", "getgid", "chown", "lchown",
             "mkfifo", "O_NOFOLLOW", "O_DIRECTORY", "sched_getaffinity", "statvfs"):
    os.__dict__.pop(name, None)
for name in ("SIGKILL", "SIGHUP", "SIGUSR1"):
    signal.__dict__.pop(name, None)
"""
VERBS = """
from minutebook.cli.main import main
for line in sys.stdin:
    try:
        main(line.split())
    except SystemExit as end:
        assert not end.code, (line, end.code)
"""
WRITER = """
import sys
from pathlib import Path
from minutebook.record.store import writing
with writing(Path(sys.argv[1]), "ingest"):
    print("mine", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("system", ["", BYTES], ids=["flock", "bytes"])
def test_one_writer_at_a_time(system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFR-02: the second is told who writes; a writer that is killed is no longer in the way."""
    if system:
        # The other system's branch in this process, too; put back when the test is done.
        monkeypatch.setattr(locks, "fcntl", fcntl)
        monkeypatch.setattr(locks, "msvcrt", None)
        exec(system, {})
    lock = tmp_path / "archive" / ".lock"
    command = [sys.executable, "-c", system + WRITER, str(lock)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "mine\n"
        told = f"`minutebook ingest` .process {writer.pid}"
        with pytest.raises(Locked, match=told), writing(lock, "append"):
            pass
        writer.kill()
        writer.wait()
    with writing(lock, "append"):
        assert '"verb": "append"' in lock.read_text()
    assert lock.read_bytes() == b""


def test_a_day_without_what_windows_lacks(tmp_path: Path) -> None:
    """NFR-02: minutes, search, report and export run where there is neither fork nor fcntl."""
    known = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data"), "COLUMNS": "100"}
    archive = f"--archive {tmp_path / 'archive'} --root {tmp_path / 'data/minutebook/examples'}"
    verbs = [
        "demo",
        f"ingest --extractor offline {archive}",
        f"search passkey {archive}",
        f"search sign_in --mode semantic {archive}",
        f"show Reed {archive}",
        f"report --since 2026-03-01 {archive}",
        f"usage {archive}",
        f"correct Reed 1 method=debug {archive}",
        f"export Reed --out {tmp_path / 'reed.html'} {archive}",
        f"check --all {archive}",
        f"doctor {archive}",
    ]
    done = subprocess.run(
        [sys.executable, "-c", BYTES + WITHOUT + VERBS],
        input="\n".join(verbs),
        env={**os.environ, **known},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "reed.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("cwd", "project"),
    [
        ("/home/you/orchard", "orchard"),
        ("/Users/you/Library/Mobile Documents/orchard/", "orchard"),
        ("C:\\Users\\you\\orchard", "orchard"),
        ("\\\\server\\share\\orchard\\", "orchard"),
        ("C:/Users/you/orchard/.worktrees/fix", "orchard"),
        ("/", "/"),
    ],
)
def test_a_project_is_the_last_part_of_a_path_of_any_system(cwd: str, project: str) -> None:
    """Transcripts of a Mac or of Windows are read here, too."""
    assert project_of(cwd) == project
