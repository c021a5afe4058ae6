"""Say which engagement rounds belong to (DB-07). Only the index changes."""

from __future__ import annotations

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.names import parse_rounds, runs
from minutebook.archive.saying import recut
from minutebook.archive.upkeep import index_said
from minutebook.errors import BadArgument
from minutebook.model.engagement import Engagement
from minutebook.model.said import Ranges, Tag
from minutebook.record.said import add_said
from minutebook.record.store import PATIENCE, patiently

NOTHING = "-"


class Tagged(msgspec.Struct, frozen=True):
    session_id: str
    rounds: int
    engagement_id: str | None
    gone: tuple[Engagement, ...] = ()
    """Engagements that were left without a round, as they were before."""
    changed: tuple[Engagement, ...] = ()
    """Other engagements that have other rounds since, as they are now."""
    hidden_rounds: Ranges = ()
    """Rounds that went to a hidden engagement, and were in none."""


def tag(archive: Archive, session: str, rounds: str, engagement_id: str) -> Tagged:
    """Tag round N, rounds LO-HI or all; ``-`` as the engagement takes a tag off."""
    label = engagement_id.strip()
    if not label or not label.isprintable():
        raise BadArgument(
            "An engagement id is a word or slug, like console-work; '-' takes it off."
        )
    session_id = archive.resolve(session)
    archive.folder(session_id)  # only what is archived has an index
    opened = archive.open(session_id)
    numbers = parse_rounds(rounds, opened.count, beyond=False)
    value = None if label == NOTHING else label
    everything = rounds.strip().lower() == "all"
    with patiently(archive.layout.said_lock, "tag", PATIENCE):
        before = archive.stored_record(session_id).engagements
        for first, last in runs(numbers):
            add_said(archive.layout, session_id, Tag(first, None if everything else last, value))
    index_said(archive, session_id)
    cut = recut(archive, session_id, before, (label,))
    gone = cut.gone if value is not None else ()
    return Tagged(session_id, len(numbers), value, gone, cut.changed, cut.hidden_rounds)
