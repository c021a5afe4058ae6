"""Writing safely: whole files or nothing, one writer at a time, for the owner's eyes only."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from minutebook.errors import Locked
from minutebook.record.locks import hold, rewrite

_PARTIAL = ".partial-"


def make_folder(path: Path) -> None:
    """A folder, and those above it that are missing, that only the owner can enter (NFR-01)."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)  # the umask may have taken something off, or left it on


def write_new(path: Path, content: bytes) -> None:
    """A plain write, for files nobody can see yet."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
        file.write(content)


def write_atomically(path: Path, content: bytes) -> bool:
    """Replace a file in one step; False, and nothing touched, where it has these bytes already."""
    with suppress(OSError):
        if path.stat().st_size == len(content) and path.read_bytes() == content:
            return False
    partial = partial_name(path)
    try:
        write_new(partial, content)
        put_in_place(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return True


def put_in_place(partial: Path, path: Path) -> None:
    """Give a file its name; a folder that stands there is moved out of the way."""
    if path.is_dir():
        set_aside(path)
    partial.replace(path)


def remove(path: Path) -> None:
    """Take away a file that can be made again; a folder of that name is only moved."""
    if path.is_dir():
        set_aside(path)
    path.unlink(missing_ok=True)


def append_line(path: Path, line: bytes) -> None:
    """One more line behind a file, in one step; half a line of a killed writer stays alone."""
    if path.is_dir():
        set_aside(path)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with open(descriptor, "r+b", buffering=0) as file:  # noqa: PTH123 - a descriptor
        size = file.seek(0, os.SEEK_END)
        torn = size and os.pread(descriptor, 1, size - 1) != b"\n"
        file.write((b"\n" if torn else b"") + line + b"\n")


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder filled out of sight, which appears under its name by one rename."""
    partial = partial_name(path)
    _remove(partial)
    make_folder(partial)
    try:
        yield partial
        if path.exists():
            _clear(path, partial)
        partial.rename(path)
    except BaseException:
        _remove(partial)
        raise


def _remove(folder: Path) -> None:
    if folder.exists():
        import shutil  # brings three compressors along, and is hardly ever needed

        shutil.rmtree(folder, ignore_errors=True)


def _clear(path: Path, partial: Path) -> None:
    """A folder without its document: left by a killed run, or somebody removed the document.

    What the new one holds too can go; anything more is set aside, never deleted.
    """
    covered = all(
        (partial / file.relative_to(path)).is_file()
        and (partial / file.relative_to(path)).read_bytes() == file.read_bytes()
        for file in path.rglob("*")
        if file.is_file()
        and file.suffix in (".json", ".md")
        and file.name not in ("index.md", "checkpoint")
    )
    if covered:
        _remove(path)
        return
    set_aside(path)


def sweep(folder: Path, *patterns: str) -> None:
    """Remove what killed writers left behind; only ever called with the lock held."""
    for pattern in patterns:
        for path in folder.glob(f"{pattern}{_PARTIAL}*"):
            if path.is_dir():
                _remove(path)
            else:
                path.unlink(missing_ok=True)


def sweep_beside(path: Path) -> None:
    """Remove what killed writers of one file left beside it; the caller holds its lock."""
    name = re.compile(rf"{re.escape(_PARTIAL)}\d+(-\d+)?-{re.escape(path.name)}")
    with os.scandir(path.parent) as entries:
        left = [entry.path for entry in entries if name.fullmatch(entry.name)]
    for old in left:
        Path(old).unlink(missing_ok=True)


def partial_name(path: Path) -> Path:
    """Where something is written before it gets its name."""
    return path.with_name(f"{_PARTIAL}{os.getpid()}-{threading.get_native_id()}-{path.name}")


def set_aside(path: Path) -> Path:
    """Move something out of the way, to a name nothing has."""
    number = 1
    while (aside := path.with_name(f"{path.name}.set-aside-{number}")).exists():
        number += 1
    return path.rename(aside)


class _Umask:
    """The process has one umask: the last thread to leave `private` puts the old one back."""

    lock = threading.Lock()
    inside = 0
    before = 0


@contextmanager
def private() -> Iterator[None]:
    """Files that libraries of others make in here are for the owner's eyes only (NFR-01)."""
    with _Umask.lock:
        if _Umask.inside == 0:
            _Umask.before = os.umask(0o077)
        _Umask.inside += 1
    try:
        yield
    finally:
        with _Umask.lock:
            _Umask.inside -= 1
            if _Umask.inside == 0:
                os.umask(_Umask.before)


@contextmanager
def writing(lock: Path, what: str) -> Iterator[None]:
    """Hold the archive's lock; the kernel lets go of it however this process ends (NFR-02)."""
    make_folder(lock.parent)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            hold(descriptor)
        except BlockingIOError:
            raise Locked(_owner(lock)) from None
        owner = {"pid": os.getpid(), "verb": what, "since": round(time.time())}
        rewrite(descriptor, json.dumps(owner).encode())
        yield
        rewrite(descriptor, b"")
    finally:
        os.close(descriptor)


def _owner(lock: Path) -> str:
    try:
        owner = json.loads(lock.read_text())
        minutes = max(0, round((time.time() - owner["since"]) / 60))
        who = f"`minutebook {owner['verb']}` (process {owner['pid']}, {minutes} min ago)"
    except (OSError, ValueError, KeyError, TypeError):
        who = "another minutebook"
    return f"The archive is being written by {who}. Try again when it is done."
