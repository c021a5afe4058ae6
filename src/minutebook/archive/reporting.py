"""The minutes of a period, gathered: what was done, decided, shipped, and is still open."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.folding import hidden_once, once, stands_for
from minutebook.archive.names import only_known
from minutebook.archive.passing import is_starred, matching, passes
from minutebook.archive.programs import in_project
from minutebook.archive.projects import of_project, projects_of
from minutebook.archive.prospective import prospective
from minutebook.archive.pull_titles import pull_titles
from minutebook.archive.threads import threads
from minutebook.derive.committed import last_of_each, subject_of
from minutebook.derive.genealogy import Pair
from minutebook.derive.threads import Key
from minutebook.derive.times import instant
from minutebook.derive.wording import plural
from minutebook.errors import BadArgument
from minutebook.index.entry import seconds
from minutebook.index.query import Filters, limits, span
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.prospective import Obligation
from minutebook.model.session import project_of
from minutebook.sources.registry import SOURCES

DROPPED = "abandoned"
_NO_PROJECT = "no project"
_FILTERS = frozenset({"project", "agent", "since", "until", "date"})
_COMMITTED = re.compile(r"Committed: (.+?)(?: \(and \d+ more commits?\))?\.?", re.DOTALL)
_KIND = re.compile(r"^\w{1,12}(?:\([^()]{1,40}\))?!?: +")


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """An engagement as a report has it."""

    session_id: str
    engagement_id: str
    address: str
    """What `minutebook show` takes: ``3a4d64e0#3-7``."""
    program: str
    """The coding agent that held the conversation: ``codex``."""
    started: str | None
    ended: str | None = None
    topic: str
    method: str
    phase: str
    outcome: str = ""
    title: str | None = None
    """The session's title, where a person gave it one."""
    thread: str | None = None
    """The piece of work over several sessions that it belongs to."""
    kept: str = "retrospective"
    """Whether method and phase are those of an ``engagement.md`` (``prospective``)."""
    starred: bool = False
    """Whether a person marked it, or its session, with a star."""

    @property
    def ended_later(self) -> str | None:
        """When it ended, where that is a later day than it began on."""
        first, last = instant(self.started), instant(self.ended)
        later = first is not None and last is not None and last.date() > first.date()
        return self.ended if later else None


class OpenFile(msgspec.Struct, frozen=True, kw_only=True):
    """An engagement that a project's ``engagement.md`` says is open now."""

    id: str
    topic: str
    project: str
    method: str
    phase: str
    path: str
    updated: str | None = None
    owed: tuple[Obligation, ...] = ()
    overdue: tuple[Obligation, ...] = ()
    gone: bool = False
    """Whether the file is gone: this was seen of it last."""
    problems: tuple[str, ...] = ()


class Decided(msgspec.Struct, frozen=True):
    text: str
    topic: str
    """What it was decided for."""
    address: str


class ProjectMinutes(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in one project, oldest first."""

    project: str
    sessions: int
    engagements: int
    done: tuple[Work, ...] = ()
    decided: tuple[Decided, ...] = ()
    commits: tuple[str, ...] = ()
    """``1a2b3c4 subject``: each subject once, without steps and what was reverted."""
    shipped: tuple[str, ...] = ()
    """Those of them whose engagement opened a pull request, or was a deployment that ended."""
    pull_requests: tuple[str, ...] = ()
    pull_titles: dict[str, str] = {}
    """What those of them are called that tell."""
    deploys: tuple[Work, ...] = ()
    """Deployments that were brought to an end; they are among `done` as well."""
    open: tuple[Work, ...] = ()
    dropped: tuple[Work, ...] = ()


class LeftOut(msgspec.Struct, frozen=True):
    """What a report does not tell of."""

    ghosts: int = 0
    """Sessions without substantive work."""
    copies: int = 0
    """Engagements of copied conversations, which are told once."""
    unread: int = 0
    """Sessions whose minutes have not been taken (`minutebook ingest`)."""
    undated: int = 0
    """Engagements nobody knows the time of."""
    hidden: int = 0
    """Engagements that a person hid."""


class Week(msgspec.Struct, frozen=True):
    since: str
    """Its Monday."""
    until: str
    """Its Sunday."""


class ReportedSession(msgspec.Struct, frozen=True, kw_only=True):
    """The one session that a report is of."""

    id: str
    name: str
    """What it is called in headings and lists."""
    rounds: int
    summary: str | None = None
    """What is said of it as a whole, where that says more than the topics."""
    copy_of: str | None = None
    """The session that it is nothing but a copy of, as `minutebook show` takes it (UND-08)."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    since: str | None
    """First day."""
    until: str | None
    """Last day."""
    project: str | None = None
    unknown_project: bool = False
    """Whether no project fits the one that was named."""
    agent: str | None = None
    """The agent it is of, where one was named."""
    session: ReportedSession | None = None
    """The session it is of, where one was named."""
    sessions: int = 0
    engagements: int = 0
    projects: tuple[ProjectMinutes, ...] = ()
    prospective: tuple[OpenFile, ...] = ()
    """What is open now by the files that projects keep, whatever the period."""
    left_out: LeftOut = LeftOut()
    latest: Week | None = None
    """Where nothing was worked on in the period: the last week in which something was."""

    @property
    def nothing(self) -> str:
        """Why there is no engagement in it."""
        if self.session is not None:
            hid = self.left_out.hidden
            told = "You hid every engagement" if hid else "No minutes were taken"
            return f"{told} of this session ({plural(self.session.rounds, 'round')})."
        if self.unknown_project:
            return f"No project matches '{self.project}'."
        return "There are no minutes of this period."


def report_of(archive: Archive, filters: Filters) -> Report:
    """The minutes of what passes the filters; an engagement belongs to the day it began on."""
    filters = of_project(archive, filters)
    pairs, copies = once(archive, matching(archive.records(), filters))
    pairs.sort(key=_order)
    return Report(
        since=_day(filters.after),
        until=_day(filters.before - 1 if filters.before is not None else None),
        project=filters.project,
        unknown_project=bool(filters.project) and not projects_of(archive, filters),
        agent=filters.agent,
        sessions=_sessions(pairs),
        engagements=len(pairs),
        projects=_by_project(archive, pairs, _still_open(archive, filters, pairs)),
        prospective=tuple(open_files(archive, filters)),
        left_out=_left_out(archive, filters, copies),
        latest=None if pairs else _latest(archive, filters),
    )


def reported(archive: Archive, session: str | None, **period: str | None) -> Report:
    """The report that these words ask for: of a session, or of a period."""
    if session is None:
        return report_of(archive, named_period(**period))
    if given := ", ".join(name for name, value in period.items() if value):
        raise BadArgument(f"The report of a session takes no filter: leave out {given}.")
    return session_report(archive, archive.resolve(session))


def session_report(archive: Archive, session_id: str) -> Report:
    """The minutes of one session, with what it copied: short enough to paste."""
    summary = archive.summary(session_id)
    record = archive.records().get(session_id)
    own = record.engagements if record is not None else ()
    shown = [(record, e) for e in own if record is not None and not e.hidden]
    shown.sort(key=_order)
    best = stands_for(archive, session_id)
    return Report(
        since=_day(seconds(summary.info.started) or None),
        until=_day(seconds(summary.info.ended) or None),
        session=ReportedSession(
            id=session_id,
            name=summary.name,
            rounds=summary.info.rounds,
            summary=_summary(record, shown),
            copy_of=archive.short(best) if best is not None else None,
        ),
        sessions=1,
        engagements=len(shown),
        projects=_by_project(archive, shown, threads(archive).still_open(shown)),
        left_out=LeftOut(
            ghosts=int(record is not None and record.ghost),
            unread=int(not own and not (record is not None and record.ghost)),
            hidden=len(own) - len(shown),
        ),
    )


def _summary(record: SessionRecord | None, pairs: Iterable[Pair]) -> str | None:
    """What is said of the whole session, unless it only repeats the topics."""
    said = record.told_summary if record is not None else None
    return said if said and not all(e.topic in said for _, e in pairs) else None


def _still_open(archive: Archive, filters: Filters, pairs: Sequence[Pair]) -> set[Key]:
    """What was left open in the period, also where another session went on with it."""
    period = Filters(after=filters.after, before=filters.before)
    if filters != period:
        others, _ = once(archive, matching(archive.records(), period))
        pairs = [*pairs, *others]  # filters may show another copy of one
    return threads(archive).still_open(pairs)


def _by_project(
    archive: Archive, pairs: Iterable[Pair], still: Collection[Key]
) -> tuple[ProjectMinutes, ...]:
    projects: dict[str, list[Pair]] = {}
    for pair in pairs:
        projects.setdefault(project_of_pair(pair), []).append(pair)
    return tuple(
        _minutes(archive, name, found, still) for name, found in sorted(projects.items(), key=_name)
    )


def _latest(archive: Archive, filters: Filters) -> Week | None:
    """The last week with work that passes the other filters."""
    whenever = msgspec.structs.replace(filters, after=None, before=None)
    pairs, _ = once(archive, matching(archive.records(), whenever))
    newest = max((seconds(e.started or record.started) for record, e in pairs), default=0)
    if not newest:
        return None
    day = datetime.fromtimestamp(newest).astimezone().date()
    monday = day - timedelta(days=day.weekday())
    return Week(f"{monday}", f"{monday + timedelta(days=6)}")


def open_files(
    archive: Archive,
    filters: Filters = Filters(),  # noqa: B008 - frozen
    now: datetime | None = None,
) -> list[OpenFile]:
    """Engagements that are open by their files: overdue ones first, then the newest."""
    filters = of_project(archive, filters)
    moment = now or datetime.now().astimezone()
    found = [
        OpenFile(
            id=file.id,
            topic=file.topic,
            project=file.project,
            method=file.method,
            phase=file.phase,
            path=file.path,
            updated=file.updated,
            owed=file.owed,
            overdue=file.overdue(moment),
            gone=file.gone,
            problems=file.problems,
        )
        for file in prospective(archive).files
        if (file.is_open or file.problems) and in_project(filters, file.project)
    ]
    return sorted(found, key=lambda file: not file.overdue)


def period_of(after: int | None, before: int | None) -> tuple[int | None, int | None]:
    """The limits of a report: this week where nothing else is said."""
    return span("this week") if after is None and before is None else (after, before)


def named_period(**named: str | None) -> Filters:
    """Filters for a report by what people call them, with dates as they say them."""
    only_known(named, _FILTERS, "A report")
    after, before = period_of(*limits(named.get("since"), named.get("until"), named.get("date")))
    project, agent = named.get("project") or None, named.get("agent") or None
    return Filters(project=project, agent=agent, after=after, before=before)


def project_of_pair(pair: Pair) -> str:
    record, engagement = pair
    return project_of(engagement.project or record.cwd or "") or _NO_PROJECT


def _minutes(
    archive: Archive, project: str, pairs: Sequence[Pair], still: Collection[Key]
) -> ProjectMinutes:
    commits = last_of_each(commit for _, engagement in pairs for commit in engagement.commits)
    listed = {subject_of(commit) for commit in commits}
    works = [(pair, _work(archive, *pair, listed)) for pair in pairs]
    is_open = [work for _, work in works if _key(work) in still]
    dropped = [work for _, work in works if work.phase == DROPPED]
    done = [work for _, work in works if _key(work) not in still and work.phase != DROPPED]
    deploys = [work for work in done if work.method == "deploy" and work.phase == "completed"]
    pulls = _unique(url for _, engagement in pairs for url in engagement.pull_requests)
    called = pull_titles(archive, pairs)
    return ProjectMinutes(
        project=project,
        sessions=_sessions(pairs),
        engagements=len(pairs),
        done=tuple(done),
        decided=tuple(
            Decided(text, work.topic, work.address)
            for (_, engagement), work in works
            for text in engagement.key_decisions
        ),
        commits=commits,
        shipped=_shipped(commits, pairs, deploys),
        pull_requests=pulls,
        pull_titles={url: title for url, title in called.items() if url in pulls},
        deploys=tuple(deploys),
        open=tuple(is_open),
        dropped=tuple(dropped),
    )


def _key(work: Work) -> Key:
    return work.session_id, work.engagement_id


def _shipped(
    commits: Iterable[str], pairs: Iterable[Pair], deploys: Iterable[Work]
) -> tuple[str, ...]:
    """Commits that left the machine, as far as the record knows."""
    deployed = {_key(work) for work in deploys}
    left = {
        commit
        for record, engagement in pairs
        if engagement.pull_requests or (record.session_id, engagement.id) in deployed
        for commit in engagement.commits
    }
    return tuple(commit for commit in commits if commit in left)


def _repeats(outcome: str, topic: str, listed: Iterable[str]) -> bool:
    """Whether an outcome only names commits that are listed anyway, or that the topic names."""
    found = _COMMITTED.fullmatch(outcome)
    if found is None:
        return False
    known = {_plain(text) for text in (topic, *listed)}
    return _plain(found[1]) in known or {_plain(text) for text in found[1].split("; ")} <= known


def _plain(text: str) -> str:
    """A subject without what a sentence or a topic changes of it: `fix: x` is "X."."""
    return _KIND.sub("", text.strip()).rstrip(".").casefold()


def _work(
    archive: Archive, record: SessionRecord, engagement: Engagement, listed: Iterable[str]
) -> Work:
    first, last = engagement.turn_range
    rounds = str(first) if first == last else f"{first}-{last}"
    thread = threads(archive).of(record.session_id, engagement.id)
    return Work(
        session_id=record.session_id,
        engagement_id=engagement.id,
        address=f"{archive.short(record.session_id)}#{rounds}",
        program=SOURCES.program_of(record.source),
        started=engagement.started or record.started,
        ended=engagement.ended,
        topic=engagement.topic,
        method=engagement.method,
        phase=engagement.phase,
        outcome=""
        if _repeats(engagement.outcome, engagement.topic, listed)
        else engagement.outcome,
        title=record.given_title,
        thread=thread.id if thread is not None else None,
        kept=engagement.kept,
        starred=is_starred(record, engagement),
    )


def _left_out(archive: Archive, filters: Filters, copies: int) -> LeftOut:
    ghosts = undated = 0
    unread: list[str] = []
    cards = archive.cards()
    for record in cards.values():
        if not passes(record, filters) or not in_project(filters, record.cwd):
            continue
        at = seconds(record.started)
        if not at:
            undated += sum(not e.started for e in record.engagements)
            continue
        if (filters.after is not None and at < filters.after) or (
            filters.before is not None and at >= filters.before
        ):
            continue
        ghosts += record.ghost
        if not record.ghost and not record.engagements:
            unread.append(record.session_id)
    bounded = filters.after is not None or filters.before is not None
    hidden = hidden_once(archive, archive.records(), filters)
    mere = archive.mere_copies(cards) if unread else {}
    waiting = sum(id not in mere for id in unread)
    return LeftOut(ghosts, copies, waiting, undated if bounded else 0, hidden)


def _sessions(pairs: Iterable[Pair]) -> int:
    return len({record.session_id for record, _ in pairs})


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _name(item: tuple[str, list[Pair]]) -> tuple[str, str]:
    return item[0].lower(), item[0]


def _order(pair: Pair) -> tuple[float, str, int]:
    record, engagement = pair
    at = seconds(engagement.started or record.started)
    return at, record.session_id, engagement.turn_range[0]


def _day(moment: float | None) -> str | None:
    if moment is None:
        return None
    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d}"
