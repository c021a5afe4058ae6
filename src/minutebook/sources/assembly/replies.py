"""A reply is counted once, whatever number of records tell of it (USE-01)."""

from __future__ import annotations

import msgspec

from minutebook.model import Reply


def reply_key(reply_id: str | None, line_id: str | None) -> str:
    """What a reply is counted by: the provider's id, else that of its line."""
    return reply_id or f"line:{line_id}"


def better_reply(new: Reply, known: Reply | None) -> Reply:
    """Which of two sightings of a reply is believed; how it ended is known from either."""
    if known is None:
        return new
    better, other = known, new
    more = new.usage.total - known.usage.total
    if more > 0 or (more == 0 and (new.at or "~") < (known.at or "~")):
        better, other = new, known
    if better.stop is None and other.stop is not None:
        better = msgspec.structs.replace(better, stop=other.stop)
    return better
