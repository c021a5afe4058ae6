"""Work on several cores gives what work on one gives.

Each case runs in a process of its own: one that runs other tests has their threads, and beside
threads nothing is forked.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from unittest.mock import patch

import pytest

from minutebook.sources import fan_out as module
from minutebook.sources.base import Transcript
from minutebook.sources.fan_out import fan_out

TRANSCRIPTS = [Transcript(Path(str(n)), "test", f"s{n}", n * 1000, 0.0) for n in range(40)]


def in_a_new_process(case: Callable[[], None]) -> Callable[[], None]:
    """A test that calls `case` where nothing else runs, and where any work is worth forking."""

    @wraps(case)
    def test() -> None:
        program = (
            f"from {__name__} import {case.__name__} as test, module\n"
            "module._WORTH_FORKING = 0\n"
            "test.__wrapped__()"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    return test


def working_process(transcript: Transcript) -> tuple[str, int]:
    return transcript.session_id, os.getpid()


def large(transcript: Transcript) -> str:
    return transcript.session_id * 100_000


def large_pid(transcript: Transcript) -> tuple[str, int]:
    """More than a pipe holds: a worker cannot be done before it is read."""
    return large(transcript), os.getpid()


def dies_on_seven(transcript: Transcript) -> tuple[str, int]:
    if transcript.session_id == "s7" and os.getpid() != PARENT:
        os._exit(3)
    return working_process(transcript)


def raises_on_seven(transcript: Transcript) -> str:
    if transcript.session_id == "s7":
        raise ValueError("seven")
    return transcript.session_id


PARENT = os.getpid()


@in_a_new_process
def test_every_transcript_is_worked_on_once() -> None:
    """Two workers, each result with its transcript."""
    done = list(fan_out(working_process, TRANSCRIPTS, 2))
    assert sorted(t.session_id for t, _ in done) == sorted(t.session_id for t in TRANSCRIPTS)
    assert all(t.session_id == name for t, (name, _) in done)
    assert len({pid for _, (_, pid) in done} - {os.getpid()}) == 2


@in_a_new_process
def test_results_larger_than_a_pipe_arrive_whole() -> None:
    """Framed, not guessed."""
    done = dict(fan_out(large, TRANSCRIPTS, 3))
    assert all(result == t.session_id * 100_000 for t, result in done.items())


@in_a_new_process
def test_every_item_is_done_once_however_many_are_queued() -> None:
    """What does not fit into the queue is dealt out beforehand."""
    with patch.object(module, "_QUEUED", 3):
        done = [transcript.session_id for transcript, _ in fan_out(working_process, TRANSCRIPTS, 2)]
    assert sorted(done) == sorted(transcript.session_id for transcript in TRANSCRIPTS)


@in_a_new_process
def test_a_worker_that_dies_loses_nothing() -> None:
    """What a killed worker left undone is done by the parent."""
    done = list(fan_out(dies_on_seven, TRANSCRIPTS, 2))
    assert len(done) == len(TRANSCRIPTS)


@in_a_new_process
def test_an_error_is_raised_here() -> None:
    """A bug in the work is not swallowed by a worker."""
    with pytest.raises(ValueError, match="seven"):
        list(fan_out(raises_on_seven, TRANSCRIPTS, 2))


@in_a_new_process
def test_stopping_early_leaves_no_process() -> None:
    """A consumer that has enough ends the workers."""
    results: Iterator[tuple[Transcript, tuple[str, int]]] = fan_out(large_pid, TRANSCRIPTS, 2)
    workers: set[int] = set()
    while len(workers) < 2:
        _, (_, pid) = next(results)
        workers.add(pid)
    results.close()  # type: ignore[attr-defined]
    for pid in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@in_a_new_process
def test_a_process_with_threads_does_not_fork() -> None:
    """Forking beside threads can deadlock the child."""
    gate = threading.Event()
    thread = threading.Thread(target=gate.wait)
    thread.start()
    try:
        done = list(fan_out(working_process, TRANSCRIPTS, 2))
    finally:
        gate.set()
        thread.join()
    assert {pid for _, (_, pid) in done} == {os.getpid()}


@in_a_new_process
def test_a_fork_that_fails_leaves_nothing_open() -> None:
    """NFR-02: where no process can be started, the error leaves no descriptor behind."""
    real = os.fork
    calls: list[None] = []

    def fork() -> int:
        calls.append(None)
        if len(calls) == 2:
            raise BlockingIOError("no process")
        return real()

    before = len(list(Path("/proc/self/fd").iterdir()))
    with patch.object(os, "fork", fork), pytest.raises(BlockingIOError):
        list(fan_out(large, TRANSCRIPTS, 3))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
