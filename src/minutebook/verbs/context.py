"""Build a context from sessions: some rounds in full, the others as references (CTX-01 … CTX-05).

A round is never split. A budget is never exceeded: the oldest (or least relevant) rounds become
references first, then parts of a range.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import zip_longest

import msgspec

from minutebook.archive.session import OpenSession
from minutebook.derive.tokens import BYTES_A_TOKEN, tokens, utf8_bytes
from minutebook.verbs.context_text import (
    Context,
    Piece,
    Source,
    Telling,
    Told,
    pieces_of,
    text_of,
    too_small,
)
from minutebook.verbs.round_text import (
    EVERYTHING,
    Fidelity,
    range_reference,
    reference,
    round_text,
)

_FOR_REFERENCES = 0.25  # of a budget that does not hold everything
_FOR_SUMMARIES = 0.25  # of any budget


def build_context(
    sources: Sequence[Source],
    *,
    budget: int | None = None,
    around: int = 0,
    fidelity: Fidelity = Fidelity(),  # noqa: B008 - frozen
) -> Context:
    """One text of several sessions, within a budget, of which a caller's words take `around`."""
    united = _united(sources)
    plan = _Plan(united, fidelity)
    if budget is not None:
        plan.fit(budget, around)
    text = plan.text()
    damaged = {path: why for source in united for path, why in source.session.damaged.items()}
    return Context(text, tokens(text), budget, plan.pieces(), damaged)


def _united(sources: Sequence[Source]) -> list[Source]:
    """One source per session, however often it was named."""
    found: dict[str, Source] = {}
    for source in sources:
        before = found.setdefault(source.session.session_id, source)
        if before is not source:
            everything = not before.known or not source.known
            known = () if everything else tuple(sorted({*before.known, *source.known}))
            wanted = tuple(dict.fromkeys((*before.wanted, *source.wanted)))
            united = msgspec.structs.replace(before, wanted=wanted, known=known)
            found[source.session.session_id] = united
    return list(found.values())


def inject(session: OpenSession, number: int, fidelity: Fidelity = EVERYTHING) -> str:
    """One round in full (CTX-04); thinking, tool input and output each as asked for."""
    return round_text(f"{session.short}#{number}", session.round(number), fidelity)


class _Item:
    """A round on its way into the context."""

    def __init__(self, source: int, number: int, address: str) -> None:
        self.source, self.number, self.address = source, number, address
        self.told: Told = "reference"
        self.full, self.line = "", ""

    @property
    def telling(self) -> Telling:
        return Telling(self.told, self.full if self.told == "full" else self.line)

    @property
    def full_size(self) -> int:
        return utf8_bytes(self.full)

    @property
    def line_size(self) -> int:
        return utf8_bytes(self.line)


class _Plan:
    def __init__(self, sources: Sequence[Source], fidelity: Fidelity) -> None:
        self._sources = list(sources)
        self._items: list[_Item] = []
        chosen: list[list[_Item]] = []
        for at, source in enumerate(sources):
            wanted = set(source.wanted)
            items = {
                number: self._item(at, number, fidelity, number in wanted)
                for number in source.rounds
            }
            self._items += items.values()
            chosen.append([items[n] for n in source.wanted if n in items])
        # The best of each session first, then the second best …
        turns = zip_longest(*chosen)
        self._first_choice = [item for turn in turns for item in turn if item is not None]
        for item in self._first_choice:
            item.told = "full"

    def _item(self, at: int, number: int, fidelity: Fidelity, in_full: bool) -> _Item:
        source = self._sources[at]
        round = source.session.round(number)
        item = _Item(at, number, f"{source.name}#{number}")
        item.line = reference(item.address, round, source.words)
        item.full = round_text(item.address, round, fidelity) if in_full else ""
        return item

    # -- telling

    def pieces(self) -> list[Piece]:
        return [piece for at in range(len(self._sources)) for piece in self._pieces_of(at)]

    def _pieces_of(self, at: int) -> list[Piece]:
        own = (item for item in self._items if item.source == at)
        return pieces_of(self._sources[at], ((item.number, item.telling) for item in own))

    def text(self) -> str:
        pieces = {s.session.session_id: self._pieces_of(at) for at, s in enumerate(self._sources)}
        return text_of(self._sources, pieces)

    # -- fitting

    def fit(self, budget: int, around: int = 0) -> None:
        """Demote rounds until everything fits; a sentence where nothing can."""
        most = math.floor((budget - around) * BYTES_A_TOKEN)
        self._shorten_summaries(int(most * _FOR_SUMMARIES))
        if self._bytes() <= most:
            return
        wanted = list(self._first_choice)
        for item in self._items:
            item.told = "range"
        if self._bytes() > most:
            self._shorten_summaries(0)
        least = self._bytes()
        if least > most:
            raise too_small(least, around)
        lines = sum(item.line_size for item in self._items)
        room = most - least - min(lines, int(most * _FOR_REFERENCES))
        self._tell_in_full(wanted, room)
        self._tell_as_references(most, wanted)
        # What ranges and blank lines cost depends on what stands between: the last word is
        # that of the finished text.
        for item in [*self._least_lines(wanted), *reversed(wanted)]:
            if self._bytes() <= most:
                return
            item.told = "range"

    def _shorten_summaries(self, most: int) -> None:
        """Keep the first lines about each session: those that matter most."""
        each = most // max(1, len(self._sources))
        for at, source in enumerate(self._sources):
            spent, lines = 0, []
            for line in source.summary:
                spent += utf8_bytes(line) + 1
                if spent <= each:
                    lines.append(line)
            self._sources[at] = msgspec.structs.replace(source, summary=tuple(lines))

    def _tell_in_full(self, wanted: Iterable[_Item], room: int) -> None:
        spent = 0
        for item in wanted:
            words = self._sources[item.source].words
            cost = item.full_size + utf8_bytes(range_reference(item.address, 1, 10**6, words)) + 1
            if cost > room:
                continue  # this one alone is too much: it stays a reference
            if spent + cost > room:
                break  # and everything that matters less
            item.told = "full"
            spent += cost

    def _tell_as_references(self, most: int, wanted: Sequence[_Item]) -> None:
        """Lines for as many of the others as there is room, those that matter most first."""
        spent = self._bytes()
        for item in reversed(list(self._least_lines(wanted, also="range"))):
            if spent + item.line_size > most:
                break
            item.told = "reference"
            spent += item.line_size

    def _least_lines(self, wanted: Sequence[_Item], also: Told = "reference") -> Iterable[_Item]:
        """Rounds that are not told in full, the least important first: oldest, then wanted ones."""
        chosen = {id(item) for item in wanted}
        others = [i for i in self._items if i.told == also and id(i) not in chosen]
        return [*others, *(i for i in reversed(wanted) if i.told == also)]

    def _bytes(self) -> int:
        return utf8_bytes(self.text())
