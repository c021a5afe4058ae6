"""Which sessions another one started: subagents, and agents called by a command (FUT-02)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from minutebook.derive.continuing import Session
from minutebook.derive.traces import Launch
from minutebook.model.lineage import Edge, Evidence

_SLACK = 5.0
_LONGEST = 3_600.0
"""Seconds after which a command whose end is not known has started nothing more."""
_LEAST, _COMPARED = 8, 300  # characters of a prompt
_NOT_WORDS = re.compile(r"[\\\"'`\s]+")
_QUOTED = 160


def subagent_id(session_id: str, agent_id: str) -> str:
    """A subagent as a lineage names it: its id alone need not be unique."""
    return f"{session_id}/{agent_id}"


def subagents(session: Session) -> Iterator[Edge]:
    """Edges to the subagents of a session, by the calls that started them."""
    for agent_id, (number, _) in session.trace.agents.items():
        yield Edge(
            older=session.id,
            newer=subagent_id(session.id, agent_id),
            kind="delegated",
            recorded=True,
            confidence=1.0,
            evidence=(Evidence(what="call", text=agent_id, older=number),),
        )


def launched(sessions: Iterable[Session]) -> Iterator[Edge]:
    """Edges to sessions that a command of another one started."""
    known = list(sessions)
    starts = [(launch, session) for session in known for launch in session.trace.launches]
    if not starts:
        return
    for session in known:
        found = [
            (sure, other.id, launch)
            for launch, other in starts
            if other.id != session.id and (sure := _confidence(launch, other, session))
        ]
        if found:
            sure, older, launch = max(found, key=lambda item: (item[0], item[2].at, item[1]))
            yield Edge(
                older=older,
                newer=session.id,
                kind="delegated",
                recorded=False,
                confidence=sure,
                evidence=(
                    Evidence(
                        what="call",
                        text=" ".join(launch.command.split())[:_QUOTED],
                        older=launch.round,
                        newer=session.trace.first_round,
                    ),
                ),
            )


def _confidence(launch: Launch, other: Session, session: Session) -> float:
    until = launch.until or launch.at + _LONGEST
    if not launch.at or not launch.at - _SLACK <= session.started <= until + _SLACK:
        return 0.0
    asked = _bare(session.trace.first)[:_COMPARED]
    if len(asked) >= _LEAST and asked in _bare(launch.command):
        return 0.95
    # The prompt may come from a file or a pipe: then all of it happened while the command ran.
    inside = bool(launch.until) and session.ended <= launch.until + _SLACK
    same_place = bool(set(session.trace.cwds) & set(other.trace.cwds))
    return 0.8 if inside and same_place and len(session.trace.rounds) == 1 else 0.0


def _bare(text: str) -> str:
    """A text without what a shell makes of quotes and line ends."""
    return _NOT_WORDS.sub(" ", text).strip().lower()
