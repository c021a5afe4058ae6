"""Work over many sessions, on more than one core where that pays.

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
from typing import NoReturn, Protocol, TypeVar


class Sized(Protocol):
    """Something to work on, and how much work it is."""

    @property
    def size(self) -> int: ...


T = TypeVar("T")
S = TypeVar("S", bound=Sized)

_WORTH_FORKING = 16_000_000  # bytes; below, a second process costs more than it saves
_MOST_JOBS = 8
_FRAME = struct.Struct("<II")  # index of the item, length of the pickled result


def fan_out(
    work: Callable[[S], T],
    items: Sequence[S],
    jobs: int | None = None,
    *,
    meanwhile: Callable[[], object] | None = None,
) -> Iterator[tuple[S, T]]:
    """`work` on each item, results in the order they are ready.

    What `work` returns travels between processes, so it should return little. `meanwhile` is done
    here while other processes work; not at all where there are none.
    """
    jobs = min(jobs or os.cpu_count() or 1, _MOST_JOBS, len(items))
    total = sum(item.size for item in items)
    left = dict(enumerate(items))
    # A forked child has only the thread that forked: not safe in a process with several.
    alone = threading.active_count() == 1
    if jobs > 1 and total >= _WORTH_FORKING and alone and hasattr(os, "fork"):
        for index, result in _forked(work, items, jobs, meanwhile):
            yield left.pop(index), result
    for item in left.values():
        yield item, work(item)


def _forked(
    work: Callable[[S], T],
    items: Sequence[S],
    jobs: int,
    meanwhile: Callable[[], object] | None,
) -> Iterator[tuple[int, T]]:
    import selectors  # only where there is enough work for a second process

    children: list[int] = []
    with selectors.DefaultSelector() as ready:
        try:
            for share in _shares(items, jobs):
                reading, writing = os.pipe()
                child = os.fork()
                if child == 0:
                    os.close(reading)
                    _work_off(work, items, share, writing)
                os.close(writing)
                children.append(child)
                ready.register(reading, selectors.EVENT_READ, bytearray())
            # In a thread: what the others have done is taken from them all the while.
            beside = threading.Thread(target=meanwhile) if meanwhile is not None else None
            if beside is not None:
                beside.start()
            while ready.get_map():
                for key, _ in ready.select():
                    piece = os.read(key.fd, 1 << 16)
                    key.data.extend(piece)
                    yield from _frames(key.data)
                    if not piece:
                        ready.unregister(key.fd)
                        os.close(key.fd)
            if beside is not None:
                beside.join()
        finally:
            for key in list(ready.get_map().values()):
                os.close(key.fd)
            _end(children)


def _work_off(
    work: Callable[[S], T],
    items: Sequence[S],
    share: list[int],
    writing: int,
) -> NoReturn:
    """The child's whole life. It never returns into the parent's code, whatever happens."""
    import pickle

    try:
        for index in share:
            result = pickle.dumps(work(items[index]), pickle.HIGHEST_PROTOCOL)
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


def _shares(items: Sequence[S], jobs: int) -> list[list[int]]:
    """Indexes of items, dealt out by size so that the shares weigh the same."""
    shares: list[list[int]] = [[] for _ in range(jobs)]
    weights = [0] * jobs
    by_size = sorted(range(len(items)), key=lambda index: -items[index].size)
    for index in by_size:
        lightest = weights.index(min(weights))
        shares[lightest].append(index)
        weights[lightest] += items[index].size
    return shares
