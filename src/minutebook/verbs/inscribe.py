"""Write sessions down: documents, rounds, databases, indexes (OPS-01 … OPS-08)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from minutebook.record.blocks import Malformed
from minutebook.record.checkpoints import checkpoint_of, keep_checkpoint
from minutebook.record.database import Broken, count_rows, open_database, put_rows
from minutebook.record.engagements import Ranges
from minutebook.record.indexes import write_indexes
from minutebook.record.inscription import Published, header_of, publish
from minutebook.record.layout import Layout, agent_id_of
from minutebook.record.ledger import Entry, Ledger, fingerprint, load_ledger, save_ledger
from minutebook.record.rounds import RoundRow
from minutebook.record.store import make_folder, sweep, writing
from minutebook.record.tags import apply_tags
from minutebook.derive.identity import Identity, identify
from minutebook.derive.times import instant
from minutebook.errors import Conflict
from minutebook.model import Roster, Round, SessionInfo
from minutebook.sources.base import Reading, Transcript, reason_of
from minutebook.sources.fan_out import fan_out
from minutebook.sources.library import open_transcript
from minutebook.sources.registry import SOURCES
from minutebook.verbs.rebuild import rebuild_sessions_database

QUIET_SECONDS = 600
"""A transcript untouched for so long is taken to be finished; until then its last round waits."""
UNANSWERED_SECONDS = 86_400
"""A last call without its result is given a day."""


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

    def count(self, outcome: str) -> int:
        return sum(session.outcome == outcome for session in self.sessions)


class Witness(Protocol):
    """Somebody who wants to see sessions while they are read, so that they are read once."""

    def wants(self, transcript: Transcript) -> bool:
        """Whether a session is to be read even where its inscription is current."""
        ...

    def see(
        self,
        transcript: Transcript,
        agent_id: str,
        info: SessionInfo,
        identity: Identity,
        rounds: Sequence[Round],
    ) -> tuple[Any, Ranges]:
        """Look at a whole session, in the process that reads it.

        Returns what travels back to `hear`, and the engagements that were found.
        """
        ...

    def hear(self, transcript: Transcript, seen: Any) -> None:
        """Get what `see` returned, in this process."""
        ...


class _Done(msgspec.Struct, frozen=True):
    """What a worker hands back."""

    published: Published | None = None
    waiting: int = 0
    head: str = ""
    beside: str = ""
    problem: str | None = None
    foreign: str | None = None
    seen: Any = None


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
    witness: Witness | None = None,
) -> InscribeReport:
    """Inscribe what is new, append what has grown, leave alone what has not changed.

    `ended` says that the sessions are over, however young their files are.
    """
    with writing(layout.lock, "inscribe"):
        make_folder(layout.sessions)
        sweep(layout.sessions, "", "*/")
        ledger = load_ledger(layout)
        doubles = doubles_of(ledger, transcripts)
        own = [t for t in transcripts if t.path not in doubles]
        stale = [
            t
            for t in own
            if (witness is not None and witness.wants(t)) or not _is_current(ledger, t, ended)
        ]

        def work(transcript: Transcript) -> _Done:
            entry = ledger.sessions.get(transcript.session_id)
            watching = witness if witness is not None and witness.wants(transcript) else None
            return _inscribe_one(layout, roster, transcript, entry, ended, watching)

        done: dict[Path, Inscribed] = {}
        rows: list[RoundRow] = []
        for transcript, result in fan_out(work, stale, jobs):
            if progress is not None:
                progress(transcript.size)
            done[transcript.path] = _outcome(transcript, result)
            ledger.unusable.pop(str(transcript.path), None)
            if result.published is not None:
                rows += result.published.rows
                ledger.sessions[transcript.session_id] = _entry(transcript, result)
            elif result.foreign is not None:
                ledger.unusable[str(transcript.path)] = (transcript.size, transcript.mtime)
            if witness is not None and result.seen is not None:
                witness.hear(transcript, result.seen)
        _index(layout, ledger, rows, changed=bool(stale))
        return InscribeReport([_said(ledger, t, done, doubles) for t in transcripts])


def _said(
    ledger: Ledger, transcript: Transcript, done: dict[Path, Inscribed], doubles: dict[Path, Path]
) -> Inscribed:
    if transcript.path in doubles:
        problem = f"the same session id as {doubles[transcript.path]}"
        return Inscribed(transcript, "duplicate", problem=problem)
    if transcript.path in done:
        return done[transcript.path]
    return Inscribed(transcript, "unusable" if ledger.is_unusable(transcript) else "unchanged")


def doubles_of(ledger: Ledger, transcripts: Sequence[Transcript]) -> dict[Path, Path]:
    """Files whose id another file has too → that file: the one inscribed, else the larger."""
    chosen: dict[str, Transcript] = {}
    for transcript in transcripts:
        rival = chosen.get(transcript.session_id)
        entry = ledger.sessions.get(transcript.session_id)
        known = entry.source if entry is not None else None
        if (
            rival is None
            or str(transcript.path) == known
            or (str(rival.path) != known and transcript.size > rival.size)
        ):
            chosen[transcript.session_id] = transcript
    return {
        transcript.path: chosen[transcript.session_id].path
        for transcript in transcripts
        if chosen[transcript.session_id].path != transcript.path
    }


def _is_current(ledger: Ledger, transcript: Transcript, ended: bool) -> bool:
    """Whether the source is as it was when it was last read; only its first bytes are looked at."""
    if ledger.is_unusable(transcript):
        return True
    entry = ledger.sessions.get(transcript.session_id)
    if entry is None or entry.source != str(transcript.path):
        return False
    if (entry.size, entry.mtime) != (transcript.size, transcript.mtime):
        return False
    if entry.waiting and (ended or not is_live(transcript)):
        return False
    source = SOURCES[transcript.source]
    try:
        return entry.head == fingerprint(
            transcript.path, entry.size
        ) and entry.beside == source.beside(transcript.path)
    except OSError:
        return False  # the reading will say what is wrong


def _inscribe_one(
    layout: Layout,
    roster: Roster,
    transcript: Transcript,
    entry: Entry | None,
    ended: bool,
    witness: Witness | None,
) -> _Done:
    seen, engagements = None, None
    document = layout.document(entry.agent_id, transcript.session_id) if entry else None
    try:
        head = fingerprint(transcript.path, transcript.size)
        if entry is not None and _is_another(entry, transcript):
            return _Done(problem=f"another transcript of this id is inscribed: {entry.source}")
        beside = SOURCES[transcript.source].beside(transcript.path)
        if witness is None:
            reading, behind = reading_on(layout, transcript, entry)
        else:
            reading, behind = open_transcript(transcript), 0
        rounds = list(reading.rounds())
        if reading.report.foreign:
            return _Done(foreign=reading.report.foreign)
        info = reading.info()
        identity = identify(info, roster)
        agent_id = entry.agent_id if entry is not None else agent_id_of(identity.role)
        if witness is not None:
            seen, engagements = witness.see(transcript, agent_id, info, identity, rounds)
        live = not ended and (is_live(transcript) or _awaits_a_tool(transcript, rounds))
        published = rounds[: reading.closed - behind] if live else rounds
        waiting = len(rounds) - len(published)
        if not published and not behind:
            return _Done(waiting=waiting, seen=seen)
        document = layout.document(agent_id, transcript.session_id)
        header = header_of(info, identity, published, agent_id, str(transcript.path))
        agents = list(reading.subagents())
        result = publish(layout, header, published, agents, behind=behind, engagements=engagements)
        in_step = waiting and not result.strange and result.rounds == behind + len(published)
        keep_checkpoint(layout, result, reading.checkpoint if in_step else None)
        return _Done(result, waiting, head, beside, seen=seen)
    except OSError as error:
        problem = f"{error.filename or transcript.path}: {reason_of(error)}"
    except (Broken, Conflict) as error:
        problem = str(error)
    except Malformed as error:
        problem = f"{document}: {error}"
    return _Done(problem=problem, seen=seen)


def reading_on(layout: Layout, transcript: Transcript, entry: Entry | None) -> tuple[Reading, int]:
    """A reading that goes on where the last one ended (behind so many rounds), or a full one."""
    if entry is not None and entry.source == str(transcript.path):
        blob = checkpoint_of(layout, entry)
        if blob is not None and fingerprint(transcript.path, entry.size) == entry.head:
            resumed = SOURCES[transcript.source].resume(transcript.path, blob)
            if resumed is not None:
                return resumed, entry.rounds
    return open_transcript(transcript), 0


def _is_another(entry: Entry, transcript: Transcript) -> bool:
    """Whether a file at another place than the inscribed one is not that file, moved."""
    if entry.source == str(transcript.path) or not entry.head:
        return False
    return fingerprint(transcript.path, entry.size) != entry.head


def _awaits_a_tool(transcript: Transcript, rounds: list[Round]) -> bool:
    """A long build, a question of permission: the last call may still be answered."""
    if not rounds or all(call.result is not None for call in rounds[-1].calls):
        return False
    # A file may be young because it was copied; what is in it tells its real age.
    last = instant(rounds[-1].ended)
    moment = min(transcript.mtime, last.timestamp() if last is not None else 0.0)
    return time.time() - moment < UNANSWERED_SECONDS


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
        published.gone if not result.waiting else 0,
    )


def _entry(transcript: Transcript, result: _Done) -> Entry:
    assert result.published is not None
    entry = Entry.of(result.published.header)
    entry.rounds = result.published.rounds
    entry.waiting = result.waiting
    entry.source = str(transcript.path)
    entry.size, entry.mtime = transcript.size, transcript.mtime
    entry.head, entry.beside = result.head, result.beside
    return entry


def _index(layout: Layout, ledger: Ledger, new: list[RoundRow], *, changed: bool) -> None:
    """The cross-session database, the index files and the ledger, in that order.

    The ledger comes last: with it, the next run has nothing to do.
    """
    expected = sum(entry.rounds for entry in ledger.sessions.values())
    held = count_rows(layout.database)
    if held + len(new) != expected:
        # Gone, truncated, or from a run that was killed: from the documents.
        for session_id, rounds in rebuild_sessions_database(layout).items():
            if session_id in ledger.sessions:
                ledger.sessions[session_id].rounds = rounds
    elif new:
        with open_database(layout.database) as database:
            put_rows(database, new)
            apply_tags(layout, database, {row.session_id for row in new})
    if changed or held + len(new) != expected:
        write_indexes(layout, ledger.sessions.values())
        save_ledger(layout, ledger)
