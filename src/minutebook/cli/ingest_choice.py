"""Which sessions a person means by the options of `ingest` (ING-23 … ING-26)."""

from __future__ import annotations

from collections.abc import Sequence

from minutebook.archive import Archive
from minutebook.archive.sessions import has_grown
from minutebook.derive.periods import since as parse_since
from minutebook.derive.times import instant


def chosen_sessions(
    archive: Archive, session: str | None, since: str | None, *, backlog: bool
) -> list[str] | None:
    """Ids of sessions, whether or not their transcripts are still there; None for all."""
    if session is None and since is None and not backlog:
        return None
    moment = parse_since(since).timestamp() if since is not None else None
    found = [archive.resolve(session)] if session is not None else sorted(archive.ids())
    if moment is not None:
        found = [id for id in found if _modified(archive, id) >= moment]
    if backlog:
        due = _backlog(archive)
        found = [id for id in found if id in due]
    return found


def _modified(archive: Archive, session_id: str) -> float:
    """When a transcript was last written to, as far as that is known."""
    transcript = archive.transcript(session_id)
    if transcript is not None:
        return transcript.mtime
    entry = archive.ledger().sessions.get(session_id)
    if entry is None:
        return 0.0
    ended = instant(entry.info.ended)
    return entry.mtime if entry.mtime >= 0 or ended is None else ended.timestamp()


def _backlog(archive: Archive) -> set[str]:
    """Sessions that an upgrade made due: marked as such, or ghosts by the old rule only."""
    now = archive.records()
    return {
        id
        for id, stored in archive.minutes.stored().items()
        if stored.backlog or (stored.ghost and id in now and not now[id].ghost)
    }


def bytes_to_read(archive: Archive, sessions: Sequence[str] | None, *, again: bool) -> int:
    """About how much a run is going to read, for a progress bar."""
    entries = archive.ledger().sessions
    total = 0
    for id in archive.ids() if sessions is None else sessions:
        transcript, entry = archive.transcript(id), entries.get(id)
        if transcript is None:
            total += max(entry.size, 0) if again and entry is not None else 0
        elif again or entry is None or has_grown(entry, transcript):
            total += transcript.size
    return total
