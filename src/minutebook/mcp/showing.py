"""Rounds and blocks for an agent: so much at a time, and a cursor that goes on in the middle."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from minutebook.archive.archive import Archive
from minutebook.archive.names import block_at, parse_block, parse_rounds
from minutebook.archive.session import OpenSession
from minutebook.derive.tokens import BYTES_A_TOKEN, tokens
from minutebook.errors import BadArgument, NotFound
from minutebook.mcp.telling import MOST_TOKENS, answer, position
from minutebook.verbs.round_text import Fidelity, block_text, round_text

_CURSOR = re.compile(r"(\d{1,8})(?:\.(\d{1,8}))?")
_A_PART = int(MOST_TOKENS * BYTES_A_TOKEN)  # bytes


class Shown(NamedTuple):
    """An answer, and the files of the session that could not be read."""

    text: str
    damaged: Mapping[str, str]


def show(archive: Archive, address: str, fidelity: Fidelity, cursor: str | None) -> Shown:
    """Whole rounds as long as they fit; one that does not, or a block, in parts."""
    session_id, wanted = archive.address(address)
    session, name = archive.open(session_id), archive.short(session_id)
    if session.withheld and not session.count:
        raise NotFound(f"{name}: {session.withheld}")
    if wanted is None:
        raise BadArgument(f"Say which rounds: {name}#1 … #{session.count}.")
    numbers = parse_rounds(f"{wanted.start}-{wanted.stop - 1}", session.count)
    block = parse_block(address)
    if block is not None:
        round = session.round(numbers[0])
        whole = block_text(f"{name}#{round.number}.{block}", round, block_at(round, block))
        what = f"Block {block} of {len(round.blocks)} of {name}#{round.number}, in full"
        return Shown(_part(what, whole, 0, cursor, last=True), session.damaged)
    start, part = _place(cursor)
    if start >= len(numbers):
        raise BadArgument(f"'{cursor}' is not a cursor of this answer: it has no more rounds.")
    texts = _texts(session, name, numbers[start:], fidelity)
    first = next(texts)
    if tokens(first) > MOST_TOKENS:
        what = f"Round {numbers[start]} of {name}"
        if len(numbers) > 1:
            what += f" (round {start + 1} of {len(numbers)} asked for)"
        last = start + 1 == len(numbers)
        told = _part(what, first, start, f"{start}.{part}", last=last)
        return Shown(told, session.damaged)
    if part:
        raise BadArgument(f"'{cursor}' is not a cursor of this answer: it has no more parts.")
    whole_rounds, spent = [first], tokens(first)
    for text in texts:
        spent += tokens(text)
        if spent > MOST_TOKENS:
            break
        whole_rounds.append(text)
    after = start + len(whole_rounds)
    more = str(after) if after < len(numbers) else None
    head = f"{len(whole_rounds)} of {len(numbers)} rounds of {name}:"
    return Shown(answer(head, ["".join(whole_rounds)], more), session.damaged)


def _texts(
    session: OpenSession, name: str, numbers: list[int], fidelity: Fidelity
) -> Iterator[str]:
    for number in numbers:
        yield round_text(f"{name}#{number}", session.round(number), fidelity)


def _place(cursor: str | None) -> tuple[int, int]:
    """The round a cursor goes on with, counted from 0, and the part of it."""
    match = _CURSOR.fullmatch(cursor) if cursor and cursor.isascii() else None
    if match is None:
        return position(cursor), 0
    return int(match[1]), int(match[2] or 0)


def _part(what: str, text: str, start: int, cursor: str | None, *, last: bool) -> str:
    """One part of a long text, and the cursor of what follows."""
    parts = _parts(text)
    _, number = _place(cursor)
    if number >= len(parts):
        raise BadArgument(f"'{cursor}' is not a cursor of this answer: it has no more parts.")
    more = None if last else str(start + 1)
    if number + 1 < len(parts):
        more = f"{start}.{number + 1}"
    if len(parts) > 1:
        what += f", too long for one answer: part {number + 1} of {len(parts)}"
    return answer(f"{what}:", [parts[number]], more)


def _parts(text: str) -> list[str]:
    """A text in parts that fit one answer, cut at the end of a line where there is one."""
    rest, parts = text.encode(), []
    while len(rest) > _A_PART:
        at = rest.rfind(b"\n", _A_PART // 2, _A_PART) + 1 or _A_PART
        while rest[at] & 0xC0 == 0x80:  # in the middle of a character
            at -= 1
        parts.append(rest[:at].decode("utf-8", "replace"))
        rest = rest[at:]
    return [*parts, rest.decode("utf-8", "replace")]
