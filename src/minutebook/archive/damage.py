"""What of an archive could not be read, file by file (ARC-07)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from minutebook.archive.archive import Archive
from minutebook.archive.session import OpenSession
from minutebook.archive.settings import read_settings
from minutebook.record.instructions import read_sessions
from minutebook.sources.base import Trouble


def troubles_of(archive: Archive, opened: Iterable[OpenSession]) -> list[Trouble]:
    """Files that could not be read so far, those of sessions that are open among them."""
    layout, minutes = archive.layout, archive.minutes
    minutes.stored()  # read, so that what is wrong with their files is known
    found = {**archive.ledger().damaged, **minutes.problems}
    for path, problem in (
        (layout.settings, read_settings(layout)[1]),
        (layout.session_instructions, read_sessions(layout)[1]),
        (layout.format, archive.format_problem.reason if archive.format_problem else None),
    ):
        if problem is not None:
            found[str(path)] = problem
    for session in opened:
        found |= session.damaged
    return [Trouble(Path(path), reason) for path, reason in sorted(found.items())]
