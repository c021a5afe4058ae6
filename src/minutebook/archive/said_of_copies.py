"""Corrections of a copy hold for the session it copies, too (UND-07, UND-08).

An engagement that copies of a conversation share is one engagement, whichever of them a person
spoke of: what was said of it is said of it in all of them, the last word wins. So what was hidden
does not come up again in a fork. Rounds are those that begin with the same prompt.

Of sessions as a whole: a session that stands for others, which are nothing but copies of it, has
the title, name, role, summary, star and note that a person gave them. Whoever hides it hides them;
whoever hides a copy hides that alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from minutebook.archive.coverage import SaidOfCopy, renumbered
from minutebook.derive.copies import mere_copies
from minutebook.derive.genealogy import copied, first_id
from minutebook.model.said import (
    Hide,
    Join,
    Move,
    Ranges,
    Renumber,
    Said,
    Set,
    Split,
    Tag,
    Undo,
    Unhide,
    Unread,
    Written,
)
from minutebook.record.ledger import Entry

PromptIds = Callable[[Iterable[str]], Mapping[str, Sequence[str]]]
"""The ids of the prompts of the rounds of sessions that begin alike; empty for a round without."""
Places = Sequence[int]
"""For each round of a beginning that two sessions share, its number in the other one."""


def with_copies(
    said: Mapping[str, list[Said]],
    order: Mapping[str, int],
    entries: Mapping[str, Entry],
    prompts: PromptIds,
) -> dict[str, list[Said]]:
    """What was said of each session and of its copies, in the order it was said.

    `said` has each session's own, `order` the place of each in the file.
    """
    found = dict(said)
    for members in _families(said, entries):
        known = prompts(members)
        stands = mere_copies(
            msgspec.structs.replace(entries[id].info, prompt_ids=tuple(filter(None, ids)))
            for id, ids in known.items()
        )
        for id in members:
            heard = [
                item
                for other in members
                for item in _heard(said.get(other, ()), other, id, known, stands)
            ]
            if heard:
                found[id] = sorted(heard, key=lambda item: order[item.id])
    return found


def affected(session_id: str, entries: Mapping[str, Entry]) -> set[str]:
    """A session of which a person spoke, and those for which it holds as well."""
    return {session_id}.union(*_families([session_id], entries))


def _families(said: Iterable[str], entries: Mapping[str, Entry]) -> Iterator[list[str]]:
    """Sessions that begin with the same prompt, of which a person spoke of one."""
    firsts = {
        first: list[str]()
        for id in said
        if id in entries and (first := first_id(entries[id].info.prompt_ids)) is not None
    }
    if firsts:
        for id, entry in entries.items():
            first = first_id(entry.info.prompt_ids)
            if first is not None and first in firsts:
                firsts[first].append(id)
    return (members for members in firsts.values() if len(members) > 1)


def _heard(
    said: Sequence[Said],
    other: str,
    session_id: str,
    ids: Mapping[str, Sequence[str]],
    stands: Mapping[str, str],
) -> Iterator[Said]:
    """What was said of one session, as it holds for another; or its own."""
    if not said:
        return
    current = [item for item in renumbered(said) if not isinstance(item.statement, Renumber)]
    if other == session_id:
        yield from current
        return
    copy = copied([(session_id, ids[session_id]), (other, ids[other])]).get(other)
    places = copy.rounds if copy is not None else ()
    shared = ((min(places), max(places)),) if places else ()
    for item in current:
        statement = item.statement
        if isinstance(statement, Undo | Unread | Renumber):
            continue
        if not isinstance(statement, Tag) and not statement.engagement:
            hides = isinstance(statement, Hide | Unhide)
            if stands.get(session_id if hides else other) == (other if hides else session_id):
                yield item
        elif places and (here := _here(statement, places)) is not None:
            yield SaidOfCopy(
                id=item.id,
                session_id=session_id,
                at=item.at,
                statement=here,
                undone=item.undone,
                old=item.old,
                shared=shared,
            )


def _here(statement: Written, places: Places) -> Written | None:
    """A statement with the numbers that rounds have in a copy; None where it lacks them."""
    count = len(places)
    match statement:
        case Tag(first=first, last=last):
            part = _ranges(((first, last or max(first, count)),), places)
            return Tag(*part[0], statement.engagement) if part else None
        case Undo() | Renumber():
            return None
    rounds = _ranges(statement.rounds, places)
    if not rounds:
        return None
    changes: dict[str, object] = {"rounds": rounds}
    match statement:
        case Move(first=first, last=last):
            span = _ranges(((first, last),), places)
            if not span:
                return None
            changes["first"], changes["last"] = span[0]
        case Split(round=round):
            if round > count:
                return None
            changes["round"] = places[round - 1]
        case Join(other_rounds=others):
            changes["other_rounds"] = _ranges(others, places)
            if not changes["other_rounds"]:
                return None
        case Set(values={"turn_range": (int(first), int(last))}):
            span = _ranges(((first, last),), places)
            rest = {name: v for name, v in statement.values.items() if name != "turn_range"}
            changes["values"] = {**rest, "turn_range": span[0]} if span else rest
    return msgspec.structs.replace(statement, **changes)


def _ranges(ranges: Ranges, places: Places) -> Ranges:
    """Ranges of rounds as they are in a copy, as far as it has them."""
    count = len(places)
    return tuple(
        (places[first - 1], places[min(last, count) - 1])
        for first, last in ranges
        if 1 <= first <= count
    )
