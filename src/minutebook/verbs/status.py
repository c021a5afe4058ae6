"""What is inscribed, what has grown, what waits, and what is about to be deleted (OPS-18)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.sessions import has_grown
from minutebook.archive.writing import is_live
from minutebook.sources.base import Transcript
from minutebook.verbs.doctor import CleanUp, clean_ups


class Status(msgspec.Struct, frozen=True):
    archive: str
    inscribed: int
    """Sessions in the archive, whether or not their source is still there."""
    current: int
    """Sources that have not changed since they were read."""
    grown: list[Transcript]
    ended: list[Transcript]
    """Over, and not inscribed yet."""
    live: list[Transcript]
    """Perhaps still running."""
    orphaned: int
    """Inscriptions whose source is gone: they are the only record."""
    clean_ups: list[CleanUp]
    first_release: bool = False
    """Whether some of it waits for its upgrade."""
    before_upgrade: str | None = None
    """Where files of before an upgrade are kept."""


def status(archive: Archive) -> Status:
    """Compare the ledger with the sources; nothing is read but their sizes and times."""
    layout, library = archive.layout, archive.library
    ledger = archive.ledger()
    grown: list[Transcript] = []
    ended: list[Transcript] = []
    live: list[Transcript] = []
    current = 0
    for transcript in archive.chosen_transcripts(library.transcripts).values():
        entry = ledger.sessions.get(transcript.session_id)
        if transcript.size == 0 or ledger.is_unusable(transcript):
            continue
        if entry is None:
            (live if is_live(transcript) else ended).append(transcript)
        elif has_grown(entry, transcript):
            (live if is_live(transcript) else grown).append(transcript)
        else:
            current += 1
    present = {transcript.session_id for transcript in library.transcripts}
    away = [entry for id, entry in ledger.sessions.items() if id not in present]
    return Status(
        archive=str(layout.root),
        inscribed=len(ledger.sessions),
        current=current,
        grown=grown,
        ended=ended,
        live=live,
        orphaned=sum(not (e.source and Path(e.source).exists()) for e in away),
        clean_ups=clean_ups(library),
        first_release=archive.is_first_release,
        before_upgrade=str(layout.before_upgrade) if layout.before_upgrade.is_dir() else None,
    )
