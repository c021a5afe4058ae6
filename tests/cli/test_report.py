"""``minutebook report``: the minutes of a period, ready for a stand-up."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest

from minutebook.archive import Archive, open_archive
from minutebook.archive.reporting import LeftOut, ProjectMinutes, Report, Work
from minutebook.errors import BadArgument
from minutebook.extract.offline import OfflineExtractor
from minutebook.mcp.tools import Tools
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.said import Hide, Note, Set, Star, Undo
from minutebook.record.engagements import append_record
from minutebook.record.indexes import without_escapes
from minutebook.verbs.ingest import ingest
from minutebook.verbs.report import REPORT_FORMATS, report_markdown
from tests.cli.conftest import Run
from tests.cli.test_verbs import golden

MARCH = ("--since", "2026-03-01", "--until", "March 2026")
KEY = "ghp_" + "Zk3qW8xT2mLr9VbN5cYp" + "7HdJ4sGf6AeU1oQi"


@pytest.fixture
def places(tmp_path: Path, examples: Path) -> list[str]:
    ingest(Archive(tmp_path / "archive", (examples,)), OfflineExtractor(), ended=True)
    return ["--root", str(examples), "--archive", str(tmp_path / "archive")]


@pytest.mark.parametrize("columns", [80, 200])
def test_a_report_is_a_page_of_markdown(run: Run, places: list[str], columns: int) -> None:
    """SHARE-02: by project, what was done, decided, shipped and is open; copies once; what is
    left out is counted; no colour in it."""
    ran = run("report", *MARCH, *places, columns=columns)
    assert (ran.status, ran.err) == (0, "")
    golden("report.txt", ran.out)
    assert "\x1b" not in ran.out and ran.out.count("**Add passkey login") == 1


def test_a_report_of_one_session(run: Run, places: list[str]) -> None:
    """SHARE-02: the minutes of a session, to paste; the same in the library and MCP; a filter
    beside it is refused; a copy has what it copied."""
    ran = run("report", "7c8fc3ae", *places)
    golden("report_session.txt", ran.out)
    with open_archive(places[3], [places[1]]) as archive:
        own = archive.report("7c8fc3ae")
        assert own.session is not None and own.session.rounds == 6
        assert own.session.summary is None
        archive.say("7c8fc3ae", Set("1", values={"topic": "Zzz"}))
        after = archive.report("7c8fc3ae").session
        assert after is not None and after.summary is None, "rules only repeat the old topics"
        archive.say("7c8fc3ae", Undo())
        assert "Add passkey login" in Tools(archive).report(session="7c8fc3ae")
        with pytest.raises(BadArgument, match="leave out since"):
            archive.report("Reed", since="March")
    told = json.loads(run("report", "7c8fc3ae", "--json", *places).out)["report"]
    assert (told["engagements"], told["session"]["name"]) == (2, own.session.name)
    assert run("report", "7c8fc3ae", "--week", *places).status == 2
    assert run("report", "nobody", *places).status == 2


def test_it_is_of_this_week_by_default(run: Run, places: list[str]) -> None:
    """SHARE-02: a week without work is said to be one; dates as people say them, or an error."""
    ran = run("report", *places)
    assert ran.status == 0 and "There are no minutes of this period." in ran.out
    assert run("report", "--week", *places).out == ran.out
    assert "# Minutes of 2026-03-02" in run("report", "--date", "2026-03-02", *places).out
    odd = run("report", "--since", "the day before", *places)
    assert (odd.status, "is not a date" in odd.err) == (2, True)


def test_an_empty_period_leads_to_the_latest_week_with_work(run: Run, places: list[str]) -> None:
    """SHARE-02: the command stands on a line of its own, and keeps the other filters."""
    told = run("report", "--date", "2020-01-01", "-p", "orchard", *places).err.splitlines()
    assert told == [
        "The latest week with work is 2026-03-02 to 2026-03-08:",
        "  minutebook report --since 2026-03-02 --until 2026-03-08 --project orchard",
    ]


def test_a_project_that_there_is_not_is_said(run: Run, places: list[str]) -> None:
    """SHARE-02, SRCH-14: in every format; a project without work in the period is another thing."""
    typo = ("-p", "typo<b>", *MARCH, *places)
    assert "\nNo project matches 'typo<b>'.\n" in without_escapes(run("report", *typo).out)
    assert (
        "No project matches &#39;typo&lt;b&gt;&#39;."
        in run("report", "--format", "html", *typo).out
    )
    for project, unknown in (("typo", True), ("orchard", False), ("orch", False)):
        ran = run("report", "--date", "2020-01-01", "-p", project, "--json", *places)
        assert json.loads(ran.out)["report"]["unknown_project"] == unknown
    ran = run("report", "--date", "2020-01-01", "-p", "orchard", *places)
    assert "There are no minutes of this period" in ran.out


def test_a_report_of_a_session_says_why_it_is_empty(run: Run, places: list[str]) -> None:
    """SHARE-02, UND-07: minutes that were hidden were taken; of a ghost none are."""
    with open_archive(places[3], [places[1]]) as archive:
        archive.say("7c8fc3ae", Hide("1"))
        assert "1 engagement in 6 rounds." in run("report", "7c8fc3ae", *places).out
        archive.say("7c8fc3ae", Hide("5"))
        for form in ("md", "html"):
            told = run("report", "7c8fc3ae", "--format", form, *places).out
            assert "You hid every engagement of this session (6 rounds)." in told
    told = run("report", "c52bc01f", *places).out
    assert "No minutes were taken of this session (1 round)." in told


def test_what_is_starred_is_marked(run: Run, places: list[str]) -> None:
    """SHARE-02, UND-07: an engagement, or its session, in every format; a note stays with you."""
    with open_archive(places[3], [places[1]]) as archive:
        archive.say("7c8fc3ae", Star("5"))
        archive.say("Wren", Star())
        archive.say("Wren", Note(text="Private words"))
    told = {form: run("report", *MARCH, "--format", form, *places).out for form in ("md", "html")}
    assert told["md"].count("★") == told["html"].count("★") == 2
    assert "- ★ **Hide the password form" in told["md"] and "- ★ **Settle the" in told["md"]
    whole = run("report", *MARCH, "--json", *places).out
    starred = [
        w["topic"][:6]
        for p in json.loads(whole)["report"]["projects"]
        for w in p["done"]
        if w["starred"]
    ]
    assert starred == ["Settle", "Hide t"]
    assert not any("Private words" in text for text in (whole, *told.values()))


def test_work_that_ends_on_another_day_shows_both(run: Run, tmp_path: Path) -> None:
    """SHARE-02: it is in the report of the day it began, in every format."""
    archive = Archive(tmp_path / "archive")
    ends = {"started": "2026-03-02T22:10:00Z", "ended": "2026-03-05T07:05:00Z"}
    engagement = Engagement(
        id="e",
        topic="Dry the apples",
        project="/w/orchard",
        method="build",
        phase="completed",
        turn_range=(1, 3),
        **ends,  # type: ignore[arg-type]  # times
    )
    append_record(archive.layout, SessionRecord(session_id="s" * 8, engagements=(engagement,)))
    asked = ("--date", "2026-03-02", "--archive", archive.root, "--root", tmp_path)
    told = {form: run("report", *asked, "--format", form).out for form in REPORT_FORMATS}
    assert "(build, 2026-03-02 to 2026-03-05, ssssssss#1-3)" in without_escapes(told["md"])
    assert "Mon 2 Mar 2026 to Thu 5 Mar 2026" in told["html"]
    (work,) = json.loads(told["json"])["report"]["projects"][0]["done"]
    assert {name: work[name] for name in ends} == ends


def test_a_title_is_not_repeated_in_its_own_report(run: Run, places: list[str]) -> None:
    """SHARE-02: the heading names the session; among others an entry says which it is of."""
    with open_archive(places[3], [places[1]]) as archive:
        archive.say("7c8fc3ae", Set(values={"title": "Hedges"}))
    for form in ("md", "html"):
        alone = run("report", "7c8fc3ae", "--format", form, *places).out
        assert "Hedges" in alone and "“" not in alone
        assert "“" in run("report", *MARCH, "--format", form, *places).out


def test_sessions_without_minutes_are_those_of_the_list(
    run: Run, tmp_path: Path, examples: Path
) -> None:
    """SHARE-02, UND-08: copies of a conversation wait once, as `sessions` lists them."""
    archive = Archive(tmp_path / "archive", (examples,))
    ingest(archive, OfflineExtractor(), ended=True)
    archive.layout.engagements.unlink()
    places = ("--root", examples, "--archive", archive.root)
    left = json.loads(run("report", *MARCH, "--json", *places).out)["report"]["left_out"]
    listed = json.loads(run("sessions", "--all", *MARCH, "--json", *places).out)
    assert listed["copies_hidden"] == 1 and left["unread"] == listed["total"]


def test_all_front_ends_report_the_same(run: Run, places: list[str]) -> None:
    """SHARE-02: `--json`, `--format json`, the library and MCP have the same minutes, as many
    engagements as `search` lists for the period, and a project narrows them."""
    said = json.loads(run("report", *MARCH, "--json", *places).out)
    assert said == json.loads(run("report", *MARCH, "--format", "json", *places).out)
    report = said["report"]
    with open_archive(places[3], [places[1]]) as archive:
        own = archive.report(since="2026-03-01", until="March 2026")
        assert own.engagements == report["engagements"] > 0
        assert [minutes.project for minutes in own.projects] == [
            minutes["project"] for minutes in report["projects"]
        ]
        answer = Tools(archive).report(since="2026-03-01", until="March 2026")
        assert "Add passkey login" in answer and "untrusted" in answer
    listed = json.loads(run("search", *MARCH, "--json", *places).out)
    assert listed["total"] == report["engagements"]
    assert listed["copies_hidden"] == report["left_out"]["copies"] == 1
    narrow = json.loads(run("report", *MARCH, "-p", "orchard", "--json", *places).out)["report"]
    assert [minutes["project"] for minutes in narrow["projects"]] == ["orchard"]


def test_a_file_is_never_replaced_unasked(run: Run, places: list[str], tmp_path: Path) -> None:
    """SHARE-02, SHARE-03: --out writes a new file, --force replaces one; nothing is written into
    a source or the archive, or into a folder that is not there."""
    page = tmp_path / "week.md"
    assert run("report", *MARCH, "--out", page, *places).status == 0
    assert page.read_text().startswith("# Minutes of 2026-03-01 to 2026-03-31")
    page.write_text("mine")
    ran = run("report", *MARCH, "--out", page, *places)
    assert (ran.status, page.read_text()) == (2, "mine") and "--force" in ran.err
    assert run("report", *MARCH, "--json", "--out", page, "--force", *places).status == 0
    assert json.loads(page.read_text())["version"] == 1
    for place in (Path(places[1]) / "x.md", Path(places[3]) / "x.md", tmp_path / "no" / "x.md"):
        ran = run("report", *MARCH, "--out", place, *places)
        assert (ran.status, place.exists()) == (2, False)
    assert run("report", "--force", *places).status == 2
    assert run("report", "--json", "--format", "md", *places).status == 2


@pytest.mark.parametrize("verb", ["report", "export"])
def test_where_archived_transcripts_came_from_is_only_read(
    run: Run, tmp_path: Path, examples: Path, verb: str
) -> None:
    """SHARE-02, SHARE-03: without --root too, and when the transcripts are deleted: neither beside
    one, nor anywhere in the agent's folder around it."""
    home = copytree(examples, tmp_path / "home")
    ingest(Archive(tmp_path / "archive", (home,)), OfflineExtractor(), ended=True)
    transcripts = list(home.rglob("*.jsonl"))
    args = (verb, *(MARCH if verb == "report" else ("7c8fc3ae",)))
    for gone in (False, True):
        for path in transcripts if gone else ():
            path.unlink()
        for folder in (transcripts[0].parent, home / "projects", home):
            place = folder / "x.md"
            ran = run(*args, "--out", place, "--archive", tmp_path / "archive")
            assert (ran.status, place.exists()) == (2, False)
            assert ran.err.endswith("is only read: choose another place.\n")
    elsewhere = (*args, "--out", tmp_path / "x.md", "--archive", tmp_path / "archive")
    assert run(*elsewhere).status == 0


def test_an_agents_own_folder_is_only_read(run: Run, places: list[str], own_home: Path) -> None:
    """SHARE-02: even where --root names another and nothing of it is archived."""
    (own_home / ".claude" / "projects").mkdir(parents=True)
    place = own_home / ".claude" / "projects" / "x.md"
    ran = run("report", *MARCH, "--out", place, *places)
    assert (ran.status, place.exists()) == (2, False)


def test_secrets_are_masked(run: Run, tmp_path: Path) -> None:
    """SHARE-02, SHARE-03: a key that got into a record is not in a report, in no form."""
    archive = Archive(tmp_path / "archive")
    engagement = Engagement(
        id="e",
        topic=f"Rotate the token {KEY}",
        project="/w/vault",
        method="deploy",
        phase="completed",
        key_decisions=(f"Keep {KEY} until Monday",),
        commits=(f"1a2b3c4 drop {KEY}",),
        turn_range=(1, 1),
        started="2026-03-02T09:00:00Z",
    )
    append_record(archive.layout, SessionRecord(session_id="s" * 8, engagements=(engagement,)))
    places = ("--archive", archive.root, "--root", tmp_path)
    for form in ((), ("--json",)):
        said = run("report", *MARCH, *places, *form)
        assert said.status == 0 and "vault" in said.out and KEY not in said.out
    assert KEY not in Tools(archive).report(since="2026-03-01", until="March 2026")


def test_every_kind_of_news_has_its_place() -> None:
    """SHARE-02: done, decided, shipped (commits, requests, deployments), open, dropped; hostile
    words are inert; a long list of commits is cut, and says so."""

    def work(topic: str, phase: str = "completed", method: str = "build") -> Work:
        return Work(
            session_id="s",
            engagement_id=topic,
            address="3a4d64e0#3-7",
            program="codex",
            started=None,
            topic=topic,
            method=method,
            phase=phase,
        )

    minutes = ProjectMinutes(
        project="orchard",
        sessions=1,
        engagements=4,
        done=(work("<script>x</script>"), work("Ship it", method="deploy")),
        commits=tuple(f"{n:07} subject" for n in range(40)),
        pull_requests=("https://h/o/r/pull/1", "https://h/> [x](y)"),
        deploys=(work("Ship it", method="deploy"),),
        open=(work("Paint the shed", "blocked"),),
        dropped=(work("Dig a moat", "abandoned"),),
    )
    left = LeftOut(ghosts=1, copies=2, unread=1, undated=1)
    told = report_markdown(
        Report(
            since="2026-03-02",
            until="2026-03-08",
            sessions=1,
            engagements=4,
            projects=(minutes,),
            left_out=left,
        )
    )
    assert "<script>" not in told and "> [x]" not in told
    assert "- … and 10 commits more" in told and "- pull request <https://h/o/r/pull/1>" in told
    assert told.count("Ship it") == 1 and "- deployed: **Ship it**" in told
    assert "### Still open\n\n- **Paint the shed** (build, blocked, 3a4d64e0#3-7)" in told
    assert "### Dropped\n\n- **Dig a moat**" in told
    assert told.endswith(
        "Left out: 1 session without substantive work, 2 engagements of copied conversations, "
        "1 session without minutes (`minutebook ingest` takes them), 1 engagement without a date.\n"
    )
