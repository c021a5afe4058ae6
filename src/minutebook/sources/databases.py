"""Databases of other programs, read without touching them or the files beside them.

The program may be writing at the same time: its log is seen, and where that cannot be read in
place without writing, a copy of both is.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

_COPIES = 3  # attempts at a copy nothing was written to meanwhile
_WAIT = 2.0  # seconds for a writer that is just checkpointing
# What sqlite says of a damaged schema need not be UTF-8, and then Python cannot say it.
_BROKEN = (sqlite3.Error, UnicodeDecodeError)
State = tuple[tuple[int, int], tuple[int, int]]


class Unusable(OSError):
    """A database that cannot be read, and why."""


@contextmanager
def untouched(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees the log; sqlite's errors come out as OSError."""
    try:
        with closing(_connected(path)) as connection:
            yield connection
    except _BROKEN as error:
        raise Unusable(0, f"not a database that can be read ({error})", str(path)) from error


def _connected(path: Path) -> sqlite3.Connection:
    log, shared = _beside(path, "-wal"), _beside(path, "-shm")
    if not log.exists() and not _beside(path, "-journal").exists():
        # The program closed it, so all is in the one file; otherwise sqlite would make a log.
        return _tried(path, "mode=ro&immutable=1")
    if shared.exists():
        try:
            return _tried(path, "mode=ro&readonly_shm=1")
        except sqlite3.OperationalError:
            pass  # the log's index is of no use to somebody who may not write to it
    return _tried(_copy(path, state_of(path)), "mode=rw")


def _tried(path: Path, how: str) -> sqlite3.Connection:
    """A connection that has read something. A page of the viewer may go on with it in another
    thread, but never in two at once."""
    place = f"file:{quote(os.fsencode(path))}?{how}"
    connection = sqlite3.connect(place, timeout=_WAIT, check_same_thread=False, uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except _BROKEN:
        connection.close()
        raise
    return connection


_copies: dict[Path, tuple[State, TemporaryDirectory[str]]] = {}


def _copy(path: Path, state: State) -> Path:
    """The database and its log, or the journal of what is half-written, in a folder of our own:
    kept as long as they do not change."""
    known = _copies.get(path)
    if known is None or known[0] != state:
        folder = TemporaryDirectory(prefix="minutebook-")
        for _ in range(_COPIES):
            for place in (path, _beside(path, "-wal"), _beside(path, "-journal")):
                if place.exists():
                    shutil.copyfile(place, Path(folder.name) / place.name)
            state, before = state_of(path), state
            if state == before:
                break
        if known is not None:
            known[1].cleanup()
        known = _copies[path] = (state, folder)
    return Path(known[1].name) / path.name


@atexit.register
def _throw_copies_away() -> None:
    while _copies:
        _copies.popitem()[1][1].cleanup()


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def state_of(path: Path) -> State:
    """What changes when anything is written."""
    own = path.stat()
    for ending in ("-wal", "-journal"):
        try:
            log = _beside(path, ending).stat()
        except OSError:
            continue
        return (own.st_size, own.st_mtime_ns), (log.st_size, log.st_mtime_ns)
    return (own.st_size, own.st_mtime_ns), (0, 0)
