"""Which sessions hold the same conversation: resumed, forked, copied (FUT-02, FMT-16).

Rounds are the same where their prompts have one id (that is recorded), or where the same was
asked and the same was answered (that is inferred: some agents give copied messages new ids). What
counts is the beginning of a session: a prompt that is typed again later is not a copy.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from minutebook.derive.genealogy import LEAST_ID, beginning
from minutebook.derive.traces import RoundTrace, Trace
from minutebook.model.lineage import Edge, EdgeKind, Evidence, components

_TELLING = 200
"""Characters of an answer that are not given twice by chance."""
_LONG = 600
"""The same for one answer that stands alone."""
_ONE_MOMENT, _SAME = 2.0, 0.01  # seconds
_LEAST = 0.7
_LOOKED_AT = 3
"""Rounds at the beginning by which others are found."""
_COMPARED, _NEAR = 24, 6
"""Sessions of a large family that each is compared with; and of those that have one round in
common the nearest and the first."""


def kinship(traces: Mapping[str, Trace], order: Sequence[str]) -> list[Edge]:
    """Edges between sessions of which one holds the beginning of the other; each session has one
    to the session it took most from. `order` has the sessions, oldest first."""
    kin = _Kin(traces, order)
    edges: list[Edge] = []
    for family in kin.families():
        found: dict[str, list[Edge]] = defaultdict(list)
        for at, one in enumerate(family):
            for other in kin.candidates(family, at):
                edge = kin.edge(other, one)
                if edge is not None:
                    found[edge.newer].append(edge)
        edges += (_nearest(own, traces) for own in found.values())
    return edges


def _nearest(edges: list[Edge], traces: Mapping[str, Trace]) -> Edge:
    """Of several it may come from: the one it has most of; of those one that it has whole."""
    return max(
        edges,
        key=lambda edge: (
            edge.recorded,
            len(edge.shared),
            -len(traces[edge.older].rounds),
            edge.older,
        ),
    )


# -- what is the same round


def _keys(traces: Mapping[str, Trace], order: Sequence[str]) -> dict[str, list[str]]:
    """The rounds of each session by one name for each message, whatever ids copies gave it."""
    owners: dict[str, str] = {}
    ids: set[str] = set()
    keys: dict[str, list[str]] = {}
    for id in order:
        own: list[str] = []
        news: list[tuple[str, str]] = []
        begun = _begins(traces[id].rounds)
        for round in traces[id].rounds:
            before = next((key for key in reversed(own) if key), "")
            prints = [*_prints(round, before, begun)]
            key = round.id if len(round.id) >= LEAST_ID else ""
            if not (key or round.asked):
                own.append("")  # nobody asked: whether it is a round of its own is the agent's way
                continue
            mine, other = _unanswered(round, before)
            if key not in ids:
                same = (owners[print] for print in (*prints, other) if print in owners)
                key = next(same, key or next(iter(prints), ""))
            own.append(key)
            news += [(print, key) for print in (*prints, mine) if print]
        # Only now: what a session repeats is not the same message.
        ids.update(round.id for round in traces[id].rounds if len(round.id) >= LEAST_ID)
        for print, key in news:
            owners.setdefault(print, key)
        first = {key: at for at, key in reversed(list(enumerate(own)))}
        keys[id] = [key if first[key] == at else "" for at, key in enumerate(own)]
    return keys


def _prints(round: RoundTrace, before: str, begun: float) -> Iterator[str]:
    """What two copies of a round have in common. What says little counts at the same moment, as
    long after the beginning, or right after the same round."""
    if round.whole and round.size >= _TELLING:  # a prompt may be a picture
        yield f"{round.asked}:{round.whole}"
    if round.asked and round.opening:
        yield f"{round.asked}/{round.opening}"
    if round.asked and round.whole and round.at:
        yield f"{round.asked}:{round.whole}@{round.at:.3f}"
    if round.asked and round.whole and round.at > begun:
        yield f"{round.asked}:{round.whole}~{round.at - begun:.1f}"
    if before:
        yield f"{before}>{round.asked}:{round.whole}"


def _is_weak(round: RoundTrace) -> bool:
    """Whether it says too little to be told from others by its words."""
    return round.size < _TELLING and not round.opening


def _unanswered(round: RoundTrace, before: str) -> tuple[str, str]:
    """A prompt that one session has an answer to, and the other none: as whom it is known, and as
    whom it is looked for."""
    answered, alone = f"{before}>{round.asked}+", f"{before}>{round.asked}-"
    if not (before and round.asked):
        return "", ""
    return (answered, alone) if round.size else (alone, answered)


class _Kin:
    """Sessions with one name for each message, so that they can be laid side by side."""

    def __init__(self, traces: Mapping[str, Trace], order: Sequence[str]) -> None:
        self._traces, self._order = traces, order
        self._keys = _keys(traces, order)
        self._weak = {
            id: {key for key, round in zip(keys, traces[id].rounds, strict=True) if _is_weak(round)}
            for id, keys in self._keys.items()
        }
        self._places = {
            id: {key: number for number, key in enumerate(keys, 1) if key}
            for id, keys in self._keys.items()
        }

        self._ranks = {id: rank for rank, id in enumerate(order)}
        self._holders: dict[str, list[str]] = defaultdict(list)
        for id in order:
            for key in self._places[id]:
                self._holders[key].append(id)

    def families(self) -> Iterator[list[str]]:
        """Sessions that may be copies: one begins with a round that another has."""
        looked_for = dict.fromkeys(key for id in self._order for key in self._first(id))
        held = (self._holders[key] for key in looked_for)
        for group in components((first, other) for first, *others in held for other in others):
            yield sorted(group, key=self._ranks.__getitem__)

    def candidates(self, family: Sequence[str], at: int) -> Sequence[str]:
        """Older sessions of a family that one of them may come from: all, where they are few, else
        those with which it shares what few have. Many sessions may begin with the same words."""
        if at <= _COMPARED:
            return family[:at]
        rank, found = self._ranks[family[at]], dict[str, None]()
        for key in sorted(self._places[family[at]], key=lambda key: len(self._holders[key])):
            holders = self._holders[key]
            here = bisect_left(holders, rank, key=self._ranks.__getitem__)
            near = (*holders[max(0, here - _NEAR) : here], *holders[: min(here, _NEAR)])
            found.update(dict.fromkeys(near))
            if len(found) >= _COMPARED:
                break
        return list(found)

    def _first(self, id: str) -> list[str]:
        """By which rounds a session is looked for; what says little counts where others have it."""
        weak, holders = self._weak[id], self._holders
        known = (key for key in self._places[id] if key not in weak or len(holders[key]) > 1)
        return [*islice(known, _LOOKED_AT)]

    def edge(self, one: str, other: str) -> Edge | None:
        """How two sessions that share rounds hang together."""
        there = self._beginning(other, one)
        turned_there = _turned(self._beginning(one, other))
        # Rounds that only one of them has, because its agent cut them otherwise, are passed over.
        there = max(there, turned_there, key=lambda rounds: (rounds[-1:], len(rounds)))
        if not there:
            return None
        first, second = self._traces[one].rounds, self._traces[other].rounds
        pairs = [(first[at - 1], second[number]) for number, at in enumerate(there)]
        own = first[there[-1] :], second[len(there) :]
        kind, is_turned = _kind(*own, pairs[-1], _shift(pairs))
        if is_turned:
            one, other, there = other, one, _turned(there)
        return self._told(one, other, kind, there, pairs)

    def _beginning(self, newer: str, older: str) -> tuple[int, ...]:
        """The rounds that both begin with; one that says little need not be found in the other."""
        places, weak = self._places[older], self._weak[newer]
        keys = ["" if key in weak and key not in places else key for key in self._keys[newer]]
        return beginning(keys, places)

    def _told(
        self,
        older: str,
        newer: str,
        kind: EdgeKind,
        shared: tuple[int, ...],
        pairs: Sequence[tuple[RoundTrace, RoundTrace]],
    ) -> Edge | None:
        ids = {round.id for round in self._traces[older].rounds if len(round.id) >= LEAST_ID}
        by_id = sum(round.id in ids for round in self._traces[newer].rounds[: len(shared)])
        confidence = 1.0 if by_id else _confidence(pairs)
        if confidence < _LEAST:
            return None
        evidence = Evidence(
            what="shared-messages" if by_id else "same-words",
            text="" if by_id else _moved(_shift(pairs)),
            count=by_id or len(shared),
            older=shared[-1],
            newer=len(shared),
        )
        return Edge(
            older=older,
            newer=newer,
            kind=kind,
            recorded=bool(by_id),
            confidence=confidence,
            evidence=(evidence,),
            shared=shared,
        )


# -- what became of it


def _kind(
    own_one: Sequence[RoundTrace],
    own_other: Sequence[RoundTrace],
    last: tuple[RoundTrace, RoundTrace],
    shift: float,
) -> tuple[EdgeKind, bool]:
    """What the second of two is of the first; and whether it is the other way round. `last` is
    the last round they share, which one of them may have broken off."""
    longer = last[0].size - last[1].size
    # A prompt without an answer is not going on.
    one_goes_on = longer > 0 or any(round.size for round in own_one)
    other_goes_on = longer < 0 or any(round.size for round in own_other)
    later = shift > _ONE_MOMENT
    earlier = shift < -_ONE_MOMENT
    if one_goes_on and other_goes_on:
        if later or earlier:
            return "forks", earlier
        return "forks", _begins(own_other) < _begins(own_one)
    if not one_goes_on and not other_goes_on:
        return "copies", earlier
    if other_goes_on:
        return ("copies", True) if earlier else ("resumes", False)
    return ("copies", False) if later else ("resumes", True)


def _turned(rounds: Sequence[int]) -> tuple[int, ...]:
    """For each round of the other session, its number in this one."""
    found: list[int] = []
    for number, at in enumerate(rounds, 1):
        found += [number] * (at - len(found))
    return tuple(found)


def _begins(rounds: Iterable[RoundTrace]) -> float:
    return next((round.at for round in rounds if round.at), float("inf"))


def _shift(pairs: Sequence[tuple[RoundTrace, RoundTrace]]) -> float:
    """How much later the second of two has the same rounds."""
    known = [second.at - first.at for first, second in pairs if first.at and second.at]
    return known[0] if known else 0.0


def _confidence(pairs: Sequence[tuple[RoundTrace, RoundTrace]]) -> float:
    """How sure it is that rounds with the same words are the same, their ids being different."""
    known = [second.at - first.at for first, second in pairs if first.at and second.at]
    steady = bool(known) and max(known) - min(known) <= _ONE_MOMENT
    telling = [(first, second) for first, second in pairs if _is_telling(first, second)]
    if not telling:  # short answers, but the same ones after the same time
        same = sum(first.whole == second.whole and first.size > 0 for first, second in pairs)
        return 0.9 if steady and same > 1 else 0.0
    if steady and abs(known[0]) < _SAME:
        return 0.99
    if len(telling) > 1:
        return 0.98 if steady else 0.95
    if steady and len(known) > 1:
        return 0.95
    # How an answer begins may be a template's; all of a long one is not.
    first, second = telling[0]
    return 0.9 if first.whole == second.whole and first.size >= _LONG else 0.6


def _is_telling(first: RoundTrace, second: RoundTrace) -> bool:
    if first.whole == second.whole and first.size >= _TELLING:
        return True
    return bool(first.opening) and first.opening == second.opening


def _moved(shift: float) -> str:
    return "at the same moments" if abs(shift) < _SAME else "at other moments"
