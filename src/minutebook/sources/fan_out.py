"""Work over many transcripts, on more than one core where that pays.

Plain ``fork`` and a pipe a worker rather than a process pool: importing and starting the
pool costs a fifth of what skimming 80 MB does. Where there is no fork, or a worker dies,
the work is done right here.
"""

from __future__ import annotations

import os
import signal
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NoReturn, TypeVar

from minutebook.sources.base import Transcript

T = TypeVar("T")

_WORTH_FORKING = 16_000_000  # bytes; below, a second process costs more than it saves
_MOST_JOBS = 8
_FRAME = struct.Struct("<II")  # index of the transcript, length of the pickled result


def fan_out(
    work: Callable[[Transcript], T], transcripts: Sequence[Transcript], jobs: int | None = None
) -> Iterator[tuple[Transcript, T]]:
    """`work` on each transcript, results in the order they are ready.

    What `work` returns travels between processes, so it should return little.
    """
    jobs = min(jobs or os.cpu_count() or 1, _MOST_JOBS, len(transcripts))
    total = sum(transcript.size for transcript in transcripts)
    left = dict(enumerate(transcripts))
    # A forked child has only the thread that forked: not safe in a process with several.
    alone = threading.active_count() == 1
    if jobs > 1 and total >= _WORTH_FORKING and alone and hasattr(os, "fork"):
        for index, result in _forked(work, transcripts, jobs):
            yield left.pop(index), result
    for transcript in left.values():
        yield transcript, work(transcript)


def _forked(
    work: Callable[[Transcript], T], transcripts: Sequence[Transcript], jobs: int
) -> Iterator[tuple[int, T]]:
    import selectors  # only where there is enough work for a second process

    children: list[int] = []
    with selectors.DefaultSelector() as ready:
        try:
            for share in _shares(transcripts, jobs):
                reading, writing = os.pipe()
                child = os.fork()
                if child == 0:
                    os.close(reading)
                    _work_off(work, transcripts, share, writing)
                os.close(writing)
                children.append(child)
                ready.register(reading, selectors.EVENT_READ, bytearray())
            while ready.get_map():
                for key, _ in ready.select():
                    piece = os.read(key.fd, 1 << 16)
                    key.data.extend(piece)
                    yield from _frames(key.data)
                    if not piece:
                        ready.unregister(key.fd)
                        os.close(key.fd)
        finally:
            for key in list(ready.get_map().values()):
                os.close(key.fd)
            _end(children)


def _work_off(
    work: Callable[[Transcript], T],
    transcripts: Sequence[Transcript],
    share: list[int],
    writing: int,
) -> NoReturn:
    """The child's whole life. It never returns into the parent's code, whatever happens."""
    import pickle

    try:
        for index in share:
            result = pickle.dumps(work(transcripts[index]), pickle.HIGHEST_PROTOCOL)
            frame = memoryview(_FRAME.pack(index, len(result)) + result)
            while frame:
                frame = frame[os.write(writing, frame) :]
    except BaseException:
        os._exit(1)
    os._exit(0)


def _frames(received: bytearray) -> Iterator[tuple[int, T]]:
    """Complete results at the front of what was received; they are taken off."""
    import pickle

    while len(received) >= _FRAME.size:
        index, length = _FRAME.unpack_from(received)
        end = _FRAME.size + length
        if len(received) < end:
            return
        result: T = pickle.loads(received[_FRAME.size : end])
        del received[:end]
        yield index, result


def _end(children: list[int]) -> None:
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)  # idle or unwanted by now: it only ever reads
        os.waitpid(child, 0)


def _shares(transcripts: Sequence[Transcript], jobs: int) -> list[list[int]]:
    """Indexes of transcripts, dealt out by size so that the shares weigh the same."""
    shares: list[list[int]] = [[] for _ in range(jobs)]
    weights = [0] * jobs
    by_size = sorted(range(len(transcripts)), key=lambda index: -transcripts[index].size)
    for index in by_size:
        lightest = weights.index(min(weights))
        shares[lightest].append(index)
        weights[lightest] += transcripts[index].size
    return shares
