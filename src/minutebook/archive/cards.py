"""Every session as a record; one that is not ingested yet has a bare one."""

from __future__ import annotations

from collections.abc import Mapping

from minutebook.archive.archive import Archive
from minutebook.archive.masking import hidden
from minutebook.archive.minutes import card
from minutebook.archive.sessions import SessionSummary
from minutebook.model.engagement import SessionRecord


def cards_of(archive: Archive, every: Mapping[str, SessionSummary]) -> dict[str, SessionRecord]:
    """Records of sessions by their id, with what a person said of them, masked."""
    records, entries = archive.records(), archive.ledger().sessions
    roster, settings = archive.roster, archive.settings
    bare = (
        card(s.info, roster, settings, entries[id].agent_id if id in entries else None)
        for id, s in every.items()
        if id not in records
    )
    said = archive.minutes.sessions_said()
    merged = (archive.minutes.merged(r) if r.session_id in said else r for r in bare)
    return {**{r.session_id: hidden(r, archive.hide) for r in merged}, **records}
