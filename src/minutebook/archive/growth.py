"""What a transcript has that its archived session lacks.

Writing and reading use the same answer: the rounds that follow, numbered as they will be
once they are written (ARC-03).
"""

from __future__ import annotations

from collections.abc import Iterator

from minutebook.model import Loose, Round
from minutebook.record.checkpoints import checkpoint_of
from minutebook.record.facts import SessionFacts
from minutebook.record.kept import KeptRounds
from minutebook.record.layout import SessionFolder
from minutebook.record.ledger import Entry
from minutebook.record.media import MediaStore, without_pictures
from minutebook.record.merge import Merge
from minutebook.record.recover import StoredRounds, is_missing
from minutebook.sources.base import Reading, Transcript
from minutebook.sources.library import open_transcript
from minutebook.sources.registry import SOURCES


class Growth:
    """One comparison. Iterate `rounds`; the rest is known after that."""

    def __init__(
        self,
        transcript: Transcript,
        folder: SessionFolder | None,
        entry: Entry | None,
        facts: SessionFacts | None,
        media: MediaStore,
        *,
        from_start: bool = False,
    ) -> None:
        self._transcript, self._folder, self._media = transcript, folder, media
        self._facts = facts
        self.behind = 0
        """Rounds a resumed reading has passed over."""
        self._count = 0
        self.lost: list[Round] = []
        """Rounds that were written, whose files are gone and that the transcript still has."""
        self.merge: Merge | None = None
        """Set where the transcript does not simply continue what is written."""
        resumed = None if from_start else self._resumed(entry)
        self.reading: Reading = resumed or open_transcript(transcript)
        self._source = self.reading.rounds()

    def _resumed(self, entry: Entry | None) -> Reading | None:
        """A reading that goes on where the last one ended."""
        transcript = self._transcript
        if entry is None or self._folder is None or entry.source != transcript.location:
            return None
        source = SOURCES[transcript.source]
        blob = checkpoint_of(self._folder, entry.rounds)
        if blob is None or source.head(transcript, entry.size) != entry.head:
            return None
        resumed = source.resume(transcript, blob)
        if resumed is not None:
            self.behind = entry.rounds
        return resumed

    @property
    def loose(self) -> Loose:
        """What of the transcript belongs to no round."""
        if self.merge is not None:
            return self.merge.with_more(self.reading.loose)
        return self.reading.loose

    @property
    def gone(self) -> int:
        """Messages that are written and that the transcript has no more."""
        if self.merge is not None:
            return self.merge.gone
        written = self._facts.written.rounds if self._facts is not None else 0
        if self.behind or self._folder is None or self._count >= written:
            return 0
        stored = StoredRounds(self._folder)
        lost = range(self._count + 1, written + 1)
        return sum(len(stored.read(number).messages) for number in lost)

    def rounds(self) -> Iterator[tuple[Round, bool]]:
        """What is new, without pictures; and whether it may still grow."""
        kept = KeptRounds(self._folder) if self._folder is not None else None
        written = self._facts.written.rounds if self._facts is not None else 0
        for round in self._source:
            self._count = round.number
            now = without_pictures(round, self._media)
            if self.behind or kept is None or round.number > written:
                yield now, self._is_open(round.number)
            elif not kept.folder.round(round.number).exists():
                self.lost.append(now)
            elif not kept.is_written(now, self._transcript.session_id):
                yield from self._merged()
                return

    def _is_open(self, number: int) -> bool:
        return self.reading.at_end and number > self.reading.closed

    def _merged(self) -> Iterator[tuple[Round, bool]]:
        """The patient way, message by message."""
        assert self._folder is not None
        stored = StoredRounds(self._folder)
        for _ in self._source:
            pass  # to the end, for what is known only there

        def source() -> Iterator[Round]:
            rounds = open_transcript(self._transcript).rounds()
            return (without_pictures(round, self._media) for round in rounds)

        loose = self._facts.loose if self._facts is not None else Loose()
        self.merge = Merge(
            lambda: (round for round in stored if not is_missing(round)), source, stored.read, loose
        )
        for round in self.merge.added():
            yield round, self._is_open(self.merge.place)
