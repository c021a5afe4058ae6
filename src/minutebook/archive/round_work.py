"""What was done in the rounds of a session, for the index: work, files, places of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from minutebook.derive.budget import Meter
from minutebook.derive.calls import paths_of
from minutebook.derive.surfaces import Piece, bounded, surfaces_of, surfaces_of_agent
from minutebook.index.entry import How, Touch, Work, seconds
from minutebook.model import Round, Subagent, Text, ToolCall

_LONGEST_PATH = 1_000
_MUCH, _MOST = 8_000_000, 16_000_000  # characters of a session: kept shorter, then not at all
_SHORT = 200
_HOW: dict[str, How] = {"read": "read", "edit": "edited", "write": "written"}


class RoundWork:
    """Gathered while the rounds pass by, one at a time; subagents come after them."""

    def __init__(self) -> None:
        self.done: dict[int, Work] = {}
        self.files: list[Touch] = []
        self.blocks: dict[int, str] = {}
        """Where the texts of each answer are, as entries say it."""
        self.at: dict[int, int] = {}
        self.callers: dict[str, tuple[int, int]] = {}
        """Subagents → the round and block that called them."""
        self.meter = Meter()
        self._spent = 0

    def noting(self, rounds: Iterable[Round]) -> Iterator[Round]:
        """Rounds as they come, each noted."""
        for round in rounds:
            number = round.number
            self.meter.note(round)
            self.at[number] = seconds(round.started)
            self.blocks[number] = answer_blocks(round)
            self._touched(number, round.calls)
            for piece in surfaces_of(round):
                self._keep(number, piece)
            for at, block in enumerate(round.blocks, 1):
                if isinstance(block, ToolCall) and block.agent:
                    self.callers.setdefault(block.agent, (number, at))
            yield round

    def note_agent(self, agent: Subagent) -> None:
        """What a subagent did belongs to the round that called it."""
        number, block = self.callers.get(agent.id, (0, 0))
        if number:
            self._touched(number, (call for round in agent.rounds for call in round.calls))
            for piece in surfaces_of_agent(agent, block):
                self._keep(number, piece)

    def _keep(self, number: int, piece: Piece) -> None:
        if self._spent > _MOST:
            return
        text = piece.text if self._spent < _MUCH else bounded(piece.text, _SHORT, _SHORT)
        self._spent += len(text)
        self.done.setdefault(number, {}).setdefault(piece.surface, []).append(text)

    def _touched(self, number: int, calls: Iterable[ToolCall]) -> None:
        """The files of some calls, and what was done to them."""
        counts: Counter[tuple[How, str]] = Counter()
        for call in calls:
            if (how := _HOW.get(call.kind)) is not None:
                counts.update((how, path[:_LONGEST_PATH]) for path in paths_of(call))
        for (how, path), times in counts.items():
            self.files.append(Touch(number, self.at[number], how, path, times))


def answer_blocks(round: Round) -> str:
    """Where the texts of a round's answer are: blocks and lengths, ``2:120 5:77``."""
    asked = len(round.asked)
    return " ".join(
        f"{at}:{len(block.text)}"
        for at, block in enumerate(round.blocks, 1)
        if at > asked and isinstance(block, Text) and block.text.strip()
    )
