"""What a report says of commits: each once, and as shipped only what is known to have left."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import msgspec
import pytest

from minutebook.archive import Archive
from minutebook.archive.reporting import named_period, report_of
from minutebook.derive.activity import Activity, Commit
from minutebook.derive.committed import last_of_each
from minutebook.extract.offline import OfflineExtractor
from minutebook.extract.records import with_facts
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.said import Thread
from minutebook.record.engagements import append_record
from minutebook.record.indexes import harmless, without_escapes
from minutebook.verbs.ingest import ingest
from minutebook.verbs.report import report_content, report_markdown
from tests.archive.test_operations import SID, put
from tests.conftest import assistant, tool_result, tool_use, user


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        (["1a2b3c4 Add x", "2b3c4d5 Add x"], ["2b3c4d5 Add x"]),
        (["1a2b3c4 Add x", "2b3c4d5 fixup! Add x", "3c4d5e6 WIP tests"], ["1a2b3c4 Add x"]),
        (["1a2b3c4 squash! Add x", "2b3c4d5 wipe the disk"], ["2b3c4d5 wipe the disk"]),
        (["1a2b3c4 Add x", '2b3c4d5 Revert "Add x"'], []),
        (['2b3c4d5 Revert "Add y"'], ['2b3c4d5 Revert "Add y"']),
        (["1a2b3c4 X", '2b3c4d5 Revert "X"', '3c4d5e6 Revert "Revert "X""'], ["1a2b3c4 X"]),
        (["1a2b3c4 X", '2b3c4d5 Revert "X"', '3c4d5e6 Reapply "X"'], ["1a2b3c4 X"]),
        (["1a2b3c4 X", '2b3c4d5 Revert "X"', "3c4d5e6 X"], ["3c4d5e6 X"]),
        (["1a2b3c4", "2b3c4d5"], ["1a2b3c4", "2b3c4d5"]),
        (["1a2b3c4 Merge branch 'main' into x", "2b3c4d5 Merge pull request #7 from mara/x"], []),
        (["1a2b3c4 Merge remote-tracking branch 'origin/main' into x", "2b3c4d5 X"], ["2b3c4d5 X"]),
        (["1a2b3c4 Merge the two tables"], ["1a2b3c4 Merge the two tables"]),
    ],
)
def test_a_commit_counts_once_and_a_step_not_at_all(made: list[str], kept: list[str]) -> None:
    """SHARE-02: the last of several with one subject; no fixups or merges, and nothing that was
    reverted."""
    assert list(last_of_each(made)) == kept


def test_an_amended_commit_is_gone() -> None:
    """SHARE-02: an engagement has the commit that took its place, whatever it is called; an amend
    of what an earlier engagement committed adds one."""
    made = (Commit("1a2b3c4", "Add x"), Commit("2b3c4d5", "Add x!", amends=True))
    rounds = [
        Activity(number=1, commits=made),
        Activity(number=2, commits=(Commit("3c4d5e6", "Add x, at last", amends=True),)),
    ]

    def commits(*turns: int) -> tuple[str, ...]:
        whole = Engagement(
            id="a",
            topic="x",
            project="",
            method="build",
            phase="completed",
            turn_range=(turns[0], turns[-1]),
        )
        return with_facts(whole, rounds).commits

    assert commits(1, 2) == ("3c4d5e6 Add x, at last",)
    assert commits(1, 1) == ("2b3c4d5 Add x!",)
    assert commits(2, 2) == ("3c4d5e6 Add x, at last",)


def test_work_begins_with_its_earliest_round() -> None:
    """ING-17: clocks of a resumed session may go back; work is dated from when it began."""
    late = Activity(number=1, started="2026-03-02T04:34:00Z", ended="2026-03-02T04:35:00Z")
    early = Activity(number=2, started="2026-03-01T23:23:00Z", ended="2026-03-01T23:25:00Z")
    whole = Engagement(
        id="a", topic="x", project="", method="build", phase="completed", turn_range=(1, 2)
    )
    found = with_facts(whole, [late, early])
    assert (found.started, found.ended) == (early.started, late.ended)


def _archive(tmp_path: Path) -> Archive:
    archive = Archive(tmp_path / "archive")
    at = "2026-03-02T0{}:00:00Z"
    engagements = (
        Engagement(
            id="a",
            topic="Read settings from segment_test.go",
            method="build",
            commits=("1a2b3c4 feat: read settings", "2b3c4d5 fixup! feat: read settings"),
            outcome="Committed: read settings (and 1 more commit).",
            turn_range=(1, 1),
            started=at.format(8),
            project="/w/orchard",
            phase="completed",
        ),
        Engagement(
            id="b",
            topic="Sort notes",
            method="build",
            commits=("3c4d5e6 Sort notes by date",),
            pull_requests=("https://git.example/orchard/pull/7",),
            outcome="Committed: something else.",
            turn_range=(2, 2),
            started=at.format(9),
            project="/w/orchard",
            phase="completed",
        ),
    )
    append_record(archive.layout, SessionRecord(session_id="s" * 8, engagements=engagements))
    return archive


def test_only_what_left_is_shipped(tmp_path: Path) -> None:
    """SHARE-02: a commit is a commit; in Markdown, HTML and JSON it is shipped where its
    engagement opened a pull request."""
    found = report_of(_archive(tmp_path), named_period(since="2026-03-01", until="March 2026"))
    told = report_markdown(found)
    assert "### Commits\n\n- 1a2b3c4 feat: read settings\n" in told
    assert "### Shipped\n\n- commit 3c4d5e6 Sort notes by date\n- pull request" in told
    page = report_content(found, "html").decode()
    assert "<h3>Commits</h3><ul>\n<li><code>1a2b3c4" in page
    assert "<li>commit <code>3c4d5e6" in page and "fixup" not in page
    (minutes,) = json.loads(report_content(found, "json"))["report"]["projects"]
    assert minutes["commits"] == ["1a2b3c4 feat: read settings", "3c4d5e6 Sort notes by date"]
    assert minutes["shipped"] == ["3c4d5e6 Sort notes by date"]


def test_a_pull_request_has_its_title(tmp_path: Path) -> None:
    """SHARE-02: as it was opened, in Markdown, HTML and JSON, without secrets and inert; one whose
    title is not recorded stands alone."""
    secret = "ghp_" + "Zk3qW8xT2mLr9VbN5cYp" + "7HdJ4sGf6AeU1oQi"
    title, urls = (
        f"Sort <b>notes</b> by {secret}",
        [f"https://h.example/o/r/pull/{n}" for n in "78"],
    )
    put(
        tmp_path / "p",
        user("Sort the notes and open a PR", uuid="u1"),
        assistant(
            tool_use("t1", command=f'gh pr create --title "{title}" --body x'),
            tool_use("t2", command="gh pr create --fill"),
            "It is open. " * 200,
            uuid="a1",
        ),
        tool_result("t1", f"Creating pull request\n{urls[0]}\n", uuid="r1"),
        tool_result("t2", urls[1], uuid="r2"),
    )
    archive = Archive(tmp_path / "archive", (tmp_path / "p",))
    ingest(archive, OfflineExtractor(), ended=True)
    found = report_of(archive, named_period(since="2026-03-01", until="March 2026"))
    told = without_escapes(report_markdown(found))
    shown = archive.hide(title)
    assert secret not in shown
    assert f"- pull request “{shown}” <{urls[0]}>\n- pull request <{urls[1]}>\n" in told
    page = report_content(found, "html").decode()
    assert f"pull request “<bdi>{escape(shown)}</bdi>” <a href" in page
    (minutes,) = json.loads(report_content(found, "json"))["report"]["projects"]
    assert (minutes["pull_requests"], minutes["pull_titles"]) == (urls, {urls[0]: shown})
    archive.layout.folder("claude", SID).joinpath("rounds", "001.json").write_text("{")
    again = report_of(Archive(tmp_path / "archive"), named_period(since="2026-03-01"))
    assert again.projects[0].pull_requests == tuple(urls)


def test_an_outcome_that_only_names_a_listed_commit_is_left_out(tmp_path: Path) -> None:
    """SHARE-02: the same subject is not told twice; another outcome stays."""
    told = report_markdown(
        report_of(_archive(tmp_path), named_period(since="2026-03-01", until="March 2026"))
    )
    assert "Committed: read settings" not in told and "Committed: something else." in told


def test_a_blocked_deployment_is_not_shipped(tmp_path: Path) -> None:
    """SHARE-02: shipped is what was brought to an end, not what went on elsewhere."""
    archive = _archive(tmp_path)
    (record,) = archive.minutes.stored().values()
    blocked = msgspec.structs.replace(record.engagements[0], method="deploy", phase="blocked")
    later = msgspec.structs.replace(blocked, id="c", method="build", phase="completed")
    later = msgspec.structs.replace(later, commits=(), started="2026-03-03T08:00:00Z")
    other = msgspec.structs.replace(record, session_id="t" * 8, engagements=(later,))
    append_record(archive.layout, msgspec.structs.replace(record, engagements=(blocked,)))
    append_record(archive.layout, other)
    for id, name in ((record.session_id, "a"), (other.session_id, "c")):
        archive.say(id, Thread(name, name="pruning"))
    found = report_of(archive, named_period(since="2026-03-01", until="March 2026"))
    (minutes,) = found.projects
    assert minutes.open == () and len(minutes.done) == 2  # it went on in its thread
    assert minutes.deploys == () and minutes.shipped == ()


def test_an_outcome_of_several_listed_commits_is_left_out(tmp_path: Path) -> None:
    """SHARE-02: nor are several subjects told twice."""
    archive = _archive(tmp_path)
    (record,) = archive.minutes.stored().values()
    several = msgspec.structs.replace(
        record.engagements[1],
        commits=("3c4d5e6 Sort notes by date", "4d5e6f7 fix: keep empty notes"),
        outcome="Committed: Sort notes by date; keep empty notes (and 1 more commit).",
    )
    append_record(archive.layout, msgspec.structs.replace(record, engagements=(several,)))
    told = report_markdown(report_of(archive, named_period(since="2026-03-01", until="March 2026")))
    assert "Committed:" not in told and "keep empty notes" in told


def test_words_with_underscores_stay_as_they_are() -> None:
    """SHARE-02: an underscore is escaped only where it could be emphasis."""
    assert harmless("segment_test.go, a__b, MAX_1") == "segment_test.go, a__b, MAX_1"
    assert harmless("_x_ __init__.py a_ _") == r"\_x\_ \_\_init\_\_.py a\_ \_"


def test_an_ampersand_is_escaped_only_where_it_begins_an_entity() -> None:
    """SHARE-02: Markdown that is read as it is has as few escapes as it needs."""
    assert harmless("Security & Review, R&D; a && b") == "Security & Review, R&D; a && b".replace(
        "&D;", "&#38;D;"
    )
    assert harmless("&amp; &#60; &#x3c;") == "&#38;amp; &#38;#60; &#38;#x3c;"


@pytest.mark.parametrize("text", [r"\*a*\ `b` [c](d) _e_", "<b> | &#60; &lt; \\&#60;", "a & b"])
def test_a_terminal_shows_what_was_said(text: str) -> None:
    """SHARE-02: on a terminal a report has no escapes of Markdown."""
    assert without_escapes(harmless(text)) == text
