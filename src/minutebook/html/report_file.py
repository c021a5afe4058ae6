"""The minutes of a period as one HTML file (SHARE-02)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minutebook.archive.reporting import ProjectMinutes, Report, Work
from minutebook.html.standing_alone import stand_alone
from minutebook.model.session import project_of


def report_file(report: Report, title: str, left_out: str) -> bytes:
    """What was done, decided, shipped, and is still open, by project."""
    return stand_alone("report_file.html", title=title, left_out=left_out, **report_values(report))


def report_values(report: Report, opens: Callable[[str], str] | None = None) -> dict[str, Any]:
    """What the body of a report needs, in a file or on a page; there, `opens` is where rounds are
    read."""
    return {
        "opens": opens,
        "report": report,
        "decisions": sum(len(minutes.decided) for minutes in report.projects),
        "done": _done,
        "project_of": project_of,
    }


def _done(minutes: ProjectMinutes) -> list[Work]:
    """What was done without what was deployed, which is listed with what was shipped."""
    deployed = {(work.session_id, work.engagement_id) for work in minutes.deploys}
    return [w for w in minutes.done if (w.session_id, w.engagement_id) not in deployed]
