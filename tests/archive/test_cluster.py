"""`ingest --scheduler`: workers of a Dask scheduler give the same bytes (TEAM-05)."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.archive.conftest import age, snapshot

pytest.importorskip("distributed", reason="needs minutebook[cluster]: distributed is missing")

# A worker that dies with half of its third session written.
_DIES = """
import os, signal, pathlib
from minutebook.archive.writing import SessionWriting

finish, seen = SessionWriting.finish, []

def dying(self, **known):
    seen.append(1)
    if len(seen) == 3:
        pathlib.Path(os.environ["MINUTEBOOK_TEST_DIED"]).write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return finish(self, **known)

SessionWriting.finish = dying
"""
Start = Callable[..., subprocess.Popen[bytes]]


def _cli(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "minutebook", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts programs of Dask, and ends those that are left."""
    started: list[subprocess.Popen[bytes]] = []

    def run(program: str, *arguments: str, died: Path | None = None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments]
        with (tmp_path / f"{program}-{len(started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--no-dashboard"],
                stdout=log,
                stderr=log,
                cwd=tmp_path,
                env=os.environ | {"MINUTEBOOK_TEST_DIED": str(died)},
            )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def scheduler(start: Start, tmp_path: Path) -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start("scheduler", "--host", "127.0.0.1", "--port", str(port))
    for _ in range(600):
        with socket.socket() as there:
            if there.connect_ex(("127.0.0.1", port)) == 0:
                return f"tcp://127.0.0.1:{port}"
        time.sleep(0.05)
    raise AssertionError((tmp_path / "scheduler-0.log").read_text())


def _worker(start: Start, scheduler: str, *more: str, died: Path | None = None) -> None:
    start("worker", scheduler, "--no-nanny", "--nthreads", "1", *more, died=died)


@pytest.fixture
def old_examples(examples: Path, tmp_path: Path) -> Path:
    """The example sessions, all long finished."""
    shutil.copytree(examples, tmp_path / "sessions")
    for path in (tmp_path / "sessions").rglob("*.jsonl"):
        age(path)
    return tmp_path / "sessions"


def _ingest(root: Path, archive: Path, *more: str) -> subprocess.CompletedProcess[str]:
    places = ("--root", str(root), "--archive", str(archive))
    return _cli("ingest", *places, "--extractor", "offline", *more)


def test_two_workers_give_the_same_bytes(
    start: Start, scheduler: str, old_examples: Path, tmp_path: Path
) -> None:
    """TEAM-05: an archive made by two worker processes is, byte by byte, the one made here."""
    assert _ingest(old_examples, tmp_path / "here").returncode == 0
    _worker(start, scheduler)
    _worker(start, scheduler)
    done = _ingest(old_examples, tmp_path / "there", "--scheduler", scheduler)
    assert (done.returncode, done.stderr) == (0, "")
    here, there = snapshot(tmp_path / "here"), snapshot(tmp_path / "there")
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []


def test_a_worker_killed_in_the_middle_changes_nothing(
    start: Start, scheduler: str, old_examples: Path, tmp_path: Path
) -> None:
    """TEAM-05: a worker dies by SIGKILL with half a session written; another reads it again, and
    the archive has the same bytes, without leftovers."""
    assert _ingest(old_examples, tmp_path / "here").returncode == 0
    (tmp_path / "dies.py").write_text(_DIES)
    died = tmp_path / "died"
    _worker(start, scheduler, "--preload", str(tmp_path / "dies.py"), died=died)
    _worker(start, scheduler)
    done = _ingest(old_examples, tmp_path / "there", "--scheduler", scheduler)
    assert (done.returncode, done.stderr) == (0, "")
    assert died.exists()
    assert snapshot(tmp_path / "here") == snapshot(tmp_path / "there")


def test_a_second_run_reads_only_what_grew(
    start: Start, scheduler: str, old_examples: Path, tmp_path: Path
) -> None:
    """TEAM-05: what is there already is handed to nobody; a session that grew gives the same bytes
    as here."""
    _worker(start, scheduler)
    for place in ("here", "there"):
        assert _ingest(old_examples, tmp_path / place).returncode == 0
    grown = max(old_examples.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    lines = grown.read_bytes().splitlines(keepends=True)
    grown.write_bytes(b"".join([*lines, *(line.replace(b"-4", b"-7") for line in lines[-4:])]))
    age(grown)
    os.utime(grown, (1_700_000_100, 1_700_000_100))
    assert _ingest(old_examples, tmp_path / "here").returncode == 0
    done = _ingest(old_examples, tmp_path / "there", "--scheduler", scheduler, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert snapshot(tmp_path / "here") == snapshot(tmp_path / "there")


@pytest.mark.parametrize(
    "address", ["127.0.0.1:8786", "tcp://", "tcp://host", "tcp://host:x", "http://host:1", "x"]
)
def test_what_is_not_a_scheduler_is_refused(address: str, examples: Path, tmp_path: Path) -> None:
    """TEAM-05: an address that cannot be one is one sentence, and exit status 2."""
    done = _ingest(examples, tmp_path / "a", "--scheduler", address)
    assert done.returncode == 2
    assert "is not a scheduler: write it like tcp://" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_scheduler_that_cannot_be_reached(examples: Path, tmp_path: Path) -> None:
    """TEAM-05: one sentence and exit status 2; the next run, without it, does everything."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    done = _ingest(examples, tmp_path / "a", "--scheduler", address)
    assert done.returncode == 2
    assert f"No scheduler answers at {address}" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert _ingest(examples, tmp_path / "a").returncode == 0


def test_a_server_that_is_not_a_scheduler(examples: Path, tmp_path: Path) -> None:
    """TEAM-05: whatever else answers at an address is refused with one sentence."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"

        def answer() -> None:
            while True:
                try:
                    known, _ = server.accept()
                except OSError:
                    return  # closed: the test is over
                with known:
                    known.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 10)

        threading.Thread(target=answer, daemon=True).start()
        done = _ingest(examples, tmp_path / "a", "--scheduler", address)
    assert done.returncode == 2
    assert f"No scheduler answers at {address}" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_workers_that_see_another_folder(
    start: Start, scheduler: str, old_examples: Path, tmp_path: Path
) -> None:
    """TEAM-05: a worker without the archive's folder is named; nothing is written by it."""
    blind = tmp_path / "blind.py"
    blind.write_text(
        "from pathlib import Path\n"
        "real = Path.read_text\n"
        "def read(self, *a, real=real, **k):\n"
        "    if '.cluster-' in str(self): raise FileNotFoundError(self)\n"
        "    return real(self, *a, **k)\n"
        "Path.read_text = read\n"
    )
    _worker(start, scheduler, "--preload", str(blind))
    done = _ingest(old_examples, tmp_path / "a", "--scheduler", scheduler)
    assert done.returncode == 2
    assert "Workers need the same folders at the same paths" in done.stderr
    assert not list((tmp_path / "a").glob(".cluster-*"))


def test_the_extra_is_named(
    examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without minutebook[cluster], the sentence says how to add it."""
    from minutebook.archive import open_archive
    from minutebook.errors import MissingExtra
    from minutebook.extract.choose import choose_extractor
    from minutebook.verbs.ingest import Ingestion

    monkeypatch.setitem(sys.modules, "distributed", None)
    book = open_archive(tmp_path / "a", [examples], create=True)
    engine = choose_extractor("offline")
    with (
        pytest.raises(MissingExtra, match="minutebook\\[cluster\\]"),
        Ingestion(book, engine, scheduler="tcp://127.0.0.1:1") as run,
    ):
        list(run.read())
