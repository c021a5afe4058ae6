"""Documents, databases and indexes come back from the round files (DB-09)."""

from __future__ import annotations

from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.extract.offline import OfflineExtractor
from minutebook.verbs.check_archive import check_archive
from minutebook.verbs.correct import correct
from minutebook.verbs.ingest import ingest
from minutebook.verbs.rebuild import rebuild
from minutebook.verbs.tag import tag
from tests.archive.conftest import snapshot
from tests.archive.steps import register
from tests.conftest import CORPUS, needs_corpus


def everything(root: Path) -> dict[str, bytes]:
    """Every file but what says when something was done."""
    return {
        name: content
        for name, content in snapshot(root).items()
        if "search" not in name and name != "sessions/ledger.json"
    }


def lose(root: Path) -> int:
    """Delete every document, database and index; how many files."""
    lost = [p for p in root.rglob("*") if p.is_file() and p.suffix in (".md", ".db")]
    for path in lost:
        path.unlink()
    return len(lost)


def gone(root: Path) -> Archive:
    return Archive(root, (root / "nothing",), lenient=True)


@needs_corpus
def test_documents_of_the_whole_corpus_come_back(tmp_path: Path) -> None:
    """DB-09: the same bytes, subagents' too, for every session of the corpus."""
    root = tmp_path / "archive"
    ingest(Archive(root, (CORPUS / "claude",)), OfflineExtractor(), ended=True)
    before = everything(root)
    assert lose(root) > 150
    rebuilt = rebuild(gone(root))
    assert rebuilt.problems == []
    after = everything(root)
    assert [name for name in before if before[name] != after.get(name)] == []
    assert check_archive(gone(root)) == []


def test_what_a_person_said_comes_back(tmp_path: Path, examples: Path) -> None:
    """DB-09, INS-10: roster, corrections, tags; and a summary written into a document by hand."""
    root = tmp_path / "archive"
    archive = Archive(root, (examples,))
    ingest(archive, OfflineExtractor(), ended=True)
    register(archive.layout, ("60a4643c", "Robin", "Cartographer"))
    tag(archive, "Reed", "2", "by-hand")
    engagement = archive.record(archive.resolve("Reed")).engagements[0]
    correct(archive, "Reed", engagement.id, "outcome=Said by a person")
    ingest(Archive(root, (examples,)), OfflineExtractor())  # the role's folder follows
    archive = gone(root)
    document = archive.folder(archive.resolve("Reed")).document
    text = document.read_text()
    start = text.index("\n<!-- placeholder")
    line = text.rindex("\n", 0, start)
    document.write_text(text[: line + 1] + "My own words." + text[start:])
    rebuild(gone(root))  # a run that writes: the summary is copied to the corrections
    assert gone(root).minutes.summary_said(archive.resolve("Reed")).text == "My own words."
    before = everything(root)
    assert any(name.startswith("sessions/cartographer/") for name in before)
    lose(root)
    rebuild(gone(root))
    after = everything(root)
    assert "My own words." in gone(root).folder(archive.resolve("Reed")).document.read_text()
    changed = [name for name in before if before[name] != after.get(name)]
    # The document of a person's hand: its placeholder comment is gone, the words are theirs.
    assert changed in ([], [str(document.relative_to(root))])


def test_24_rounds_are_not_dropped_with_their_document(tmp_path: Path, examples: Path) -> None:
    """DB-06: a lost document takes no row along."""
    root = tmp_path / "archive"
    ingest(Archive(root, (examples,)), OfflineExtractor(), ended=True)
    rows = rebuild(gone(root)).rounds
    for document in (root / "sessions" / "claude").glob("*-*.md"):
        document.unlink()
    assert rebuild(gone(root)).rounds == rows


@pytest.mark.parametrize("lost", ["session.json", "rounds/001.json"])
def test_what_is_lost_beside_the_document_comes_back_from_it(
    tmp_path: Path, examples: Path, lost: str
) -> None:
    """DB-09: a document holds every round as well."""
    root = tmp_path / "archive"
    ingest(Archive(root, (examples,)), OfflineExtractor(), ended=True)
    before = everything(root)
    for path in root.rglob(lost):
        path.unlink()
    rebuild(gone(root))
    after = everything(root)
    changed = [name for name in before if before[name] != after.get(name)]
    assert [name for name in changed if not name.endswith("session.json")] == []
