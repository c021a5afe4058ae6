"""Sessions cut, joined and shortened for resuming; the archive is only read (OPS-17).

Each operation gives the rounds of a new transcript with an id of its own, and says where they
come from. Rounds that are left out become references: in the user's name, but marked as the
harness's words, so that the model sees them and a reader does not take them for a prompt.

The rounds are the archived ones, as they are kept; references to others are masked.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.names import parse_rounds, runs
from minutebook.derive.times import instant
from minutebook.errors import BadArgument, NotFound
from minutebook.model import Round, SessionInfo
from minutebook.sources.base import Surgery
from minutebook.verbs.chosen_rounds import (
    NAMESPACE,
    ChosenRounds,
    Parent,
    Step,
    message_ids,
)
from minutebook.verbs.strict_json import strict_json


class Operated(msgspec.Struct, frozen=True):
    """What becomes a transcript."""

    session_id: str
    rounds: ChosenRounds
    """Can be gone over several times; a round is read when it is its turn."""
    surgery: Surgery
    title: str | None
    sessions: tuple[str, ...]
    """The sessions it was made from; the first one gives place and version."""
    remarks: tuple[str, ...] = ()


def full_after(archive: Archive, session_id: str, moment: str) -> Operated:
    """Rounds that began at or after a moment in full, those before as references."""
    limit = instant(moment)
    if limit is None:
        raise BadArgument(f"'{moment}' is not a moment: write it like 2026-03-02T14:30.")
    parent = Parent(archive, session_id)
    later = (r.number for r in parent if (at := instant(r.started)) and at >= limit)
    first = next(later, None)
    if first is None:
        raise NotFound(f"No round began at or after {moment}.")
    return _chosen(archive, parent, range(first, parent.count + 1), "full-after", moment)


def only_engagement(archive: Archive, session_id: str, id: str, numbers: Iterable[int]) -> Operated:
    """The rounds of an engagement in full, all others as references."""
    parent = Parent(archive, session_id)
    wanted = sorted({n for n in numbers if n <= parent.count})
    if not wanted:
        raise NotFound(f"No round of engagement '{id}' is archived.")
    return _chosen(archive, parent, wanted, "engagement", id)


def compressed_engagement(
    archive: Archive, session_id: str, id: str, numbers: Iterable[int]
) -> Operated:
    """Everything but the rounds of an engagement, which become references where they were."""
    parent = Parent(archive, session_id)
    left_out = set(numbers)
    wanted = [n for n in range(1, parent.count + 1) if n not in left_out]
    if not wanted:
        raise BadArgument("This engagement is the whole session: nothing would be left.")
    return _chosen(archive, parent, wanted, "compress-engagement", id)


def merged(archive: Archive, first_id: str, second_id: str) -> Operated:
    """Two sessions as one, in the order of time; what both have is there once."""
    if first_id == second_id:
        raise BadArgument("A session cannot be merged with itself: name two.")
    first, second = Parent(archive, first_id), Parent(archive, second_id)
    known: set[str] = set()
    placed: list[tuple[float, int, int]] = []
    for round in first:
        known |= message_ids(round)
        placed.append((_time(round), 0, round.number))
    shared: list[int] = []
    forked = 0
    for round in second:
        own = message_ids(round)
        if own and own <= known:
            shared.append(round.number)
            continue
        forked += bool(own & known)
        placed.append((_time(round), 1, round.number))
    if len(shared) == second.count:
        one, other = archive.short(first_id), archive.short(second_id)
        raise BadArgument(f"{other} has nothing that {one} does not have too.")
    placed.sort()
    ids = first_id, second_id
    surgery = Surgery(
        kind="merge",
        parents=ids,
        references=tuple(f"{second_id}#{number}" for number in shared),
    )
    steps = tuple(Step(number, side) for _, side, number in placed)
    rounds = ChosenRounds((first, second), steps, taken=frozenset(known))
    titles = " + ".join(title for id in ids if (title := _info(archive, id).title))
    remarks = (*_merge_remarks(archive, surgery, placed, forked), *_waiting(archive, *ids))
    return Operated(_new_id(surgery, rounds), rounds, surgery, titles or None, ids, remarks)


def _merge_remarks(
    archive: Archive, surgery: Surgery, placed: Sequence[tuple[float, int, int]], forked: int
) -> Iterator[str]:
    sides = [side for _, side, _ in placed]
    if sides != sorted(sides) and sides != sorted(sides, reverse=True):
        yield "they overlap in time, so their rounds alternate"
    first, second = (_info(archive, id).cwd for id in surgery.parents)
    if first != second:
        yield f"they worked in different folders; the result is for {first}"
    if surgery.references:
        yield f"{len(surgery.references)} rounds are in both, and here once"
    if forked:
        yield f"{forked} rounds begin alike and go on differently: both are here"


def split(archive: Archive, session_id: str, parts: Mapping[str, str]) -> list[Operated]:
    """One session as several, by a map of names to rounds; every round must be in a part.

    A round that stands in several parts is in full in the first, a reference in the others.
    """
    parent = Parent(archive, session_id)
    title = _info(archive, session_id).title or "session"
    taken: set[int] = set()
    found = []
    for name, numbers in _parts(parent.count, parts).items():
        own, shared = sorted(numbers - taken), sorted(numbers & taken)
        if not own:
            raise BadArgument(f"All rounds of '{name}' are in earlier parts already.")
        surgery = Surgery(
            kind="split",
            parents=(session_id,),
            parent_session=session_id,
            part=name,
            references=tuple(f"{session_id}#{number}" for number in shared),
        )
        found.append(_operated(archive, parent, own, surgery, f"{title} · {name}"))
        taken |= numbers
    return found


def parse_map(content: bytes) -> dict[str, str]:
    """``{"name": "1-12", "other": "13,15-20"}``; lists of numbers are understood too."""
    try:
        given = strict_json(content)
    except BadArgument as error:
        raise BadArgument(f"The map is not JSON: {error}.") from None
    if isinstance(given, dict) and set(given) == {"parts"}:
        given = given["parts"]
    if not isinstance(given, dict) or not given:
        raise BadArgument(
            'A map names parts and their rounds: {"design": "1-12", "build": "13-20"}.'
        )
    return {str(name): _written(name, value) for name, value in given.items()}


def _written(name: Any, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(type(n) is int for n in value):
        return ",".join(map(str, value))
    raise BadArgument(f"Part '{name}' needs rounds like \"1-12\" or [1, 2, 3].")


def _parts(count: int, parts: Mapping[str, str]) -> dict[str, set[int]]:
    chosen = {name: set(parse_rounds(text, count, beyond=False)) for name, text in parts.items()}
    missing = set(range(1, count + 1)).difference(*chosen.values())
    if missing:
        raise BadArgument(
            f"The map leaves out rounds {_ranges(sorted(missing))}: every round needs a part."
        )
    return chosen


# -- building


def _chosen(
    archive: Archive, parent: Parent, numbers: Sequence[int], kind: str, what: str
) -> Operated:
    here = set(numbers)
    left_out = [n for n in range(1, parent.count + 1) if n not in here]
    surgery = Surgery(
        kind=kind,
        parents=(parent.session_id,),
        what=what,
        references=tuple(f"{parent.session_id}#{number}" for number in left_out),
    )
    return _operated(archive, parent, numbers, surgery, _info(archive, parent.session_id).title)


def _operated(
    archive: Archive,
    parent: Parent,
    numbers: Sequence[int],
    surgery: Surgery,
    title: str | None,
) -> Operated:
    """Some rounds of one session, with a note wherever others are left out."""
    id = _new_id(surgery, map(parent.round, numbers))
    steps: list[Step] = []
    expected = 1
    for number in numbers:
        steps.append(Step(number, left_out=range(expected, number)))
        expected = number + 1
    steps.append(Step(None, left_out=range(expected, parent.count + 1)))
    remarks = tuple(_waiting(archive, parent.session_id))
    rounds = ChosenRounds((parent,), tuple(steps), session_id=id)
    return Operated(id, rounds, surgery, title, (parent.session_id,), remarks)


def _info(archive: Archive, session_id: str) -> SessionInfo:
    return archive.ledger().sessions[session_id].info


def _waiting(archive: Archive, *session_ids: str) -> Iterator[str]:
    """Rounds that are not archived yet are not in an export either."""
    for id in session_ids:
        if archive.ledger().sessions[id].waiting:
            yield (
                f"the newest rounds of {archive.short(id)} wait: "
                "`minutebook append --ended` adds them"
            )


def _time(round: Round) -> float:
    at = instant(round.started)
    return at.timestamp() if at is not None else 0.0


def _new_id(surgery: Surgery, rounds: Iterable[Round]) -> str:
    """An id that is the same for the same operation on the same rounds."""
    chosen = [(round.number, sorted(message_ids(round))) for round in rounds]
    return str(uuid.uuid5(NAMESPACE, msgspec.json.encode((surgery, chosen)).decode()))


def _ranges(numbers: Sequence[int]) -> str:
    """``3, 7-9``"""
    return ", ".join(
        str(first) if first == last else f"{first}-{last}" for first, last in runs(numbers)
    )
