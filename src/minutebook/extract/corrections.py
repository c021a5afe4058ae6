"""What a person said, applied to the engagements an extractor found (ING-33, UND-07).

Statement by statement, in their order. Whatever is split, joined or moved: every round that is
in an engagement stays in exactly one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import msgspec

from minutebook.extract.records import free_id
from minutebook.extract.validation import one_line
from minutebook.model.engagement import METHODS, MOST_DECISIONS, PHASES, Engagement
from minutebook.model.said import (
    Hide,
    Join,
    Move,
    Note,
    Ranges,
    Set,
    Split,
    Star,
    Thread,
    Unhide,
    Unstar,
    Unthread,
    Written,
)

Mark: TypeAlias = Star | Unstar | Hide | Unhide | Note | Thread | Unthread
_ALLOWED = {"method": METHODS, "phase": PHASES}
_WORDS = ("topic", "project", "method", "phase", "outcome")


class Applying:
    """The engagements of a session, on which statements are made one after the other."""

    def __init__(
        self, engagements: Sequence[Engagement], rounds: int, gone: Collection[str] = ()
    ) -> None:
        self.engagements = list(engagements)
        self.set: dict[str, None] = {}
        """``<engagement>.<field>`` that were set."""
        self._rounds, self._gone = rounds, gone
        self._shared: Ranges | None = None

    def apply(self, statement: Written, shared: Ranges | None = None) -> None:
        """What is said of an engagement that cannot be found, or makes no sense, changes nothing.

        It was checked when it was said, but another extraction may have cut otherwise, and the
        file may have been edited by hand. With the rounds that are `shared`, it was said of a
        copy of the session.
        """
        self._shared = shared
        match statement:
            case Split():
                self._split(statement)
            case Join():
                self._join(statement)
            case Move():
                self._move(statement.engagement, statement.rounds, statement.first, statement.last)
            case Set() if statement.engagement:
                self._set(statement)
            case Star() | Unstar():
                self._mark(statement, starred=isinstance(statement, Star))
            case Hide() | Unhide():
                self._mark(statement, hidden=isinstance(statement, Hide))
            case Note():
                self._mark(statement, note=one_line(statement.text))
            case Thread():
                self._mark(statement, said_thread=one_line(statement.name))
            case Unthread():
                self._mark(statement, said_thread=None)

    def lay(self, first: int, last: int, make: Callable[[], Engagement], id: str) -> None:
        """Rounds belong to an engagement: one there is, or a new one."""
        part = ((first, last),)
        chosen = next((e for e in self.engagements if e.id == id), None)
        found = [e for e in self.engagements if e.id != id]
        under = make() if chosen is None else chosen
        kept = [covering(e, rest) for e in found if (rest := without(e.ranges, part))]
        mine = part if chosen is None else joined((*chosen.ranges, *part))
        self._put([*kept, covering(under, mine)])

    def _find(self, id: str, rounds: Ranges) -> Engagement | None:
        """The engagement that is meant: by id, else by what it covers most.

        In a copy an id may mean another one; and what begins elsewhere and has rounds of its own
        is another one.
        """
        for engagement in self.engagements:
            if engagement.id == id and (self._shared is None or overlap(engagement.ranges, rounds)):
                return engagement
        if not id or id in self._gone:
            return None
        common = [overlap(engagement.ranges, rounds) for engagement in self.engagements]
        best = max(common, default=0)
        found = self.engagements[common.index(best)] if best else None
        if found is None or self._shared is None or found.turn_range[0] == rounds[0][0]:
            return found
        return None if without(found.ranges, self._shared) else found

    def _mark(self, statement: Mark, **values: object) -> None:
        found = self._find(statement.engagement, statement.rounds)
        if found is not None:
            self._replace(found, msgspec.structs.replace(found, **values))

    def _set(self, statement: Set) -> None:
        found = self._find(statement.engagement, statement.rounds)
        if found is None:
            return
        now, span = found, None
        for field, value in statement.values.items():
            if field == "turn_range":
                span = value
            elif (after := _with(now, field, value)) is not None:
                now = after
                self.set[f"{now.id}.{field}"] = None
        self._replace(found, now)
        match span:
            case (int(first), int(last)):
                self._move(now.id, now.ranges, first, last)

    def _split(self, statement: Split) -> None:
        found = next((e for e in self.engagements if e.covers(statement.round)), None)
        if found is None or found.turn_range[0] == statement.round:
            return  # it begins there already
        later = ((statement.round, found.turn_range[1]),)
        made = free_id(statement.made or found.id, {e.id for e in self.engagements})
        rest = _offshoot(found, made, within(found.ranges, later))
        others = [e for e in self.engagements if e is not found]
        self._put([*others, covering(found, without(found.ranges, later)), rest])

    def _join(self, statement: Join) -> None:
        one = self._find(statement.engagement, statement.rounds)
        two = self._find(statement.other, statement.other_rounds)
        if one is None or two is None or one is two:
            return
        meant = joined((*statement.rounds, *statement.other_rounds))
        # Another extraction may have cut between the two once more.
        more = [
            e
            for e in self.engagements
            if e is not one and e is not two and not without(e.ranges, meant)
        ]
        whole = one
        for other in (two, *more):
            whole = _united(whole, other)
        others = [e for e in self.engagements if e not in (one, two, *more)]
        self._put([*others, whole])

    def _move(self, id: str, rounds: Ranges, first: int, last: int) -> None:
        found = self._find(id, rounds)
        if found is None or not 1 <= first <= last <= self._rounds:
            return
        place = ((first, last),)
        taken = {e.id for e in self.engagements}
        chosen = covering(found, place)
        kept: list[Engagement] = []
        for other in self.engagements:
            rest = without(other.ranges, place) if other is not found else ()
            if len(rest) == 2 and len(other.ranges) == 1:  # cut in two
                made = free_id(other.id, taken)
                taken.add(made)
                kept.append(_offshoot(other, made, rest[1:]))
                rest = rest[:1]
            if rest:
                kept.append(covering(other, rest))
        # What it gives up goes to its neighbour there, or else stays one of its own.
        for part in without(found.ranges, place):
            neighbour = next((e for e in kept if _touches(e, part, place[0])), None)
            if neighbour is None:
                made = free_id(found.id, taken)
                taken.add(made)
                kept.append(_offshoot(found, made, (part,)))
            else:
                kept.remove(neighbour)
                kept.append(covering(neighbour, joined((*neighbour.ranges, part))))
        self.set[f"{found.id}.turn_range"] = None
        self._put([*kept, chosen])

    def _replace(self, before: Engagement, now: Engagement) -> None:
        self._put([now if e is before else e for e in self.engagements])

    def _put(self, engagements: list[Engagement]) -> None:
        self.engagements = sorted(engagements, key=lambda engagement: engagement.ranges)


def _with(engagement: Engagement, field: str, value: object) -> Engagement | None:
    """The engagement with one field set; None where the value makes no sense."""
    if field == "key_decisions":
        if not isinstance(value, tuple):
            return None
        said = tuple(one_line(str(decision)) for decision in value[:MOST_DECISIONS])
        return msgspec.structs.replace(engagement, key_decisions=said)
    allowed = _ALLOWED.get(field)
    if field not in _WORDS or not isinstance(value, str) or (allowed and value not in allowed):
        return None
    return msgspec.structs.replace(engagement, **{field: one_line(value)})


def _offshoot(engagement: Engagement, id: str, ranges: Ranges) -> Engagement:
    """An engagement made of rounds of another; what was decided and achieved stays there."""
    bare = msgspec.structs.replace(
        engagement, id=id, key_decisions=(), outcome="", starred=False, note=""
    )
    return covering(bare, ranges)


def _united(one: Engagement, two: Engagement) -> Engagement:
    """One engagement of two: decisions of both; phase and outcome of the one that ended last."""
    earlier, later = (one, two) if one.turn_range[1] < two.turn_range[1] else (two, one)
    whole = msgspec.structs.replace(
        one,
        key_decisions=tuple(dict.fromkeys((*earlier.key_decisions, *later.key_decisions))),
        phase=later.phase,
        outcome=later.outcome or earlier.outcome,
        starred=one.starred or two.starred,
        hidden=one.hidden and two.hidden,
        note=" · ".join(dict.fromkeys(note for note in (one.note, two.note) if note)),
        said_thread=one.said_thread if one.said_thread is not None else two.said_thread,
    )
    return covering(whole, joined((*one.ranges, *two.ranges)))


def _touches(engagement: Engagement, part: tuple[int, int], chosen: tuple[int, int]) -> bool:
    """Whether an engagement is the neighbour of a part that was given up beside the chosen one."""
    if part[0] == chosen[1] + 1:
        return any(start == part[1] + 1 for start, _ in engagement.ranges)
    if part[1] == chosen[0] - 1:
        return any(end == part[0] - 1 for _, end in engagement.ranges)
    return False


# -- ranges


def covering(engagement: Engagement, ranges: Ranges) -> Engagement:
    """An engagement that covers these rounds; when it was and what it left behind is not known."""
    hull = (ranges[0][0], ranges[-1][1])
    parts = ranges if len(ranges) > 1 else ()
    return msgspec.structs.replace(engagement, turn_range=hull, parts=parts)


def joined(ranges: Ranges) -> Ranges:
    """Ranges in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and found[-1][1] + 1 >= first:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)


def without(ranges: Ranges, others: Ranges) -> Ranges:
    """What is left of ranges when others are taken out of them."""
    found = list(ranges)
    for start, end in others:
        found = [
            part
            for first, last in found
            for part in ((first, min(last, start - 1)), (max(first, end + 1), last))
            if part[0] <= part[1]
        ]
    return joined(tuple(found))


def within(ranges: Ranges, others: Ranges) -> Ranges:
    """What ranges have in common with others."""
    return without(ranges, without(ranges, others))


def overlap(ranges: Ranges, others: Ranges) -> int:
    """How many rounds ranges have in common with others."""
    return sum(last - first + 1 for first, last in within(ranges, others))
