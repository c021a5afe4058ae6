"""Which sessions hold the same conversation: resumed, forked, copied (FUT-02, FMT-16).

Rounds are the same where their prompts have one id (that is recorded), or where the same was
asked and the same was answered (that is inferred: some agents give copied messages new ids). What
counts is the beginning of a session: a prompt that is typed again later is not a copy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from minutebook.derive.genealogy import LEAST_ID, beginning
from minutebook.derive.traces import RoundTrace, Trace
from minutebook.model.lineage import Edge, EdgeKind, Evidence, components

_TELLING = 200
"""Characters of an answer that are not given twice by chance."""
_LONG = 600
"""The same for one answer that stands alone."""
_ONE_MOMENT, _SAME = 2.0, 0.01  # seconds
_LOOKED_AT = 3
"""Rounds at the beginning by which others are found."""


class Shared(msgspec.Struct, frozen=True):
    """The beginning of one session as another has it."""

    rounds: tuple[int, ...]
    """For each round of the beginning, its number in the other."""
    by_id: int
    """How many of them have the same id."""


def kinship(traces: Mapping[str, Trace], order: Sequence[str]) -> list[Edge]:
    """Edges between sessions of which one holds the beginning of the other; each session has one
    to the session it took most from. `order` has the sessions, oldest first."""
    keys = _keys(traces, order)
    places = {id: {key: number for number, key in enumerate(keys[id], 1) if key} for id in keys}
    edges: list[Edge] = []
    for family in _families(keys, order):
        found: dict[str, list[Edge]] = defaultdict(list)
        for at, one in enumerate(family):
            for other in family[:at]:
                edge = _edge(traces, keys, places, other, one)
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
        for round in traces[id].rounds:
            prints = [*_prints(round, own[-1] if own else "")]
            key = round.id if len(round.id) >= LEAST_ID else ""
            mine, other = _unanswered(round, own[-1] if own else "")
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


def _prints(round: RoundTrace, before: str) -> Iterator[str]:
    """What two copies of a round have in common; what says little only counts after the same."""
    if round.asked and round.whole and round.size >= _TELLING:
        yield f"{round.asked}:{round.whole}"
    if round.asked and round.opening:
        yield f"{round.asked}/{round.opening}"
    if before:
        yield f"{before}>{round.asked}:{round.whole}"


def _unanswered(round: RoundTrace, before: str) -> tuple[str, str]:
    """A prompt that one session has an answer to, and the other none: as whom it is known, and as
    whom it is looked for."""
    answered, alone = f"{before}>{round.asked}+", f"{before}>{round.asked}-"
    if not (before and round.asked):
        return "", ""
    return (answered, alone) if round.size else (alone, answered)


def _families(keys: Mapping[str, list[str]], order: Sequence[str]) -> Iterator[list[str]]:
    """Sessions that may be copies: one begins with a round that another has."""
    holders: dict[str, list[str]] = defaultdict(list)
    for id in order:
        for key in keys[id]:
            if key:
                holders[key].append(id)
    pairs = (
        (id, other)
        for id in order
        for key in [key for key in keys[id] if key][:_LOOKED_AT]
        for other in holders[key]
        if other != id
    )
    for group in components(pairs):
        yield [id for id in order if id in group]


# -- what became of it


def _edge(
    traces: Mapping[str, Trace],
    keys: Mapping[str, list[str]],
    places: Mapping[str, Mapping[str, int]],
    one: str,
    other: str,
) -> Edge | None:
    """How two sessions that share rounds hang together."""
    shared = _shared(traces, keys, places, one, other)
    if not shared.rounds:
        return None
    pairs = [
        (traces[one].rounds[there - 1], traces[other].rounds[here])
        for here, there in enumerate(shared.rounds)
    ]
    confidence = 1.0 if shared.by_id else _confidence(pairs)
    if confidence < 0.7:
        return None
    own_one = traces[one].rounds[shared.rounds[-1] :]
    own_other = traces[other].rounds[len(shared.rounds) :]
    shift = _shift(pairs)
    kind, turned = _kind(own_one, own_other, pairs, shift)
    older, newer = (other, one) if turned else (one, other)
    rounds = shared.rounds
    if turned:
        rounds = _shared(traces, keys, places, newer=one, older=other).rounds
    if not rounds:
        return None
    evidence = Evidence(
        what="shared-messages" if shared.by_id else "same-words",
        text=_moved(shift) if not shared.by_id else "",
        count=shared.by_id or len(pairs),
        older=rounds[-1],
        newer=len(rounds),
    )
    return Edge(
        older=older,
        newer=newer,
        kind=kind,
        recorded=bool(shared.by_id),
        confidence=confidence,
        evidence=(evidence,),
        shared=rounds,
    )


def _shared(
    traces: Mapping[str, Trace],
    keys: Mapping[str, list[str]],
    places: Mapping[str, Mapping[str, int]],
    older: str,
    newer: str,
) -> Shared:
    rounds = beginning(keys[newer], places[older])
    there = {round.id for round in traces[older].rounds if len(round.id) >= LEAST_ID}
    mine = (traces[newer].rounds[at].id for at in range(len(rounds)))
    return Shared(rounds, sum(id in there for id in mine))


def _kind(
    own_one: Sequence[RoundTrace],
    own_other: Sequence[RoundTrace],
    pairs: Sequence[tuple[RoundTrace, RoundTrace]],
    shift: float,
) -> tuple[EdgeKind, bool]:
    """What the second of two is of the first; and whether it is the other way round."""
    first, second = pairs[-1]
    # A prompt without an answer is not going on.
    one_goes_on = first.size > second.size or any(round.size for round in own_one)
    other_goes_on = second.size > first.size or any(round.size for round in own_other)
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
    if not telling:
        return 0.0
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
