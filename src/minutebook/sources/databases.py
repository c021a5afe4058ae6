"""Databases of other programs, read without touching them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory


def log_of(path: Path) -> Path:
    """The write-ahead log beside a database; what was written last may be only there."""
    return path.with_name(path.name + "-wal")


def state_of(path: Path) -> tuple[tuple[int, int], ...]:
    """Changes when the database or its log does. OSError where it is not there."""
    stats = [path.stat()]
    with suppress(FileNotFoundError):
        stats.append(log_of(path).stat())
    return tuple((stat.st_mtime_ns, stat.st_size) for stat in stats)


@contextmanager
def untouched(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to what a database holds now.

    Opening one that has a log makes files beside it, even for reading: then a copy is opened.
    """
    with TemporaryDirectory(prefix="minutebook-") as scratch:
        if len(state_of(path)) > 1:
            copy = Path(scratch) / "copy.sqlite"
            shutil.copyfile(path, copy)
            shutil.copyfile(log_of(path), log_of(copy))
            place = copy.as_uri()
        else:
            place = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(place, uri=True)) as connection:
            yield connection
