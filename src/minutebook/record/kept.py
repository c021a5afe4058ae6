"""The rounds of a session as they are kept: one file each, read when asked for."""

from __future__ import annotations

from collections.abc import Iterator

from minutebook.model import Round
from minutebook.record.layout import SessionFolder
from minutebook.record.rounds import Damaged, read_round, round_file


class KeptRounds:
    """Reads round files; a damaged one is named, and the others are still read."""

    def __init__(self, folder: SessionFolder) -> None:
        self.folder = folder
        self.damaged: dict[str, str] = {}
        """Path of a file that could not be read → why."""

    def numbers(self) -> list[int]:
        return self.folder.numbers()

    def read(self, number: int) -> Round:
        """A round; `Damaged` or OSError where it cannot be had."""
        path = self.folder.round(number)
        try:
            return read_round(path.read_bytes())
        except (OSError, Damaged) as error:
            self.damaged[str(path)] = str(error)
            raise

    def readable(self) -> Iterator[Round]:
        """Every round that can be read, in order."""
        for number in self.numbers():
            try:
                yield self.read(number)
            except (OSError, Damaged):
                continue  # it is named in `damaged`

    def is_written(self, round: Round, session_id: str) -> bool:
        """Whether a round (without pictures) is what its file says."""
        try:
            content = self.folder.round(round.number).read_bytes()
        except OSError:
            return False
        return content == round_file(session_id, round)
