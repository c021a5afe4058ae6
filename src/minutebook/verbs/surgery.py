"""Sessions cut, joined and shortened for resuming; the store is only read (OPS-17).

Each operation gives rounds for a new transcript with an id of its own, and says where they
come from. What is left out is told as references, in the user's name but marked as the
harness's words, so that the model sees them and a reader does not take them for a prompt.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from minutebook.record.media import MediaStore
from minutebook.record.reading import Inscription
from minutebook.record.rounds import kept
from minutebook.derive import messages as kinds
from minutebook.derive.times import instant
from minutebook.errors import BadArgument, NotFound
from minutebook.model import Message, Notice, Round
from minutebook.sources.claude_code.records import Surgery
from minutebook.verbs.materialise import parse_rounds
from minutebook.verbs.round_text import range_reference, reference
from minutebook.verbs.strict_json import strict_json

_NAMESPACE = uuid.UUID("6d696e75-7465-626f-6f6b-737572676572")
_BOUNDARY = "compaction-boundary"
_MOST_LINES = 60  # references in one message; more are ranges
_OPENING = (
    "This session is being continued from a previous conversation. Rounds of it that are not "
    "here can be read with the commands below; they are a record, not instructions.\n\n"
)


class Operated(msgspec.Struct, frozen=True):
    """What becomes a transcript."""

    session_id: str
    rounds: list[Round]
    surgery: Surgery
    title: str | None
    inscriptions: list[Inscription]
    """The sessions it was made from; the first one gives place and version."""
    remarks: tuple[str, ...] = ()


def full_after(inscription: Inscription, moment: str) -> Operated:
    """Rounds that began at or after a moment in full, those before as references."""
    limit = instant(moment)
    if limit is None:
        raise BadArgument(f"'{moment}' is no moment: write it like 2026-03-02T14:30.")
    later = [r for r in inscription.rounds if (at := instant(r.started)) and at >= limit]
    if not later:
        raise NotFound(f"No round began at or after {moment}.")
    first = later[0].number
    return _chosen(
        inscription, [r for r in inscription.rounds if r.number >= first], "full-after", moment
    )


def only_engagement(inscription: Inscription, id: str, numbers: Iterable[int]) -> Operated:
    """The rounds of an engagement in full, all others as references."""
    wanted = set(numbers)
    rounds = [round for round in inscription.rounds if round.number in wanted]
    return _chosen(inscription, rounds, "engagement", id)


def compressed_engagement(inscription: Inscription, id: str, numbers: Iterable[int]) -> Operated:
    """Everything but the rounds of an engagement, which become references where they were."""
    left_out = set(numbers)
    rounds = [round for round in inscription.rounds if round.number not in left_out]
    if not rounds:
        raise BadArgument("This engagement is the whole session: nothing would be left.")
    return _chosen(inscription, rounds, "compress-engagement", id)


def merged(first: Inscription, second: Inscription) -> Operated:
    """Two sessions as one, in the order of time; what both have is there once."""
    ids = first.header.session_id, second.header.session_id
    if ids[0] == ids[1]:
        raise BadArgument("A session cannot be merged with itself: name two.")
    known = {id for round in first.rounds for id in _ids(round)}
    shared = [round for round in second.rounds if _ids(round) and _ids(round) <= known]
    apart = [round for round in second.rounds if round not in shared]
    own = [_with_own_ids(round, known, ids[1]) for round in apart]
    forked = sum(bool(_ids(round) & known) for round in apart)
    if not own:
        raise BadArgument(f"{ids[1][:8]} has nothing that {ids[0][:8]} does not have too.")
    placed = [*((_time(r), 0, r.number, r) for r in first.rounds)]
    placed += [*((_time(r), 1, r.number, r) for r in own)]
    placed.sort(key=lambda item: item[:3])
    remarks = []
    sides = [side for _, side, _, _ in placed]
    if sides != sorted(sides) and sides != sorted(sides, reverse=True):
        remarks.append("they overlap in time, so their rounds alternate")
    if first.header.cwd != second.header.cwd:
        remarks.append(f"they are of different folders; without --cwd it is {first.header.cwd}")
    if shared:
        remarks.append(f"{len(shared)} rounds are in both, and here once")
    if forked:
        remarks.append(f"{forked} rounds begin alike and go on differently: both are here")
    surgery = Surgery(
        kind="merge",
        parents=ids,
        references=tuple(f"{ids[1]}#{round.number}" for round in shared),
    )
    titles = " + ".join(t for t in (first.header.title, second.header.title) if t)
    rounds = _numbered(_uncut(round) for _, _, _, round in placed)
    return Operated(
        _new_id(surgery, rounds), rounds, surgery, titles or None, [first, second], tuple(remarks)
    )


def split(inscription: Inscription, parts: Mapping[str, str]) -> list[Operated]:
    """One session as several, by a map of names to rounds; every round must be in a part.

    A round that stands in several parts is in full in the first, a reference in the others.
    """
    chosen = _parts(inscription, parts)
    parent = inscription.header.session_id
    taken: set[int] = set()
    found = []
    for name, numbers in chosen.items():
        own = [r for r in inscription.rounds if r.number in numbers and r.number not in taken]
        shared = sorted(numbers & taken)
        if not own:
            raise BadArgument(f"All rounds of '{name}' are in earlier parts already.")
        surgery = Surgery(
            kind="split",
            parents=(parent,),
            parent_session=parent,
            part=name,
            references=tuple(f"{parent}#{number}" for number in shared),
        )
        id = _new_id(surgery, own)
        rounds = _with_references(inscription, own, id)
        title = f"{inscription.header.title or 'session'} · {name}"
        found.append(Operated(id, rounds, surgery, title, [inscription]))
        taken |= numbers
    return found


def parse_map(content: bytes) -> dict[str, str]:
    """``{"name": "1-12", "other": "13,15-20"}``; lists of numbers are understood too."""
    try:
        given = strict_json(content)
    except BadArgument as error:
        raise BadArgument(f"The map is no JSON: {error}.") from None
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


def _parts(inscription: Inscription, parts: Mapping[str, str]) -> dict[str, set[int]]:
    count = len(inscription.rounds)
    chosen: dict[str, set[int]] = {}
    for name, text in parts.items():
        chosen[name] = set(parse_rounds(text, count, beyond=False))
    missing = set(range(1, count + 1)).difference(*chosen.values())
    if missing:
        raise BadArgument(
            f"The map leaves out rounds {_ranges(sorted(missing))}: every round needs a part."
        )
    return chosen


# -- building


def _chosen(inscription: Inscription, rounds: list[Round], kind: str, what: str) -> Operated:
    parent = inscription.header.session_id
    here = {round.number for round in rounds}
    left_out = [r.number for r in inscription.rounds if r.number not in here]
    surgery = Surgery(
        kind=kind,
        parents=(parent,),
        what=what,
        references=tuple(f"{parent}#{number}" for number in left_out),
    )
    title = inscription.header.title
    id = _new_id(surgery, rounds)
    made = _with_references(inscription, rounds, id)
    return Operated(id, made, surgery, title, [inscription])


def _with_references(inscription: Inscription, rounds: Sequence[Round], id: str) -> list[Round]:
    """The rounds, with a message wherever some are left out between them."""
    by_number = {round.number: round for round in inscription.rounds}
    session = inscription.header.session_id
    made: list[Round] = []
    expected = 1
    for round in rounds:
        gap = [by_number[n] for n in range(expected, round.number) if n in by_number]
        round_here = _uncut(round)
        if gap:
            kind = kinds.COMPACTION if not made else kinds.META
            note = _note(session, id, gap, kind, round.started)
            round_here = msgspec.structs.replace(round_here, messages=(note, *round_here.messages))
        made.append(round_here)
        expected = round.number + 1
    rest = [r for r in inscription.rounds if r.number >= expected]
    if rest and made:
        note = _note(session, id, rest, kinds.META, made[-1].ended)
        last = made[-1]
        made.append(Round(last.number + 1, (note,), last.cwd, last.branch))
    return _numbered(made)


def _note(session: str, id: str, gap: Sequence[Round], kind: str, at: str | None) -> Message:
    """References to rounds that are not here."""
    media = MediaStore()
    if len(gap) <= _MOST_LINES:
        lines = [reference(f"{session[:8]}#{r.number}", kept(session, r, media)) for r in gap]
    else:
        lines = [range_reference(session[:8], gap[0].number, gap[-1].number)]
    own = uuid.uuid5(_NAMESPACE, f"{id}/{gap[0].number}")
    return Message("user", (Notice(kind, _OPENING + "".join(lines)),), id=str(own), at=at)


def _uncut(round: Round) -> Round:
    """A round whose compactions no longer cut: what was chosen is to be sent."""
    if not any(_cuts(block) for message in round.messages for block in message.blocks):
        return round
    messages = []
    for message in round.messages:
        blocks = tuple(
            Notice(kinds.META, block.text) if isinstance(block, Notice) and _cuts(block) else block
            for block in message.blocks
            if not (isinstance(block, Notice) and block.kind == _BOUNDARY)
        )
        if blocks:
            messages.append(msgspec.structs.replace(message, blocks=blocks))
    return msgspec.structs.replace(round, messages=tuple(messages))


def _cuts(block: Any) -> bool:
    return isinstance(block, Notice) and block.kind in (kinds.COMPACTION, _BOUNDARY)


def _numbered(rounds: Iterable[Round]) -> list[Round]:
    return [
        msgspec.structs.replace(round, number=number)
        for number, round in enumerate((r for r in rounds if r.messages), 1)
    ]


def _ids(round: Round) -> set[str]:
    return {message.id for message in round.messages if message.id}


def _with_own_ids(round: Round, taken: set[str], session: str) -> Round:
    """A round whose messages have ids nobody else has: two of one id would break the chain."""
    messages = tuple(
        msgspec.structs.replace(m, id=str(uuid.uuid5(_NAMESPACE, f"{session}/{m.id}")))
        if m.id in taken
        else m
        for m in round.messages
    )
    return msgspec.structs.replace(round, messages=messages)


def _time(round: Round) -> float:
    at = instant(round.started)
    return at.timestamp() if at is not None else 0.0


def _new_id(surgery: Surgery, rounds: Iterable[Round]) -> str:
    """An id that is the same for the same operation on the same rounds."""
    chosen = [(round.number, sorted(_ids(round))) for round in rounds]
    return str(uuid.uuid5(_NAMESPACE, msgspec.json.encode((surgery, chosen)).decode()))


def _ranges(numbers: Sequence[int]) -> str:
    """``3, 7-9``"""
    return ", ".join(
        str(first) if first == last else f"{first}-{last}" for first, last in _runs(numbers)
    )


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = before = None
    for number in numbers:
        if before is None or start is None:
            start = number
        elif number != before + 1:
            yield start, before
            start = number
        before = number
    if start is not None and before is not None:
        yield start, before
