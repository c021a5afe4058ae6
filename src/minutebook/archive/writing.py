"""Writing a session down: its rounds pass through, then what they come to is recorded.

Used inside a worker: everything here is about one session, and returns little.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import msgspec

from minutebook.archive.capturing import sightings_in
from minutebook.archive.coverage import NOTHING_SAID, SaidSummary, ranges_of
from minutebook.archive.growth import Growth
from minutebook.archive.minutes import retitled
from minutebook.derive.identity import Identity, identify
from minutebook.derive.instructions import Sighting
from minutebook.derive.times import instant
from minutebook.derive.usage.digesting import Digesting
from minutebook.model import Roster, Round, SessionInfo
from minutebook.model.engagement import SessionRecord
from minutebook.model.said import Set
from minutebook.record.checkpoints import keep_checkpoint
from minutebook.record.documents import peek
from minutebook.record.facts import SessionFacts, read_facts, standing
from minutebook.record.header import headed, header_of
from minutebook.record.layout import Layout, SessionFolder, agent_id_of
from minutebook.record.ledger import Entry
from minutebook.record.media import MediaStore
from minutebook.record.publish import Publication, Published
from minutebook.record.recover import StoredRounds, recovered_facts, restore_rounds
from minutebook.record.rounds import round_file
from minutebook.record.said import add_said
from minutebook.record.store import write_atomically
from minutebook.record.usage import stamp_of, write_digest
from minutebook.sources.base import Transcript
from minutebook.sources.registry import SOURCES

QUIET_SECONDS = 600
"""A transcript untouched for so long is taken to be finished; until then its last round waits."""
OVER_SECONDS = 3_600
"""A session whose own last word is so old is over, however young its file is: it was copied."""
UNANSWERED_SECONDS = 86_400
"""A last call without its result is given a day."""


class Done(msgspec.Struct, frozen=True):
    """What became of one session; travels between processes."""

    published: Published | None = None
    waiting: int = 0
    late: int = 0
    changed: int = 0
    gone: int = 0
    head: str = ""
    beside: str = ""
    instructions: tuple[Sighting, ...] = ()
    """Files of instructions that the new rounds record."""
    problem: str | None = None
    foreign: str | None = None


def is_live(transcript: Transcript, last_word: str | None, now: float | None = None) -> bool:
    """Whether a session may still be running: its file is young, and what it says is, too.

    A file is young when it was copied; `last_word` is the session's own last timestamp.
    """
    now = time.time() if now is None else now
    if now - transcript.mtime >= QUIET_SECONDS:
        return False
    said = instant(last_word)
    return said is None or now - said.timestamp() < OVER_SECONDS


class SessionWriting:
    """One session on its way from its transcript into the archive.

    Iterate `new_rounds` (or `rounds`, which begins with those already archived); what can no
    longer grow is written as it passes. Then `finish`.
    """

    def __init__(
        self,
        layout: Layout,
        roster: Roster,
        transcript: Transcript,
        entry: Entry | None,
        *,
        ended: bool,
    ) -> None:
        self._layout, self._roster, self.transcript = layout, roster, transcript
        self._entry, self._ended = entry, ended
        source = SOURCES[transcript.source]
        role = identify(SessionInfo(id=transcript.session_id, source=source.name), roster).role
        self.agent_id = entry.agent_id if entry is not None else agent_id_of(role, source.program)
        self._folder = SessionFolder(layout.folder(self.agent_id, transcript.session_id))
        self._known = self._facts() if entry is not None else None
        if self._known is not None and len(self._folder.numbers()) < self._known.written.rounds:
            restore_rounds(self._folder, transcript.session_id)
        self._head = source.head(transcript, transcript.size)
        self._beside = source.beside(transcript)
        self._media = MediaStore()
        self._growth = Growth(
            transcript,
            self._folder if self._known is not None else None,
            entry,
            self._known,
            self._media,
        )
        self._source = source
        self._sightings: list[Sighting] = []
        self._stack = ExitStack()
        self._publication: Publication | None = None
        self._digesting = Digesting(transcript.session_id) if self._known is None else None
        """What was used, of a new session; of one that grows it is counted when somebody asks."""
        self._open: list[Round] = []
        self.count = self._known.written.rounds if self._known is not None else 0
        """Rounds of the session so far, in the archive's numbering."""

    def _facts(self) -> SessionFacts | None:
        try:
            return read_facts(self._folder)
        except (OSError, ValueError):
            return recovered_facts(self._folder)

    def __enter__(self) -> SessionWriting:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    # -- rounds

    def rounds(self) -> Iterator[Round]:
        """All rounds of the session: those archived, then those that are new."""
        if self._known is not None:
            yield from StoredRounds(self._folder)
        yield from self.new_rounds()

    def new_rounds(self) -> Iterator[Round]:
        """What the archive does not have; what can no longer grow is written."""
        for round, is_open in self._growth.rounds():
            self.count += 1
            if is_open:
                self._open.append(round)
            else:
                self._write(round)
            yield round
        for round in self._growth.lost:
            content = round_file(self.transcript.session_id, round)
            write_atomically(self._folder.round(round.number), content)

    def _write(self, round: Round) -> None:
        if self._publication is None:
            self._publication = self._begin()
        self._publication.add(round)
        self._sightings += sightings_in(self._source, (round,))
        if self._digesting is not None:
            self._digesting.add(round)

    def _begin(self) -> Publication:
        publication = Publication(
            self._layout, self.agent_id, self.transcript.session_id, self._known, self._media
        )
        return self._stack.enter_context(publication)

    @property
    def foreign(self) -> str | None:
        """Why the file turned out not to be a transcript."""
        return self._growth.reading.report.foreign

    @property
    def info(self) -> SessionInfo:
        """What the transcript says of itself, in the archive's numbering."""
        info = self._growth.reading.info()
        if self._known is not None:
            info = standing(info, self._known.info, self._known.written.rounds)
        return msgspec.structs.replace(info, rounds=self.count)

    @property
    def identity(self) -> Identity:
        return identify(self._growth.reading.info(), self._roster)

    # -- the rest

    def finish(
        self,
        *,
        record: SessionRecord | None = None,
        said: SaidSummary = NOTHING_SAID,
    ) -> Done:
        """Write what the rounds come to: subagents, facts, document, databases.

        `record` has what is known of the session, `said` a person's summary, who wins.
        """
        if self.foreign:
            return Done(foreign=self.foreign)
        young = is_live(self.transcript, self._growth.reading.info().ended)
        live = not self._ended and (young or self._awaits_a_tool())
        if not live:
            for round in self._open:
                self._write(round)
            self._open = []
        waiting = len(self._open)
        if self._publication is None:
            if self._known is None:
                return Done(waiting=waiting)
            self._publication = self._begin()
        publication = self._publication
        self._write_subagents(publication, live)
        old = peek(self._folder.document) if self._known is not None else None
        words = said.text
        if old is not None and said.is_by_hand(old):
            words = old.summary
            add_said(self._layout, self.transcript.session_id, Set(values={"summary": words}))
        facts = publication.facts(
            SessionFacts(
                info=self.info,
                source=self.transcript.location,
                lost=self._lost(),
                loose=self._growth.loose,
                engagements=old.engagements if old is not None else self._kept("engagements", []),
                extra=old.extra if old is not None else self._kept("extra", {}),
            )
        )
        summary = words or (record.session_summary if record is not None else None)
        header = header_of(facts, self.identity, self.agent_id, summary, edited=words is not None)
        if record is not None:
            header = headed(header, retitled(record, facts.info, self._roster))
        ranges = ranges_of(record) if record is not None else None
        published = publication.finish(facts, header, ranges)
        self._keep_checkpoint(published, waiting)
        if not waiting:
            self._keep_digest(published)
        merge = self._growth.merge
        return Done(
            published,
            waiting,
            merge.late if merge is not None else 0,
            merge.changed if merge is not None else 0,
            self._growth.gone if not waiting else 0,
            self._head,
            self._beside,
            tuple(self._sightings),
        )

    def _lost(self) -> int:
        """An export of ours in the source's place does not bring back what was never archived."""
        return self._entry.lost_in(self._growth.reading.info()) if self._entry is not None else 0

    def _kept(self, name: str, usual: Any) -> Any:
        """What was known of a session whose document is lost."""
        return getattr(self._known, name) if self._known is not None else usual

    def _write_subagents(self, publication: Publication, live: bool) -> None:
        """Subagents of rounds that are written; one that may still run waits with its round."""
        waiting = {call.id for round in self._open for call in round.calls}
        for agent in self._growth.reading.subagents():
            unsettled = agent.call_id in waiting or (agent.call_id is None and not agent.helper)
            if not (live and unsettled):
                publication.add_subagent(agent)
                if self._digesting is not None:
                    self._digesting.add_agent(agent.call_id, agent.rounds)

    def _keep_digest(self, published: Published) -> None:
        if self._digesting is None:
            return
        self._digesting.add_loose(self._growth.loose)
        entry = Entry.of(published.agent_id, published.facts, published.header)
        entry.size, entry.mtime = self.transcript.size, self.transcript.mtime
        entry.beside = self._beside
        digest = self._digesting.digest(stamp_of(entry), published.facts.info)
        write_digest(self._layout, self.transcript.session_id, digest)

    def _keep_checkpoint(self, published: Published, waiting: int) -> None:
        """Where the reading ended, for a session that is still running and in step with it."""
        reading = self._growth.reading
        in_step = waiting and self._growth.merge is None
        checkpoint = reading.checkpoint if in_step else None
        keep_checkpoint(self._folder, published.facts.written.rounds, checkpoint)

    def _awaits_a_tool(self) -> bool:
        """A long build, a question of permission: the last call may still be answered."""
        last_round = self._open[-1] if self._open else None
        if last_round is None or all(call.result is not None for call in last_round.calls):
            return False
        # A file may be young because it was copied; what is in it tells its real age.
        last = instant(last_round.ended)
        moment = min(self.transcript.mtime, last.timestamp() if last is not None else 0.0)
        return time.time() - moment < UNANSWERED_SECONDS
