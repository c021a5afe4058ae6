"""Watching: bursts, renames, deletions, rotation, kills; and silence while nothing happens."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive import Archive
from minutebook.archive.finding import search
from minutebook.errors import BadArgument
from minutebook.extract.claude_cli import ClaudeCliExtractor
from minutebook.extract.offline import OfflineExtractor
from minutebook.extract.pricing import Budget
from minutebook.index.query import parse_query
from minutebook.record.layout import Layout
from minutebook.verbs.watch import Taken, Watcher, note_spending, spent_today
from tests.conftest import Record, as_line, assistant, user
from tests.programs.samples import MOVED
from tests.programs.test_allowed import session as pi_session

ID = "{:08d}-2222-4333-8444-555555555555"


def prompt(session: int, number: int, words: str = "Prune the tree") -> Record:
    id = ID.format(session)
    return user(
        f"{words}, number {number}.", sessionId=id, uuid=f"{session}-{number}", cwd="/home/x/garden"
    )


class Garden:
    """A folder of transcripts, and a watcher that runs as a process."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "claude"
        self.projects = self.root / "projects" / "-home-x-garden"
        self.projects.mkdir(parents=True)
        self.layout = Layout(folder / "archive")
        self.log = folder / "watch.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def archive(self) -> Archive:
        return Archive(self.layout.root, (self.root,), lenient=True)

    def path(self, session: int) -> Path:
        return self.projects / f"{ID.format(session)}.jsonl"

    def write(self, session: int, *records: Record) -> None:
        with self.path(session).open("ab") as file:
            file.write(b"".join(as_line(record) + b"\n" for record in records))

    def start(self, *options: str) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "minutebook", "watch", "--json", *options),
                    *("--root", str(self.root), "--archive", str(self.layout.root)),
                ],
                stdout=log,
                stderr=log,
            )
        self.until(lambda: self.layout.watch_lock.exists())

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(20)

    def taken(self) -> list[dict[str, Any]]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line)["taken"] for line in lines if line.startswith("{")]

    def rounds(self, session: int) -> int:
        record = self.archive.minutes.stored().get(ID.format(session))
        return record.rounds if record is not None else 0

    def until(self, true: Callable[[], object], seconds: float = 25.0) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if true():
                return
            time.sleep(0.05)
        raise AssertionError(self.log.read_text() if self.log.exists() else "nothing was said")


@pytest.fixture
def garden(tmp_path: Path) -> Iterator[Garden]:
    made = Garden(tmp_path)
    yield made
    if made.process is not None and made.process.poll() is None:
        made.process.kill()
        made.process.wait()


def watching(garden: Garden) -> None:
    """Started, caught up, and really watching: a probe is seen."""
    garden.write(99, *(prompt(99, n) for n in range(4)))
    garden.start()
    garden.until(lambda: garden.rounds(99) == 4)
    for number in range(100, 140):  # until the kernel watches, writes are found by catching up
        garden.write(99, prompt(99, number))
        time.sleep(0.5)
        if garden.rounds(99) > 4:
            break
    garden.until(lambda: garden.rounds(99) > 4)
    time.sleep(2.5)


def test_what_was_missed_is_caught_up_with(garden: Garden) -> None:
    """FUT-05: sessions written before the watcher ran are taken at its start."""
    garden.write(1, *(prompt(1, n) for n in range(4)))
    garden.start()
    garden.until(lambda: garden.rounds(1) == 4)
    assert garden.stop() == 0


def test_a_burst_is_taken_once(garden: Garden) -> None:
    """FUT-05: many writes close together are one ingest; the last write is in it."""
    watching(garden)
    before = len(garden.taken())
    for number in range(40):
        garden.write(1, prompt(1, number))
        time.sleep(0.01)
    garden.until(lambda: garden.rounds(1) == 40)
    time.sleep(1.0)
    assert 1 <= len(garden.taken()) - before <= 2


def test_what_is_new_can_be_searched(garden: Garden) -> None:
    """FUT-05: the index is current without anybody asking for it."""
    watching(garden)
    garden.write(1, *(prompt(1, n) for n in range(3)), prompt(1, 3, "Graft the quincunx"))
    garden.until(lambda: garden.rounds(1) == 4)
    garden.until(lambda: len(garden.taken()) and garden.layout.search_database.exists())

    def found() -> bool:
        query = parse_query("quincunx")
        answer = search(garden.archive, query, mode="lexical", fresh=False)
        return bool(answer.hits)

    garden.until(found)


def test_renamed_deleted_truncated_and_replaced_files(garden: Garden) -> None:
    """FUT-05: nothing a file does ends the watch, and what was written down stays."""
    watching(garden)
    for session in (1, 2, 3, 4):
        garden.write(session, *(prompt(session, n) for n in range(4)))
    garden.until(lambda: all(garden.rounds(s) == 4 for s in (1, 2, 3, 4)))
    garden.path(1).unlink()
    elsewhere = garden.root / "projects" / "-moved"
    elsewhere.mkdir()
    garden.path(2).rename(elsewhere / garden.path(2).name)
    garden.path(3).write_bytes(garden.path(3).read_bytes()[:100])
    swapped = garden.path(4).with_suffix(".tmp")
    swapped.write_bytes(b"".join(as_line(prompt(4, n)) + b"\n" for n in range(6)))
    swapped.replace(garden.path(4))
    garden.until(lambda: garden.rounds(4) == 6)
    garden.write(5, *(prompt(5, n) for n in range(4)))
    garden.until(lambda: garden.rounds(5) == 4)
    assert garden.rounds(1) == 4
    assert garden.rounds(2) == 4
    assert garden.process is not None
    assert garden.process.poll() is None


def test_a_new_project_is_noticed(garden: Garden) -> None:
    """FUT-05: a folder that did not exist when the watch began."""
    watching(garden)
    folder = garden.root / "projects" / "-home-x-new"
    folder.mkdir()
    garden.projects = folder
    garden.write(7, *(prompt(7, n) for n in range(4)))
    garden.until(lambda: garden.rounds(7) == 4)


def test_killed_and_restarted_it_loses_nothing(garden: Garden) -> None:
    """FUT-05: kill -9 in the middle; the next watcher finishes the job."""
    watching(garden)
    for session in range(1, 6):
        garden.write(session, *(prompt(session, n) for n in range(4)))
    time.sleep(0.5)
    garden.stop(signal.SIGKILL)
    for session in range(1, 6):
        garden.write(session, prompt(session, 50))
    garden.start()
    garden.until(lambda: all(garden.rounds(s) == 5 for s in range(1, 6)))


def test_two_watchers_are_one_too_many(garden: Garden) -> None:
    """FUT-05: the second says so, and leaves."""
    garden.write(1, *(prompt(1, n) for n in range(4)))
    garden.start()
    garden.until(lambda: garden.rounds(1) == 4)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "minutebook", "watch", "--root", str(garden.root)),
            *("--archive", str(garden.layout.root)),
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "already" in done.stderr


def test_nothing_is_read_while_nothing_happens(garden: Garden) -> None:
    """FUT-05: an idle watch reads no byte; counted by the kernel."""
    if not Path("/proc/self/io").exists():
        pytest.skip("needs /proc to count reads")
    watching(garden)
    assert garden.process is not None
    counts = Path(f"/proc/{garden.process.pid}/io")

    def read() -> str:
        return next(line for line in counts.read_text().splitlines() if line.startswith("rchar"))

    before = read()
    time.sleep(5)
    assert read() == before


# -- a session that ends, and what a model may cost


class Counting(OfflineExtractor):
    """Rules that pretend to be a model with a price."""

    def __init__(self, asked: list[float | None], left: float | None) -> None:
        asked.append(left)


def watcher(garden: Garden, asked: list[float | None], cap: float | None, quiet: float) -> Watcher:
    return Watcher(
        garden.archive,
        OfflineExtractor,
        lambda left: Counting(asked, left),
        cap,
        quiet=quiet,
    )


def test_a_model_is_asked_when_a_session_is_over_and_not_before(garden: Garden) -> None:
    """FUT-05: while a session runs only rules look at it; the cap of the day goes down."""
    garden.write(1, *(prompt(1, n) for n in range(4)))
    asked: list[float | None] = []
    one = watcher(garden, asked, 2.0, quiet=3600)
    assert list(one._catch_up())
    assert list(one._heard(set())) == []
    assert asked == []
    note_spending(garden.layout, 0.5)
    assert spent_today(garden.layout) == 0.5
    one._quiet = 0.0
    assert [taken.sessions for taken in one._heard(set())] == [1]
    assert asked == [1.5]
    assert list(one._heard(set())) == [], "asked once"


def test_a_failed_call_is_part_of_the_days_spending(garden: Garden, tmp_path: Path) -> None:
    """FUT-05, ING-30: a cap that only counted what succeeded would never be reached."""
    program = tmp_path / "my-claude"
    said = '{"is_error": true, "result": "Prompt is too long", "total_cost_usd": 0.42}'
    program.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{said}'\nexit 1\n")
    program.chmod(0o755)
    garden.write(1, *(prompt(1, n) for n in range(4)))
    one = Watcher(
        garden.archive,
        OfflineExtractor,
        lambda left: ClaudeCliExtractor(budget=Budget(left), program=str(program)),
        1.0,
        quiet=3600,
    )
    assert list(one._catch_up())
    one._quiet = 0.0
    assert [taken.problem for taken in one._heard(set())] == ["claude failed: Prompt is too long"]
    assert spent_today(garden.layout) == 0.42


@pytest.mark.parametrize("error", [OSError(28, "No space left"), sqlite3.OperationalError("busy")])
def test_trouble_is_told_and_tried_again(
    garden: Garden, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """FUT-05: a full disk or a busy database ends nothing, and forgets nothing."""
    garden.write(1, *(prompt(1, n) for n in range(4)))
    one = watcher(garden, [], None, quiet=3600)
    real = Watcher._ingest

    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(Watcher, "_ingest", broken)
    assert [taken.problem is not None for taken in one._catch_up()] == [True]
    monkeypatch.setattr(Watcher, "_ingest", real)
    assert [taken.problem for taken in one._heard(set())] == [None]
    assert garden.rounds(1) == 4


def test_a_model_is_asked_although_the_first_attempt_failed(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FUT-05: a session that was over when the disk was full is still over afterwards."""
    garden.write(1, *(prompt(1, n) for n in range(4)))
    asked: list[float | None] = []
    one = watcher(garden, asked, 2.0, quiet=3600)
    assert list(one._catch_up())
    one._quiet = 0.0
    with monkeypatch.context() as patch:
        patch.setattr(Watcher, "_ingest", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        assert [taken.problem is not None for taken in one._heard(set())] == [True]
    assert list(one._heard(set()))
    assert asked == [2.0]


def test_yesterdays_spending_is_not_todays(garden: Garden) -> None:
    """FUT-05: the cap is a day's."""
    garden.layout.root.mkdir(parents=True)
    garden.layout.watch_spending.write_text('{"day": "2020-01-01", "cost_usd": 5.0}')
    assert spent_today(garden.layout) == 0.0
    garden.layout.watch_spending.write_text("garbage")
    assert spent_today(garden.layout) == 0.0


def test_an_agent_that_somebody_begins_to_use_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AGT-01, FUT-05: its folder was not there when the watcher started."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in MOVED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("minutebook.verbs.watch._TICK_MS", 200)
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    archive = Archive(tmp_path / "archive", ())
    stop = threading.Event()
    watcher = Watcher(archive, OfflineExtractor)
    thread = threading.Thread(target=lambda: list(watcher.run(stop)))
    thread.start()
    try:
        for id in ("pi-one", "pi-two"):  # found when it is new, and then told by the kernel
            pi_session(tmp_path / ".pi" / "agent", id)
            deadline = time.monotonic() + 25
            while id not in Archive(archive.root, ()).minutes.stored():
                assert time.monotonic() < deadline
                time.sleep(0.05)
    finally:
        stop.set()
        thread.join(20)
    assert not thread.is_alive()


def test_there_must_be_something_to_watch(tmp_path: Path) -> None:
    """Bad input gets a sentence."""
    archive = Archive(tmp_path / "a", (tmp_path / "nowhere",), lenient=True)
    empty = Watcher(archive, OfflineExtractor)
    with pytest.raises(BadArgument):
        list(empty.run(threading.Event()))


@pytest.mark.parametrize(
    "options", [("--extractor", "anthropic"), ("--daily-cap", "1"), ("--daily-cap", "-1")]
)
def test_a_model_in_the_background_needs_a_limit(tmp_path: Path, options: tuple[str, ...]) -> None:
    """FUT-05: no money is spent unasked, and never without a cap."""
    done = subprocess.run(
        [sys.executable, "-m", "minutebook", "watch", "--archive", str(tmp_path), *options],
        capture_output=True,
        text=True,
        env={**os.environ, "ANTHROPIC_API_KEY": ""},
        timeout=60,
    )
    assert done.returncode == 2
    assert "cap" in done.stderr


def test_what_a_burst_came_to_is_plain(garden: Garden) -> None:
    """`--json` gives a line a burst."""
    garden.write(1, *(prompt(1, n) for n in range(4)), assistant("Done.", sessionId=ID.format(1)))
    garden.start()
    garden.until(lambda: garden.taken())
    assert set(garden.taken()[0]) >= set(Taken.__struct_fields__) - {"problem", "cost_usd"}
