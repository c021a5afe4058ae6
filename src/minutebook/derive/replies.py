"""A reply is counted once, whatever number of records tell of it (USE-01)."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from minutebook.model import Message, Reply, Usage

Place = TypeVar("Place", str, tuple[int, int])


def reply_key(reply_id: str | None, line_id: str | None) -> str:
    """What a reply is counted by: the provider's id, else that of its line; empty where it has
    neither, and so is a reply of its own."""
    return reply_id or (f"line:{line_id}" if line_id else "")


def accounted_key(
    reply_id: str | None, line_id: str | None, at: str | None, usage: Usage | None
) -> str:
    """The same for accounting that is kept without its message: without an id it is known again
    by when it was written and what it says."""
    return reply_key(reply_id, line_id) or f"line:@{at} {usage.total if usage else 0}"


def is_better(more: int, place: Place, known: Place) -> bool:
    """Whether a sighting of a reply is believed rather than another: the larger total, of equals
    the earlier one. `more` is what its total has more."""
    return more > 0 or (more == 0 and place < known)


def better_reply(new: Reply, known: Reply | None) -> Reply:
    """Which of two sightings of a reply is believed; how it ended is known from either."""
    if known is None:
        return new
    better, other = known, new
    if is_better(new.usage.total - known.usage.total, new.at or "~", known.at or "~"):
        better, other = new, known
    if better.stop is None and other.stop is not None:
        better = msgspec.structs.replace(better, stop=other.stop)
    return better


def accounting(message: Message) -> Reply:
    """A reply by its accounting alone."""
    billing = message.billing
    usage = (billing.usage if billing is not None else None) or message.usage or Usage()
    at = (billing.at if billing is not None else None) or message.at
    id = accounted_key(message.reply_id, message.id, at, usage)
    return Reply(id, at, message.model, usage, message.stop, billing)
