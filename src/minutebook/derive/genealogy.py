"""Which sessions share history: forks and copied transcripts, by message ids (FMT-16).

A message is (session, id), never its text: two people may say the same thing, and one
message may stand in several files because an old version copied history on resume.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from minutebook.model import Link
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.lineage import Edge
from minutebook.model.round import QUEUED

Pair = tuple[SessionRecord, Engagement]
Place = tuple[str, int]
"""A session, and a round of it."""

LEAST_ID = 16
"""Characters of a message's id; what is shorter is the number of a round, which all have."""


class Copy(msgspec.Struct, frozen=True):
    """The beginning of a session that another one has, too."""

    session_id: str
    """The other session."""
    rounds: tuple[int, ...]
    """For each round of that beginning, its number there."""


def first_id(message_ids: Iterable[str]) -> str | None:
    """What copies of one conversation have in common, however they went on."""
    return next((id for id in message_ids if len(id) >= LEAST_ID), None)


def copied(sessions: Iterable[tuple[str, Sequence[str]]]) -> dict[str, Copy]:
    """Sessions whose beginning one before them in this order has → that one.

    Each comes with the ids of its rounds' prompts, in their order; of several others the one
    that has the longest beginning counts, the first of those.
    """
    found: dict[str, Copy] = {}
    families: dict[str, list[tuple[str, dict[str, int]]]] = {}
    for session_id, rounds in sessions:
        first = first_id(rounds)
        if first is None:
            continue
        family = families.setdefault(first, [])
        begun = [Copy(other, beginning(rounds, places)) for other, places in family]
        if begun:
            found[session_id] = max(begun, key=lambda copy: len(copy.rounds))
        places = {id: number for number, id in enumerate(rounds, 1) if len(id) >= LEAST_ID}
        family.append((session_id, places))
    return found


def beginning(rounds: Sequence[str], places: Mapping[str, int]) -> tuple[int, ...]:
    """Where the rounds of a beginning are elsewhere; one without an id goes with the next."""
    found: list[int] = []
    shared = 0
    for id in rounds:
        last = found[-1] if found else 0
        if len(id) < LEAST_ID:
            found.append(last + 1)
            continue
        place = places.get(id, 0)
        if place < max(last, 1):
            break
        found.append(place)
        shared = len(found)
    return tuple(found[:shared])


def waiting(prompt_ids: Sequence[str]) -> int:
    """How many prompts at the end of a session were still in its queue when it ended."""
    sent = (at for at, id in enumerate(reversed(prompt_ids)) if not id.startswith(QUEUED))
    return next(sent, len(prompt_ids))


def one_id_each(
    sessions: Mapping[str, Sequence[str]], asked: Callable[[str, int], str]
) -> dict[str, Sequence[str]]:
    """The ids of the rounds' prompts of sessions that begin alike, one for each prompt.

    What waited in the queue when a session ended was sent in the copy that went on, under another
    id: it is the next prompt there, in the same words (`asked`, of a round).
    """
    found = dict(sessions)
    for session_id, rounds in sessions.items():
        begun = len(rounds) - waiting(rounds)
        if begun < len(rounds):
            each = (_sent(session_id, other, sessions, asked) for other in sessions)
            if sent := max(each, key=len):
                found[session_id] = (*rounds[:begun], *sent, *rounds[begun + len(sent) :])
    return found


def _sent(
    session_id: str,
    other: str,
    sessions: Mapping[str, Sequence[str]],
    asked: Callable[[str, int], str],
) -> list[str]:
    """The ids that another session has for prompts that waited at the end of one."""
    rounds, theirs = sessions[session_id], sessions[other]
    number = len(rounds) - waiting(rounds)
    last = first_id(reversed(rounds[:number]))
    if last is None or last not in theirs:
        return []
    found: list[str] = []
    begun = theirs.index(last) + 1
    for there, id in enumerate(theirs[begun:], begun + 1):
        if len(id) < LEAST_ID:
            continue
        number += 1
        if number > len(rounds) or id.startswith(QUEUED):
            break
        words = asked(session_id, number)
        if not words or words != asked(other, there):
            break
        found.append(id)
    return found


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


def with_copies(
    holders: Mapping[Place, Sequence[Place]], places: Iterable[Place], edges: Iterable[Edge]
) -> dict[Place, list[Place]]:
    """Who else has rounds: by the ids of their messages, and by history that has other ids in a
    copy (`edges`)."""
    found = {place: list(others) for place, others in holders.items()}
    wanted = set(places)
    sessions = {id for id, _ in wanted}
    for edge in edges:
        if not edge.shared or not sessions & {edge.older, edge.newer}:
            continue
        for here, there in enumerate(edge.shared, 1):
            own = ((edge.newer, here), (edge.older, there))
            for place in wanted.intersection(own):
                found.setdefault(place, [place]).extend(own)
    return found


def copies_as_one(
    places: Sequence[Place],
    holders: Mapping[Place, Sequence[Place]],
    length: Callable[[str], int],
    *,
    by_session: bool,
    fits: Callable[[int, Place], bool] = lambda _at, _place: True,
) -> list[tuple[int, Place, tuple[str, ...]]]:
    """Rounds in their order, copies of one only once (SRCH-20).

    `holders` says where else the first message of a round stands. With `by_session`, a round adds
    nothing either where a session that was named before has it. Of each that is kept: its
    position, the place in the longest session that has it and where it `fits`, and the other
    sessions.
    """
    kept: list[tuple[int, Place, tuple[str, ...]]] = []
    known: dict[str | Place, int] = {}  # what was kept, and where in `kept`
    for at, place in enumerate(places):
        same = dict(holders.get(place, ())) | dict([place])
        id = place[0]
        if len(same) > 1:
            longest = sorted(same, key=lambda own: (length(own), own), reverse=True)
            id = next(own for own in longest if own == id or fits(at, (own, same[own])))
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

    Two of one topic, or one id, that began at the same moment in sessions that hold the same
    messages (`kin`) are one: the one a person corrected, else that of the session that went on
    longest.
    """
    together: dict[str, list[Pair]] = {}
    known = list(pairs)
    for record, engagement in known:
        if engagement.started:
            together.setdefault(engagement.started, []).append((record, engagement))
    copies: list[Pair] = []
    for same in together.values():
        if len({record.session_id for record, _ in same}) < 2:
            continue  # asking who is kin of whom takes a look at all sessions
        same.sort(key=_most_said, reverse=True)
        kept: dict[str, list[Engagement]] = {}
        for record, engagement in same:
            others = (e for id in kin(record.session_id) for e in kept.get(id, ()))
            if any(is_one(engagement, other) for other in others):
                copies.append((record, engagement))
            else:
                kept.setdefault(record.session_id, []).append(engagement)
    left_out = {(record.session_id, engagement.id) for record, engagement in copies}
    return [pair for pair in known if (pair[0].session_id, pair[1].id) not in left_out], copies


def is_one(engagement: Engagement, other: Engagement) -> bool:
    """Whether two that began at one moment in copies of a conversation are one (UND-08)."""
    return engagement.id == other.id or engagement.topic.lower() == other.topic.lower()


def _most_said(pair: Pair) -> tuple[bool, str, str]:
    record, engagement = pair
    said = any(name.startswith(f"{engagement.id}.") for name in record.corrected)
    return said, record.ended or "", record.session_id
