"""The minutes of a period as a file: Markdown, HTML, or JSON for programs (SHARE-02)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal, get_args

from minutebook.archive.reporting import (
    LeftOut,
    OpenFile,
    ProjectMinutes,
    Report,
    ReportedSession,
    Work,
)
from minutebook.derive.times import instant
from minutebook.derive.wording import plural
from minutebook.model.session import project_of
from minutebook.record.indexes import harmless
from minutebook.verbs.json_document import json_document

_MOST_COMMITS = 30


ReportFormat = Literal["md", "html", "json"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)


def report_content(report: Report, format: ReportFormat) -> bytes:
    """A report as a file; the page and the command line give the same bytes."""
    if format == "html":
        from minutebook.html.report_file import report_file

        title = f"Minutes {period_words(report)}"
        return report_file(report, title, report_left_out(report))
    if format == "json":
        return json_document(report=report)
    return report_markdown(report).encode("utf-8", "replace")


def report_left_out(report: Report) -> str:
    """What a report does not tell of, in words without marks."""
    return _left_out(report.left_out).replace("`", "")


def report_name(report: Report, format: ReportFormat) -> str:
    """A name for its file: ``minutes-2026-03-02-2026-03-08.md``."""
    days = [day for day in (report.since, report.until) if day]
    days = [report.session.id[:8]] if report.session is not None else days
    return "-".join(["minutes", *dict.fromkeys(days)]) + f".{format}"


def report_markdown(report: Report) -> str:
    """A report as plain Markdown that reads well as it is."""
    lines = [f"# Minutes {period_words(report, harmless)}", ""]
    if report.session is not None and report.engagements:
        lines += _session(report.session, report.engagements)
    elif report.engagements:
        counts = (
            plural(report.engagements, "engagement"),
            plural(report.sessions, "session"),
            plural(len(report.projects), "project"),
        )
        lines += ["{} in {}, {}.".format(*counts), ""]
    else:
        lines += [harmless(report.nothing), ""]
    for minutes in report.projects:
        lines += _project(minutes, titled=report.session is None)
    lines += _open_files(report.prospective)
    if left := _left_out(report.left_out):
        lines += ["---", "", f"Left out: {left}.", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def period_words(report: Report, safe: Callable[[str], str] = str) -> str:
    """``of 2026-03-02 to 2026-03-08``, and of what."""
    since, until = report.since, report.until
    if since == until and since is not None:
        when = f"of {since}"
    elif since and until:
        when = f"of {since} to {until}"
    elif since:
        when = f"since {since}"
    else:
        when = f"until {until}" if until else "so far"
    if report.session is not None:
        return f"of {safe(report.session.name)}, {when.removeprefix('of ')}"
    named = (when, *(safe(text) for text in (report.project, report.agent) if text))
    return ", ".join(named)


def _session(session: ReportedSession, engagements: int) -> list[str]:
    counts = (plural(engagements, "engagement"), plural(session.rounds, "round"))
    said = [harmless(session.summary), ""] if session.summary else []
    copy = f" A copy of {session.copy_of}." if session.copy_of else ""
    return ["{} in {}.{}".format(*counts, copy), "", *said]


def _project(minutes: ProjectMinutes, *, titled: bool) -> list[str]:
    """Its minutes; `titled` where an entry says which session it is of."""
    works = partial(_works, titled=titled)
    left = set(minutes.shipped)
    commits = _commits([commit for commit in minutes.commits if commit not in left])
    shipped = _commits(minutes.shipped, "commit ")
    shipped += [
        f"- pull request {_called(minutes.pull_titles.get(url))}<{url}>"
        for url in minutes.pull_requests
        if _is_plain(url)
    ]
    deploys = works(minutes.deploys)
    shipped += [f"- deployed: {line[2:]}" if line.startswith("- ") else line for line in deploys]
    decided = [f"- {harmless(d.text)} ({harmless(d.topic)}, {d.address})" for d in minutes.decided]
    deployed = {(work.session_id, work.engagement_id) for work in minutes.deploys}
    done = [w for w in minutes.done if (w.session_id, w.engagement_id) not in deployed]
    lines = [f"## {harmless(minutes.project)}", ""]
    for head, found in (
        ("Done", works(done)),
        ("Decided", decided),
        ("Commits", commits),
        ("Shipped", shipped),
        ("Still open", works(minutes.open, phase=True)),
        ("Dropped", works(minutes.dropped)),
    ):
        if found:
            lines += [f"### {head}", "", *found, ""]
    return lines


def _commits(commits: Sequence[str], what: str = "") -> list[str]:
    lines = [f"- {what}{harmless(commit)}" for commit in commits[:_MOST_COMMITS]]
    if (more := len(commits) - _MOST_COMMITS) > 0:
        lines.append(f"- … and {plural(more, 'commit')} more")
    return lines


def _open_files(files: Iterable[OpenFile]) -> list[str]:
    """What projects' own files say is open, and what is overdue."""
    lines: list[str] = []
    for file in files:
        label = f"{file.method}, {file.phase}, {project_of(file.project)}"
        lines.append(f"- **{harmless(file.topic)}** ({harmless(label)}, {harmless(file.path)})")
        if file.gone:
            lines.append("  Its file is gone: this was seen of it last.")
        for item in file.owed:
            due = f" (due {item.due})" if item.due else ""
            state = "**overdue**" if item in file.overdue else "owed"
            lines.append(f"  - {state}: {harmless(item.what + due)}")
        lines += [f"  - the file has a problem: {harmless(why)}" for why in file.problems]
    return ["## Open now, by engagement.md", "", *lines, ""] if lines else []


def _works(works: Iterable[Work], *, titled: bool, phase: bool = False) -> list[str]:
    lines: list[str] = []
    for work in works:
        lines.append(_work(work, titled=titled, phase=phase))
        if work.outcome:
            lines.append(f"  {harmless(work.outcome)}")
    return lines


def _work(work: Work, *, titled: bool, phase: bool) -> str:
    label = f"{work.method}, {work.phase}" if phase else work.method
    kept = "by engagement.md" if work.kept == "prospective" else ""
    ends = (instant(work.started), instant(work.ended_later))
    days = (f"{moment:%Y-%m-%d}" for moment in ends if moment is not None)
    title = f"in “{work.title}”" if titled and work.title else ""
    facts = (label, kept, title, " to ".join(days), work.address)
    told = ", ".join(harmless(fact) for fact in facts if fact)
    return f"- {'★ ' if work.starred else ''}**{harmless(work.topic)}** ({told})"


def _called(title: str | None) -> str:
    return f"“{harmless(title)}” " if title else ""


def _left_out(left: LeftOut) -> str:
    told = (
        (left.ghosts, "session without substantive work", "sessions without substantive work"),
        (left.copies, "engagement of a copied conversation", "engagements of copied conversations"),
        (
            left.unread,
            "session without minutes (`minutebook ingest` takes them)",
            "sessions without minutes (`minutebook ingest` takes them)",
        ),
        (left.undated, "engagement without a date", "engagements without a date"),
        (left.hidden, "engagement that you hid", "engagements that you hid"),
    )
    return ", ".join(plural(count, one, many) for count, one, many in told if count)


def _is_plain(url: str) -> bool:
    return not any(char in url for char in "<> \n")
