"""An archive of the first release: it opens, is upgraded, and loses nothing (ARC-08)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from minutebook import said
from minutebook.archive import Archive
from minutebook.archive.formats import FORMAT, archive_format
from minutebook.errors import Conflict
from minutebook.extract.offline import OfflineExtractor
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.recover import FIRST_RELEASE, StoredRounds, format_of
from minutebook.verbs.check import check
from minutebook.verbs.check_archive import check_archive
from minutebook.verbs.ingest import ingest
from minutebook.verbs.inscribe import inscribe
from tests.archive.conftest import snapshot

FIXTURE = Path(__file__).parent.parent / "fixtures" / "first-release.tar.gz"
BUILT_AT = "/tmp/first-release"
GONE = "655abc0e-5a64-51d7-9c40-06e271029f9e"
WENT_ON = "7c8fc3ae-4707-5518-bd7d-1ffffd093cb2"
PICTURE = "0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9"
CORRECTED = "fa23f399-1003-5977-987d-47f42d252f35"
OLD = 1_772_000_000


@pytest.fixture
def first_release(tmp_path: Path) -> Path:
    """The archive and its transcripts, as if they had always been here."""
    with tarfile.open(FIXTURE) as files:
        files.extractall(tmp_path, filter="data")
    for path in (tmp_path / "archive").rglob("*"):
        if path.suffix in (".json", ".jsonl", ".md"):
            text = path.read_text("utf-8")
            if BUILT_AT in text:
                path.write_text(text.replace(BUILT_AT, str(tmp_path)), "utf-8")
    for path in (tmp_path / "claude").rglob("*.jsonl"):
        os.utime(path, (OLD, OLD))
    return tmp_path


def opened(place: Path) -> Archive:
    return Archive(place / "archive", (place / "claude",))


def texts(archive: Archive) -> dict[str, list[list[str]]]:
    """What is said in every round of every session."""
    return {
        id: [[m.text for m in r.messages if m.text] for r in archive.open(id).stored_rounds()]
        for id in sorted(archive.ledger().sessions)
    }


def calls(archive: Archive) -> dict[str, list[Any]]:
    return {
        id: [
            (c.id, c.name, c.input, c.result.content if c.result else None)
            for r in archive.open(id).stored_rounds()
            for c in r.calls
        ]
        for id in sorted(archive.ledger().sessions)
    }


def test_it_is_read_without_an_upgrade(first_release: Path) -> None:
    """ARC-09: reading changes nothing, not even a time."""
    archive = opened(first_release)
    before = snapshot(archive.root)
    assert archive.is_first_release
    assert len(archive.sessions(ghosts=True, copies=True).sessions) == 10
    assert archive.open(GONE).count == 3
    assert archive.record(CORRECTED).engagements[0].topic.startswith("The topic that a person gave")
    assert [e.id for e in archive.record(PICTURE).engagements] == ["pixel-logo"]
    assert snapshot(archive.root) == before


def test_usage_and_lineage_write_nothing_before_the_upgrade(first_release: Path) -> None:
    """OPS-16: what can be found again is not kept in an archive of the first release."""
    before = sorted(first_release.rglob("*"))
    opened(first_release).usage("day")
    opened(first_release).lineage()
    assert sorted(first_release.rglob("*")) == before


def test_nothing_is_lost(first_release: Path) -> None:
    """ARC-08: every text, call, result, picture, tag, correction and hand-written summary."""
    old = opened(first_release)
    said, called = texts(old), calls(old)
    records = {id: r.engagements for id, r in old.records().items()}
    report = inscribe(opened(first_release))
    new = opened(first_release)
    assert any("upgraded" in remark for remark in report.remarks)
    assert not new.is_first_release
    assert archive_format(new.layout) == FORMAT
    assert texts(new) == said
    assert calls(new) == called
    for id, before in records.items():
        after = new.record(id).engagements
        assert [(e.id, e.topic, e.method) for e in after] == [
            (e.id, e.topic, e.method) for e in before
        ]
    assert "A summary written by hand." in new.folder(CORRECTED).document.read_text()
    assert new.minutes.summary_said(CORRECTED).text in (None, "A summary written by hand.")
    picture = next(new.folder(PICTURE).media.iterdir())
    assert new.open(PICTURE).picture(picture.name)
    assert check_archive(new) == []
    for id in new.ledger().sessions:
        assert check(new, id).problems == []


def test_what_was_left_out_comes_from_the_transcripts(first_release: Path) -> None:
    """ARC-08: the split of cache writes, patches and times, where the source is still there;
    where it is gone, it is marked."""
    inscribe(opened(first_release))
    archive = opened(first_release)
    first, second = (archive.open(PICTURE).stored(n) for n in (1, 2))
    assert first.usage.cache_write_1h == 60
    (call,) = second.calls
    assert call.kind == "edit"
    assert call.result is not None
    assert call.result.patch[0].lines == ("-a logo", "+a pixel")
    assert first.clock
    gone = archive.open(GONE).stored(1)
    replies = [m for m in gone.replies if m.usage is not None]
    assert replies
    assert all(m.billing is not None and m.billing.thin for m in replies)


def test_the_old_folders_stay(first_release: Path) -> None:
    """ARC-08: until a person removes them; as they were, byte for byte."""
    before = snapshot(first_release / "archive" / "sessions" / "claude")
    inscribe(opened(first_release))
    kept = snapshot(first_release / "archive" / "before-upgrade" / "claude")
    sessions = {name: content for name, content in before.items() if name != "index.md"}
    assert kept == sessions


def test_one_numbering_after_the_upgrade(first_release: Path) -> None:
    """ARC-03: a session that was inscribed in mid-round keeps the archive's numbers, and what
    the first release numbered by the transcript is mapped."""
    old = opened(first_release)
    count = old.open(WENT_ON).count
    inscribe(opened(first_release))
    new = opened(first_release)
    assert new.open(WENT_ON).count == count == 7
    ranges = [e.turn_range for e in new.record(WENT_ON).engagements]
    assert ranges[0][0] == 1
    assert ranges[-1][1] == count


def test_a_second_run_has_nothing_to_do(first_release: Path) -> None:
    """ARC-08: once."""
    inscribe(opened(first_release))
    before = snapshot(first_release / "archive")
    report = inscribe(opened(first_release))
    assert report.remarks == []
    assert report.count("grown") == 0
    assert snapshot(first_release / "archive") == before


_RUN = """
import sys
from pathlib import Path
from minutebook import said
from minutebook.archive import Archive
from minutebook.verbs.inscribe import inscribe
place = Path(sys.argv[1])
inscribe(Archive(place / "archive", (place / "claude",)))
"""


def numbered(archive: Archive) -> dict[str, list[tuple[int, int]]]:
    """What the engagements of each session cover."""
    return {id: [e.turn_range for e in r.engagements] for id, r in archive.records().items()}


def test_killed_before_it_renumbers(first_release: Path, tmp_path: Path) -> None:
    """ARC-03, ARC-08: the numbers of engagements are mapped by the next run, and only once."""
    whole = tmp_path / "whole"
    shutil.copytree(first_release, whole, symlinks=True)
    inscribe(opened(whole))
    kill = (
        "import os\n"
        "from minutebook.archive import upgrade\n"
        "upgrade.append_record = lambda *given: os._exit(9)\n" + _RUN
    )
    done = subprocess.run([sys.executable, "-c", kill, str(first_release)], check=False)
    assert done.returncode == 9
    assert numbered(opened(first_release)) != numbered(opened(whole))
    for _ in range(2):
        subprocess.run([sys.executable, "-c", _RUN, str(first_release)], check=True)
        assert numbered(opened(first_release)) == numbered(opened(whole))
    assert not list(first_release.rglob("renumber.json"))


def test_killed_at_any_point_it_goes_on(first_release: Path, tmp_path_factory: Any) -> None:
    """ARC-08, invariant 6: killed after each rename and each file, the next run finishes."""
    whole = tmp_path_factory.mktemp("whole") / "copy"
    shutil.copytree(first_release, whole, symlinks=True)
    inscribe(opened(whole))
    expected = texts(opened(whole))
    code = (
        "import os, sys, pathlib\n"
        "left = int(sys.argv[2])\n"
        "real = pathlib.Path.rename\n"
        "def rename(self, target):\n"
        "    global left\n"
        "    left -= 1\n"
        "    if left < 0: os._exit(9)\n"
        "    return real(self, target)\n"
        "pathlib.Path.rename = rename\n" + _RUN
    )
    for steps in range(12):
        place = tmp_path_factory.mktemp("killed") / "copy"
        shutil.copytree(first_release, place, symlinks=True)
        done = subprocess.run(
            [sys.executable, "-c", code, str(place), str(steps)], check=False, capture_output=True
        )
        assert done.returncode == 9, done.stderr.decode()
        subprocess.run([sys.executable, "-c", _RUN, str(place)], check=True)
        archive = opened(place)
        assert not archive.is_first_release
        assert texts(archive) == expected, steps
        shutil.rmtree(place)


def test_free_space_is_tested_first(first_release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ARC-08: nothing is begun that could not be finished."""
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10, 10, 10))
    before = snapshot(first_release / "archive")
    with pytest.raises(Conflict, match="free space"):
        inscribe(opened(first_release))
    after = snapshot(first_release / "archive")
    assert after == before


def test_a_damaged_document_is_upgraded_from_its_round_files(first_release: Path) -> None:
    """ARC-08: the source, else the document, else the old round files."""
    layout = Layout(first_release / "archive")
    layout.document("claude", GONE).write_text("torn")
    inscribe(opened(first_release))
    archive = opened(first_release)
    assert archive.open(GONE).count == 3
    folder = archive.folder(GONE)
    assert format_of(folder) == FORMAT
    assert all(round.messages for round in StoredRounds(folder))


def test_sessions_that_are_no_ghosts_any_more_are_labelled_offline(first_release: Path) -> None:
    """ING-05: the new ruling revives them; a model sees them only when somebody asks for it."""
    archive = opened(first_release)
    inscribe(archive)
    archive = opened(first_release)
    revived = [
        id
        for id, record in archive.minutes.stored().items()
        if record.ghost and not archive.settings.is_ghost(archive.ledger().sessions[id].info)
    ]
    report = ingest(opened(first_release), OfflineExtractor())
    records = opened(first_release).minutes.stored()
    assert all(records[id].engagements and records[id].backlog for id in revived)
    assert report.failures == []


def test_a_newer_archive_is_refused(first_release: Path) -> None:
    """ARC-08: with a sentence."""
    (first_release / "archive" / "archive.json").write_text(json.dumps({"format": FORMAT + 1}))
    with pytest.raises(Conflict, match="newer minutebook"):
        opened(first_release)


def test_the_fixture_is_of_the_first_release(first_release: Path) -> None:
    """The fixture is what it says: no session.json, no message boundaries."""
    folder = SessionFolder(first_release / "archive" / "sessions" / "claude" / GONE)
    assert format_of(folder) == FIRST_RELEASE
    assert "messages" not in json.loads(folder.round(1).read_bytes())


def test_what_was_said_moves_with_its_rounds(first_release: Path, tmp_path: Path) -> None:
    """ARC-03, UND-07: a range that was set before the upgrade is mapped once, also where the run
    that maps it is killed; until then nothing is cut by numbers that will change."""
    whole = tmp_path / "whole"
    shutil.copytree(first_release, whole, symlinks=True)
    inscribe(opened(whole))
    old, new = numbered(opened(first_release)), numbered(opened(whole))
    id = next(id for id, spans in old.items() if spans != new[id])
    engagement = opened(first_release).record(id).engagements[0]
    line = {"session_id": id, "engagement_id": engagement.id, "turn_range": old[id][0]}
    corrections = first_release / "archive" / "sessions" / "corrections.jsonl"
    with corrections.open("a") as file:
        file.write(json.dumps({**line, "field": "turn_range", "value": old[id][0]}) + "\n")
    with pytest.raises(Conflict, match="format of the first release"):
        opened(first_release).say(id, said.Split(engagement.id, round=old[id][0][1]))
    kill = (
        "import os\n"
        "from minutebook.archive import upgrade\n"
        "real = upgrade.add_said\n"
        "upgrade.add_said = lambda *given: (real(*given), os._exit(9))\n" + _RUN
    )
    done = subprocess.run([sys.executable, "-c", kill, str(first_release)], check=False)
    assert done.returncode == 9
    for _ in range(2):
        subprocess.run([sys.executable, "-c", _RUN, str(first_release)], check=True)
        assert numbered(opened(first_release))[id] == new[id]
    assert corrections.read_text().count('"renumber"') == 1
