"""The digests of every session there is: kept ones where they are current, else made now.

Archived sessions are read from their rounds, a living one with the tail of its transcript, one
that is not archived from its transcript alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.session import current_transcript
from minutebook.archive.sessions import has_grown
from minutebook.derive.usage.digest import Digest
from minutebook.errors import NotFound
from minutebook.record.facts import read_facts
from minutebook.record.ledger import Entry, Ledger
from minutebook.record.usage import read_digest, stamp_of, write_digest
from minutebook.sources.base import Transcript
from minutebook.sources.fan_out import fan_out
from minutebook.sources.library import open_transcript
from minutebook.sources.registry import SOURCES

NOTHING_KEPT: Mapping[str, Digest] = {}
_decoder = msgspec.msgpack.Decoder(Digest)


class _Missing(msgspec.Struct, frozen=True):
    """A session whose digest has to be made."""

    session_id: str
    stamp: str
    size: int
    transcript: Transcript | None
    """Where it is to be read from alone; None for what is archived."""


def digests(
    archive: Archive,
    only: Collection[str] | None = None,
    *,
    even: str | None = None,
    meanwhile: Callable[[], object] | None = None,
    kept: Mapping[str, Digest] = NOTHING_KEPT,
) -> dict[str, Digest]:
    """What each session holds, by its id, of all or of some; `meanwhile` is done while other
    processes read. Those that somebody `kept` in memory are not read again while they are
    current. While another process ingests, what is not archived yet counts once that process kept
    its digest; but `even` one session is read: all of them would be read twice, and a page would
    wait for them.
    """
    if archive.remote is not None:
        return archive.remote.digests(only)
    wanted, ledger = sorted(archive.ids() if only is None else only), archive.ledger()
    found: dict[str, Digest] = {}
    missing: list[_Missing] = []
    for id in wanted:
        item = _item(archive, ledger, id)
        if item is None:
            continue
        ingested = archive.growing and item.transcript is not None and id != even
        known = kept.get(id)
        if known is None or not (ingested or known.stamp == item.stamp):
            known = read_digest(archive.layout, id, None if ingested else item.stamp)
        if known is not None:
            found[id] = known
        elif not ingested:
            missing.append(item)
    for item, packed in fan_out(partial(_packed, archive), missing, meanwhile=meanwhile):
        if packed:
            found[item.session_id] = _decoder.decode(packed)
    return {id: found[id] for id in wanted if id in found}


def digest_of(archive: Archive, session_id: str) -> Digest | None:
    """What one session holds; None where nothing but its minutes is left."""
    if archive.remote is not None:
        return archive.remote.digests((session_id,)).get(session_id)
    item = _item(archive, archive.ledger(), session_id)
    if item is None:
        return None
    known = read_digest(archive.layout, session_id, item.stamp)
    if known is None and (packed := _packed(archive, item)):
        known = _decoder.decode(packed)
    return known


def _item(archive: Archive, ledger: Ledger, id: str) -> _Missing | None:
    """A session as its digest would have to be made; None where there is nothing to read."""
    entry, transcript = ledger.sessions.get(id), archive.transcript(id)
    if entry is None and (transcript is None or ledger.is_unusable(transcript)):
        return None  # only its minutes are left, or it is not a transcript
    size = transcript.size if transcript is not None else max(0, entry.size if entry else 0)
    alone = transcript if entry is None else None
    return _Missing(id, state_of(entry, transcript), size, alone)


def state_of(entry: Entry | None, transcript: Transcript | None) -> str:
    """What a session was like when it was read: another state means that it has changed."""
    if entry is not None and (transcript is None or not has_grown(entry, transcript)):
        return stamp_of(entry)
    assert transcript is not None
    now = current_transcript(transcript) or transcript
    beside = SOURCES[transcript.source].beside(transcript)
    archived = entry.rounds if entry is not None else 0
    return f"living {archived} {now.size} {now.mtime} {beside}"


def _packed(archive: Archive, item: _Missing) -> bytes:
    """A digest as it travels between processes; nothing where the session cannot be read."""
    try:
        if item.transcript is not None:
            made, whole = _of_transcript(item.transcript, item.stamp), True
        else:
            made, whole = _of_archived(archive, item)
    except (OSError, NotFound, RecursionError):
        return b""
    if made is None:
        return b""
    if whole and archive.keeps_findings:
        write_digest(archive.layout, item.session_id, made)
    return msgspec.msgpack.encode(made)


def _of_transcript(transcript: Transcript, stamp: str) -> Digest | None:
    """Of a session that is not archived; None where the file is not a transcript after all."""
    from minutebook.derive.usage.digesting import Digesting

    reading = open_transcript(transcript)
    digesting = Digesting(transcript.session_id)
    for round in reading.rounds():
        digesting.add(round)
    if reading.report.foreign:
        return None
    for agent in reading.subagents():
        digesting.add_agent(agent.call_id, agent.rounds)
    digesting.add_loose(reading.loose)
    return digesting.digest(stamp, reading.info(), told=True)


def _of_archived(archive: Archive, item: _Missing) -> tuple[Digest, bool]:
    """Of an archived session and its living tail; and whether all of it could be read."""
    from minutebook.derive.usage.digesting import Digesting

    id = item.session_id
    session = archive.open(id)
    digesting = Digesting(id)
    for round in session.stored_rounds():
        digesting.add(round)
    whole = not session.damaged
    for agent in session.subagents():
        try:
            digesting.add_agent(agent.call_id, session.stored_subagent(agent.id).rounds)
        except (NotFound, OSError):
            whole = False
    loose = session.living_loose
    if loose is None:
        try:
            loose = read_facts(archive.folder(id)).loose
        except (OSError, ValueError):
            whole = False
    if loose is not None:
        digesting.add_loose(loose)
    return digesting.digest(item.stamp, archive.ledger().sessions[id].info), whole
