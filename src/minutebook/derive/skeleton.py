"""The skeleton: the text of a session an extractor sees (ING-01, 02, 07, 08).

Words of the person and of the model, role-labelled and round-numbered; no tool call,
no tool result, no thinking. One that is too long is made shorter where it hurts least:
long answers keep their beginning and their end, and every prompt stays. Only where that is
not enough the middle is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

from minutebook.model import Round, Text

LIMIT = 100_000
HEAD = 50_000
TAIL = 10_000
SHORTENED = 90_000
"""What answers are shortened to: the facts that are sent beside them stay within the limit."""
LEAST_ANSWER = 600
"""Characters of an answer that always stay: below this the rounds in the middle go instead."""

_MARKER_CHARS = 60


@dataclass(frozen=True)
class Skeleton:
    text: str
    chars: int
    """Length of the whole, before it was shortened."""
    truncated: bool = False


@dataclass(frozen=True)
class _Piece:
    """What one side said in one go."""

    round: int
    prompt: bool
    text: str


class SkeletonBuilder:
    """Gathers the words of rounds as they pass."""

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []

    def add(self, round: Round) -> None:
        for message in round.messages:
            said = [block.spoken for block in message.blocks if isinstance(block, Text)]
            words = "\n\n".join(text for text in said if text.strip())
            if words:
                text = f"[{round.number}] {message.role}: {words}\n\n"
                self._pieces.append(_Piece(round.number, message.role == "user", text))

    def skeleton(self, hide: Callable[[str], str] = str) -> Skeleton:
        """The skeleton of all of them, shorter where it is too long.

        `hide` is what takes secrets out: before anything is cut, since half a key is not
        recognised as one.
        """
        whole = "".join(piece.text for piece in self._pieces)
        if len(whole) <= LIMIT:
            return Skeleton(hide(whole), len(whole))
        hidden = _answers([_Piece(p.round, p.prompt, hide(p.text)) for p in self._pieces])
        pieces = _shortened(hidden)
        text = "".join(piece.text for piece in pieces)
        too_long = len(text) > LIMIT
        told = _without_middle(pieces, text) if too_long else text
        return Skeleton(hide(told), len(whole), truncated=too_long or pieces != hidden)


def skeleton(rounds: Iterable[Round]) -> Skeleton:
    """The skeleton of some rounds, shorter where it is too long."""
    builder = SkeletonBuilder()
    for round in rounds:
        builder.add(round)
    return builder.skeleton()


def _answers(pieces: list[_Piece]) -> list[_Piece]:
    """All that was answered to a prompt in one piece: what is said on the way is its middle."""
    joined: list[_Piece] = []
    for (round, prompt), group in groupby(pieces, key=lambda piece: (piece.round, piece.prompt)):
        if prompt:
            joined += group
        else:
            joined.append(_Piece(round, prompt, "".join(piece.text for piece in group)))
    return joined


def _shortened(pieces: list[_Piece]) -> list[_Piece]:
    """Long answers cut to one length, the greatest at which everything fits."""
    lengths = sorted(len(piece.text) for piece in pieces if not piece.prompt)
    room = SHORTENED - sum(len(piece.text) for piece in pieces if piece.prompt)
    most = LEAST_ANSWER
    for at, length in enumerate(lengths):
        share = room // (len(lengths) - at)
        if length > share:
            most = max(LEAST_ANSWER, share)
            break
        room -= length
    return [piece if piece.prompt else _cut(piece, most) for piece in pieces]


def _cut(piece: _Piece, most: int) -> _Piece:
    """The beginning and the end of an answer: the end, where it says what came of it, counts
    for more."""
    text = piece.text
    if len(text) <= most:
        return piece
    kept = most - _MARKER_CHARS
    head, tail = kept // 3, kept - kept // 3
    marker = f"\n[... {len(text) - kept} characters left out here, of this answer ...]\n"
    return _Piece(piece.round, piece.prompt, text[:head] + marker + text[-tail:])


def _without_middle(pieces: list[_Piece], text: str) -> str:
    dropped = len(text) - HEAD - TAIL
    first, last = _rounds_between(pieces, HEAD, len(text) - TAIL)
    which = f"round {first}" if first == last else f"rounds {first}-{last}"
    marker = f"\n\n[... {dropped} characters left out here, from {which} ...]\n\n"
    return text[:HEAD] + marker + text[-TAIL:]


def _rounds_between(pieces: list[_Piece], start: int, end: int) -> tuple[int, int]:
    """Numbers of the first and last round with text between two positions."""
    touched = []
    position = 0
    for piece in pieces:
        if position < end and position + len(piece.text) > start:
            touched.append(piece.round)
        position += len(piece.text)
    return touched[0], touched[-1]
