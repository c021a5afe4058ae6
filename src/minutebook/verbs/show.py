"""Read a session, or some rounds of it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from minutebook.derive.identity import Identity, identify
from minutebook.errors import NotFound
from minutebook.model import Roster, Round, SessionInfo, Subagent
from minutebook.sources.base import Reading, Transcript
from minutebook.sources.library import Library, open_transcript
from minutebook.verbs.find import find_rounds


class Shown(msgspec.Struct, frozen=True):
    """A session to be read: what it is, and the rounds asked for."""

    transcript: Transcript
    info: SessionInfo
    identity: Identity
    rounds: list[Round]
    subagents: list[Subagent]


def show(library: Library, roster: Roster, address: str) -> Shown:
    """The session an address names, with the rounds it asks for."""
    transcript, wanted = find_rounds(library, roster, address)
    reading = open_transcript(transcript)
    rounds = list(_wanted(reading, wanted))
    info = reading.info()
    if reading.report.foreign:
        raise NotFound(f"{transcript.path} cannot be shown: {reading.report.foreign}.")
    if wanted is not None and not rounds:
        raise NotFound(
            f"Session {transcript.session_id[:8]} has {info.rounds} rounds; "
            f"there is no round {wanted.start}."
        )
    called = {call.id for round in rounds for call in round.calls}
    agents = [a for a in reading.subagents() if wanted is None or a.call_id in called]
    return Shown(transcript, info, identify(info, roster), rounds, agents)


def _wanted(reading: Reading, wanted: range | None) -> Iterator[Round]:
    # All rounds are read even when few are wanted: only then is the metadata complete.
    for round in reading.rounds():
        if wanted is None or round.number in wanted:
            yield round
