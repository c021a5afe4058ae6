"""What a person says of a conversation holds for every session that has it (UND-07, UND-08).

An engagement that copies of a conversation share is one engagement, whichever of them a person
spoke of: what was said of it is said of it in all of them, the last word wins. So what was hidden
does not come up again in a fork. Rounds are those that begin with the same prompt.

Of sessions as a whole: title, name, role, summary, star and note of a session that stands for
others, which are nothing but copies of it, are theirs, unless a person speaks of a copy later. What
is said of a copy holds for the session that lists show as long as nothing of the kind is said of
that one: a title that was given before the conversation went on elsewhere stays, and none is lost
to a copy that lists leave out. Hiding a session hides its copies; hiding a copy hides
that alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from minutebook.archive.coverage import SaidOfCopy, renumbered
from minutebook.derive.copies import mere_copies
from minutebook.derive.genealogy import copied, first_id
from minutebook.model.said import (
    Hide,
    Join,
    Move,
    Note,
    Ranges,
    Renumber,
    Said,
    Set,
    Split,
    Star,
    Tag,
    Undo,
    Unhide,
    Unread,
    Unstar,
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
        family = _Family(said, entries, prompts(members))
        for id in members:
            if heard := [item for other in members for item in family.heard(id, other)]:
                taken_back = family.undone(id, {item.id for item in heard})
                found[id] = sorted((*heard, *taken_back), key=lambda item: order[item.id])
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


class _Family:
    """Sessions that begin with the same prompt, and what was said of each."""

    def __init__(
        self,
        said: Mapping[str, list[Said]],
        entries: Mapping[str, Entry],
        ids: Mapping[str, Sequence[str]],
    ) -> None:
        self._ids = ids
        self._said = {id: renumbered(said[id]) for id in ids if id in said}
        infos = [
            msgspec.structs.replace(entries[id].info, prompt_ids=tuple(filter(None, known)))
            for id, known in ids.items()
        ]
        self._stands = mere_copies(infos)
        sizes = sorted((i.id not in self._stands, len(i.prompt_ids), i.rounds, i.id) for i in infos)
        self._rank = {id: rank for rank, (*_, id) in enumerate(sizes)}

    def heard(self, session_id: str, other: str) -> Iterator[Said]:
        """What was said of one session, as it holds for another; or its own."""
        current = [s for s in self._said.get(other, ()) if not isinstance(s.statement, Renumber)]
        if other == session_id:
            yield from current
        elif current:
            copy = copied((id, self._ids[id]) for id in (session_id, other)).get(other)
            places = copy.rounds if copy is not None else ()
            shared = ((min(places), max(places)),) if places else ()
            for item in current:
                here = self._here(item.statement, session_id, other, places)
                if here is not None:
                    yield _of_copy(item, session_id, here, shared)

    def undone(self, session_id: str, heard: Collection[str]) -> Iterator[Said]:
        """That a person took back some of it, where that was said of another session."""
        for other, said in self._said.items():
            for item in said:
                statement = item.statement
                if other != session_id and isinstance(statement, Undo) and statement.of in heard:
                    yield _of_copy(item, session_id, statement)

    def _here(
        self, statement: Written | Unread, session_id: str, other: str, places: Places
    ) -> Written | None:
        if isinstance(statement, Undo | Unread | Renumber):
            return None
        if isinstance(statement, Tag) or statement.engagement:
            return _placed(statement, places) if places else None
        if isinstance(statement, Hide | Unhide):
            return statement if self._stands.get(session_id) == other else None
        if self._conversation(session_id) != self._conversation(other):
            return None
        if self._rank[other] > self._rank[session_id]:
            return statement
        return _without(statement, self._spoken_above(other))

    def _conversation(self, session_id: str) -> str:
        """The session that stands for one."""
        return self._stands.get(session_id, session_id)

    def _spoken_above(self, session_id: str) -> set[str]:
        """What a person said of a more complete session of the same conversation."""
        return {
            field
            for id, said in self._said.items()
            if self._rank[id] > self._rank[session_id]
            and self._conversation(id) == self._conversation(session_id)
            for item in said
            if not item.undone
            for field in _fields(item.statement)
        }


def _of_copy(item: Said, session_id: str, here: Written, shared: Ranges = ()) -> SaidOfCopy:
    return SaidOfCopy(
        id=item.id,
        session_id=session_id,
        at=item.at,
        statement=here,
        undone=item.undone,
        old=item.old,
        said_of=item.session_id,
        shared=shared,
    )


def _fields(statement: Written | Unread) -> Collection[str]:
    """What a statement says of a session as a whole."""
    if getattr(statement, "engagement", None) != "":
        return ()
    match statement:
        case Set(values=values):
            return values.keys()
        case Star() | Unstar():
            return ("starred",)
        case Note():
            return ("note",)
    return ()


def _without(statement: Written, fields: Collection[str]) -> Written | None:
    """A statement without what it says of some fields; None where that is all."""
    if isinstance(statement, Set):
        rest = {name: value for name, value in statement.values.items() if name not in fields}
        return msgspec.structs.replace(statement, values=rest) if rest else None
    return None if set(fields).intersection(_fields(statement)) else statement


def _placed(statement: Written, places: Places) -> Written | None:
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
