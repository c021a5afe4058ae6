"""The version of an archive, in ``archive.json`` (ARC-08)."""

from __future__ import annotations

import msgspec

from minutebook.record.layout import Layout
from minutebook.record.store import make_folder, sweep_beside, write_atomically

FORMAT = 2


class _Format(msgspec.Struct):
    format: int
    made_by: str = ""


class FormatProblem(msgspec.Struct, frozen=True):
    """Why the version of an archive cannot be told, or not be dealt with."""

    root: str
    reason: str
    newer: bool = False

    def __str__(self) -> str:
        return f"The archive at {self.root} {self.reason}: upgrade minutebook to use it."


def archive_format(layout: Layout) -> int:
    """The version an archive says it has; 1 for one that says nothing."""
    try:
        return msgspec.json.decode(layout.format.read_bytes(), type=_Format).format
    except (OSError, msgspec.DecodeError):
        return 1


def format_problem(layout: Layout) -> FormatProblem | None:
    """What is wrong with ``archive.json``; None where it is fine, or not there yet."""
    try:
        found = msgspec.json.decode(layout.format.read_bytes(), type=_Format)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.DecodeError) as error:
        reason = getattr(error, "strerror", None) or f"it is damaged ({error})"
        return FormatProblem(str(layout.root), str(reason))
    if found.format > FORMAT:
        reason = f"was written by a newer minutebook (format {found.format})"
        return FormatProblem(str(layout.root), reason, newer=True)
    return None


def write_format(layout: Layout) -> None:
    """Say that an archive is of this version."""
    make_folder(layout.root)
    if archive_format(layout) != FORMAT:
        from importlib.metadata import version

        sweep_beside(layout.format)
        content = msgspec.json.encode(_Format(FORMAT, f"minutebook {version('minutebook')}"))
        write_atomically(layout.format, msgspec.json.format(content) + b"\n")
