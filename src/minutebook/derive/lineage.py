"""The lineage of sessions, put together: what transcripts record, and what follows (FUT-02)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from minutebook.derive.continuing import Session, continuing
from minutebook.derive.delegating import launched, subagents
from minutebook.derive.kinship import kinship
from minutebook.derive.traces import Trace, seconds
from minutebook.model import Link, SessionInfo
from minutebook.model.lineage import COPYING, Edge, EdgeKind, Evidence
from minutebook.model.session import project_of

RULES = 1
"""Of how edges are found; another one means that they are found again."""
_KINDS: dict[str, EdgeKind] = {
    "forkedFrom": "forks",
    "parentSessionId": "resumes",
    "sessionId": "resumes",
    "surgery": "copies",
}
"""What fields of transcripts say of the session they name."""


class Known(msgspec.Struct, frozen=True):
    """A session, as far as its lineage goes."""

    info: SessionInfo
    trace: Trace


def edges_of(sessions: Iterable[Known]) -> list[Edge]:
    """The ties of sessions, recorded ones and inferred ones; never in a circle.

    Of two that would close a circle the recorded one stays, else the surer one.
    """
    known = sorted(sessions, key=lambda one: (one.info.ended or "", one.info.id))
    traces = {one.info.id: one.trace for one in known}
    kin = _with_fields(kinship(traces, list(traces)), known)
    elsewhere = {edge.newer for edge in kin if edge.shared}
    views = [_view(one, one.info.id in elsewhere) for one in known]
    started = list(launched(views))
    tied = {frozenset((edge.older, edge.newer)) for edge in (*kin, *started)}
    tied |= _relatives(kin)
    going_on = [e for e in continuing(views) if frozenset((e.older, e.newer)) not in tied]
    given = [edge for view in views for edge in subagents(view)]
    return [*_acyclic([*kin, *started, *going_on]), *given]


def _view(known: Known, elsewhere: bool) -> Session:
    info = known.info
    return Session(
        id=info.id,
        trace=known.trace,
        project=project_of(info.cwd or ""),
        started=seconds(info.started),
        ended=seconds(info.ended),
        slug=info.slug,
        begins_elsewhere=elsewhere,
    )


def _relatives(edges: Iterable[Edge]) -> set[frozenset[str]]:
    """Sessions that took from the same one: none of them goes on with another."""
    children: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        children[edge.older].append(edge.newer)
    return {frozenset((one, other)) for own in children.values() for one in own for other in own}


# -- what fields say


def _with_fields(kin: Sequence[Edge], sessions: Iterable[Known]) -> list[Edge]:
    """Edges by shared history, and by the fields that name a session; one for each pair."""
    by_pair = {frozenset((edge.older, edge.newer)): edge for edge in kin}
    for one in sessions:
        for link in one.info.links:
            if link.evidence not in _KINDS or link.session_id == one.info.id:
                continue
            pair = frozenset((link.session_id, one.info.id))
            by_pair[pair] = _named(link, one.info.id, by_pair.get(pair))
    return list(by_pair.values())


def _named(link: Link, session_id: str, kin: Edge | None) -> Edge:
    """An edge that a field records; where messages are shared too, they say how many."""
    said = Evidence(what=link.evidence, text=link.session_id)
    turned = kin is not None and kin.newer != session_id
    if kin is not None and turned and kin.evidence[0].what in _KINDS:
        return kin  # each names the other: the first one counts
    kind = _KINDS[link.evidence]
    if kin is not None and not turned and link.evidence != "forkedFrom":
        kind = kin.kind
    return Edge(
        older=link.session_id,
        newer=session_id,
        kind=kind,
        recorded=True,
        confidence=1.0,
        evidence=(said, *(kin.evidence if kin is not None and not turned else ())),
        shared=kin.shared if kin is not None and not turned else (),
    )


# -- no circles


def _acyclic(edges: Sequence[Edge]) -> Iterator[Edge]:
    below: dict[str, list[str]] = defaultdict(list)
    order = sorted(edges, key=lambda e: (not e.recorded, -e.confidence, e.older, e.newer))
    for edge in order:
        if edge.older != edge.newer and not _leads(below, edge.newer, edge.older):
            below[edge.older].append(edge.newer)
            yield edge


def _leads(below: dict[str, list[str]], start: str, end: str) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        for other in below.get(waiting.pop(), ()):
            if other == end:
                return True
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return False


def copying(edges: Iterable[Edge]) -> Iterator[Edge]:
    """The edges along which history was copied."""
    return (edge for edge in edges if edge.kind in COPYING)
