"""What was used, of what passes filters, by one dimension: `Archive.usage` (USE-01 … USE-06)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from datetime import datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.digests import digests
from minutebook.archive.minutes import card, retitled
from minutebook.archive.names import only_known
from minutebook.archive.passing import passes, suits
from minutebook.archive.programs import in_project, within
from minutebook.archive.projects import of_project, projects_of, several
from minutebook.archive.sessions import NAMELESS, SessionSummary
from minutebook.derive.labels import known_method, known_phase
from minutebook.derive.prices import Prices, load_library
from minutebook.derive.usage.costly import expensive
from minutebook.derive.usage.digest import Digest
from minutebook.derive.usage.figures import Figures, Row, Usage
from minutebook.derive.usage.ownership import Ownership
from minutebook.derive.usage.remarks import copied, remarks
from minutebook.derive.usage.tally import DIMENSIONS, PERIODS, Place, Tally
from minutebook.errors import BadArgument
from minutebook.index.query import Filters, limits
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.session import project_of
from minutebook.sources.registry import SOURCES

NO_NAME = "(no name)"
OUTSIDE = "(outside any engagement)"
NO_THREAD = "(in no thread)"
NO_BRANCH = "(no branch)"
NO_PROJECT = "(no project)"
NO_MODEL = "(not recorded)"
HIDDEN = "(hidden)"
NO_FILTERS = Filters()
NOTHING: Mapping[str, str] = {}
F = TypeVar("F", Figures, Figures | None)

_FILTERS = frozenset(
    {
        *("project", "agent", "method", "phase", "branch", "model"),
        *("since", "until", "date"),
    }
)


def usage_of(
    archive: Archive,
    by: str = "day",
    filters: Filters = NO_FILTERS,
    *,
    session_id: str | None = None,
    tools: bool = False,
    stands: Mapping[str, str] = NOTHING,
) -> Usage:
    """What was used; of one session where one is named, else of everything that passes.

    With `tools`, also how often each was called. `stands` names the session that stands for
    another one in a list; the row of that session has what both used.
    """
    if by not in DIMENSIONS:
        raise BadArgument(f"'{by}' is not a dimension; choose one of {', '.join(DIMENSIONS)}.")
    if filters.tools is not None or filters.command or filters.error:
        raise BadArgument("Usage counts replies: filters on rounds do not apply.")
    filters = of_project(archive, filters)
    prices = known_prices(archive)
    known = digests(archive, even=session_id, meanwhile=None if prices.known else load_library)
    ownership = Ownership(known)
    labels = Labels(archive, known, by, filters, stands)
    asked = known if session_id is None else {id: known[id] for id in known if id == session_id}
    unbound = Filters(after=filters.after, before=filters.before, hidden=filters.hidden)
    everything = session_id is None and filters == unbound

    def tally(after: int | None, before: int | None) -> Tally:
        found = Tally(
            by,
            labels.place,
            prices=prices,
            model=filters.model,
            after=after * 1000 if after is not None else None,
            before=before * 1000 if before is not None else None,
            everything=everything,
        )
        found.count(asked, ownership)
        return found

    found = tally(filters.after, filters.before)
    total = found.total()
    previous = _before(filters)
    told = Usage(
        by=by,
        after=filters.after,
        before=filters.before,
        projects=[archive.hide(name) for name in projects_of(archive, filters)],
        rows=labels.rows(found),
        total=total,
        subagents=found.total_of_agents(),
        previous=tally(*previous).total() if previous is not None else None,
        previous_after=previous[0] if previous is not None else None,
        previous_before=previous[1] if previous is not None else None,
        expensive=expensive(found.flows, total.work.calls, total.work.errors),
        continued=ownership.continued(session_id) if session_id in known else {},
    )
    keep_prices(archive, prices)
    told = labels.marked(told, found.sessions)
    told = _Masking(archive.hide, tools=tools).usage(told)
    twice = _counted_twice(archive, ownership, found.sessions)
    more = [*remarks(told), *labels.remarks(), *copied(twice)]
    if len(told.projects) > 1:
        more.append(several(filters.project or "", told.projects))
    if not told.rows:
        more = ["Nothing matches these filters." if known else "No sessions found."]
    return msgspec.structs.replace(told, remarks=more)


def _counted_twice(archive: Archive, ownership: Ownership, counted: Container[str]) -> int:
    """Sessions that repeat another's history under other ids, as far as the lineage is known."""
    return len(
        {
            edge.newer
            for edge in archive.known_ties()
            if edge.shared
            and not edge.recorded
            and edge.older in counted
            and edge.newer in counted
            and edge.older not in ownership.continued(edge.newer)
            and edge.newer not in ownership.continued(edge.older)
        }
    )


def named_filters(**named: str | None) -> Filters:
    """Filters by what people call them."""
    only_known(named, _FILTERS, "Usage")
    after, before = limits(named.get("since"), named.get("until"), named.get("date"))
    method, phase = named.get("method"), named.get("phase")
    return Filters(
        project=named.get("project") or None,
        agent=named.get("agent") or None,
        methods=tuple(known_method(word) for word in (method or "").split(",") if word),
        phase=known_phase(phase) if phase else None,
        branch=named.get("branch") or None,
        model=named.get("model") or None,
        after=after,
        before=before,
    )


def usage_of_list(archive: Archive, sessions: Iterable[SessionSummary]) -> Usage:
    """What the sessions of a list used; each together with those it stands for (UND-08)."""
    shown = list(sessions)
    stands = {copy: session.id for session in shown for copy in session.copies}
    ids = frozenset({*stands, *(session.id for session in shown)})
    return usage_of(archive, "session", Filters(hidden=True, sessions=ids), stands=stands)


def _before(filters: Filters) -> tuple[int, int] | None:
    """The period before the one asked for, and as long."""
    if filters.after is None:
        return None
    end = filters.before
    if end is None:
        end = int(datetime.now().timestamp()) + 1
    length = end - filters.after
    return (filters.after - length, filters.after) if length > 0 else None


# -- prices


def known_prices(archive: Archive) -> Prices:
    """Prices, with those that were looked up before."""
    from minutebook.record.usage import read_prices

    return Prices(read_prices(archive.layout, _library()))


def keep_prices(archive: Archive, prices: Prices) -> None:
    """Keep what was looked up: the library takes longer to import than all the rest."""
    from minutebook.record.usage import write_prices

    if prices.asked and archive.keeps_findings:
        write_prices(archive.layout, _library(), prices.known)


def _library() -> str:
    """Which version of the price library there is, without importing it."""
    spec = find_spec("genai_prices")
    if spec is None or spec.origin is None:
        return ""
    data = (Path(spec.origin).parent / "data.py").stat()
    return f"{data.st_size} {data.st_mtime_ns}"


class _Masking:
    """Takes secrets out of names that transcripts gave: of models without a price, and of tools."""

    def __init__(self, hide: Callable[[str], str], *, tools: bool) -> None:
        self._hide, self._tools = cache(hide), tools

    def usage(self, told: Usage) -> Usage:
        rows = [
            msgspec.structs.replace(
                row, figures=self._figures(row.figures), subagents=self._figures(row.subagents)
            )
            for row in told.rows
        ]
        return msgspec.structs.replace(
            told,
            rows=rows,
            total=self._figures(told.total),
            subagents=self._figures(told.subagents),
            previous=self._figures(told.previous),
        )

    def _figures(self, figures: F) -> F:
        if figures is None:
            return figures
        work, cost = figures.work, figures.cost
        if work.tools:
            work = msgspec.structs.replace(work, tools=self._names(work.tools))
        if cost is not None and cost.unpriced:
            cost = msgspec.structs.replace(cost, unpriced=self._names(cost.unpriced, always=True))
        return msgspec.structs.replace(figures, work=work, cost=cost)

    def _names(self, counts: dict[str, int], *, always: bool = False) -> dict[str, int]:
        if not (self._tools or always):
            return {}
        found: dict[str, int] = {}
        for name, count in counts.items():
            found[self._hide(name)] = found.get(self._hide(name), 0) + count
        return found


# -- where a round belongs


def of_sessions(filters: Filters) -> Filters:
    """What of filters is asked of a session as a whole; `fits` asks the rest of its rounds."""
    return msgspec.structs.replace(filters, hidden=True, branch=None, model=None, project=None)


def fits(
    filters: Filters, record: SessionRecord, engagement: Engagement | None, branch: str
) -> bool:
    """Whether a round passes, by its engagement and its branch."""
    path = (engagement.project if engagement is not None else None) or record.cwd or ""
    if not in_project(filters, path):
        return False
    if filters.branch and not within(filters.branch, branch):
        return False
    return suits(record, engagement, filters)


class Labels:
    """Names of sessions, projects, engagements; and which rounds pass the filters."""

    def __init__(
        self,
        archive: Archive,
        known: Mapping[str, Digest],
        by: str,
        filters: Filters,
        stands: Mapping[str, str],
    ) -> None:
        self._stands = stands
        self._archive, self._known, self._by, self._filters = archive, known, by, filters
        self._records = archive.minutes.records()
        self._cards: dict[str, SessionRecord] = {}
        self._wanted = of_sessions(filters)
        self._passing: dict[str, bool] = {}
        self._threads: dict[tuple[str, str], str] = {}
        self._names: dict[str, str] = {}
        self._addresses: dict[str, str] = {}
        if by == "thread":
            from minutebook.archive.threads import threads

            found = threads(archive)
            for record in self._records.values():
                for e in record.engagements:
                    if (thread := found.of(record.session_id, e.id)) is not None:
                        self._threads[record.session_id, e.id] = thread.id
                        named = f"{thread.id}: " if thread.named else ""
                        self._names[thread.id] = f"{named}{thread.topic}"

    def record(self, session_id: str) -> SessionRecord:
        """What is known of a session, with or without minutes."""
        found = self._records.get(session_id) or self._cards.get(session_id)
        if found is None:
            archive = self._archive
            entry = archive.ledger().sessions.get(session_id)
            info = entry.info if entry is not None else self._known[session_id].info
            if info is None:  # another process archived it, and has not written that down yet
                info = archive.stored_summary(session_id).info
            agent_id = entry.agent_id if entry is not None else None
            found = archive.minutes.merged(card(info, archive.roster, archive.settings, agent_id))
            found = retitled(found, info, archive.roster)
            self._cards[session_id] = found
        return found

    def of(self, session_id: str, round: int) -> tuple[Engagement | None, str]:
        """The engagement of a round, and its branch."""
        record = self.record(session_id)
        engagement = next((e for e in record.engagements if e.covers(round)), None)
        return engagement, self._known[session_id].branch(round) or record.git_branch or ""

    def place(self, session_id: str, round: int) -> Place | None:
        """Where a round belongs; None where it does not pass."""
        record = self.record(session_id)
        if session_id not in self._passing:
            self._passing[session_id] = passes(record, self._wanted)
        if not self._passing[session_id]:
            return None
        engagement, branch = self.of(session_id, round)
        path = (engagement.project if engagement is not None else None) or record.cwd or ""
        if not fits(self._filters, record, engagement, branch):
            return None
        project = project_of(path) if path else NO_PROJECT
        shown = self._filters.hidden or not record.hidden
        work, thread = OUTSIDE, NO_THREAD
        if engagement is not None:
            seen = shown and (self._filters.hidden or not engagement.hidden)
            work = f"{session_id}/{engagement.id}" if seen else HIDDEN
            thread = self._threads.get((session_id, engagement.id), NO_THREAD)
            self._names.setdefault(work, engagement.topic if seen else HIDDEN)
            if seen and self._by == "engagement" and work not in self._addresses:
                self._addresses[work] = self._address(session_id, engagement)
        return Place(
            project=project,
            agent=record.agent_name or NO_NAME,
            session=self._stands.get(session_id, session_id) if shown else HIDDEN,
            engagement=work,
            branch=f"{project}/{branch}" if branch else f"{project} {NO_BRANCH}",
            thread=thread,
            program=SOURCES.program_of(record.source),
        )

    def _address(self, session_id: str, engagement: Engagement) -> str:
        first, last = engagement.turn_range
        rounds = f"{first}-{last}" if last != first else str(first)
        return f"{self._archive.short(session_id)}#{rounds}"

    def rows(self, found: Tally) -> list[Row]:
        """Lines of a table: periods in their order, anything else by what it cost."""
        if self._by in PERIODS:  # no words of anybody: nothing to mask
            hide: Callable[[str], str] = str
        else:
            hide = self._archive.hide
        rows = [
            Row(
                key=key if key in self._known else hide(key),
                label=hide(self._label(key)),
                figures=found.row(key),
                subagents=found.row_of_agents(key),
                address=self._addresses.get(key, ""),
            )
            for key in found.sums
        ]
        if self._by in PERIODS:
            return sorted(rows, key=lambda row: row.key)
        return sorted(rows, key=_dearest)

    def _label(self, key: str) -> str:
        if self._by == "session" and key in self._known:
            record = self.record(key)
            return record.called or NAMELESS
        if self._by == "model" and key == "unknown":
            return NO_MODEL
        return self._names.get(key, key)

    def remarks(self) -> list[str]:
        """What rows of engagements need, where there are none."""
        if self._by not in ("engagement", "thread"):
            return []
        if any(record.engagements for record in self._records.values()):
            return []
        return ["There are no engagements yet: `minutebook ingest` finds them."]

    def marked(self, told: Usage, session_ids: Iterable[str]) -> Usage:
        """Figures that say which sessions count although lists leave them out, or lack times."""
        records = [self.record(id) for id in session_ids]
        return msgspec.structs.replace(
            told,
            ghosts=sum(record.ghost for record in records),
            hidden=sum(record.hidden for record in records),
            timeless=sum(not self._known[record.session_id].last for record in records),
        )


def _dearest(row: Row) -> tuple[float, int, str]:
    figures = row.figures
    cost = figures.cost.exact if figures.cost is not None else 0
    return -cost, -figures.tokens.output, row.key
