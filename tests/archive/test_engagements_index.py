"""``engagements-index.md``: the page one reads."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.archive.upkeep import page_of, write_page
from minutebook.extract.offline import OfflineExtractor
from minutebook.model.engagement import OPEN_PHASES, Engagement, SessionRecord
from minutebook.record.engagements_index import engagements_index
from minutebook.verbs.ingest import ingest


def engagement(topic: str, at: str, **fields: object) -> Engagement:
    given: dict[str, object] = {
        "id": topic.replace(" ", "-"),
        "topic": topic,
        "project": "/home/mara/orchard",
        "method": "build",
        "phase": "completed",
        "turn_range": (1, 2),
        "started": at,
        "ended": at,
        **fields,
    }
    return Engagement(**given)  # type: ignore[arg-type]


def page(*records: SessionRecord, copies: int = 0) -> str:
    pairs = [(record, engagement) for record in records for engagement in record.engagements]
    still = {(record.session_id, e.id) for record, e in pairs if e.phase in OPEN_PHASES}
    return engagements_index(records, {records[0].session_id}, pairs, still, copies)


def record(id: str, *engagements: Engagement, **fields: object) -> SessionRecord:
    given: dict[str, object] = {"started": "2026-03-02T09:00:00Z", "agent_id": "claude", **fields}
    return SessionRecord(session_id=id, engagements=engagements, **given)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Days and hours are local."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_page_reads_like_minutes() -> None:
    """ING-22, INS-06: by day, then project; outcome, decisions only where there are some, links
    to document and rounds; ghosts are one line a day."""
    told = page(
        record(
            "s1",
            engagement("Prune the trees", "2026-03-02T09:10:00Z", key_decisions=("In winter.",)),
            engagement(
                "Press the cider",
                "2026-03-03T10:00:00Z",
                project="/home/mara/press",
                outcome="Forty litres.",
                ended="2026-03-03T11:30:00Z",
                turn_range=(3, 3),
            ),
            title="Autumn",
        ),
        record("s2", ghost=True),
        record("s3", ghost=True),
        copies=2,
    )
    assert told == (
        "# Engagements\n\n"
        "2 engagements in 1 session, 2026-03-02 to 2026-03-03, newest day first. "
        "2 engagements of copied conversations left out.\n\n"
        "## 2026-03-03\n\n### press\n\n"
        "- **Press the cider** · build, completed · 10:00–11:30\n"
        "  Forty litres.\n"
        "  - in [Autumn](claude/s1.md), [round 3](claude/s1/index.md)\n\n"
        "## 2026-03-02\n\n### orchard\n\n"
        "- **Prune the trees** · build, completed · 09:10\n"
        "  - decided: In winter.\n"
        "  - in [Autumn](claude/s1.md), [rounds 1–2](claude/s1/index.md)\n\n"
        "*2 sessions without substantive work.*\n"
    )


def test_a_note_on_a_session_is_told_once() -> None:
    """ING-22, UND-07: at its newest day, beside those of its engagements."""
    told = page(
        record(
            "s1",
            engagement("Prune the trees", "2026-03-02T09:10:00Z"),
            engagement("Press the cider", "2026-03-03T10:00:00Z", note="Sweet"),
            note="Ask *Mara*",
        )
    )
    note = "  - note on the session: Ask \\*Mara\\*\n"
    assert told.count("note") == 2 and "  - note: Sweet\n" in told
    assert note in told.split("## 2026-03-02")[0].split("Press the cider")[1]


def test_what_is_open_comes_first_newest_first_and_bounded() -> None:
    """ING-22: in-progress, blocked and handed-off work of the last weeks before the newest
    engagement; what was left open earlier is counted, with where to see it; what is done is not
    among it."""
    days = [
        engagement(f"Water bed {n}", f"2026-03-{n:02}T09:00:00Z", phase="in-progress", id=f"e{n}")
        for n in range(1, 26)
    ]
    told = page(
        record(
            "s1",
            *days,
            engagement("Dig a pond", "2026-01-01T09:00:00Z", phase="blocked"),
            engagement("Plan a pond", "2026-01-03T09:00:00Z", phase="started"),
            engagement("Mend the fence", "2026-03-25T10:00:00Z"),
            engagement("Sell the hay", "2026-03-25T11:00:00Z", phase="handed-off"),
        )
    )
    head = told[: told.index("## 2026-03-25")].split("## Still open")[1]
    assert head.count("\n- **") == 20 and "- … and 6 more, below" in head
    assert head.index("Sell the hay") < head.index("Water bed 25") < head.index("Water bed 24")
    assert "pond" not in head and "fence" not in head
    assert (
        "\n- 2 older: `minutebook report --since 2026-01-01` lists everything that is still open\n"
        in head
    )


def test_work_that_ends_on_another_day_says_so() -> None:
    """ING-22: it is listed on the day it began, with the day and hour it ended."""
    told = page(
        record(
            "s1",
            engagement("Dry the apples", "2026-03-02T22:10:00Z", ended="2026-03-05T07:05:00Z"),
        )
    )
    assert "## 2026-03-02\n" in told and "## 2026-03-05" not in told
    assert "**Dry the apples** · build, completed · 22:10 to 2026-03-05 07:05\n" in told


def test_the_same_records_give_the_same_bytes(tmp_path: Path, examples: Path) -> None:
    """ING-22, UND-08: written twice the page is the same, byte by byte; a fork's rounds are on
    it once, and it says how many engagements it leaves out."""
    archive = Archive(tmp_path / "archive", (examples,))
    ingest(archive, OfflineExtractor(), ended=True)
    before = archive.layout.engagements_index.read_bytes()
    write_page(archive)
    archive.read_again()
    assert archive.layout.engagements_index.read_bytes() == before == page_of(archive)
    said = before.decode()
    assert said.count("Add passkey login") == 1 and "of copied conversations left out" in said
    for link in (part.split(")")[0] for part in said.split("](")[1:]):
        assert (archive.layout.sessions / link).exists()
