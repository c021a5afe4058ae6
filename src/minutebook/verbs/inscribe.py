"""Write sessions down: documents, rounds, databases, indexes (OPS-01 … OPS-08)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.run import RunView, WritingRun, problem_of
from minutebook.archive.writing import Done
from minutebook.model.engagement import SessionRecord
from minutebook.sources.base import Transcript
from minutebook.sources.fan_out import fan_out


class Inscribed(msgspec.Struct, frozen=True):
    """What became of one session."""

    transcript: Transcript
    outcome: str
    """``new``, ``grown``, ``unchanged``, ``waiting``, ``empty``, ``unusable``, ``duplicate``
    or ``failed``."""
    rounds_added: int = 0
    waiting: int = 0
    late: int = 0
    changed: int = 0
    gone: int = 0
    problem: str | None = None


class InscribeReport(msgspec.Struct, frozen=True):
    sessions: list[Inscribed]
    remarks: list[str] = []
    """What a person should know of the run as a whole."""

    @property
    def held_back(self) -> int:
        """Sessions whose last rounds are not archived yet, because they may still grow."""
        return sum(bool(session.waiting) for session in self.sessions)

    def count(self, outcome: str) -> int:
        return sum(session.outcome == outcome for session in self.sessions)


def inscribe(
    archive: Archive,
    transcripts: Sequence[Transcript] | None = None,
    *,
    ended: bool = False,
    jobs: int | None = None,
) -> InscribeReport:
    """Inscribe what is new, append what has grown, leave alone what has not changed.

    `ended` says that the sessions are over, however young their files are.
    """
    run = Inscription(archive, transcripts, ended=ended, jobs=jobs)
    for _ in run:
        pass
    return run.report


class Inscription:
    """One run: iterate it for each session as it is done; then there is a report."""

    def __init__(
        self,
        archive: Archive,
        transcripts: Sequence[Transcript] | None = None,
        *,
        ended: bool = False,
        jobs: int | None = None,
    ) -> None:
        self._archive = archive
        self._transcripts = archive.library.transcripts if transcripts is None else transcripts
        self._ended, self._jobs = ended, jobs
        self.report = InscribeReport([])

    def __iter__(self) -> Iterator[Inscribed]:
        with WritingRun(self._archive, "inscribe", ended=self._ended) as run:
            doubles = run.doubles(self._transcripts)
            own = [t for t in self._transcripts if t.location not in doubles]
            stale = [transcript for transcript in own if not run.is_current(transcript)]
            found = {t.location: untouched(t, run) for t in own}
            for transcript in self._transcripts:
                if transcript.location in doubles:
                    problem = f"the same session id as {doubles[transcript.location]}"
                    found[transcript.location] = Inscribed(transcript, "duplicate", problem=problem)
            write = partial(write_one, run, self._archive.minutes.records())
            for transcript, done in fan_out(write, stale, self._jobs):
                run.note(transcript, done)
                found[transcript.location] = outcome_of(transcript, done)
                yield found[transcript.location]
            self.report = InscribeReport(
                [found[t.location] for t in self._transcripts], run.remarks
            )


def write_one(run: WritingRun, records: dict[str, SessionRecord], transcript: Transcript) -> Done:
    """Write one session, in whatever process this is."""
    try:
        with run.write(transcript) as session:
            for _ in session.new_rounds():
                pass
            return session.finish(
                record=records.get(transcript.session_id),
                said=run.archive.minutes.summary_said(transcript.session_id),
            )
    except Exception as error:
        if (problem := problem_of(error, transcript)) is None:
            raise
        return Done(problem=problem)


def untouched(transcript: Transcript, run: RunView) -> Inscribed:
    """What there is to say of a session before anything was done; also what of it still waits."""
    if run.ledger.is_unusable(transcript):
        return Inscribed(transcript, "unusable")
    entry = run.entry(transcript.session_id)
    return Inscribed(transcript, "unchanged", waiting=entry.waiting if entry is not None else 0)


def outcome_of(transcript: Transcript, done: Done) -> Inscribed:
    """What a worker did, in a word."""
    published = done.published
    if done.problem is not None:
        return Inscribed(transcript, "failed", problem=done.problem)
    if done.foreign is not None:
        return Inscribed(transcript, "unusable", problem=done.foreign)
    if published is None:
        return Inscribed(transcript, "waiting" if done.waiting else "empty", waiting=done.waiting)
    return Inscribed(
        transcript,
        published.outcome,
        len(published.rows),
        done.waiting,
        done.late,
        done.changed,
        done.gone,
    )
