"""The lineage of an archive's sessions: which comes from which (FUT-02).

A session is read once: what may tie it to others is kept (``search/traces.json``), and so are the
ties (``search/lineage.json``). Both are disposable. While no session changes, one small file is
read.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.masking import hidden
from minutebook.archive.minutes import Version, version_of
from minutebook.archive.sessions import has_grown
from minutebook.derive.delegating import subagent_id
from minutebook.derive.lineage import RULES, Known, copying, edges_of
from minutebook.derive.traces import VERSION, Trace, Tracer, trace_of
from minutebook.errors import MinutebookError
from minutebook.model import Round
from minutebook.model.lineage import Edge, Lineage, Node, components
from minutebook.record.store import make_folder, write_atomically
from minutebook.sources.fan_out import fan_out
from minutebook.sources.library import open_transcript
from minutebook.sources.registry import SOURCES

_PROGRAMS = tuple(sorted(source.program for source in SOURCES.values()))


T = TypeVar("T", bound=msgspec.Struct)


class _Kept(msgspec.Struct):
    """``traces.json``."""

    version: int = 0
    programs: tuple[str, ...] = ()
    sessions: dict[str, tuple[str, Trace]] = {}
    """State of a session when it was read, and its trace."""


class _Edges(msgspec.Struct):
    """``lineage.json``."""

    version: int = 0
    state: str = ""
    """Of all sessions; another one means that the edges are to be found again."""
    edges: tuple[Edge, ...] = ()
    agents: dict[str, str] = {}
    """What subagents were started for."""
    sessions: str = ""
    """Which sessions there were, however far each had come."""


class _Source(msgspec.Struct, frozen=True):
    """A session to be read, and how much work that is."""

    session_id: str
    size: int


class _Found(NamedTuple):
    """Edges in memory, and when they were last looked after."""

    edges: _Edges
    ledger: Version
    at: float


_known: WeakKeyDictionary[Archive, _Found] = WeakKeyDictionary()
_WHILE_GROWING = 30.0
"""Seconds for which a server's edges hold while transcripts only grow: every page asks for them."""
_SAME_SESSIONS = 3600.0
"""The same for whoever only needs to know copies: a session is one from its beginning, and an agent
that searches writes its own transcript meanwhile."""


def lineage(archive: Archive, session_id: str | None = None) -> Lineage:
    """All that is tied to something, or a session with all it is tied to; as may be shown."""
    found = _current(archive, while_growing=0.0)
    groups = components((edge.older, edge.newer) for edge in found.edges)
    if session_id is None:
        return _told(archive, found, set[str]().union(*groups))
    return _told(archive, found, next((g for g in groups if session_id in g), {session_id}))


def ties(archive: Archive) -> tuple[Edge, ...]:
    """All edges, with their secrets; nothing that leaves the archive."""
    return _current(archive).edges


def known_ties(archive: Archive) -> tuple[Edge, ...]:
    """The edges that were found last: a list of sessions does not wait for new ones."""
    if archive.remote is not None:
        return archive.remote.edges()
    if (known := _known.get(archive)) is not None:
        return known.edges.edges
    kept = _written(archive)
    return kept.edges if kept is not None else ()


def purposes(archive: Archive) -> dict[str, str]:
    """What subagents were started for, by their ids, with its secrets."""
    return _current(archive).agents


def copies(archive: Archive) -> dict[str, set[str]]:
    """Sessions → those that hold messages of theirs: all are one conversation (UND-08)."""
    held = copying(_current(archive).edges)
    groups = components((edge.older, edge.newer) for edge in held if edge.shared)
    return {id: group - {id} for group in groups for id in group}


# -- found once, and kept


def tracer() -> Tracer:
    """For a session that is just read: its rounds pass by, and need not be read again."""
    return Tracer(_PROGRAMS)


def keep_traces(archive: Archive, found: Mapping[str, bytes]) -> None:
    """Keep what tracers made of sessions as they are in the archive now, packed."""
    if not found:
        return
    kept, decode = _kept(archive), msgspec.msgpack.Decoder(Trace).decode
    states = {id: state for id, state in _states(archive) if id in found}
    sessions = {id: (state, decode(found[id])) for id, state in states.items()}
    _keep(archive, {**kept.sessions, **sessions})


def _current(archive: Archive, *, while_growing: float = _SAME_SESSIONS) -> _Edges:
    """The edges; those that were found at most so many seconds ago hold while sessions grow."""
    if archive.remote is not None:
        return _Edges(edges=archive.remote.edges(), agents=archive.remote.agents())
    known, ledger = _known.get(archive), version_of(archive.layout.ledger)
    if archive.growing:  # finding them would read all that is being read just now, once more
        return known.edges if known is not None else _written(archive) or _Edges()
    now = time.monotonic()
    lasting = archive.patience is not None and known is not None and known.ledger == ledger
    if known is not None and lasting and now - known.at < _WHILE_GROWING:
        return known.edges
    states = dict(_states(archive))
    told = msgspec.json.encode((VERSION, RULES, _PROGRAMS, sorted(states.items())))
    state, sessions = _digest(told), _digest(msgspec.json.encode((VERSION, RULES, sorted(states))))
    kept = known.edges if known is not None else None
    if kept is None or kept.state != state:
        kept = _read(archive.layout.lineage, _Edges)
    grown = kept is not None and kept.sessions == sessions and _age(archive) < while_growing
    if kept is None or not (kept.state == state or grown):
        kept = msgspec.structs.replace(_found(archive, states, state), sessions=sessions)
        _write(archive, archive.layout.lineage, kept)
    _known[archive] = _Found(kept, ledger, now)
    return kept


def _written(archive: Archive) -> _Edges | None:
    """The edges that were found last, as they were written: other rules may have made them, but
    without them copies would be listed until somebody asks for new ones."""
    return _read(archive.layout.lineage, _Edges)


def _digest(told: bytes) -> str:
    return hashlib.sha256(told).hexdigest()[:32]


def _age(archive: Archive) -> float:
    """Seconds since edges were last found."""
    try:
        age = time.time() - archive.layout.lineage.stat().st_mtime
    except OSError:
        return float("inf")
    return age if age >= 0 else float("inf")  # clocks are set back


def _states(archive: Archive) -> Iterator[tuple[str, str]]:
    """Every session, and what says whether it has changed; files that are none are left out."""
    ledger = archive.ledger()
    entries = ledger.sessions
    for id in sorted(archive.ids()):
        entry, transcript = entries.get(id), archive.transcript(id)
        if entry is not None and (transcript is None or not has_grown(entry, transcript)):
            info = entry.info
            links = ",".join(f"{link.evidence}:{link.session_id}" for link in info.links)
            yield id, f"{entry.rounds} {info.started} {info.ended} {info.slug} {links}"
        elif transcript is not None and not ledger.is_unusable(transcript):
            yield id, f"{transcript.size} {transcript.mtime}"


def known_sessions(archive: Archive) -> list[Known]:
    """What the lineage of all sessions is found from."""
    return _sessions(archive, dict(_states(archive)))


def _sessions(archive: Archive, states: Mapping[str, str]) -> list[Known]:
    found: list[Known] = []
    for id, trace in _traces(archive, states).items():
        with suppress(MinutebookError):  # deleted just now, or not a transcript after all
            found.append(Known(archive.stored_summary(id).info, trace))
    return found


def _found(archive: Archive, states: Mapping[str, str], state: str) -> _Edges:
    known = _sessions(archive, states)
    agents = {
        subagent_id(one.info.id, agent): purpose
        for one in known
        for agent, (_, purpose) in one.trace.agents.items()
    }
    return _Edges(VERSION, state, tuple(edges_of(known)), agents)


def _traces(archive: Archive, states: Mapping[str, str]) -> dict[str, Trace]:
    """The trace of each session; only those that changed are read."""
    kept = _kept(archive)
    found = {
        id: kept.sessions[id]
        for id, state in states.items()
        if id in kept.sessions and kept.sessions[id][0] == state
    }
    entries = archive.ledger().sessions
    changed = [
        _Source(id, max(entries[id].size, 0) if id in entries else _size(archive, id))
        for id in states
        if id not in found
    ]
    decode = msgspec.msgpack.Decoder(Trace).decode
    for source, packed in fan_out(partial(_packed, archive), changed):
        if packed:
            found[source.session_id] = (states[source.session_id], decode(packed))
    if changed or found.keys() != kept.sessions.keys():
        _keep(archive, found)
    return {id: trace for id, (_, trace) in sorted(found.items())}


def _kept(archive: Archive) -> _Kept:
    """The traces there are; none where others than today's rules made them."""
    kept = _read(archive.layout.traces, _Kept) or _Kept()
    return kept if (kept.version, kept.programs) == (VERSION, _PROGRAMS) else _Kept()


def _keep(archive: Archive, found: Mapping[str, tuple[str, Trace]]) -> None:
    kept = _Kept(VERSION, _PROGRAMS, dict(sorted(found.items())))
    _write(archive, archive.layout.traces, kept)


def _size(archive: Archive, id: str) -> int:
    transcript = archive.transcript(id)
    return transcript.size if transcript is not None else 0


def _packed(archive: Archive, source: _Source) -> bytes:
    """A trace as it travels between processes; empty where the session cannot be read."""
    try:
        trace = trace_of(_rounds(archive, source.session_id), _PROGRAMS)
    except (OSError, MinutebookError, RecursionError):
        return b""
    return msgspec.msgpack.encode(trace)


def _rounds(archive: Archive, session_id: str) -> Iterable[Round]:
    """The rounds of a session, one at a time."""
    if session_id not in archive.ledger().sessions:
        transcript = archive.transcript(session_id)
        if transcript is not None:
            return open_transcript(transcript).rounds()
    return archive.open(session_id).stored_rounds()


def _read(path: Path, kind: type[T]) -> T | None:
    """What is kept; None where there is nothing, or nothing that can be used."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, RecursionError):
        return None


def _write(archive: Archive, path: Path, value: msgspec.Struct) -> None:
    """Keep something for the next time."""
    if archive.keeps_findings:
        with suppress(OSError):
            make_folder(path.parent)
            write_atomically(path, msgspec.json.encode(value) + b"\n")


# -- as may be shown


def _told(archive: Archive, found: _Edges, ids: set[str]) -> Lineage:
    nodes = sorted((_node(archive, found, id) for id in ids), key=lambda n: (n.started or "", n.id))
    edges = [edge for edge in found.edges if edge.older in ids]
    places = {node.id: at for at, node in enumerate(nodes)}
    edges.sort(key=lambda edge: (places[edge.older], places[edge.newer]))
    return Lineage(
        nodes=tuple(hidden(node, archive.hide) for node in nodes),
        edges=tuple(hidden(edge, archive.hide) for edge in edges),
    )


def _node(archive: Archive, found: _Edges, id: str) -> Node:
    if id in found.agents:
        return Node(id=id, type="subagent", name=found.agents[id])
    try:
        summary = archive.stored_summary(id)
    except MinutebookError:
        return Node(id=id, type="missing")
    info = summary.info
    return Node(
        id=id,
        name=summary.name,
        program=summary.program,
        project=info.project,
        started=info.started,
        ended=info.ended,
        rounds=info.rounds,
    )
