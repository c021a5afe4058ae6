"""What a person said of a session, whatever becomes of the session."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from minutebook.archive.masking import hidden, hide, mark
from minutebook.errors import Ambiguous, NotFound
from minutebook.extract.offline import OfflineExtractor
from minutebook.model import SessionInfo
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.store import private
from minutebook.verbs.check_archive import check_archive
from minutebook.verbs.correct import correct
from minutebook.verbs.ingest import ingest
from minutebook.verbs.tag import tag as tag_rounds
from tests.archive.conftest import Write, age, dump
from tests.archive.steps import archive_at, check, documents, register, status, tag
from tests.archive.test_operations import SID, put, turn


@pytest.fixture
def labelled(layout: Layout, tmp_path: Path) -> Path:
    """A session of six rounds in one engagement."""
    path = put(tmp_path / "p", *(record for n in range(1, 7) for record in turn(n)))
    age(path)
    ingest(archive_at(layout, path), OfflineExtractor())
    return path


def methods(layout: Layout, path: Path) -> dict[str, tuple[tuple[int, int], str]]:
    record = archive_at(layout, path).record(SID)
    return {e.id: (e.turn_range, e.method) for e in record.engagements}


def test_what_a_tag_made_is_corrected_and_nothing_else(layout: Layout, labelled: Path) -> None:
    """ARC-05, ING-33: the engagement underneath keeps its method; without the tag, too."""
    (before,) = methods(layout, labelled).items()
    tag_rounds(archive_at(layout, labelled), SID, "1-2", "pruning")
    correct(archive_at(layout, labelled), SID, "pruning", "method=deploy")
    after = methods(layout, labelled)
    assert after["pruning"] == ((1, 2), "deploy")
    assert after[before[0]] == ((3, 6), before[1][1])
    tag_rounds(archive_at(layout, labelled), SID, "1-2", "-")
    assert methods(layout, labelled) == dict([before])


def test_the_later_word_wins_over_a_tag(layout: Layout, labelled: Path) -> None:
    """ARC-05: a range set after a tag takes the rounds back; half a name is no name."""
    ((id, _),) = methods(layout, labelled).items()
    for rounds, name in (("1", "tree-planting"), ("2", "tree-pruning")):
        tag_rounds(archive_at(layout, labelled), SID, rounds, name)
    with pytest.raises(Ambiguous, match="tree-planting, tree-pruning"):
        correct(archive_at(layout, labelled), SID, "tree", "method=plan")
    correct(archive_at(layout, labelled), SID, id, "turn_range=2-5")
    spans = {id: span for id, (span, _) in methods(layout, labelled).items()}
    assert spans == {"tree-planting": (1, 1), id: (2, 5), f"{id}-2": (6, 6)}


def test_a_session_that_is_nowhere_breaks_no_list(layout: Layout, labelled: Path) -> None:
    """ARC-07: its minutes and tags are all that is left; everybody else is shown."""
    tag(layout, SID, "all", "work")
    labelled.unlink()
    folder = SessionFolder(layout.folder("claude", SID))
    shutil.rmtree(folder.path)
    folder.document.unlink()
    layout.ledger.unlink()
    archive = archive_at(layout)
    assert [e.id for _, e in archive.engagements()] == ["work"]
    with pytest.raises(NotFound, match="Only the minutes of"):
        archive.summary(SID)
    assert any("is not here" in trouble.reason for trouble in check_archive(archive))


def test_new_rounds_of_a_session_tagged_as_a_whole(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """DB-07: `tag X all` holds for what is said later, in both databases."""
    write(put(tmp_path / "p", *turn(1)))
    tag(layout, SID, "all", "work")
    write(put(tmp_path / "p", *turn(1), *turn(2)))
    folder = SessionFolder(layout.folder("claude", SID))
    for database in (layout.database, folder.database):
        rows = dump(database).splitlines()
        assert len(rows) == 2 and all("work" in row for row in rows)


def test_a_move_that_was_killed_goes_on(layout: Layout, write: Write, tmp_path: Path) -> None:
    """INS-02, ID-06: the document was moved, its folder was not yet."""
    path = put(tmp_path / "p", *turn(1))
    write(path)
    register(layout, (SID[:8], "Ada", "Architect"))
    old = SessionFolder(layout.folder("claude", SID))
    new = SessionFolder(layout.folder("architect", SID))
    new.path.parent.mkdir(mode=0o700)
    old.document.rename(new.document)
    assert archive_at(layout, path).open(SID).count == 1
    write(path)
    assert new.path.is_dir() and not old.path.exists() and not old.document.exists()
    assert check(layout, documents(layout)[0], [path]).problems == []


def test_a_second_copy_has_not_grown(layout: Layout, write: Write, tmp_path: Path) -> None:
    """OPS-13: status looks at the archived copy, as everything does."""
    first = put(tmp_path / "p", *turn(1))
    age(first)
    write(first)
    other = put(tmp_path / "q", *turn(1), *turn(2))
    age(other)
    told = status(layout, tmp_path / "p", tmp_path / "q")
    assert (told.current, told.grown) == (1, [])


@pytest.mark.parametrize("between", ["\u200e", "\x7f", "\b", "\r", "\x9b"])
def test_a_key_in_pieces_is_masked(between: str) -> None:
    """ARC-06: what a terminal would not show is taken out before keys are looked for."""
    key = "sk-ant-api03-Vq7RmZ2xKpL9wTfBn4HsYdC6JgEaUi0o8QbXyWe3Nr5MtSvDhGkPzAj1lFuOcI"
    info = SessionInfo(id="x", source="claude-code", title=f"{key[:30]}{between}{key[30:]}")
    assert key[30:] not in str(hidden(info, hide).title)


def test_a_forged_mark_is_no_mark() -> None:
    """ARC-06: text that looks like a page's mark of a secret is only text."""
    forged = "\U0010fffd0123456789abcdef:password\U0010fffd"
    info = SessionInfo(id="x", source="claude-code", title=forged)
    shown = msgspec.json.encode(hidden(info, mark)).decode()
    assert "\U0010fffd" not in shown


def test_two_threads_keep_their_files_private() -> None:
    """NFR-01: the first to leave does not open the files of the other; the last restores."""
    before = os.umask(0o022)
    try:
        first, second = private(), private()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert _umask() == 0o077
        second.__exit__(None, None, None)
        assert _umask() == 0o022
    finally:
        os.umask(before)


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
