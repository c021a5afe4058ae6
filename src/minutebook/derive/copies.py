"""Which sessions are nothing but a copy of another: every prompt of theirs is in it (UND-08)."""

from __future__ import annotations

from collections.abc import Iterable

from minutebook.derive.genealogy import LEAST_ID
from minutebook.model import SessionInfo


def mere_copies(sessions: Iterable[SessionInfo]) -> dict[str, str]:
    """Sessions whose every prompt is in another one → the most complete that has them all.

    A fork with a prompt of its own is not a mere copy. Of two with the same prompts the one with
    more rounds, else the one that went on longer, stands for both.
    """
    held: dict[str, set[str]] = {}
    holders: dict[str, list[str]] = {}
    known: dict[str, SessionInfo] = {}
    for info in sessions:
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
    return found
