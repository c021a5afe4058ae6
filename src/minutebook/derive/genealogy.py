"""Which sessions share history: forks and copied transcripts, by message ids (FMT-16).

A message is (session, id), never its text: two people may say the same thing, and one
message may stand in several files because an old version copied history on resume.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from minutebook.model import Link
from minutebook.model.engagement import Engagement, SessionRecord

Pair = tuple[SessionRecord, Engagement]
Place = tuple[str, int]
"""A session, and a round of it."""


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


def copies_as_one(
    places: Sequence[Place],
    holders: Mapping[Place, Sequence[Place]],
    length: Callable[[str], int],
    *,
    by_session: bool,
    fixed: Container[int] = (),
) -> list[tuple[int, Place, tuple[str, ...]]]:
    """Rounds in their order, copies of one only once (SRCH-20).

    `holders` says where else the first message of a round stands. With `by_session`, a round adds
    nothing either where a session that was named before has it. Of each that is kept: its
    position, the place in the longest session that has it (its own, where it is `fixed`), and
    the other sessions.
    """
    kept: list[tuple[int, Place, tuple[str, ...]]] = []
    known: dict[str | Place, int] = {}  # what was kept, and where in `kept`
    for at, place in enumerate(places):
        same = dict(holders.get(place, ())) | dict([place])
        id = place[0]
        if len(same) > 1 and at not in fixed:
            id = max(same, key=lambda own: (length(own), own))
        best = (id, same[id])
        before = [known[own] for own in (same if by_session else (best,)) if own in known]
        if before:
            first, where, others = kept[before[0]]
            named = sorted({*others, place[0]} - {where[0]})
            kept[before[0]] = (first, where, tuple(named))
            continue
        known[id if by_session else best] = len(kept)
        kept.append((at, best, tuple(sorted(same.keys() - {id}))))
    return kept


def without_copies(
    pairs: Iterable[Pair], kin: Callable[[str], set[str]]
) -> tuple[list[Pair], list[Pair]]:
    """Engagements, each conversation's once; and the copies that were left out (UND-08).

    Two of one topic that began at the same moment, in sessions that hold the same messages
    (`kin`), are one: that of the session that went on longest.
    """
    together: dict[tuple[str, str], list[Pair]] = {}
    known = list(pairs)
    for record, engagement in known:
        if engagement.started:
            what = (engagement.started, engagement.topic.lower())
            together.setdefault(what, []).append((record, engagement))
    copies: list[Pair] = []
    for same in together.values():
        if len({record.session_id for record, _ in same}) < 2:
            continue  # asking who is kin of whom takes a look at all sessions
        same.sort(key=lambda pair: (pair[0].ended or "", pair[0].session_id), reverse=True)
        kept: list[str] = []
        for record, engagement in same:
            if kin(record.session_id) & set(kept):
                copies.append((record, engagement))
            else:
                kept.append(record.session_id)
    left_out = {(record.session_id, engagement.id) for record, engagement in copies}
    return [pair for pair in known if (pair[0].session_id, pair[1].id) not in left_out], copies
