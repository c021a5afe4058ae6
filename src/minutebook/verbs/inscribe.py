"""Write sessions down: documents, rounds, databases, indexes (OPS-01 … OPS-08)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec

from minutebook.archive.blocks import Malformed
from minutebook.archive.database import count_rows, open_database, put_rows, tag_rows
from minutebook.archive.indexes import write_indexes
from minutebook.archive.inscription import Published, header_of, publish
from minutebook.archive.layout import Layout, agent_id_of
from minutebook.archive.ledger import Entry, Ledger, fingerprint, load_ledger, save_ledger
from minutebook.archive.rounds import RoundRow
from minutebook.archive.store import make_folder, sweep, writing
from minutebook.archive.tags import read_tags
from minutebook.derive.identity import identify
from minutebook.errors import Conflict
from minutebook.model import Roster
from minutebook.sources.base import Transcript, reason_of
from minutebook.sources.fan_out import fan_out
from minutebook.sources.library import open_transcript
from minutebook.verbs.rebuild import rebuild_sessions_database

QUIET_SECONDS = 600
"""A transcript untouched for so long is taken to be finished; until then its last round waits."""


class Inscribed(msgspec.Struct, frozen=True):
    """What became of one session."""

    transcript: Transcript
    outcome: str
    """``new``, ``grown``, ``unchanged``, ``waiting``, ``empty``, ``unusable`` or ``failed``."""
    rounds_added: int = 0
    waiting: int = 0
    late: int = 0
    changed: int = 0
    problem: str | None = None


class InscribeReport(msgspec.Struct, frozen=True):
    sessions: list[Inscribed]

    def count(self, outcome: str) -> int:
        return sum(session.outcome == outcome for session in self.sessions)


class _Done(msgspec.Struct, frozen=True):
    """What a worker hands back."""

    published: Published | None = None
    waiting: int = 0
    head: str = ""
    problem: str | None = None
    foreign: str | None = None


def is_live(transcript: Transcript, now: float | None = None) -> bool:
    """Whether a session may still be running."""
    return (time.time() if now is None else now) - transcript.mtime < QUIET_SECONDS


def inscribe(
    layout: Layout,
    roster: Roster,
    transcripts: Sequence[Transcript],
    *,
    ended: bool = False,
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> InscribeReport:
    """Inscribe what is new, append what has grown, leave alone what has not changed.

    `ended` says that the sessions are over, however young their files are.
    """
    with writing(layout.lock, "inscribe"):
        make_folder(layout.sessions)
        sweep(layout.sessions)
        ledger = load_ledger(layout)
        stale = [t for t in transcripts if not _is_current(ledger, t, ended)]
        skipped = {t.path for t in transcripts} - {t.path for t in stale}

        def work(transcript: Transcript) -> _Done:
            entry = ledger.sessions.get(transcript.session_id)
            live = not ended and is_live(transcript)
            return _inscribe_one(layout, roster, transcript, entry, live)

        done: dict[str, Inscribed] = {}
        rows: list[RoundRow] = []
        for transcript, result in fan_out(work, stale, jobs):
            if progress is not None:
                progress(transcript.size)
            done[str(transcript.path)] = _outcome(transcript, result)
            ledger.unusable.pop(str(transcript.path), None)
            if result.published is not None:
                rows += result.published.rows
                ledger.sessions[transcript.session_id] = _entry(transcript, result)
            elif result.foreign is not None:
                ledger.unusable[str(transcript.path)] = (transcript.size, transcript.mtime)
        if stale or not layout.database.exists():
            _index(layout, ledger, rows)
        sessions = [
            Inscribed(t, "unusable" if ledger.is_unusable(t) else "unchanged")
            if t.path in skipped
            else done[str(t.path)]
            for t in transcripts
        ]
        return InscribeReport(sessions)


def _is_current(ledger: Ledger, transcript: Transcript, ended: bool) -> bool:
    """Whether the source is as it was when it was last read; answered without reading it."""
    if ledger.is_unusable(transcript):
        return True
    entry = ledger.sessions.get(transcript.session_id)
    if entry is None or entry.source != str(transcript.path):
        return False
    if (entry.size, entry.mtime) != (transcript.size, transcript.mtime):
        return False
    return not entry.waiting or (not ended and is_live(transcript))


def _inscribe_one(
    layout: Layout, roster: Roster, transcript: Transcript, entry: Entry | None, live: bool
) -> _Done:
    try:
        head = fingerprint(transcript.path)
        reading = open_transcript(transcript)
        rounds = list(reading.rounds())
        if reading.report.foreign:
            return _Done(foreign=reading.report.foreign)
        published = rounds[: reading.closed] if live else rounds
        waiting = len(rounds) - len(published)
        if not published:
            return _Done(waiting=waiting)
        info = reading.info()
        identity = identify(info, roster)
        agent_id = entry.agent_id if entry is not None else agent_id_of(identity.role)
        header = header_of(info, identity, published, agent_id, str(transcript.path))
        result = publish(layout, header, published, list(reading.subagents()))
        return _Done(result, waiting, head)
    except OSError as error:
        return _Done(problem=f"{error.filename or transcript.path}: {reason_of(error)}")
    except (Conflict, Malformed) as error:
        return _Done(problem=str(error))


def _outcome(transcript: Transcript, result: _Done) -> Inscribed:
    published = result.published
    if result.problem is not None:
        return Inscribed(transcript, "failed", problem=result.problem)
    if result.foreign is not None:
        return Inscribed(transcript, "unusable", problem=result.foreign)
    if published is None:
        return Inscribed(
            transcript, "waiting" if result.waiting else "empty", waiting=result.waiting
        )
    return Inscribed(
        transcript,
        published.outcome,
        len(published.rows),
        result.waiting,
        published.late,
        published.changed,
    )


def _entry(transcript: Transcript, result: _Done) -> Entry:
    assert result.published is not None
    entry = Entry.of(result.published.header)
    entry.rounds = result.published.rounds
    entry.waiting = result.waiting
    entry.source = str(transcript.path)
    entry.size, entry.mtime, entry.head = transcript.size, transcript.mtime, result.head
    return entry


def _index(layout: Layout, ledger: Ledger, new: list[RoundRow]) -> None:
    """The cross-session database, the ledger and the index files, in that order."""
    expected = sum(entry.rounds for entry in ledger.sessions.values())
    if count_rows(layout.database) + len(new) == expected:
        with open_database(layout.database) as database:
            put_rows(database, new)
            touched = {row.session_id for row in new}
            for tag in read_tags(layout):
                if tag.session_id in touched:
                    tag_rows(database, tag.session_id, tag.first, tag.last, tag.engagement_id)
    else:  # gone, truncated, or from a run that was killed: from the documents
        for session_id, rounds in rebuild_sessions_database(layout).items():
            if session_id in ledger.sessions:
                ledger.sessions[session_id].rounds = rounds
    save_ledger(layout, ledger)
    write_indexes(layout, ledger.sessions.values())
