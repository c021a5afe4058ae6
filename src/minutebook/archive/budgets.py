"""Context budgets: of one session from its rounds, of all sessions from the search index."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.finding import bring_up_to_date
from minutebook.archive.lineage import ties
from minutebook.archive.masking import hidden
from minutebook.archive.passing import session_passes
from minutebook.archive.projects import of_project
from minutebook.archive.remote import rows_of
from minutebook.archive.sessions import SessionSummary
from minutebook.derive.budget import NEAR, Budget, budget
from minutebook.derive.plain import one_line
from minutebook.errors import MinutebookError
from minutebook.index.query import Filters
from minutebook.sources.registry import SOURCES


class SessionBudget(msgspec.Struct, frozen=True, kw_only=True):
    """How full one session's window was."""

    session_id: str
    name: str
    source: str
    budget: Budget


class SessionPeak(msgspec.Struct, frozen=True, kw_only=True):
    """The same of one session among many."""

    session_id: str
    name: str
    at: str | None
    peak: float
    """The highest percentage of its rounds."""
    peak_round: int
    last: float
    """Of the last round that has one."""
    near: int
    """Rounds near capacity."""
    compactions: int


class CompactedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was compacted, whether or not its window is known."""

    session_id: str
    name: str
    at: str | None
    compactions: int
    peak: float | None
    """The highest percentage of its rounds; None where the limit is not known."""


class BudgetOverview(msgspec.Struct, frozen=True, kw_only=True):
    """How often work came near the limit."""

    sessions: int
    """Sessions that pass the filters."""
    known: int
    """Of those, the ones whose window is known."""
    came_near: int
    """Of the known ones, those with a round near capacity."""
    ended_near: int
    """Those whose last round was."""
    compacted: int
    """Sessions that were compacted at least once."""
    compactions: int
    copies_hidden: int
    """Copies of conversations, which are not counted."""
    engagements: int
    """Engagements whose last round has a percentage."""
    engagements_ended_near: int
    peaks: list[SessionPeak]
    """The fullest first."""
    most_compacted: list[CompactedSession]
    """Every session that was compacted, the most often first."""


def session_budget(archive: Archive, name: str) -> SessionBudget:
    """The context budget of the session that fits a name."""
    session_id = archive.resolve(name)
    summary = archive.summary(session_id)
    source = SOURCES.get(summary.info.source)
    windows = source.context_windows if source is not None else lambda _: ()
    found = SessionBudget(
        session_id=session_id,
        name=one_line(summary.name),
        source=summary.info.source,
        budget=budget(archive.open(session_id).stored_rounds(), windows),
    )
    return hidden(found, archive.hide)  # names of models come from the transcript


def budget_overview(archive: Archive, filters: Filters) -> BudgetOverview:
    """How often sessions came near the limit, and ended there; the index is brought up to date.

    A session is counted by its own facts: project, dates and so on are those of its start.
    """
    bring_up_to_date(archive)
    filters = of_project(archive, filters)
    ties(archive)  # so that the same sessions are copies as for a search
    listed = archive.sessions(ghosts=filters.ghosts, copies=True)
    summaries = {s.id: s for s in listed.sessions}
    cards = archive.cards()
    passing = {id for id in summaries if id in cards and session_passes(cards[id], filters)}
    copies = set[str]()
    if not filters.copies:
        copies = {id for id in passing if cards[id].copy_of} | archive.mere_copies(passing).keys()
    wanted = passing - copies
    filled = _filled(archive)
    peaks: list[SessionPeak] = []
    work = work_near = 0
    for id in wanted & filled.keys():
        rounds = filled[id]
        top = max(rounds, key=lambda number: (rounds[number], -number))
        summary = summaries[id]
        peaks.append(
            SessionPeak(
                session_id=id,
                name=one_line(summary.name),
                at=summary.info.ended or summary.info.started,
                peak=rounds[top] / 10,
                peak_round=top,
                last=rounds[max(rounds)] / 10,
                near=sum(_is_near(tenths) for tenths in rounds.values()),
                compactions=summary.info.compactions,
            )
        )
        for engagement in cards[id].engagements:
            last = [n for n in rounds if engagement.covers(n)]
            work += bool(last)
            work_near += bool(last) and _is_near(rounds[max(last)])
    peaks.sort(key=lambda item: (-item.peak, -item.compactions, item.session_id))
    compacted = _most_compacted([summaries[id] for id in wanted], peaks)
    return BudgetOverview(
        sessions=len(wanted),
        known=len(peaks),
        came_near=sum(item.near > 0 for item in peaks),
        ended_near=sum(item.last >= NEAR for item in peaks),
        compacted=len(compacted),
        compactions=sum(item.compactions for item in compacted),
        copies_hidden=len(copies),
        engagements=work,
        engagements_ended_near=work_near,
        peaks=peaks,
        most_compacted=compacted,
    )


def _most_compacted(
    summaries: Iterable[SessionSummary], peaks: Iterable[SessionPeak]
) -> list[CompactedSession]:
    fullest = {item.session_id: item.peak for item in peaks}
    found = [
        CompactedSession(
            session_id=summary.id,
            name=one_line(summary.name),
            at=summary.info.ended or summary.info.started,
            compactions=summary.info.compactions,
            peak=fullest.get(summary.id),
        )
        for summary in summaries
        if summary.info.compactions
    ]
    return sorted(found, key=lambda item: (-item.compactions, -(item.peak or 0), item.session_id))


def _is_near(tenths: int) -> bool:
    return tenths >= NEAR * 10


def peaks_of(archive: Archive, session_id: str) -> dict[int, float]:
    """Percentages of a session's rounds, as the index has them; none where there is no index."""
    try:
        filled = _filled(archive, session_id).get(session_id, {})
    except (MinutebookError, OSError):
        return {}
    return {round: tenths / 10 for round, tenths in filled.items()}


def _filled(archive: Archive, session_id: str | None = None) -> dict[str, dict[int, int]]:
    """Sessions → rounds → tenths of a percent, as the index has them."""
    found: dict[str, dict[int, int]] = {}
    with rows_of(archive) as rows:
        for id, round, tenths in rows.budgets(session_id):
            found.setdefault(id, {})[round] = tenths
    return found
