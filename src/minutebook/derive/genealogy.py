"""Which sessions share history: forks and copied transcripts, by message ids (FMT-16).

A message is (session, id), never its text: two people may say the same thing, and one
message may stand in several files because an old version copied history on resume.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from minutebook.model import Link


def shared_history(sessions: Iterable[tuple[str, Iterable[str]]]) -> dict[str, list[Link]]:
    """Links between sessions that hold the same messages, most shared first.

    `sessions` gives each session's id with the ids of its real user messages.
    """
    holders: dict[str, list[str]] = {}
    for session_id, message_ids in sessions:
        for message_id in set(message_ids):
            holders.setdefault(message_id, []).append(session_id)
    shared: dict[str, Counter[str]] = {}
    for owners in holders.values():
        for owner in owners if len(owners) > 1 else ():
            for other in owners:
                if other != owner:
                    shared.setdefault(owner, Counter())[other] += 1
    return {
        session_id: [Link(other, "shared-messages", count) for other, count in peers.most_common()]
        for session_id, peers in shared.items()
    }
