"""Work over many transcripts, on more than one core where that pays."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from minutebook.sources.base import Transcript

T = TypeVar("T")

_WORTH_FORKING = 24_000_000  # bytes; below, starting a process costs more than it saves
_PARCEL = 8_000_000  # bytes of work handed out at once


def fan_out(
    work: Callable[[Transcript], T], transcripts: Sequence[Transcript], jobs: int | None = None
) -> Iterator[tuple[Transcript, T]]:
    """`work` on each transcript, results in the order they are ready.

    `work` must be a module-level function, and return little: what it returns travels
    between processes.
    """
    jobs = jobs or min(os.cpu_count() or 1, 8)
    total = sum(transcript.size for transcript in transcripts)
    if jobs < 2 or len(transcripts) < 2 or total < _WORTH_FORKING:
        for transcript in transcripts:
            yield transcript, work(transcript)
        return
    # Imported here: most commands on most machines never get this far.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    # Forking is cheap and safe here: no threads are running. Elsewhere it is not offered.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context)
    try:
        futures = [pool.submit(_work_off, work, parcel) for parcel in _parcels(transcripts)]
        for future in as_completed(futures):
            yield from future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _work_off(
    work: Callable[[Transcript], T], parcel: list[Transcript]
) -> list[tuple[Transcript, T]]:
    return [(transcript, work(transcript)) for transcript in parcel]


def _parcels(transcripts: Sequence[Transcript]) -> list[list[Transcript]]:
    """Transcripts packed by size, the largest first so that no worker ends with one."""
    parcels: list[list[Transcript]] = []
    size = _PARCEL
    for transcript in sorted(transcripts, key=lambda t: -t.size):
        if size + transcript.size > _PARCEL:
            parcels.append([])
            size = 0
        parcels[-1].append(transcript)
        size += transcript.size
    return parcels
