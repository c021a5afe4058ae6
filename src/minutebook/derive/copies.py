"""Which sessions are nothing but a copy of another: every prompt of theirs is in it (UND-08)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from minutebook.derive.genealogy import LEAST_ID, waiting
from minutebook.model import SessionInfo

if TYPE_CHECKING:
    from minutebook.model.lineage import Edge


def mere_copies(sessions: Iterable[SessionInfo], edges: Iterable[Edge] = ()) -> dict[str, str]:
    """Sessions whose every prompt is in another one → the most complete that has them all.

    A fork with a prompt of its own is not a mere copy. Of two with the same prompts the one with
    more rounds, else the one that went on longer, stands for both. `edges` tell of copies that have
    other ids, if only for what waited in the queue at the end.
    """
    held: dict[str, set[str]] = {}
    holders: dict[str, list[str]] = {}
    known: dict[str, SessionInfo] = {}
    infos = {info.id: info for info in sessions}
    for info in infos.values():
        ids = info.prompt_ids
        if not ids or any(len(id) < LEAST_ID for id in ids):
            continue  # numbers, which all have, say nothing
        known[info.id], held[info.id] = info, set(ids)
        for id in held[info.id]:
            holders.setdefault(id, []).append(info.id)

    def rank(session_id: str) -> tuple[int, int, str, str]:
        info = known[session_id]
        return len(held[session_id]), info.rounds, info.ended or "", session_id

    found: dict[str, str] = {}
    for session_id, own in held.items():
        others = holders[next(iter(own))]
        if len(others) < 2:
            continue
        whole = [other for other in others if own <= held[other]]
        best = max(whole, key=rank)
        if best != session_id:
            found[session_id] = best
    for one, other in _under_other_ids(infos, edges):
        if one != (standing := _last(found, other)):
            found.setdefault(one, standing)
    return {id: _last(found, id) for id in found}


def _last(stands: Mapping[str, str], id: str) -> str:
    while id in stands:
        id = stands[id]
    return id


def _under_other_ids(
    infos: Mapping[str, SessionInfo], edges: Iterable[Edge]
) -> Iterator[tuple[str, str]]:
    """Sessions all of whose rounds another one has, as the lineage infers; and that one."""
    for edge in edges:
        older, newer = infos.get(edge.older), infos.get(edge.newer)
        if not edge.shared or older is None or newer is None:
            continue
        if len(edge.shared) >= newer.rounds and (not edge.recorded or _waits(newer, older)):
            yield newer.id, older.id
        elif edge.shared[-1] >= older.rounds and (not edge.recorded or _waits(older, newer)):
            yield older.id, newer.id


def _waits(one: SessionInfo, other: SessionInfo) -> bool:
    """Whether another session has every prompt of one by its id, but for what waited at its end."""
    ids = one.prompt_ids
    begun = len(ids) - waiting(ids)
    return 0 < begun < len(ids) and set(ids[:begun]) <= set(other.prompt_ids)
