"""Threads for programs: one shape for `--json` and the API (FUT-06)."""

from __future__ import annotations

from typing import Any

from minutebook.archive.archive import Archive
from minutebook.archive.passing import matching
from minutebook.archive.projects import of_project
from minutebook.archive.threads import Threads, threads
from minutebook.derive.threads import Key, Thread, is_one_name
from minutebook.derive.times import instant
from minutebook.derive.wording import plural
from minutebook.index.query import Filters
from minutebook.model.engagement import OPEN_PHASES
from minutebook.model.session import project_of


def passing_threads(archive: Archive, filters: Filters) -> list[Thread]:
    """Threads with an engagement that passes the filters, the newest first."""
    filters = of_project(archive, filters)
    passing = {(record.session_id, e.id) for record, e in matching(archive.records(), filters)}
    return [t for t in threads(archive).every if not passing.isdisjoint(t.members)]


def plain_thread(known: Threads, thread: Thread) -> dict[str, Any]:
    """A thread in short."""
    pairs = [known.pairs[key] for key in thread.members]
    days = [
        f"{moment:%Y-%m-%d}"
        for record, engagement in pairs
        for at in (engagement.started or record.started, engagement.ended)
        if (moment := instant(at)) is not None
    ]
    return {
        "id": thread.id,
        "named": thread.named,
        "topic": thread.topic,
        "project": thread.project,
        "projects": list(
            dict.fromkeys(project_of(e.project or record.cwd or "") for record, e in pairs)
        ),
        "sessions": len({key[0] for key in thread.members}),
        "engagements": len(thread.members),
        "started": min(days, default=""),
        "ended": max(days, default=""),
        "phase": pairs[-1][1].phase,
        "left_open": sum(engagement.phase in OPEN_PHASES for _, engagement in pairs[:-1]),
        "members": thread.members,
        "depends_on": [dependency.thread for dependency in thread.depends_on],
    }


def where_it_stands(told: dict[str, Any]) -> str:
    """A thread's phase, and what was left open on the way to it."""
    left: int = told["left_open"]
    return (
        f"{told['phase']}, {plural(left, 'earlier step')} left open" if left else str(told["phase"])
    )


def plain_member(
    archive: Archive, known: Threads, thread: Thread | None, key: Key, *, here: bool
) -> dict[str, Any]:
    """An engagement in its chain."""
    record, engagement = known.pairs[key]
    return {
        "session_id": record.session_id,
        "address": address_of(archive, known, key),
        "engagement": engagement,
        "here": here,
        "continues": thread.continues(key) if thread is not None else None,
        "said": thread is not None and is_one_name(engagement.said_thread, thread.id),
        "ties": [tie for tie in thread.ties if tie.later == key] if thread is not None else [],
    }


def plain_needs(known: Threads, thread: Thread) -> dict[str, Any]:
    """What a thread needs, and what needs it."""
    needed_by = known.needed_by(thread)
    return {
        "depends_on": thread.depends_on,
        "needed_by": [
            dependency
            for other in needed_by
            for dependency in other.depends_on
            if dependency.thread == thread.id
        ],
        "needed_by_threads": [other.id for other in needed_by],
    }


def address_of(archive: Archive, known: Threads, key: Key) -> str:
    """Where an engagement begins, as `show` takes it."""
    pair = known.pairs.get(key)
    return f"{archive.short(key[0])}#{pair[1].turn_range[0] if pair is not None else 1}"
