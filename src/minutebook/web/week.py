"""The latest week with work, in a few lines: what, by whom, what came of it, what it cost, and
what was decided. Whoever opens the page knows it within seconds (VIEW-16).
"""

from __future__ import annotations

import time
from collections import Counter

import msgspec

from minutebook.derive.usage.figures import Figures
from minutebook.derive.wording import plural
from minutebook.sources.registry import SOURCES
from minutebook.verbs.decisions import Decision, decisions
from minutebook.web import axis
from minutebook.web.board import Boards, Row
from minutebook.web.pages import project_of
from minutebook.web.ranges import range_words
from minutebook.web.selection import Selection
from minutebook.web.timeline import NO_PROJECT

_MOST = 5
_MOST_NAMED = 4


class Project(msgspec.Struct, frozen=True):
    name: str
    active: int
    count: int


class Piece(msgspec.Struct, frozen=True):
    """Engagements of one topic in one project: they are told once."""

    row: Row
    """The one that took longest."""
    times: int
    active: int


class Week(msgspec.Struct, frozen=True):
    """What the home page says of it."""

    title: str
    words: str
    after: int
    before: int
    sessions: int
    engagements: int
    projects: list[Project]
    more_projects: int
    people: list[str]
    """Names of agents; of coding agents, where no session has one."""
    more_people: str
    """How many are not named: ``2 more agents``."""
    figures: Figures | None
    pieces: list[Piece]
    """What took longest."""
    told: int
    """How many engagements these are."""
    decided: list[Decision]
    decisions: int


def week_of(boards: Boards) -> Week | None:
    """The seven days up to today; if there was no work in them, up to the newest."""
    in_all, known = boards.in_all, boards.extent
    if not in_all.rows:
        return None
    now = int(time.time())
    lately = known.last >= axis.whole_days(now, now).end - 7 * axis.DAY
    newest = axis.whole_days(now if lately else known.last, now if lately else known.last)
    week = axis.recent(newest.end, "week")
    start = axis.whole_days(week.start + axis.DAY // 2, week.start + axis.DAY // 2).start
    asked = Selection(
        after=start,
        before=newest.end,
        hidden=in_all.selection.hidden,
        copies=in_all.selection.copies,
    )
    board = boards.of(asked)
    found = decisions(board.pairs)
    rows = sorted(board.rows, key=lambda row: -(row.did.active or 0))
    projects: dict[str, list[Row]] = {}
    for row in rows:
        projects.setdefault(project_of(row.record, row.engagement) or NO_PROJECT, []).append(row)
    pieces = _pieces(rows)[:_MOST]
    ranked = [
        Project(name, board.by_the_clock(key for row in own for key in row.did.keys), len(own))
        for name, own in projects.items()
    ]
    ranked.sort(key=lambda project: (-project.active, -project.count))
    # A session's title may have become its agent's name: that is nobody's.
    names = Counter(
        row.record.agent_name
        for row in rows
        if row.record.agent_name and row.record.agent_name != row.record.title
    )
    programs = Counter(SOURCES.title_of(row.record.source) for row in rows)
    people = [name for name, _ in (names or programs).most_common()]
    named = len(people) if len(people) <= _MOST_NAMED else _MOST_NAMED - 1
    return Week(
        title="The last 7 days" if lately else "The latest 7 days with work",
        words=range_words(axis.Range(start, newest.end)),
        after=start,
        before=newest.end,
        sessions=board.stats.sessions,
        engagements=board.stats.engagements,
        projects=ranked[:3],
        more_projects=max(0, len(ranked) - 3),
        people=people[:named],
        more_people=plural(len(people) - named, "more agent" if names else "more program")
        if len(people) > named
        else "",
        figures=board.figures,
        pieces=pieces,
        told=sum(piece.times for piece in pieces),
        decided=found[:_MOST],
        decisions=len(found),
    )


def _pieces(rows: list[Row]) -> list[Piece]:
    """Pieces of work, the one that took longest first."""
    alike: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        topic = row.engagement.topic.casefold() if row.engagement is not None else ""
        alike.setdefault((topic, project_of(row.record, row.engagement)), []).append(row)
    found = [
        Piece(own[0], len(own), sum(row.did.active or 0 for row in own)) for own in alike.values()
    ]
    return sorted(found, key=lambda piece: -piece.active)
