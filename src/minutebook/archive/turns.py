"""Turn pairs of every session, newest session first: what was asked and what was answered."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from datetime import datetime

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.masking import hidden
from minutebook.archive.refreshing import words_of
from minutebook.archive.sessions import has_grown
from minutebook.derive.times import instant
from minutebook.derive.titles import is_opening
from minutebook.derive.turn_pairs import TurnMetadata, TurnPair, turn_pairs
from minutebook.index.entry import seconds
from minutebook.index.update import State
from minutebook.model import Round, SessionInfo, Text
from minutebook.sources.library import open_transcript


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A session that may have turns to read, by what is known without reading it."""

    session_id: str
    at: float
    """Its last activity, in seconds since the epoch."""
    state: State
    """Another state means that it must be read again."""
    size: int
    cwds: tuple[str, ...] | None = None
    """Where it worked; None where only reading it tells."""


class SessionTurns(msgspec.Struct, frozen=True):
    """The turns of one session as they may be shown; no folder where it is not a transcript."""

    cwds: tuple[str, ...] | None
    pairs: list[TurnPair]


def candidates(
    archive: Archive, *, since: datetime | None = None, only_present: bool = False
) -> list[Candidate]:
    """Sessions by their last activity, newest first; nothing is read for it.

    With `only_present`, sessions whose transcripts are gone are left out.
    """
    entries = archive.ledger().sessions
    transcripts = archive.chosen_transcripts(archive.library.transcripts)
    found: list[Candidate] = []
    for id in archive.ids():
        entry, transcript = entries.get(id), transcripts.get(id) or archive.transcript(id)
        if transcript is not None and (entry is None or has_grown(entry, transcript)):
            state = (transcript.location, transcript.size, transcript.mtime)
            found.append(
                Candidate(session_id=id, at=transcript.mtime, state=state, size=transcript.size)
            )
        elif entry is not None and (transcript is not None or not only_present):
            called = hashlib.sha256((entry.info.title or "").encode("utf-8", "replace"))
            found.append(
                Candidate(
                    session_id=id,
                    at=seconds(entry.info.ended) or entry.mtime,
                    state=(f"archive:{called.hexdigest()[:16]}", entry.rounds, 0.0),
                    size=max(entry.size, 0),
                    cwds=entry.info.cwds,
                )
            )
    earliest = since.timestamp() if since is not None else float("-inf")
    newest = [candidate for candidate in found if candidate.at >= earliest]
    return sorted(newest, key=lambda candidate: (-candidate.at, candidate.session_id))


def session_turns(archive: Archive, session_id: str) -> SessionTurns:
    """All turns of a session, without secrets."""
    info, rounds = _read(archive, session_id)
    if info is None:
        return SessionTurns(None, [])
    pairs = [hidden(pair, archive.hide) for pair in turn_pairs(_titled(info, rounds), rounds)]
    return SessionTurns(info.cwds, pairs)


def _titled(info: SessionInfo, rounds: list[Round]) -> SessionInfo:
    """A session without its title where that only is the beginning of its first prompt."""
    first = next((round.prompt for round in rounds if round.prompt is not None), None)
    if first is None or not is_opening(info.title, first.said):
        return info
    return msgspec.structs.replace(info, title=None)


def in_projects(cwds: Collection[str] | None, projects: Collection[str] | None) -> bool:
    """Whether a session worked in a folder whose path contains one of some texts, in any case."""
    if cwds is None or projects is None:
        return cwds is not None
    where = [cwd.lower() for cwd in cwds]
    return any(part.lower() in cwd for part in projects for cwd in where)


def in_window(metadata: TurnMetadata, since: datetime | None) -> bool:
    """Whether a turn is of a moment or later; one without a time counts as recent."""
    when = instant(metadata.timestamp) if since is not None else None
    return since is None or when is None or when >= since


def turns(
    archive: Archive,
    *,
    since: datetime | None = None,
    projects: Collection[str] | None = None,
    most: int | None = None,
    only_present: bool = False,
) -> Iterator[TurnPair]:
    """Turn pairs as they may be shown; a session is read when it is its turn.

    `projects` are parts of working directories, `most` is a number of sessions.
    """
    taken = 0
    for candidate in candidates(archive, since=since, only_present=only_present):
        if most is not None and taken >= most:
            return
        if candidate.cwds is not None and not in_projects(candidate.cwds, projects):
            continue
        try:
            found = session_turns(archive, candidate.session_id)
        except OSError:
            continue  # deleted just now
        if in_projects(found.cwds, projects):
            taken += 1
            yield from (pair for pair in found.pairs if in_window(pair.metadata, since))


def _read(archive: Archive, session_id: str) -> tuple[SessionInfo | None, list[Round]]:
    """A session and the words and usage of its rounds."""
    transcript = archive.transcript(session_id)
    if session_id in archive.ledger().sessions or transcript is None:
        return words_of(archive, session_id)
    # In full: a skim passes over what the replies used.
    reading = open_transcript(transcript)
    rounds = [words_only(round) for round in reading.rounds()]
    return (None, []) if reading.report.foreign else (reading.info(), rounds)


def words_only(round: Round) -> Round:
    """A round without what tools did, so that a session of any size can be held."""
    messages = []
    for message in round.messages:
        texts = tuple(block for block in message.blocks if isinstance(block, Text))
        if not texts and message.is_real:
            texts = (Text(""),)  # a picture is a prompt, too
        messages.append(msgspec.structs.replace(message, blocks=texts))
    return msgspec.structs.replace(round, messages=tuple(messages))
