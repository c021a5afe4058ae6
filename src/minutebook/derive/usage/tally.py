"""One function behind every figure: what passes is summed by one dimension (USE-04, USE-05)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, get_args

import msgspec

from minutebook.derive.prices import Prices, Rates, rates_for
from minutebook.derive.usage import digest as marks
from minutebook.derive.usage.calendar import Calendar
from minutebook.derive.usage.digest import SYNTHETIC, Digest
from minutebook.derive.usage.figures import Cost, Figures, Times, Tokens, Work
from minutebook.derive.usage.ownership import Copied, Ownership
from minutebook.derive.usage.times import by_the_clock, cut

Dimension = Literal[
    "day",
    "week",
    "month",
    "project",
    "model",
    "agent",
    "session",
    "engagement",
    "branch",
    "thread",
    "program",
]
DIMENSIONS: tuple[str, ...] = get_args(Dimension)
PERIODS = ("day", "week", "month")
_DAY = 86_400_000
_FOREVER = 1 << 60


class Place(msgspec.Struct, frozen=True):
    """Where a round belongs, by every dimension that is not of the reply itself."""

    project: str = ""
    agent: str = ""
    session: str = ""
    engagement: str = ""
    branch: str = ""
    thread: str = ""
    program: str = ""


class Flow(msgspec.Struct, frozen=True, gc=False):
    """A reply on its way into what was expensive."""

    session: str
    round: int
    at: int
    prompt: int
    read: int
    written: int
    cost: int
    rates: Rates | None
    agent: bool
    errors: int = 0


class Sum:
    """Figures in the making."""

    __slots__ = (
        "added",
        "agent",
        "agent_spans",
        "calls",
        "commits",
        "copied_agent",
        "copied_agent_spans",
        "copied_your_spans",
        "copied_yours",
        "cost",
        "damaged",
        "dearer",
        "errors",
        "files",
        "input",
        "open_ended",
        "output",
        "pulls",
        "read",
        "recorded",
        "removed",
        "replies",
        "searches",
        "sessions",
        "thin",
        "tools",
        "unpriced",
        "unrecorded",
        "wall",
        "write_1h",
        "write_5m",
        "your_spans",
        "yours",
    )

    def __init__(self) -> None:
        self.replies = self.input = self.output = self.read = self.write_5m = self.write_1h = 0
        self.searches = self.open_ended = self.thin = self.damaged = self.cost = self.dearer = 0
        self.unrecorded = 0
        self.recorded = 0.0
        self.unpriced: Counter[str] = Counter()
        self.calls = self.errors = self.added = self.removed = 0
        self.tools: Counter[str] = Counter()
        self.files: set[str] = set()
        self.commits: set[str] = set()
        self.pulls: set[str] = set()
        self.sessions: set[str] = set()
        self.agent = self.yours = self.wall = self.copied_agent = self.copied_yours = 0
        self.agent_spans: list[tuple[int, int]] = []
        self.your_spans: list[tuple[int, int]] = []
        self.copied_agent_spans: list[tuple[int, int]] = []
        self.copied_your_spans: list[tuple[int, int]] = []

    def take(self, other: Sum) -> None:
        """Add what another has."""
        for name in _ADDED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("files", "commits", "pulls", "sessions", "unpriced", "tools"):
            getattr(self, name).update(getattr(other, name))
        self.agent_spans += other.agent_spans
        self.your_spans += other.your_spans
        self.copied_agent_spans += other.copied_agent_spans
        self.copied_your_spans += other.copied_your_spans

    def figures(self, *, priced: bool, timed: bool, copies: bool = False) -> Figures:
        """With `copies`, the clock also runs in history that sessions have from others."""
        agents, yours = self.agent_spans, self.your_spans
        if copies:
            agents, yours = agents + self.copied_agent_spans, yours + self.copied_your_spans
        known = dict(self.unpriced), self.dearer, self.recorded or None, self.unrecorded
        cost = Cost(self.cost, *known, self.open_ended)
        times = Times(
            self.agent / 1000,
            self.yours / 1000,
            by_the_clock(agents) / 1000,
            by_the_clock([*agents, *yours]) / 1000,
            self.wall / 1000,
            self.copied_agent / 1000,
            self.copied_yours / 1000,
        )
        return Figures(
            replies=self.replies,
            tokens=Tokens(self.input, self.output, self.read, self.write_5m, self.write_1h),
            web_searches=self.searches,
            open_ended=self.open_ended,
            thin=self.thin,
            damaged=self.damaged,
            cost=cost if priced else None,
            times=times if timed else None,
            work=Work(
                self.calls,
                self.errors,
                dict(self.tools.most_common()),
                len(self.files),
                self.added,
                self.removed,
                len(self.commits),
                len(self.pulls),
            ),
            sessions=len(self.sessions),
        )


_ADDED = (
    *("replies", "input", "output", "read", "write_5m", "write_1h", "searches", "open_ended"),
    *(
        "thin",
        "damaged",
        "cost",
        "dearer",
        "recorded",
        "unrecorded",
        "calls",
        "errors",
        "added",
        "removed",
    ),
    *("agent", "yours", "wall", "copied_agent", "copied_yours"),
)


class Tally:
    """Sums by one dimension, of what passes."""

    def __init__(
        self,
        by: str,
        place: Callable[[str, int], Place | None],
        *,
        prices: Prices | None = None,
        model: str | None = None,
        after: int | None = None,
        before: int | None = None,
        calendar: Calendar | None = None,
        everything: bool = False,
        hourly: bool = False,
    ) -> None:
        """`place` says where a round of a session belongs; None where it does not pass. `model`
        is a part of a model's name; `after` and `before` are milliseconds. Where `everything`
        passes, what a session copied was done by another one that passes, too. With `hourly`,
        each hour of a row is one of its own, and its key begins with it (`hour_and_key`)."""
        self.by, self._place, self._prices = by, place, prices
        self._model = model.lower() if model else None
        self._after, self._before = after, before
        self._calendar = calendar or Calendar()
        self._everything = everything
        self._hourly = hourly
        self.sums: dict[str, Sum] = {}
        self.agents: dict[str, Sum] = {}
        """Of those, what subagents used."""
        self.flows: list[Flow] = []
        self._models: dict[str, bool] = {}
        self._beside = Sum()  # time, where rows cannot have it: records do not name a model
        self._passive: dict[str, Sum] = {}  # time that makes no row by itself

    def count(self, digests: Mapping[str, Digest], ownership: Ownership) -> None:
        """Sum up sessions; whose their replies are is known over all there are."""
        for session_id, digest in digests.items():
            self._session(session_id, digest, ownership)

    def row(self, key: str) -> Figures:
        found = self.sums[key]
        if key in self._passive:
            found = joined([found, self._passive[key]])
        return found.figures(
            priced=self._prices is not None,
            timed=self._model is None and self.by != "model",
            copies=self._everything and self.by in PERIODS,
        )

    @property
    def sessions(self) -> set[str]:
        """Sessions that have replies or time of their own in it."""
        return set[str]().union(*(sum.sessions for sum in (*self.sums.values(), self._beside)))

    @property
    def copied(self) -> Mapping[str, Sum]:
        """Time of history that sessions have from others, by the same keys."""
        return self._passive

    def row_of_agents(self, key: str) -> Figures | None:
        """What of a row subagents used; their time is in that of the calls that started them."""
        found = self.agents.get(key)
        return found.figures(priced=self._prices is not None, timed=False) if found else None

    def total(self) -> Figures:
        whole = joined([*self.sums.values(), *self._passive.values(), self._beside])
        return whole.figures(
            priced=self._prices is not None, timed=self._model is None, copies=self._everything
        )

    def total_of_agents(self) -> Figures | None:
        whole = joined(self.agents.values())
        found = whole.figures(priced=self._prices is not None, timed=False)
        return found if whole.replies else None

    def _session(self, session_id: str, digest: Digest, ownership: Ownership) -> None:
        places: dict[int, Place | None] = {}
        keys: list[tuple[Sum, Sum | None] | None] = []
        failed = Counter(call.row for call in digest.calls if call.error)
        known = ownership.of(session_id)
        for at, owned in enumerate(known):
            if owned is None or owned[1] == SYNTHETIC:
                keys.append(None)
                continue
            row, model = owned
            place = self._placed(places, session_id, row.round)
            if place is None or not self._passes(row.at, model):
                keys.append(None)
                continue
            key = self._key(place, row.at, model)
            sums = self._sums(key, agent=bool(row.marks & marks.AGENT))
            keys.append(sums)
            if not row.marks & marks.BARE:
                self._add(sums, session_id, row, model, failed[at])
        self._work(digest, keys)
        self._recorded(session_id, digest, places)
        if self._model is None:
            self._time(session_id, digest, places, Copied(digest, known))

    def _placed(self, places: dict[int, Place | None], session_id: str, round: int) -> Place | None:
        if round not in places:
            places[round] = self._place(session_id, round)
        return places[round]

    def _passes(self, at: int, model: str) -> bool:
        if self._after is not None and at < self._after:
            return False
        if self._before is not None and not 0 < at < self._before:
            return False
        if self._model is None:
            return True
        if model not in self._models:
            self._models[model] = self._model in model.lower()
        return self._models[model]

    def _key(self, place: Place, at: int, model: str) -> str:
        if self.by in PERIODS:
            return self._calendar.key(self.by, at)
        key = model if self.by == "model" else str(getattr(place, self.by))
        return f"{self._calendar.hour(at)} {key}" if self._hourly else key

    def _sums(self, key: str, *, agent: bool) -> tuple[Sum, Sum | None]:
        found = self.sums.get(key)
        if found is None:
            found = self.sums[key] = Sum()
        if not agent:
            return found, None
        of_agents = self.agents.get(key)
        if of_agents is None:
            of_agents = self.agents[key] = Sum()
        return found, of_agents

    def _add(
        self,
        sums: tuple[Sum, Sum | None],
        session_id: str,
        row: marks.Row,
        model: str,
        errors: int,
    ) -> None:
        prompt = row.input + row.cache_read + row.cache_write_5m + row.cache_write_1h
        cost, rates = 0, None
        if self._prices is not None:
            batch = bool(row.marks & marks.BATCH)
            steps = self._prices.steps(model, row.at // _DAY, batch=batch)
            if steps is not None:
                rates = steps[0][1] if len(steps) == 1 else rates_for(steps, prompt)
                cost = rates.of(
                    row.input,
                    row.output,
                    row.cache_read,
                    row.cache_write_5m,
                    row.cache_write_1h,
                    row.searches,
                )
        for sum in sums:
            if sum is None:
                continue
            sum.replies += 1
            sum.input += row.input
            sum.output += row.output
            sum.read += row.cache_read
            sum.write_5m += row.cache_write_5m
            sum.write_1h += row.cache_write_1h
            sum.searches += row.searches
            sum.cost += cost
            sum.recorded += row.recorded
            sum.sessions.add(session_id)
            if not row.total:
                sum.unrecorded += 1
            elif rates is None:
                sum.unpriced[model] += 1
            flags = row.marks
            if not flags & marks.ENDED:
                sum.open_ended += 1
            if flags & _ODD:
                sum.dearer += bool(flags & (marks.FAST | marks.DEARER))
                sum.thin += bool(flags & marks.THIN)
                sum.damaged += bool(flags & marks.DAMAGED)
        self.flows.append(
            Flow(
                session_id,
                row.round,
                row.at,
                prompt,
                row.cache_read,
                row.cache_write_5m + row.cache_write_1h,
                cost,
                rates,
                sums[1] is not None,
                errors,
            )
        )

    def _work(self, digest: Digest, keys: list[tuple[Sum, Sum | None] | None]) -> None:
        tools, paths = digest.tools, digest.paths
        for call in digest.calls:
            for sum in keys[call.row] or ():
                if sum is None:
                    continue
                sum.calls += 1
                sum.tools[tools[call.tool]] += 1
                sum.errors += call.error
                sum.added += call.added
                sum.removed += call.removed
                if call.path >= 0:
                    sum.files.add(paths[call.path])
        for row, hash in digest.commits:
            for sum in keys[row] or ():
                if sum is not None:
                    sum.commits.add(hash)
        for row, url in digest.pulls:
            for sum in keys[row] or ():
                if sum is not None:
                    sum.pulls.add(url)

    def _recorded(self, session_id: str, digest: Digest, places: dict[int, Place | None]) -> None:
        """What the agent said a whole session cost; no day and no model has it."""
        if not digest.recorded or (self._model, self._after, self._before) != (None, None, None):
            return
        place = self._placed(places, session_id, min(digest.rounds, default=0))
        if place is None:
            return
        known = self.sums.get(place.session) if self.by == "session" else None
        (known or self._beside).recorded += digest.recorded

    def _time(
        self, session_id: str, digest: Digest, places: dict[int, Place | None], copied: Copied
    ) -> None:
        after, before = self._after or 0, self._before or _FOREVER
        for span in digest.spans:
            place = self._placed(places, session_id, span.round)
            if place is None or span.end <= after or span.start >= before:
                continue
            whole = max(span.start, after), min(span.end, before)
            pieces = [whole]
            if self.by in PERIODS:
                pieces = list(cut(*whole, self._calendar.midnights(*whole)))
            elif self._hourly:
                pieces = list(cut(*whole, self._calendar.hours(*whole)))
            until = copied.until(span.round)
            for start, end in pieces:
                own = max(start, min(end, until))
                if own > start:
                    _copy(self._aside(place, start), start, own, span.yours)
                if end > own:
                    _spend(self._timed(place, start), session_id, own, end, span.yours)
        self._wall(session_id, digest, places)

    def _wall(self, session_id: str, digest: Digest, places: dict[int, Place | None]) -> None:
        """From first to last: of the day the session began, of where its first round belongs."""
        round = min(digest.rounds, default=0)
        place = self._placed(places, session_id, round)
        if place is None or digest.last <= digest.first:
            return
        after, before = self._after or 0, self._before or _FOREVER
        start, end = max(digest.first, after), min(digest.last, before)
        if end > start:
            self._aside(place, start).wall += end - start

    def _timed(self, place: Place, at: int) -> Sum:
        if self.by == "model":
            return self._beside
        return self._sums(self._key(place, at, ""), agent=False)[0]

    def _aside(self, place: Place, at: int) -> Sum:
        """For time that is nobody's work: a row has it only if it has something else, too."""
        if self.by == "model":
            return self._beside
        return self._passive.setdefault(self._key(place, at, ""), Sum())


_ODD = marks.FAST | marks.DEARER | marks.THIN | marks.DAMAGED


def _spend(sum: Sum, session_id: str, start: int, end: int, yours: bool) -> None:
    sum.sessions.add(session_id)
    if yours:
        sum.yours += end - start
        sum.your_spans.append((start, end))
    else:
        sum.agent += end - start
        sum.agent_spans.append((start, end))


def _copy(sum: Sum, start: int, end: int, yours: bool) -> None:
    """Time of history that a session copied: in the plain sum over sessions, never its own."""
    if yours:
        sum.yours += end - start
        sum.copied_yours += end - start
        sum.copied_your_spans.append((start, end))
    else:
        sum.agent += end - start
        sum.copied_agent += end - start
        sum.copied_agent_spans.append((start, end))


def joined(sums: Iterable[Sum]) -> Sum:
    """One sum of several."""
    whole = Sum()
    for sum in sums:
        whole.take(sum)
    return whole


def hour_and_key(key: str) -> tuple[int, str]:
    """The hour, in milliseconds since the epoch (0: undated), and the key of an hourly tally."""
    hour, _, rest = key.partition(" ")
    return int(hour), rest
