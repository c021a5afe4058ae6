"""Taking the minutes in the background: an offline ingest in a process of its own.

Offline only: nothing is sent anywhere because a page was opened.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from minutebook.errors import MinutebookError
from minutebook.web.live import Hub

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

    from minutebook.verbs.ingest import IngestReport

_SPAWN = multiprocessing.get_context("spawn")  # a server has threads, so it must not fork
_TELL_EVERY = 0.1  # seconds
_LOOK_EVERY = 1.0  # seconds between looks at whether the server is still there
_STOPPED = "the process that takes them was stopped"


class BackgroundIngest:
    """Runs at most one ingest at a time, and reports its progress."""

    def __init__(
        self,
        root: Path,
        places: tuple[Path, ...],
        hub: Hub,
        begins: Callable[[], None],
        done: Callable[[], None],
    ) -> None:
        self._root, self._places, self._hub = root, places, hub
        self._begins, self._done = begins, done
        self._running: asyncio.Task[None] | None = None
        self._again = False
        self._process: SpawnProcess | None = None

    @property
    def is_running(self) -> bool:
        return self._running is not None and not self._running.done()

    def start(self) -> bool:
        """Begin; while one is under way, another follows it. Whether it began now."""
        if self.is_running:
            self._again = True
            return False
        self._hub.publish("progress", phase="reading", share=0)
        self._running = asyncio.create_task(self._run())
        return True

    async def stop(self) -> None:
        """End the process; what it has written stays."""
        self._again = False
        if self._running is not None:
            self._running.cancel()
        process = self._process
        if process is not None and process.is_alive():
            process.terminate()
            await run_in_threadpool(process.join, 3)
            if process.is_alive():
                process.kill()
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            self._again = False
            problem: str | None = _STOPPED
            self._begins()
            try:
                receiving = self._begin()
                problem = await run_in_threadpool(self._follow, receiving)
            except OSError as error:
                problem = str(error)
            finally:
                self._hub.publish("progress", done=True, problem=problem)
            self._done()
            if not self._again:
                return

    def _begin(self) -> Connection:
        """Start the process; where its reports arrive."""
        receiving, sending = _SPAWN.Pipe(duplex=False)
        self._process = _SPAWN.Process(
            target=ingest_archive, args=(self._root, self._places, sending), daemon=True
        )
        with _without_interrupts(), _without_working_folder(), sending:
            self._process.start()
        return receiving

    def _follow(self, receiving: Connection) -> str | None:
        """Pass reports on until the process ends; what went wrong, if something did."""
        process = self._process
        assert process is not None
        problem: str | None = _STOPPED
        with receiving:
            while receiving in wait([receiving, process.sentinel]):
                try:
                    told: dict[str, Any] = receiving.recv()
                except (EOFError, OSError):
                    break
                if "done" in told:
                    problem = told["problem"]
                else:
                    self._hub.publish("progress", **told)
        process.join()
        return problem


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """A process started in here is not interrupted by Ctrl-C: the server ends it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_working_folder() -> Iterator[None]:
    """A process started in here imports nothing from the folder it runs in (NFR-01)."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


# -- in the process


def ingest_archive(root: Path, places: tuple[Path, ...], sending: Connection) -> None:
    """Take the minutes of what is new, then bring the search index up to date."""
    _end_with(os.getppid())
    try:
        problem = _ingest(root, places, sending)
    except BrokenPipeError:
        sys.exit(1)  # the server is gone
    except (MinutebookError, OSError, sqlite3.Error) as error:
        problem = str(error)
    except Exception as error:
        sending.send({"done": True, "problem": f"a bug in minutebook, {type(error).__name__}"})
        raise
    sending.send({"done": True, "problem": problem})


def _ingest(root: Path, places: tuple[Path, ...], sending: Connection) -> str | None:
    from minutebook.archive import Archive
    from minutebook.archive.refreshing import refresh
    from minutebook.archive.semantic import embed
    from minutebook.extract.offline import OfflineExtractor
    from minutebook.verbs.ingest import Ingestion

    archive = Archive(root, places, lenient=True)
    with Ingestion(archive, OfflineExtractor()) as run:
        total, sessions = _work(archive)
        done, told = 0, 0.0
        for item in run.read():
            done += item.size
            if time.monotonic() - told >= _TELL_EVERY:
                told = time.monotonic()
                share = round(min(1.0, done / max(total, 1)), 4)
                sending.send({"phase": "reading", "share": share, "sessions": sessions})
        report = run.finish()
    sending.send({"phase": "indexing", "share": 1})
    refresh(archive)
    embed(archive.layout)
    return _problem(report)


def _work(archive: Any) -> tuple[int, int]:
    """How many bytes of how many sessions will be read, nearly."""
    from minutebook.archive.sessions import has_grown

    entries = archive.ledger().sessions
    new = [
        transcript.size
        for transcript in archive.library.transcripts
        if (entry := entries.get(transcript.session_id)) is None or has_grown(entry, transcript)
    ]
    return sum(new), len(new)


def _problem(report: IngestReport) -> str | None:
    if report.stopped is not None:
        return report.stopped
    failed = [s.problem for s in report.inscribed.sessions if s.outcome == "failed"]
    reasons = [*(failure.reason for failure in report.failures), *failed]
    return next((reason for reason in reasons if reason), None)


def _end_with(server: int) -> None:
    """End when told to, and when the server is gone without having said so.

    A timer rather than a thread: reading forks, which only a process without threads may.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if not hasattr(signal, "setitimer"):
        return

    def look(*_: object) -> None:
        if os.getppid() != server:
            sys.exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_EVERY, _LOOK_EVERY)
