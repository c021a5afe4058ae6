"""What the home page shows for a selection: timeline, figures and list of one range (VIEW-17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from datetime import datetime

import msgspec

from minutebook.archive.folding import apart, once
from minutebook.archive.passing import ghosts_of, hidden_of
from minutebook.archive.worked import Key, Share, Worked
from minutebook.derive.usage.figures import Figures
from minutebook.derive.usage.times import by_the_clock
from minutebook.index.entry import seconds
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.sources.registry import SOURCES
from minutebook.verbs.decisions import Pair
from minutebook.verbs.stats import Stats, tally
from minutebook.web.activity import Activity, Did, standing
from minutebook.web.counting import PATIENCE
from minutebook.web.pages import engagement_url, session_url
from minutebook.web.ranges import extent
from minutebook.web.selection import Selection, chosen, chosen_sessions
from minutebook.web.state import ServerState
from minutebook.web.timeline import Work

PAGE = 24
_NOTHING_DONE = Did()


class Row(msgspec.Struct, frozen=True):
    """A line of the list: an engagement, or a session with those that pass."""

    record: SessionRecord
    engagement: Engagement | None = None
    engagements: list[Engagement] = []
    did: Did = _NOTHING_DONE
    copies: tuple[Pair, ...] = ()
    """Engagements of copied conversations that it stands for."""

    @property
    def at(self) -> str | None:
        """When it began, as far as the range shows it; of a session, when it was last at work."""
        if self.engagement is not None:
            told = self.engagement.started or self.record.started
            first = self.did.pieces[0][0] if self.did.pieces else 0
            return told if first <= seconds(told) + 3600 else _written(first)
        told = self.record.ended or self.record.started
        last = self.did.pieces[-1][1] if self.did.pieces else 0
        return told if not last or seconds(told) <= last + 3600 else _written(last)

    @property
    def href(self) -> str:
        if self.engagement is not None:
            return engagement_url(self.record, self.engagement)
        return session_url(self.record.session_id)

    @property
    def work(self) -> Work:
        """The row as the timeline knows it: a session has the colour of what was done most."""
        pieces = self.did.pieces
        start, end = (pieces[0][0], pieces[-1][1]) if pieces else (0, 0)
        method = self.engagement.method if self.engagement is not None else ""
        if self.engagement is None:
            most = Counter(e.method for e in self.engagements).most_common(1)
            method = most[0][0] if most else ""
        return Work(
            start,
            end,
            method,
            self.record,
            self.engagement,
            pieces,
            self.did.active,
            self.did.cost,
            self.did.keys,
        )


def _written(moment: int) -> str:
    return datetime.fromtimestamp(moment).astimezone().isoformat(timespec="seconds")


class Day(msgspec.Struct, frozen=True):
    name: str
    rows: list[Row]


class Board(msgspec.Struct, frozen=True):
    """Everything the home page shows for a selection."""

    selection: Selection
    pairs: list[Pair]
    works: list[Work]
    rows: list[Row]
    stats: Stats
    ghosts: int
    """Sessions that never reached work, of those that pass."""
    copies: int = 0
    """Sessions that the list leaves out: they are nothing but copies of others."""
    programs: dict[str, int] = {}
    """Coding agents, by their commands, and how many sessions each has here."""
    figures: Figures | None = None
    """What all that passes used; None while it is being counted."""
    days: int = 0
    """Days on which somebody was at work."""
    beside: tuple[int, int] = (0, 0)
    """Milliseconds, and 10⁻¹² dollars, of it that no row of the list has: outside any
    engagement, of ghosts, hidden."""
    shares: Mapping[Key, Share] = {}
    """What was counted of all that passes."""

    def by_the_clock(self, keys: Iterable[Key]) -> int:
        """Milliseconds of activity in some of it: what ran at once counts once, as in usage."""
        cells = (cell for key in keys if key in self.shares for cell in self.shares[key].cells)
        sums = [cell.sum for cell in cells if cell.sum is not None]
        return by_the_clock(span for sum in sums for span in (*sum.agent_spans, *sum.your_spans))


def board_of(state: ServerState, asked: Selection, patience: float | None = None) -> Board:
    """What a selection shows; figures that take longer than `patience` are left out."""
    worked = state.count.worked(asked.filters, patience)
    version = state.version
    kept = state.boards.get(version, asked)
    if isinstance(kept, Board) and (kept.figures is None) == (worked is None):
        return kept
    made = _made(state, asked, worked)
    state.boards.keep(version, asked, made)
    return made


def _made(state: ServerState, asked: Selection, worked: Worked | None) -> Board:
    archive = state.archive
    activity = Activity(worked, asked)
    records = archive.cards() if asked.view == "sessions" else archive.records()
    every = chosen(records, asked.unbounded)
    kept, left_out = (every, []) if asked.copies else apart(archive, every)
    stands = standing(kept, left_out)
    rows = []
    for pair in kept:
        copies = stands.get((pair[0].session_id, pair[1].id), [])
        if (did := activity.of(pair, copies)) is not None:
            rows.append(Row(*pair, did=did, copies=tuple(copies)))
    rows.sort(key=_newest, reverse=True)
    pairs = [(row.record, row.engagement) for row in rows if row.engagement is not None]
    alike = 0
    if asked.view == "sessions":
        own = {record.session_id for record, _ in pairs}
        rows, alike = _sessions(state, asked, records, every, activity, own)
    listed = frozenset[Key]().union(*(row.did.keys for row in rows))
    beside = [share for key, share in activity.shares.items() if key not in listed]
    known, filters = archive.records(), asked.filters
    unbounded = asked.unbounded.filters
    hidden = [pair for pair in hidden_of(known, unbounded) if activity.of(pair) is not None]
    in_range = [pair for pair in left_out if activity.of(pair) is not None]
    ghosts = len(ghosts_of(known, filters))
    unseen = len(hidden) if asked.copies else len(once(archive, hidden)[0])
    programs = Counter(SOURCES.program_of(record.source) for record in records.values())
    return Board(
        selection=asked,
        pairs=pairs,
        works=[row.work for row in rows],
        rows=rows,
        stats=tally(pairs, ghosts, len(in_range), unseen),
        ghosts=ghosts,
        copies=alike,
        programs=dict(programs.most_common()),
        figures=worked.total(filters, asked.methods) if worked is not None else None,
        days=_days(activity, rows),
        beside=(sum(share.active for share in beside), sum(share.cost for share in beside)),
        shares=activity.shares,
    )


def _days(activity: Activity, rows: list[Row]) -> int:
    """On how many days somebody was at work: by the count, or by the minutes alone."""
    hours = {c.hour for s in activity.shares.values() for c in s.cells if c.sum is not None}
    alone = {at for row in rows if row.did.active is None for at, _ in row.did.pieces}
    return len({datetime.fromtimestamp(at).date() for at in hours | alone if at})


def _newest(row: Row) -> tuple[float, str, int]:
    first = row.engagement.turn_range[0] if row.engagement is not None else 0
    return seconds(row.at), row.record.session_id, first


def _sessions(
    state: ServerState,
    asked: Selection,
    records: dict[str, SessionRecord],
    every: list[Pair],
    activity: Activity,
    own: Container[str],
) -> tuple[list[Row], int]:
    """Sessions that pass and were at work in the range; how many are left out as mere copies."""
    passing = list(chosen_sessions(records, asked.unbounded, every))
    alike: dict[str, str] = {}
    if not asked.copies:
        alike = state.archive.mere_copies(record.session_id for record, _ in passing)
        # One with an engagement that no other session stands for is in the list of engagements too.
        alike = {copy: original for copy, original in alike.items() if copy not in own}
    copies: dict[str, list[str]] = {}
    for copy, original in alike.items():
        copies.setdefault(original, []).append(copy)
    rows, left_out = [], 0
    for record, found in passing:
        did = activity.of_session(record, copies.get(record.session_id, ()))
        if record.session_id in alike:
            left_out += activity.of_session(record) is not None
        elif did is not None:
            rows.append(Row(record, engagements=found, did=did))
    rows.sort(key=_newest, reverse=True)
    return rows, left_out


def listed_in_range(state: ServerState, asked: Selection) -> list[Pair]:
    """The engagements a selection shows, each conversation's once: also for other pages."""
    return board_of(state, msgspec.structs.replace(asked, view="engagements"), PATIENCE).pairs


class Boards:
    """The boards one page needs: of everything, of what is asked, of all but one filter."""

    def __init__(
        self, state: ServerState, asked: Selection, patience: float | None = PATIENCE
    ) -> None:
        self.state, self._patience = state, patience
        self.everything = Selection(
            view=asked.view, ghosts=asked.ghosts, hidden=asked.hidden, copies=asked.copies
        )
        self.in_all = board_of(state, self.everything, patience)
        self.extent = extent(self.in_all.works)
        self._year = self.extent.year
        self._old = any(not self._is_of_the_year(row.did) for row in self.in_all.rows)
        self._made = {self.everything: self.in_all}

    def of(self, asked: Selection) -> Board:
        """The board of a selection; without a range of its own, of the calendar's year."""
        if asked.after is None and asked.before is None and self._old:
            year = self._year
            asked = msgspec.structs.replace(asked, after=year.start, before=year.end)
        return self._board(asked)

    def of_all_time(self, asked: Selection) -> Board:
        """The board of a selection's filters, whatever its range."""
        return self._board(asked.unbounded)

    def _board(self, asked: Selection) -> Board:
        plain = msgspec.structs.replace(asked, group="project", lanes=False)
        if plain not in self._made:
            self._made[plain] = board_of(self.state, plain, self._patience)
        return self._made[plain]

    def _is_of_the_year(self, did: Did) -> bool:
        return all(self._year.start <= start < self._year.end for start, _ in did.pieces)
