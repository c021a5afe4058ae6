"""When each engagement was worked on, hour by hour, and what that used: the count behind the home
page (VIEW-16, VIEW-17).

It is the count of `Archive.usage` (`derive/usage/tally`), kept by hour and engagement, so that a
page can sum it up again for every range and filter without going over the replies.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable, Mapping
from datetime import datetime

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.digests import NOTHING_KEPT, digests
from minutebook.archive.passing import passes
from minutebook.archive.using import Labels, fits, keep_prices, known_prices, of_sessions
from minutebook.derive.prices import load_library
from minutebook.derive.usage.digest import Digest
from minutebook.derive.usage.figures import Figures
from minutebook.derive.usage.ownership import Ownership
from minutebook.derive.usage.tally import Place, Sum, Tally, hour_and_key, joined
from minutebook.index.query import Filters
from minutebook.model.engagement import SessionRecord

SILENCE = 30 * 60
"""Seconds without activity at which work is interrupted (VIEW-17)."""
NO_FILTERS = Filters()
_MOST_KEPT = 8  # counts: of everything, and of the ranges and models asked for last
Key = tuple[str, str]
"""Session and engagement; an empty engagement is what lies outside any."""
Piece = tuple[int, int]
"""Seconds since the epoch between which somebody was active."""


class Cell(msgspec.Struct, frozen=True, gc=False):
    """What one hour of an engagement, on one branch, used."""

    key: Key
    branch: str
    hour: int
    """Seconds since the epoch; 0 where it is not known."""
    sum: Sum | None
    copied: Sum | None = None
    """History that its session has from another one."""
    pieces: tuple[Piece, ...] = ()
    """When somebody was active in it."""

    @property
    def active(self) -> int:
        """Milliseconds of its own."""
        return self.sum.agent + self.sum.yours if self.sum is not None else 0


class Share(msgspec.Struct):
    """What one engagement used of what passes."""

    cells: list[Cell] = []

    @property
    def cost(self) -> int:
        """In 10⁻¹² dollars."""
        return sum(cell.sum.cost for cell in self.cells if cell.sum is not None)

    @property
    def active(self) -> int:
        """Milliseconds."""
        return sum(cell.active for cell in self.cells)

    @property
    def pieces(self) -> list[Piece]:
        """When somebody was active, but for silences of up to half an hour."""
        return unbroken(piece for cell in self.cells for piece in cell.pieces)


def unbroken(spans: Iterable[Piece]) -> list[Piece]:
    """Spans, joined where at most half an hour of silence is between them."""
    found: list[Piece] = []
    for start, end in sorted(spans):
        if found and start - found[-1][1] <= SILENCE:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _pieces(own: Sum | None, copied: Sum | None, hour: int) -> tuple[Piece, ...]:
    """When somebody was active in an hour; where only a reply tells of it, its beginning."""
    spans: list[tuple[int, int]] = []
    if own is not None:
        spans += own.agent_spans + own.your_spans
    if copied is not None:
        spans += copied.copied_agent_spans + copied.copied_your_spans
    if not spans and hour and own is not None:
        return ((hour, hour),)
    return tuple(unbroken((start // 1000, -(-end // 1000)) for start, end in spans))


class Worked:
    """Hours of engagements, as they were when they were counted."""

    def __init__(
        self, cells: list[Cell], records: Mapping[str, SessionRecord], timed: bool
    ) -> None:
        self._cells, self._records, self._timed = cells, records, timed
        self._by_key: dict[Key, list[Cell]] = {}
        for cell in cells:
            self._by_key.setdefault(cell.key, []).append(cell)
        self._summed: dict[object, Figures] = {}

    def knows(self, key: Key) -> bool:
        """Whether anything of an engagement was counted."""
        return key in self._by_key

    def method(self, key: Key) -> str:
        """The method of an engagement; empty where there is none."""
        engagements = self._records[key[0]].engagements
        return next((e.method for e in engagements if e.id == key[1]), "")

    def has(self, session_id: str) -> bool:
        """Whether anything of a session was counted."""
        return session_id in self._records

    def shares(
        self, filters: Filters = NO_FILTERS, methods: Container[str] = ()
    ) -> dict[Key, Share]:
        """What passes, by engagement: of a range whose ends are whole hours (`is_whole`), or that
        the count was made for; of some `methods`, where there are any."""
        of_session = of_sessions(filters)
        after, before = filters.after or 0, filters.before
        bounded = filters.after is not None or before is not None
        passing: dict[str, bool] = {}
        found: dict[Key, Share] = {}
        for key, cells in self._by_key.items():
            session_id, engagement_id = key
            record = self._records[session_id]
            if session_id not in passing:
                passing[session_id] = passes(record, of_session)
            if not passing[session_id]:
                continue
            engagement = next((e for e in record.engagements if e.id == engagement_id), None)
            if methods and (engagement is None or engagement.method not in methods):
                continue
            kept: list[Cell] = []
            fitting: dict[str, bool] = {}
            for cell in cells:
                if bounded and (cell.hour < after or not cell.hour):
                    continue
                if before is not None and cell.hour >= before:
                    continue
                if cell.branch not in fitting:
                    fitting[cell.branch] = fits(filters, record, engagement, cell.branch)
                if fitting[cell.branch]:
                    kept.append(cell)
            if kept:
                found[key] = Share(kept)
        return found

    def total(self, filters: Filters = NO_FILTERS, methods: tuple[str, ...] = ()) -> Figures:
        """What all that passes used, as `Archive.usage` has it."""
        asked = (filters, methods)
        if asked not in self._summed:
            if len(self._summed) >= _MOST_KEPT:
                self._summed.clear()
            bounds = Filters(after=filters.after, before=filters.before, hidden=filters.hidden)
            everything = not methods and filters == bounds
            shares = self.shares(filters, methods).values()
            self._summed[asked] = self.figures(shares, everything=everything)
        return self._summed[asked]

    def figures(self, shares: Iterable[Share], *, everything: bool = False) -> Figures:
        """The sum of some; where `everything` passes, the clock also runs in copied history."""
        cells = [cell for share in shares for cell in share.cells]
        sums = [sum for cell in cells for sum in (cell.sum, cell.copied) if sum is not None]
        return joined(sums).figures(priced=True, timed=self._timed, copies=everything)


def is_whole(moment: int | None) -> bool:
    """Whether an hour of the local clock begins then."""
    if moment is None:
        return True
    local = datetime.fromtimestamp(moment)
    return not (local.minute or local.second)


class Counting:
    """Counts what was worked; what it has read it keeps, as long as it is current."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._lock = threading.Lock()
        self._known: Mapping[str, Digest] = NOTHING_KEPT
        self._version: object = None
        self._ownership = Ownership({})
        self._made: dict[tuple[str | None, int | None, int | None], Worked] = {}

    def look(self) -> bool:
        """Read what is new; whether there was anything."""
        archive = self._archive
        version = archive.minutes.version
        prices = known_prices(archive)
        known = digests(archive, meanwhile=None if prices.known else load_library, kept=self._known)
        same = known.keys() == self._known.keys() and all(
            self._known[id] is digest for id, digest in known.items()
        )
        if same and version == self._version:
            return False
        ownership = self._ownership if same else Ownership(known)
        # Whoever asks meanwhile gets the count there was: this may take seconds.
        made = self._count(known, ownership)
        with self._lock:
            self._known, self._ownership, self._version = known, ownership, version
            self._made = {(None, None, None): made}
        return True

    def worked(
        self, model: str | None = None, after: int | None = None, before: int | None = None
    ) -> Worked:
        """Of everything; of models with a part of their name; or of a range only."""
        asked = (model.lower() if model else None, after, before)
        with self._lock:
            if asked not in self._made:
                if len(self._made) >= _MOST_KEPT:
                    del self._made[next(key for key in self._made if any(key))]
                self._made[asked] = self._count(self._known, self._ownership, *asked)
            return self._made[asked]

    def _count(
        self,
        known: Mapping[str, Digest],
        ownership: Ownership,
        model: str | None = None,
        after: int | None = None,
        before: int | None = None,
    ) -> Worked:
        labels = Labels(self._archive, known, "engagement", NO_FILTERS, {})
        prices = known_prices(self._archive)
        numbers: dict[tuple[str, str, str], int] = {}
        places: dict[int, Place] = {}

        def place(session_id: str, round: int) -> Place:
            engagement, branch = labels.of(session_id, round)
            part = (session_id, engagement.id if engagement is not None else "", branch)
            number = numbers.setdefault(part, len(numbers))
            if number not in places:
                places[number] = Place(engagement=str(number))
            return places[number]

        tally = Tally(
            "engagement",
            place,
            prices=prices,
            model=model,
            after=after * 1000 if after is not None else None,
            before=before * 1000 if before is not None else None,
            hourly=True,
        )
        ends = (after or 0) * 1000, before * 1000 if before is not None else 1 << 60
        concerned = {
            id: digest
            for id, digest in known.items()
            if not digest.last or (digest.first < ends[1] and digest.last >= ends[0])
        }
        tally.count(concerned, ownership)
        keep_prices(self._archive, prices)
        parts = list(numbers)
        cells = []
        for key in dict.fromkeys((*tally.sums, *tally.copied)):
            hour, number = hour_and_key(key)
            session_id, engagement_id, branch = parts[int(number)]
            own, copied = tally.sums.get(key), tally.copied.get(key)
            at = hour // 1000
            pieces = _pieces(own, copied, at)
            cells.append(Cell((session_id, engagement_id), branch, at, own, copied, pieces))
        records = {id: labels.record(id) for id in {cell.key[0] for cell in cells}}
        return Worked(cells, records, timed=model is None)
