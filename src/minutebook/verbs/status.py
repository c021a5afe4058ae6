"""What is inscribed, what has grown, what waits, and what is about to be deleted (OPS-18)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.sessions import has_grown, lost_rounds
from minutebook.archive.writing import is_live
from minutebook.sources.base import Transcript
from minutebook.verbs.doctor import CleanUp, clean_ups

_SMALL = 16 << 10
"""Bytes below which a session may turn out to have no round at all."""


class Status(msgspec.Struct, frozen=True):
    archive: str
    inscribed: int
    """Sessions in the archive, whether or not their source is still there."""
    current: int
    """Sources that have not changed since they were read."""
    grown: list[Transcript]
    """Changed since they were read, by size and time: also one that was restored, without news."""
    ended: list[Transcript]
    """Over, and not inscribed yet."""
    live: list[Transcript]
    """Perhaps still running."""
    held_back: int
    """Sessions whose last rounds are not archived yet, because they may still grow."""
    lost: dict[str, int]
    """Rounds that were held back when a session's transcript was deleted, by session."""
    orphaned: int
    """Inscriptions whose source is gone: they are the only record."""
    clean_ups: list[CleanUp]
    first_release: bool = False
    """Whether some of it waits for its upgrade."""
    before_upgrade: str | None = None
    """Where files of before an upgrade are kept."""


def status(archive: Archive) -> Status:
    """Compare the ledger with the sources, by sizes and times.

    Only young files are read (also those that were copied just now), and small ones that are not
    archived: where no round is in them, there is nothing to archive.
    """
    layout, library = archive.layout, archive.library
    ledger = archive.ledger()
    grown: list[Transcript] = []
    ended: list[Transcript] = []
    live: list[Transcript] = []
    current = 0
    chosen = archive.chosen_transcripts(library.transcripts)
    young = [t for t in chosen.values() if t.size and is_live(t, None)]
    read = {t.session_id: o.info for t, o in library.overviews(young) if o.info is not None}

    def may_run(transcript: Transcript) -> bool:
        info = read.get(transcript.session_id)
        return is_live(transcript, info.ended if info is not None else None)

    for transcript in chosen.values():
        entry = ledger.sessions.get(transcript.session_id)
        if transcript.size == 0 or ledger.is_unusable(transcript):
            continue
        if entry is None:
            (live if may_run(transcript) else ended).append(transcript)
        elif has_grown(entry, transcript):
            (live if may_run(transcript) else grown).append(transcript)
        else:
            current += 1
    small = [transcript for transcript in ended if transcript.size < _SMALL]
    empty = {t.session_id for t, o in library.overviews(small) if o.info and not o.info.rounds}
    ended = [transcript for transcript in ended if transcript.session_id not in empty]
    present = {transcript.session_id for transcript in library.transcripts}
    away = [entry for id, entry in ledger.sessions.items() if id not in present]
    held_back = {id for id in chosen if (known := ledger.sessions.get(id)) and known.waiting}
    held_back |= {t.session_id for t in live if (i := read.get(t.session_id)) and i.rounds}
    lost = {id: lost_rounds(entry, chosen.get(id)) for id, entry in ledger.sessions.items()}
    return Status(
        archive=str(layout.root),
        inscribed=len(ledger.sessions),
        current=current,
        grown=grown,
        ended=ended,
        live=live,
        held_back=len(held_back - {id for id, count in lost.items() if count}),
        lost={id: count for id, count in lost.items() if count},
        orphaned=sum(not (e.source and Path(e.source).exists()) for e in away),
        clean_ups=clean_ups(library),
        first_release=archive.is_first_release,
        before_upgrade=str(layout.before_upgrade) if layout.before_upgrade.is_dir() else None,
    )
