"""One writer at a time: a system lock, which is released however a process ends."""

from __future__ import annotations

import os
from typing import Any

fcntl: Any
msvcrt: Any
try:
    import fcntl
except ImportError:  # Windows has another
    fcntl = None
try:
    import msvcrt
except ImportError:
    msvcrt = None

# Windows locks bytes, and nobody can read those: one far beyond what the file says of its owner.
_FAR = 1 << 30


def hold(descriptor: int) -> None:
    """Take the lock of an open file until it is closed; `BlockingIOError` while another has it.

    `OSError` where the file system knows no locks.
    """
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    elif msvcrt is not None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:  # what msvcrt says where flock would block
            raise BlockingIOError(error.errno, "locked") from None


def rewrite(descriptor: int, content: bytes) -> None:
    """Replace what a lock's file says."""
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, content)
