"""What the transcripts look like, what cannot be read, and what will be deleted (FMT-23)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from minutebook.archive.archive import Archive
from minutebook.model import BadLine, FormatReport
from minutebook.sources.base import Transcript, Trouble
from minutebook.sources.library import Library
from minutebook.sources.registry import SOURCES

SOON_DAYS = 7
_DAY = 86_400


class BadFile(msgspec.Struct, frozen=True):
    path: Path
    bad_lines: list[BadLine]


class CleanUp(msgspec.Struct, frozen=True):
    """What the agent's own clean-up is about to delete from one folder."""

    root: Path
    agent: str
    """Whose clean-up it is."""
    days: int
    """After how many days it deletes a transcript, configured or by default."""
    overdue: int
    """Sessions already older than that: the next interactive start removes them."""
    soon: int
    """Sessions that will be within a week."""
    next_in_days: float | None
    """Days until the next one that is not overdue; None where there is none."""
    next_session: str | None = None
    """The id of the session that is deleted first, overdue or not."""


class AgentDiagnosis(msgspec.Struct, frozen=True):
    """What the transcripts of one coding agent look like."""

    program: str
    title: str
    sessions: int
    size: int
    versions: dict[str, int]
    unknown: dict[str, int]
    """Kinds of records and blocks that are not understood; they are kept."""
    bad_lines: int
    troubles: int
    """Files that are not transcripts, or could not be used."""
    retention_days: int | None = None
    """After how many days the agent deletes a transcript; None: never."""


class Diagnosis(msgspec.Struct, frozen=True):
    sessions: int
    size: int
    report: FormatReport
    bad_files: list[BadFile]
    foreign: list[Trouble]
    troubles: list[Trouble]
    clean_ups: list[CleanUp]
    archived: int = 0
    """Sessions in the archive, which needs no transcript."""
    agents: list[AgentDiagnosis] = []
    """The same by coding agent, those that were found."""
    orphans: list[Trouble] = []
    """Those of the troubles that are subagents of sessions that are gone."""

    @property
    def unusable(self) -> list[Trouble]:
        """Files that are not transcripts, or could not be used: the ones every list counts."""
        apart = {trouble.path for trouble in self.orphans}
        used = [trouble for trouble in self.troubles if trouble.path not in apart]
        return sorted_troubles([*self.foreign, *used])


def diagnose(
    archive: Archive,
    *,
    progress: Callable[[int], None] | None = None,
    now: float | None = None,
) -> Diagnosis:
    """Read everything in full and report; `progress` is told the bytes of each file done."""
    library = archive.library
    whole = FormatReport()
    bad_lines: dict[Path, list[BadLine]] = {}
    foreign: list[Trouble] = []
    usable: list[Transcript] = []
    own: dict[str, FormatReport] = {}
    odd: Counter[str] = Counter()
    for transcript, report in library.reports():
        if progress is not None:
            progress(transcript.size)
        if report.foreign:
            foreign.append(Trouble(transcript.path, report.foreign))
            odd[transcript.source] += 1
        else:
            usable.append(transcript)
            whole.add(report)
            known = own.setdefault(transcript.source, FormatReport())
            known.add(report)
            known.bad_lines += report.bad_lines
        for bad in report.bad_lines:
            bad_lines.setdefault(Path(bad.path) if bad.path else transcript.path, []).append(bad)
    orphans = sorted_troubles(library.orphans)
    return Diagnosis(
        sessions=len(usable),
        size=sum(transcript.size for transcript in usable),
        report=whole,
        bad_files=[BadFile(path, bad_lines[path]) for path in sorted(bad_lines)],
        foreign=sorted_troubles(foreign),
        troubles=sorted_troubles([*library.troubles, *orphans]),
        clean_ups=clean_ups(library, now),
        archived=len(archive.ledger().sessions),
        agents=_agents(usable, own, odd),
        orphans=orphans,
    )


def _agents(
    usable: list[Transcript], reports: dict[str, FormatReport], odd: Counter[str]
) -> list[AgentDiagnosis]:
    """Agents that transcripts were found of, in the order they are registered."""
    found = []
    for source in SOURCES.values():
        report = reports.get(source.name, FormatReport())
        own = [transcript for transcript in usable if transcript.source == source.name]
        if not own and not odd[source.name]:
            continue
        roots = {t.root for t in own if t.root is not None} or {source.default_root()}
        days = [d for root in sorted(roots) if (d := source.retention_days(root)) is not None]
        found.append(
            AgentDiagnosis(
                source.program,
                source.title,
                len(own),
                sum(transcript.size for transcript in own),
                dict(report.versions.most_common()),
                dict(report.unknown.most_common()),
                len(report.bad_lines),
                odd[source.name],
                min(days, default=None),
            )
        )
    return found


def clean_ups(library: Library, now: float | None = None) -> list[CleanUp]:
    """The clean-up's next victims in each configuration folder, by modification time."""
    now = time.time() if now is None else now
    roots: dict[tuple[str, Path], list[tuple[float, str]]] = {}
    for transcript in library.transcripts:
        if transcript.root is not None:
            age = (now - transcript.mtime) / _DAY
            roots.setdefault((transcript.source, transcript.root), []).append(
                (age, transcript.session_id)
            )
    found = []
    for (source, root), aged in roots.items():
        days = SOURCES[source].retention_days(root)
        if days is None:
            continue
        left = sorted(days - age for age, _ in aged)
        ahead = [days_left for days_left in left if days_left > 0]
        found.append(
            CleanUp(
                root,
                SOURCES[source].title,
                days,
                overdue=len(left) - len(ahead),
                soon=sum(days_left <= SOON_DAYS for days_left in ahead),
                next_in_days=round(ahead[0], 1) if ahead else None,
                next_session=max(aged)[1],
            )
        )
    return found


def sorted_troubles(troubles: list[Trouble]) -> list[Trouble]:
    return sorted(troubles, key=lambda trouble: str(trouble.path))
