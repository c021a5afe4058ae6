"""What is inscribed, what has grown, what waits, and what is about to be deleted (OPS-18)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from minutebook.record.layout import Layout
from minutebook.record.ledger import load_ledger
from minutebook.errors import NotFound
from minutebook.sources.base import Transcript
from minutebook.sources.library import Library
from minutebook.verbs.doctor import CleanUp, clean_ups
from minutebook.verbs.inscribe import is_live


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


def status(layout: Layout, library: Library) -> Status:
    """Compare the ledger with the sources; nothing is read but their sizes and times."""
    ledger = load_ledger(layout)
    grown: list[Transcript] = []
    ended: list[Transcript] = []
    live: list[Transcript] = []
    current = 0
    for transcript in library.transcripts:
        entry = ledger.sessions.get(transcript.session_id)
        if transcript.size == 0 or ledger.is_unusable(transcript):
            continue
        if entry is None:
            (live if is_live(transcript) else ended).append(transcript)
        elif (entry.size, entry.mtime) != (transcript.size, transcript.mtime) or entry.waiting:
            (live if is_live(transcript) else grown).append(transcript)
        else:
            current += 1
    present = {transcript.session_id for transcript in library.transcripts}
    away = [entry for id, entry in ledger.sessions.items() if id not in present]
    if layout.root.exists() and not layout.root.is_dir():
        raise NotFound(f"{layout.root} is a file, not an archive.")
    return Status(
        archive=str(layout.root),
        inscribed=len(ledger.sessions),
        current=current,
        grown=grown,
        ended=ended,
        live=live,
        orphaned=sum(not (e.source and Path(e.source).exists()) for e in away),
        clean_ups=clean_ups(library),
    )
