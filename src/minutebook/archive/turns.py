"""Turn pairs of every session, newest session first: what was asked and what was answered."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime

from minutebook.archive.archive import Archive
from minutebook.archive.masking import hidden
from minutebook.archive.refreshing import words_of
from minutebook.archive.sessions import has_grown
from minutebook.derive.times import instant
from minutebook.derive.turn_pairs import TurnPair, turn_pairs


def turns(
    archive: Archive,
    *,
    since: datetime | None = None,
    projects: Collection[str] | None = None,
    most: int | None = None,
    only_present: bool = False,
) -> Iterator[TurnPair]:
    """Turn pairs as they may be shown; a session is read when it is its turn.

    `projects` are parts of working directories, `most` is a number of sessions. With
    `only_present`, sessions whose transcripts are gone are left out.
    """
    taken = 0
    for session_id, at in _newest_first(archive, only_present):
        if most is not None and taken >= most:
            return
        if since is not None and at < since.timestamp():
            continue
        try:
            info, rounds = words_of(archive, session_id)
        except OSError:
            continue  # deleted just now
        where = " ".join(info.cwds).lower() if info is not None else ""
        if info is None or not (projects is None or any(p.lower() in where for p in projects)):
            continue
        taken += 1
        for pair in turn_pairs(info, rounds):
            when = instant(pair.metadata.timestamp)
            if since is None or when is None or when >= since:
                yield hidden(pair, archive.hide)


def _newest_first(archive: Archive, only_present: bool) -> list[tuple[str, float]]:
    """Sessions with their last activity, by what is known without reading them."""
    entries = archive.ledger().sessions
    found: dict[str, float] = {}
    for id in archive.ids():
        entry, transcript = entries.get(id), archive.transcript(id)
        if transcript is not None and (entry is None or has_grown(entry, transcript)):
            found[id] = transcript.mtime
        elif entry is not None and (transcript is not None or not only_present):
            ended = instant(entry.info.ended)
            found[id] = ended.timestamp() if ended is not None else entry.mtime
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))
