"""A session, or a subagent of one, as something to scroll: parts, rounds, blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import msgspec

from minutebook.archive import Archive
from minutebook.archive.session import OpenSession, shape
from minutebook.errors import NotFound
from minutebook.html.opened import words_of
from minutebook.model import Block, Notice, Round
from minutebook.model.engagement import Engagement
from minutebook.web.blocks import Item, items, needs_results
from minutebook.web.pages import session_url
from minutebook.web.parts import Part, part_of, parts_of

_MOST_FOUND = 500
_TOGGLE = {"call": "calls", "unanswered": "calls", "result": "results", "notice": ""}
Place = tuple[int, int, int, str]
"""Part, round, block and toggle of something found."""


class Scroll(msgspec.Struct, frozen=True):
    """Rounds in parts."""

    base: str
    """Its address."""
    parts: list[Part]
    rounds: dict[int, Round] | OpenSession

    def round(self, number: int) -> Round:
        if isinstance(self.rounds, OpenSession):
            return self.rounds.round(number)
        if number not in self.rounds:
            raise NotFound(f"There is no round {number}.")
        return self.rounds[number]

    def block(self, number: int, at: int) -> tuple[Block, bool]:
        """A block, and whether the person typed it."""
        round = self.round(number)
        if not 0 <= at < len(round.blocks):
            raise NotFound(f"Round {number} has no block {at}.")
        return round.blocks[at], at < len(round.asked)

    @property
    def numbers(self) -> Iterable[int]:
        """The numbers of its rounds."""
        if isinstance(self.rounds, OpenSession):
            return range(1, self.rounds.count + 1)
        return list(self.rounds)

    @property
    def outline(self) -> list[tuple[int, int, int, tuple[int, ...]]]:
        """Where each part begins and ends, and what is in it."""
        return [
            (part.pieces[0].round, part.pieces[0].first, part.pieces[-1].round, part.counts)
            for part in self.parts
        ]


class Group(msgspec.Struct, frozen=True):
    """The items of one round within a part."""

    round: Round
    begins: bool
    items: list[Item]
    engagement: Engagement | None = None
    """One that begins, or goes on, with this round."""


def scroll_of(archive: Archive, session_id: str, agent_id: str | None = None) -> Scroll:
    session = archive.open(session_id)
    if agent_id is None:
        return Scroll(session_url(session_id), parts_of(session.shapes()), session)
    rounds = {round.number: round for round in session.subagent(agent_id).rounds}
    base = f"{session_url(session_id)}/agents/{quote(agent_id, safe='')}"
    return Scroll(base, parts_of(map(shape, rounds.values())), rounds)


def groups_of(
    scroll: Scroll, index: int, shown: frozenset[str], engagements: tuple[Engagement, ...] = ()
) -> list[Group]:
    """One part of a session, ready for its template."""
    if not 0 <= index < len(scroll.parts):
        return []
    opening = {first: e for e in engagements for first, _ in e.ranges}
    found = []
    for piece in scroll.parts[index].pieces:
        round = scroll.round(piece.round)
        begins = piece.first == 0
        engagement = opening.get(piece.round) if begins else None
        found.append(Group(round, begins, items(round, piece, shown), engagement))
    return found


def find(
    archive: Archive, session_id: str, typed: str, agent_id: str | None = None
) -> dict[str, Any]:
    """Where a text stands in a session, or in one of its subagents, folded or not; in masked
    text, so that nobody can guess at a secret."""
    wanted = " ".join(typed.casefold().split())
    places: list[Place] = []
    for place in _places(archive, session_id, wanted, agent_id) if wanted else ():
        if len(places) >= _MOST_FOUND:
            return {"places": places, "more": True}
        places.append(place)
    return {"places": places, "more": False}


def _places(
    archive: Archive, session_id: str, wanted: str, agent_id: str | None
) -> Iterator[Place]:
    scroll = scroll_of(archive, session_id, agent_id)
    for number in scroll.numbers:
        round = scroll.round(number)
        for at, (block, kind) in enumerate(zip(round.blocks, shape(round).kinds, strict=False)):
            # A phrase may go on in the next line.
            if wanted in " ".join(words_of(block).casefold().split()):
                hidden = isinstance(block, Notice) and needs_results(block)
                toggle = "results" if hidden else _TOGGLE.get(kind, kind)
                yield part_of(scroll.parts, round.number, at), round.number, at, toggle
