"""Work over many sessions, on more than one core where that pays.

Plain ``fork`` and a pipe a worker rather than a process pool: importing and starting the
pool costs a fifth of what skimming 80 MB does. Where there is no fork, or a worker dies,
the work is done right here.
"""

from __future__ import annotations

import gc
import os
import signal
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import NoReturn, Protocol, TypeVar


class Sized(Protocol):
    """Something to work on, and how much work it is."""

    @property
    def size(self) -> int: ...


@contextmanager
def without_collection() -> Iterator[None]:
    """No garbage collection: a million entries hold no cycles, and looking for some takes time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


T = TypeVar("T")
S = TypeVar("S", bound=Sized)

_WORTH_FORKING = 16_000_000  # bytes; below, a second process costs more than it saves
_MOST_JOBS = 8
_SELDOM = 200_000
"""Objects made before a worker looks for garbage: values hold no cycles, exceptions do."""
_QUEUED = 1_000  # items: their numbers fit into the smallest pipe at once
_NUMBER = struct.Struct("<I")
_FRAME = struct.Struct("<II")  # index of the item, length of the pickled result


def fan_out(
    work: Callable[[S], T],
    items: Sequence[S],
    jobs: int | None = None,
    *,
    meanwhile: Callable[[], object] | None = None,
    load: Callable[[], object] | None = None,
) -> Iterator[tuple[S, T]]:
    """`work` on each item, results in the order they are ready.

    What `work` returns travels between processes, so it should return little. `meanwhile` is done
    here while other processes work; not at all where there are none. `load` loads what `work` would
    load when it needs it: once for all workers but the first, which works on meanwhile.
    """
    jobs = min(jobs or os.cpu_count() or 1, _MOST_JOBS, len(items))
    total = sum(item.size for item in items)
    left = dict(enumerate(items))
    # A forked child has only the thread that forked: not safe in a process with several.
    alone = threading.active_count() == 1
    if jobs > 1 and total >= _WORTH_FORKING and alone and hasattr(os, "fork"):
        for index, result in _forked(work, items, jobs, meanwhile, load):
            yield left.pop(index), result
    for item in left.values():
        yield item, work(item)


def _forked(
    work: Callable[[S], T],
    items: Sequence[S],
    jobs: int,
    meanwhile: Callable[[], object] | None,
    load: Callable[[], object] | None,
) -> Iterator[tuple[int, T]]:
    import selectors  # only where there is enough work for a second process

    children: list[int] = []
    with selectors.DefaultSelector() as ready:
        try:
            shares, queued = _shares(items, jobs)
            queue = _queue(queued)
            try:
                for share in shares:
                    reading, writing = os.pipe()
                    ready.register(reading, selectors.EVENT_READ, bytearray())
                    try:  # whatever fails, no descriptor is left
                        child = os.fork()
                        if child == 0:
                            os.close(reading)
                            _work_off(work, items, chain(share, _taken(queue)), writing)
                    finally:
                        os.close(writing)
                    children.append(child)
                    if load is not None and len(children) == 1:
                        with without_collection():
                            load()
            finally:
                os.close(queue)
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
    share: Iterable[int],
    writing: int,
) -> NoReturn:
    """The child's whole life. It never returns into the parent's code, whatever happens."""
    import pickle

    # What the parent had made is in use, and stays in the memory both share while nobody looks.
    gc.freeze()
    gc.set_threshold(_SELDOM)
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


def _shares(items: Sequence[S], jobs: int) -> tuple[list[list[int]], list[int]]:
    """Indexes of items: what each worker has for certain, and what goes to who is free first.

    Nobody knows how much work a file is before it is read, so all but the largest file of each
    worker is queued, large ones first; of very many the small ones are dealt out.
    """
    by_size = sorted(range(len(items)), key=lambda index: -items[index].size)
    rest = by_size[jobs + _QUEUED :]
    shares = [[by_size[job], *rest[job::jobs]] for job in range(jobs)]
    return shares, by_size[jobs : jobs + _QUEUED]


def _queue(indexes: Iterable[int]) -> int:
    """The reading end of a pipe that holds numbers of items; each is read by one worker."""
    reading, writing = os.pipe()
    os.write(writing, b"".join(map(_NUMBER.pack, indexes)))
    os.close(writing)
    return reading


def _taken(queue: int) -> Iterator[int]:
    """What this worker takes from the queue, one at a time."""
    while number := os.read(queue, _NUMBER.size):
        yield _NUMBER.unpack(number)[0]
