"""Files from a page: the same bytes as the command line gives (VIEW-22, SHARE-01, SHARE-02)."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import quote

import pytest

import minutebook
from minutebook.verbs.report import report_content
from tests.web.conftest import Served

REED = "eb82c016-c70f-5ceb-a51c-144afda4b7b3"


@pytest.mark.parametrize("format", ["html", "md", "json"])
@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("", {}),
        ("&rounds=2-3", {"rounds": "2-3"}),
        ("&only=user&only=calls", {"only": "user,calls"}),
        ("&only=assistant,results", {"only": "assistant,results"}),
        ("&e=1", {"engagement": "1"}),
    ],
)
def test_the_page_gives_the_same_bytes(
    viewer: Served, format: minutebook.verbs.share.Format, query: str, asked: dict[str, str]
) -> None:
    """VIEW-22: as `minutebook export`, as a file to save."""
    status, headers, body = viewer.get(f"/session/Reed/export?format={format}{query}")
    with minutebook.open_archive(viewer.archive, [viewer.root]) as archive:
        made = minutebook.export(
            archive,
            REED,
            asked.get("engagement"),
            format=format,
            only=asked.get("only"),
            rounds=asked.get("rounds"),
        )
    assert (status, body.encode()) == (200, made.content)
    assert headers["content-disposition"] == f"attachment; filename*=UTF-8''{quote(made.name)}"


@pytest.mark.parametrize("format", ["html", "md", "json"])
def test_a_report_is_the_same_too(
    viewer: Served, format: minutebook.verbs.report.ReportFormat
) -> None:
    """SHARE-02: the page's download is what `minutebook report --format …` writes."""
    body = viewer.get(f"/report/file?since=2026-03-01&project=orchard&format={format}")[2]
    with minutebook.open_archive(viewer.archive, [viewer.root]) as archive:
        report = archive.report(since="2026-03-01", project="orchard")
    assert report.engagements and body.encode() == report_content(report, format)


def test_the_report_page(viewer: Served) -> None:
    """SHARE-02: of this week unless another period is chosen; in words where nothing is in it."""
    status, _, page = viewer.get("/report?since=2026-03-01")
    assert status == 200 and "Minutes since 2026-03-01" in page and "<h3>Done</h3>" in page
    assert "/report/file?since=2026-03-01&amp;format=html" in page
    assert "There are no minutes of this period" in viewer.get("/report?date=2020-01-01")[2]
    assert 'aria-current="true">this week' in viewer.get("/report")[2]


def test_the_report_page_leads_to_what_it_tells_of(viewer: Served) -> None:
    """VIEW-13, VIEW-21: each piece of work and each decision is a link to its rounds; no id stands
    on the page, while the file has what `minutebook show` takes."""
    asked = "since=2026-03-01&project=orchard"
    page = viewer.get(f"/report?{asked}")[2]
    body = page.partition('<div class="report">')[2]
    links = set(re.findall(r'<a href="(/session/[^"#]*)', body))
    assert links
    assert all(viewer.get(unescape(link))[0] == 200 for link in links)
    report = json.loads(viewer.get(f"/report/file?{asked}&format=json")[2])
    (project,) = report["report"]["projects"]
    shown = re.sub(r"<[^>]*>", "", body)
    for item in (*project["done"], *project["decided"]):
        assert item["address"] not in shown
    assert project["done"][0]["address"] in viewer.get(f"/report/file?{asked}&format=html")[2]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/session/Reed/export?format=pdf", 400),
        ("/session/Reed/export?rounds=99", 404),
        ("/session/Reed/export?only=colours", 400),
        ("/session/Reed/export?e=nothing", 404),
        ("/session/nobody/export", 404),
        ("/session/..%2f..%2fetc%2fpasswd/export", 404),
        ("/session/Reed/share?e=nothing", 404),
        ("/report?since=sometime", 400),
        ("/report/file?format=pdf", 400),
    ],
)
def test_what_makes_no_sense_is_answered(viewer: Served, path: str, status: int) -> None:
    """VIEW-12, VIEW-22: a page with a sentence, never a bug."""
    answered, _, page = viewer.get(path)
    assert answered == status and "bug" not in page
