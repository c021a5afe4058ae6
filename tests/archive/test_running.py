"""Is a session still running, and what became of rounds that were held back for that?"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from minutebook.record.layout import Layout
from minutebook.sources.library import Library
from tests.archive.conftest import Write
from tests.archive.steps import archive_at, check, documents, export_claude, status
from tests.archive.test_operations import put, turn
from tests.cli.conftest import Ran, Run, run
from tests.conftest import LAST_WORD_OLD, Record

__all__ = ["run"]  # the fixture


def ago(records: list[Record], seconds: float) -> list[Record]:
    """Records whose last one is so old."""
    moment = datetime.now(UTC) - timedelta(seconds=seconds)
    return [{**record, "timestamp": moment.isoformat()} for record in records]


def running() -> list[Record]:
    """A session with a round that is over and one that may still grow."""
    return [*ago(turn(1), 30), *ago(turn(2), 20)]


@pytest.fixture
def deleted(write: Write, tmp_path: Path) -> Path:
    """Where a transcript was that was deleted while its last round was held back."""
    path = put(tmp_path / "p", *running())
    write(path, live=True)
    path.unlink()
    return path


@pytest.mark.usefixtures("last_words_count")
def test_a_session_whose_last_word_is_old_is_over_however_young_its_file(
    write: Write, tmp_path: Path
) -> None:
    """RND-06: a home that was copied just now has no running sessions; nothing is held back."""
    one = put(tmp_path / "p", *ago(turn(1), LAST_WORD_OLD + 60))
    (session,) = write(one, live=True).sessions
    assert (session.outcome, session.rounds_added, session.waiting) == ("new", 1, 0)


@pytest.mark.usefixtures("last_words_count")
def test_a_session_that_spoke_just_now_is_running(write: Write, tmp_path: Path) -> None:
    """OPS-08: a young file with a young last word has its last round held back."""
    (session,) = write(put(tmp_path / "p", *running()), live=True).sessions
    assert (session.rounds_added, session.waiting) == (1, 1)


@pytest.mark.usefixtures("last_words_count")
def test_status_takes_a_copied_session_to_be_over(layout: Layout, tmp_path: Path) -> None:
    """RND-06: `status` judges by the same rule as the runs that write."""
    path = put(tmp_path / "p", *turn(1))
    found = status(layout, path)
    assert (len(found.live), len(found.ended), found.held_back) == (0, 1, 0)


def test_a_run_that_changes_nothing_says_again_what_is_held_back(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """RND-06: a second run counts what waits, as `status` does."""
    path = put(tmp_path / "p", *running())
    write(path, live=True)
    again = write(path, live=True)
    assert (again.sessions[0].outcome, again.held_back) == ("unchanged", 1)
    assert status(layout, path).held_back == 1


@pytest.mark.usefixtures("deleted")
def test_check_fails_where_rounds_went_with_the_transcript(layout: Layout) -> None:
    """OPS-14, ARC-02: nothing of what was held back is left, and `check` says so."""
    result = check(layout, documents(layout)[0])
    assert result.problems == ["1 round was not archived before the transcript was deleted"]


@pytest.mark.usefixtures("deleted")
def test_what_was_lost_is_known_without_the_ledger(layout: Layout) -> None:
    """RND-06: the ledger is disposable; the session's own facts tell as well."""
    layout.ledger.unlink()
    assert not check(layout, documents(layout)[0]).ok


def test_an_export_in_the_place_of_the_source_does_not_hide_a_loss(
    layout: Layout, write: Write, deleted: Path
) -> None:
    """OPS-14: an export has only what was archived, before and after a run has read it."""
    (document,) = documents(layout)
    export_claude(layout, document, out=deleted, root=deleted.parent)
    for _ in range(2):
        result = check(layout, document, [deleted])
        assert result.problems == ["1 round was not archived before the transcript was deleted"]
        assert any("is an export" in remark for remark in result.remarks)
        write(deleted)


def test_the_transcript_that_comes_back_brings_its_rounds(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """RND-06: restored from a backup, nothing is lost."""
    path = put(tmp_path / "p", *(records := running()))
    write(path, live=True)
    path.unlink()
    assert status(layout, tmp_path / "nothing").lost == {path.stem: 1}
    put(tmp_path / "p", *records)
    write(path)
    assert check(layout, documents(layout)[0], [path]).ok
    assert status(layout, path).lost == {}


@pytest.mark.usefixtures("deleted")
def test_an_export_of_what_was_lost_advises_nothing_that_cannot_work(
    layout: Layout, tmp_path: Path
) -> None:
    """ARC-02: without the source, `append` adds nothing."""
    exported = export_claude(
        layout, documents(layout)[0], out=tmp_path / "out.jsonl", root=tmp_path
    )
    assert exported.remarks == ["1 round was not archived before the transcript was deleted"]


def asked(run: Run, layout: Layout, *args: str) -> Ran:
    nothing = layout.root.parent / "nothing"
    nothing.mkdir(exist_ok=True)
    return run(*args, "--archive", layout.root, "--root", nothing)


def test_show_status_and_lists_say_what_was_lost(layout: Layout, deleted: Path, run: Run) -> None:
    """ARC-02: a session whose end is gone is not shown as if it were whole."""
    told = "1 round was not archived before the transcript was deleted."
    assert told in asked(run, layout, "show", deleted.stem).err
    assert "Lost with the transcripts of 1 session" in asked(run, layout, "status").out
    listed = json.loads(asked(run, layout, "sessions", "--ghosts", "--json").out)
    (session,) = listed["sessions"]
    assert (session["archived"], session["unarchived"], session["lost"]) == (True, 0, 1)


def test_ingest_ends_with_what_is_held_back(layout: Layout, tmp_path: Path, run: Run) -> None:
    """RND-06: the first run ends with the sentence, and so does a second with nothing to do."""
    path = put(tmp_path / "claude" / "projects" / "-w", *running())
    assert Library([path]).transcripts
    for _ in range(2):
        ran = run("ingest", "--archive", layout.root, "--root", tmp_path / "claude")
        assert "The last round of 1 session is held back" in ran.err.splitlines()[-1]
        assert "once the session is over" in ran.err
    assert archive_at(layout, path).ledger().sessions[path.stem].waiting == 1


def test_an_export_to_the_sources_place_says_what_it_does_not_have(
    layout: Layout, deleted: Path
) -> None:
    """OPS-14, ARC-02: the file just written is not taken for the original."""
    exported = export_claude(layout, documents(layout)[0], out=deleted, root=deleted.parent)
    assert exported.remarks == ["1 round was not archived before the transcript was deleted"]
