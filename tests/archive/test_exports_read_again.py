"""An export that stands where the transcript was takes nothing from what the archive knows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from minutebook.archive import Archive
from minutebook.model import SessionInfo
from minutebook.record.facts import standing
from minutebook.sources.library import open_file, open_transcript, overview
from minutebook.verbs.inscribe import inscribe
from tests.archive.steps import documents, export_claude
from tests.archive.test_operations import put
from tests.conftest import (
    assistant,
    corpus_sessions,
    needs_corpus,
    short,
    tool_result,
    tool_use,
    user,
)

LARGE = 700_000  # bytes
SESSIONS = [
    path for path in corpus_sessions("claude/projects/*/*.jsonl") if path.stat().st_size < LARGE
]


def known(archive: Archive) -> dict[str, SessionInfo]:
    """What every session is known by, but for what its transcript was made from."""
    return {
        s.id: _without_origin(s.info) for s in archive.sessions(copies=True, ghosts=True).sessions
    }


def _without_origin(info: SessionInfo) -> SessionInfo:
    return msgspec.structs.replace(info, origin=None, links=())


@needs_corpus
@pytest.mark.parametrize("source", SESSIONS, ids=short)
def test_nothing_known_is_lost_to_an_export(source: Path, tmp_path: Path) -> None:
    """OPS-13, ARC-02: archived, deleted, exported, read again: the same session, before and after
    the export is inscribed."""
    home, root = tmp_path / "home", tmp_path / "archive"
    place = home / "projects" / "-w"
    place.mkdir(parents=True)
    shutil.copy2(source, place / source.name)
    if source.with_suffix("").is_dir():
        shutil.copytree(source.with_suffix(""), place / source.stem)
    inscribe(Archive(root, (home,)), None, ended=True)
    before = known(Archive(root, (home,)))
    (place / source.name).unlink()
    archive = Archive(root, (home,))
    (document,) = documents(archive.layout)
    export_claude(archive.layout, document, root=home, cwd=None)
    assert known(Archive(root, (home,))) == before
    inscribe(Archive(root, (home,)), None, ended=True)
    assert known(Archive(root, (home,))) == before


def test_a_continued_export_adds_to_what_is_known(tmp_path: Path) -> None:
    """OPS-13, OPS-04: what came after the export counts; what only the transcript said stays."""
    home, root = tmp_path / "home", tmp_path / "archive"
    put(
        home / "projects" / "-w",
        user("Plant a pear", slug="proud-pear"),
        assistant(tool_use("t1", "Bash", command="dig"), id="m1"),
        tool_result("t1", "a hole"),
        assistant("Planted.", id="m2"),
    )
    inscribe(Archive(root, (home,)), None, ended=True)
    (before,) = known(Archive(root, (home,))).values()
    assert before.slug == "proud-pear"
    for path in home.rglob("*.jsonl"):
        path.unlink()
    archive = Archive(root, (home,))
    exported = export_claude(archive.layout, documents(archive.layout)[0], root=home, cwd="/w")
    with exported.path.open("a") as file:
        for record in (user("And a plum"), assistant("Done.", id="m3")):
            later = {"sessionId": exported.path.stem, "timestamp": "2026-03-02T10:00:00.000Z"}
            file.write(json.dumps({**record, **later}) + "\n")
    inscribe(Archive(root, (home,)), None, ended=True)
    (after,) = known(Archive(root, (home,))).values()
    assert (after.rounds, after.calls, after.slug) == (2, 1, "proud-pear")
    assert (after.ended or "") > (before.ended or "")


@needs_corpus
@pytest.mark.parametrize("source", SESSIONS, ids=short)
def test_a_skim_of_an_export_counts_what_a_reading_does(source: Path, tmp_path: Path) -> None:
    """Invariant 7: records that are only there for Claude are in no count, at either depth."""
    home = tmp_path / "home"
    put_there = home / "projects" / "-w"
    put_there.mkdir(parents=True)
    shutil.copy2(source, put_there / source.name)
    archive = Archive(tmp_path / "archive", (home,))
    inscribe(archive, None, ended=True)
    (document,) = documents(archive.layout)
    exported = export_claude(archive.layout, document, root=tmp_path / "claude", cwd=None)
    file = open_file(exported.path)
    skimmed, reading = overview(file).info, open_transcript(file)
    rounds = list(reading.rounds())
    full = reading.info()
    assert skimmed is not None
    assert (skimmed.calls, skimmed.ended, skimmed.prompts) == (full.calls, full.ended, full.prompts)
    assert full.calls == sum(len(list(round.calls)) for round in rounds)


def test_a_transcript_that_lost_rounds_says_nothing() -> None:
    """ARC-02: what the archive knows counts; a transcript that has all of them counts again."""
    whole = SessionInfo(id="s", source="claude", rounds=3, slug="a")
    short_one = SessionInfo(id="s", source="claude", rounds=2)
    assert standing(short_one, whole, 3) is whole
    restored = SessionInfo(id="s", source="claude", rounds=3)
    assert standing(restored, whole, 3) is restored
