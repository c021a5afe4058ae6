"""Read a session, or some rounds of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from minutebook.record.blocks import Malformed
from minutebook.record.layout import Layout
from minutebook.record.reading import info_of, read_inscription, read_subagents
from minutebook.derive.identity import Identity, identify
from minutebook.errors import Conflict, NotFound
from minutebook.model import Roster, Round, SessionInfo, Subagent
from minutebook.sources.base import Reading
from minutebook.sources.library import Library, open_transcript
from minutebook.verbs.find import find_rounds, parse_address
from minutebook.verbs.find_inscription import find_inscription


class Shown(msgspec.Struct, frozen=True):
    """A session to be read: what it is, and the rounds asked for."""

    path: Path
    """Its transcript; or its inscription, where that is all there is left."""
    info: SessionInfo
    identity: Identity
    rounds: list[Round]
    subagents: list[Subagent]


def show(library: Library, roster: Roster, layout: Layout, address: str) -> Shown:
    """The session an address names, with the rounds it asks for."""
    try:
        transcript, wanted = find_rounds(library, roster, address)
    except NotFound as error:
        kept = _inscribed(layout, roster, address)
        if kept is None:
            raise error from None
        return kept
    reading = open_transcript(transcript)
    rounds = list(_wanted(reading, wanted))
    info = reading.info()
    if reading.report.foreign:
        raise NotFound(f"{transcript.path} cannot be shown: {reading.report.foreign}.")
    if wanted is not None and not rounds:
        raise _no_round(info, wanted)
    called = {call.id for round in rounds for call in round.calls}
    agents = [a for a in reading.subagents() if wanted is None or a.call_id in called]
    return Shown(transcript.path, info, identify(info, roster), rounds, agents)


def _inscribed(layout: Layout, roster: Roster, address: str) -> Shown | None:
    """The same from the archive, for a session whose transcript is gone."""
    name, wanted = parse_address(address)
    try:
        document = find_inscription(layout, name)
        inscription = read_inscription(document)
        agents = list(read_subagents(inscription))
    except NotFound:
        return None
    except Malformed as error:
        raise Conflict(f"{name} cannot be shown: {error}.") from None
    rounds = [r for r in inscription.rounds if wanted is None or r.number in wanted]
    info = info_of(inscription.header, len(inscription.rounds))
    if wanted is not None and not rounds:
        raise _no_round(info, wanted)
    called = {call.id for round in rounds for call in round.calls}
    agents = [a for a in agents if wanted is None or a.call_id in called]
    return Shown(document, info, identify(info, roster), rounds, agents)


def _no_round(info: SessionInfo, wanted: range) -> NotFound:
    return NotFound(
        f"Session {info.id[:8]} has {info.rounds} rounds; there is no round {wanted.start}."
    )


def _wanted(reading: Reading, wanted: range | None) -> Iterator[Round]:
    # All rounds are read even when few are wanted: only then is the metadata complete.
    for round in reading.rounds():
        if wanted is None or round.number in wanted:
            yield round
