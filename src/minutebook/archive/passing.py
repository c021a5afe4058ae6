"""What passes filters, and where a search may look (SRCH-02 … SRCH-10, SRCH-17)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from minutebook.archive.programs import in_project, is_agent, within
from minutebook.derive.surfaces import SURFACES, Surface
from minutebook.errors import BadArgument
from minutebook.index.query import Filters
from minutebook.model.engagement import Engagement, SessionRecord

if TYPE_CHECKING:
    from minutebook.index.engine import Scope

_KINDS = {"turns": "turn", "engagements": "engagement"}
_WORK: dict[str, tuple[Surface, ...]] = {
    "tools": ("commands", "output", "errors"),
    "files": ("paths",),
    "thinking": ("thinking",),
    "subagents": ("subagents",),
}
PLACES = ("all", *_KINDS, *_WORK)


def parse_where(text: str) -> frozenset[str]:
    """``turns,tools`` as the places to look in."""
    found = frozenset(place.strip().lower() for place in text.split(",") if place.strip())
    if not found or found - set(PLACES):
        odd = ", ".join(sorted(found - set(PLACES))) or text
        raise BadArgument(f"'{odd}' is not a place to look in; choose from {', '.join(PLACES)}.")
    return found


def scope_of(
    records: dict[str, SessionRecord], filters: Filters, where: frozenset[str]
) -> Scope | None:
    """Where the engine may look; None where nothing can pass."""
    from minutebook.index.engine import Scope  # brings the whole engine along

    everywhere = "all" in where
    kinds = () if everywhere else tuple(_KINDS[place] for place in _KINDS if place in where)
    surfaces = tuple(s for place, own in _WORK.items() if place in where for s in own)
    about_turns = filters.tools is not None or filters.of_rounds
    if about_turns:
        if where == {"engagements"}:
            raise BadArgument(
                "That filter is about rounds, and only engagements are searched.", remedy="no-place"
            )
        kinds = ("turn",) if everywhere else tuple(kind for kind in kinds if kind == "turn")
    sessions: set[str] | None = None
    labelled = filters.method or filters.phase or filters.among is not None
    if labelled or filters.agent or filters.starred:
        # The turns know their own dates, projects, branches and models: those of a session, or
        # of where an engagement began, may be others.
        own = msgspec.structs.replace(
            filters, after=None, before=None, project=None, branch=None, model=None, hidden=True
        )
        sessions = {record.session_id for record, _ in matching(records, own)}
        if not labelled:
            whole = (r for r in records.values() if r.starred or not filters.starred)
            sessions |= {record.session_id for record in whole if passes(record, own)}
    if filters.sessions is not None:
        sessions = set(filters.sessions) if sessions is None else sessions & filters.sessions
    if sessions is not None and not sessions:
        return None
    return Scope(
        kinds,
        tuple(sorted(sessions)) if sessions is not None else None,
        said=everywhere or bool(kinds),
        surfaces=SURFACES if everywhere else surfaces,
    )


def matching(
    records: dict[str, SessionRecord], filters: Filters
) -> Iterator[tuple[SessionRecord, Engagement]]:
    """Engagements that pass all filters (SRCH-02 … SRCH-08)."""
    from minutebook.index.entry import seconds

    for record in records.values():
        if not passes(record, filters):
            continue
        for engagement in record.engagements:
            if engagement.hidden and not filters.hidden:
                continue
            if not suits(record, engagement, filters):
                continue
            if filters.branch and not within(filters.branch, *record.branches_of(engagement)):
                continue
            at = seconds(engagement.started or record.started)
            if filters.after is not None and at < filters.after:
                continue
            if filters.before is not None and at >= filters.before:
                continue
            if not in_project(filters, engagement.project or record.cwd):
                continue
            yield record, engagement


def suits(record: SessionRecord | None, engagement: Engagement | None, filters: Filters) -> bool:
    """Whether what an engagement covers, or what none does, has the labels that are asked for:
    method, phase, thread and star (SRCH-08)."""
    if filters.method and (engagement is None or engagement.method != filters.method):
        return False
    if filters.methods and (engagement is None or engagement.method not in filters.methods):
        return False
    if filters.phase and (engagement is None or engagement.phase != filters.phase):
        return False
    if filters.among is not None and (
        record is None
        or engagement is None
        or (record.session_id, engagement.id) not in filters.among
    ):
        return False
    return not filters.starred or is_starred(record, engagement)


def is_starred(record: SessionRecord | None, engagement: Engagement | None) -> bool:
    """Whether a person marked an engagement or its session with a star."""
    marked = engagement is not None and engagement.starred
    return marked or (record is not None and record.starred)


def is_hidden(record: SessionRecord | None, engagement: Engagement | None) -> bool:
    """Whether a person left an engagement or its session out of lists."""
    left_out = engagement is not None and engagement.hidden
    return left_out or (record is not None and record.hidden)


def passes(record: SessionRecord, filters: Filters) -> bool:
    """What can be said of a session as a whole; it is on the branches of its engagements."""
    if record.hidden and not filters.hidden:
        return False
    if filters.sessions is not None and record.session_id not in filters.sessions:
        return False
    if filters.agent and not is_agent(
        filters.agent, record.source, record.agent_name, record.agent_role, record.slug
    ):
        return False
    if filters.branch and not within(filters.branch, *record.branches):
        return False
    if filters.model and not within(filters.model, record.model):
        return False
    return not filters.session or record.session_id.startswith(filters.session)


def session_passes(record: SessionRecord, filters: Filters) -> bool:
    """Whether a session, rather than a piece of work in it, passes all filters."""
    of_work = filters.method or filters.phase or filters.among is not None
    if of_work:
        return any(True for _ in matching({record.session_id: record}, filters))
    return (
        passes(record, filters)
        and _in_time(record, filters)
        and (record.starred or not filters.starred)
        and in_project(filters, record.cwd, *(e.project for e in record.engagements))
    )


def hidden_of(
    records: dict[str, SessionRecord], filters: Filters
) -> list[tuple[SessionRecord, Engagement]]:
    """Engagements that pass but for being hidden by a person."""
    if filters.hidden:
        return []
    every = matching(records, msgspec.structs.replace(filters, hidden=True))
    return [pair for pair in every if pair[0].hidden or pair[1].hidden]


def ghosts_of(records: dict[str, SessionRecord], filters: Filters) -> list[SessionRecord]:
    """Sessions without engagements, of those that pass the filters; none has a method, a phase or
    a thread."""
    if filters.method or filters.phase or filters.among is not None:
        return []
    return [
        record
        for record in records.values()
        if record.ghost
        and passes(record, filters)
        and _in_time(record, filters)
        and in_project(filters, record.cwd, record.project)
        and (record.starred or not filters.starred)
    ]


def _in_time(record: SessionRecord, filters: Filters) -> bool:
    from minutebook.index.entry import seconds

    at = seconds(record.started)
    return (filters.after is None or at >= filters.after) and (
        filters.before is None or at < filters.before
    )
