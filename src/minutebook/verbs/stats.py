"""Counts over engagements: by method, project, agent, program, phase, day (SRCH-09)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.finding import search
from minutebook.archive.folding import hidden_once, once
from minutebook.archive.passing import ghosts_of, matching
from minutebook.archive.projects import of_project
from minutebook.derive.times import instant
from minutebook.errors import BadArgument
from minutebook.index.query import Query
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.session import project_of
from minutebook.sources.registry import SOURCES

_MOST = 100_000


class Stats(msgspec.Struct, frozen=True):
    sessions: int
    engagements: int
    decisions: int
    methods: dict[str, int]
    projects: dict[str, int]
    agents: dict[str, int]
    """By the persona's name."""
    programs: dict[str, int]
    """By the coding agent that held the conversation."""
    phases: dict[str, int]
    days: dict[str, int]
    """By date, oldest first; days without any are not among them."""
    ghosts_hidden: int = 0
    """Sessions that never reached substantive work, and are not counted."""
    copies_hidden: int = 0
    """Engagements of copied conversations, which count once."""
    hidden: int = 0
    """Engagements that a person hid, and that are not counted."""


def stats(archive: Archive, query: Query) -> Stats:
    """What there is, of what passes the filters and has the words of a query."""
    wanted: set[tuple[str, str]] | None = None
    query = msgspec.structs.replace(query, filters=of_project(archive, query.filters))
    if not query.is_empty:
        answer = search(archive, query, where="engagements", mode="lexical", limit=_MOST)
        wanted = {(hit.session_id, hit.engagement.id) for hit in answer.hits if hit.engagement}
    if query.filters.of_rounds:
        raise BadArgument(
            "Statistics count engagements: filters on rounds (command, error, budget) "
            "do not apply.",
            remedy="no-round-filters",
        )
    records = archive.records()
    found: Iterable[tuple[SessionRecord, Engagement]] = (
        (record, engagement)
        for record, engagement in matching(records, query.filters)
        if wanted is None or (record.session_id, engagement.id) in wanted
    )
    copies = 0
    if not query.filters.copies:
        found, copies = once(archive, found)
    if wanted is not None:
        return tally(found, 0, copies)
    ghosts = ghosts_of(records, query.filters)
    hidden = hidden_once(archive, records, query.filters)
    return tally(found, len(ghosts), copies, hidden)


def tally(
    pairs: Iterable[tuple[SessionRecord, Engagement]], ghosts: int, copies: int = 0, hidden: int = 0
) -> Stats:
    """Every front end's numbers: of these engagements."""
    sessions: set[str] = set()
    counts: dict[str, Counter[str]] = {
        name: Counter() for name in ("methods", "projects", "agents", "programs", "phases", "days")
    }
    total = decisions = 0
    for record, engagement in pairs:
        sessions.add(record.session_id)
        total += 1
        decisions += len(engagement.key_decisions)
        counts["methods"][engagement.method] += 1
        counts["projects"][project_of(engagement.project or record.cwd or "")] += 1
        counts["agents"][record.agent_name or "(no name)"] += 1
        counts["programs"][SOURCES.program_of(record.source)] += 1
        counts["phases"][engagement.phase] += 1
        counts["days"][_day(engagement.started or record.started)] += 1
    ordered = {name: dict(counter.most_common()) for name, counter in counts.items()}
    ordered["days"] = dict(sorted(ordered["days"].items()))
    return Stats(
        sessions=len(sessions),
        engagements=total,
        decisions=decisions,
        methods=ordered["methods"],
        projects=ordered["projects"],
        agents=ordered["agents"],
        programs=ordered["programs"],
        phases=ordered["phases"],
        days=ordered["days"],
        ghosts_hidden=ghosts,
        copies_hidden=copies,
        hidden=hidden,
    )


@lru_cache(maxsize=100_000)
def _day(timestamp: str | None) -> str:
    moment = instant(timestamp)
    return f"{moment:%Y-%m-%d}" if moment else "undated"
