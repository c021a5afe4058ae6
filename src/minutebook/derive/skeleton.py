"""The skeleton: the text of a session an extractor sees (ING-01, 02, 07, 08).

Words of the person and of the model, role-labelled and round-numbered; no tool call,
no tool result, no thinking.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from minutebook.model import Round, Text

LIMIT = 100_000
HEAD = 50_000
TAIL = 10_000


@dataclass(frozen=True)
class Skeleton:
    text: str
    chars: int
    """Length of the whole, before it was shortened."""
    truncated: bool = False


class SkeletonBuilder:
    """Gathers the words of rounds as they pass."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, str]] = []

    def add(self, round: Round) -> None:
        for message in round.messages:
            said = [block.spoken for block in message.blocks if isinstance(block, Text)]
            words = "\n\n".join(text for text in said if text.strip())
            if words:
                self._pieces.append((round.number, f"[{round.number}] {message.role}: {words}\n\n"))

    def skeleton(self) -> Skeleton:
        """The skeleton of all of them, cut in the middle when it is too long."""
        pieces = self._pieces
        text = "".join(piece for _, piece in pieces)
        if len(text) <= LIMIT:
            return Skeleton(text, len(text))
        dropped = len(text) - HEAD - TAIL
        first, last = _rounds_between(pieces, HEAD, len(text) - TAIL)
        which = f"round {first}" if first == last else f"rounds {first}-{last}"
        marker = f"\n\n[... {dropped} characters left out here, from {which} ...]\n\n"
        return Skeleton(text[:HEAD] + marker + text[-TAIL:], len(text), truncated=True)


def skeleton(rounds: Iterable[Round]) -> Skeleton:
    """The skeleton of some rounds, cut in the middle when it is too long."""
    builder = SkeletonBuilder()
    for round in rounds:
        builder.add(round)
    return builder.skeleton()


def _rounds_between(pieces: list[tuple[int, str]], start: int, end: int) -> tuple[int, int]:
    """Numbers of the first and last round with text between two positions."""
    touched = []
    position = 0
    for number, piece in pieces:
        if position < end and position + len(piece) > start:
            touched.append(number)
        position += len(piece)
    return touched[0], touched[-1]
