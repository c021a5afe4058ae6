"""ARC-07: a damaged file of the archive is named, the rest is shown, and it is never "a bug"."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from minutebook.cli.main import main
from tests.cli.conftest import Run

READING = [
    ["sessions", "--ghosts"],
    ["show", "eb82c016"],
    ["show", "Wren", "--json"],
    ["search", "passkey"],
    ["search", "--ghosts"],
    ["similar", "eb82c016#2"],
    ["stats"],
    ["status"],
    ["doctor"],
    ["config"],
    ["semantic", "status"],
    ["ingest", "--dry-run"],
    ["check", "eb82c016"],
    [],
]
REED = "sessions/claude/eb82c016-c70f-5ceb-a51c-144afda4b7b3"
FILES = [
    "archive.json",
    "config.json",
    "agent-roster.jsonl",
    "sessions/ledger.json",
    "sessions/engagements.jsonl",
    "sessions/corrections.jsonl",
    "sessions/tags.jsonl",
    "sessions/sessions.db",
    "sessions/search.db",
    "sessions/semantic.json",
    "sessions/index.md",
    f"{REED}.md",
    f"{REED}/session.json",
    f"{REED}/session.db",
    f"{REED}/rounds/002.json",
]
# Nothing can be shown without reading these.
NAMED = {
    "config.json": ["config"],
    "sessions/ledger.json": ["sessions"],
    f"{REED}/rounds/002.json": ["show", "eb82c016"],
}


def garbage(path: Path) -> None:
    path.write_bytes(b"\x00\xff{[garbage\n" * 20)


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def another_shape(path: Path) -> None:
    path.write_bytes(b"[1, 2, 3]\n")


@pytest.fixture(scope="module")
def sound(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with every kind of file, and a search index."""
    folder = tmp_path_factory.mktemp("sound") / "archive"
    roster = {"session": "eb82c016", "name": "Reed", "role": None}
    folder.mkdir()
    (folder / "agent-roster.jsonl").write_text(json.dumps(roster) + "\n")
    before = os.umask(0o077)
    for args in (
        ["inscribe", "--all", "--ended"],
        ["ingest", "--extractor", "offline"],
        ["config", "ghost_calls", "11"],
        ["tag", "Reed", "1", "side"],
        ["correct", "Wren", "1", "method=debug"],
        ["semantic", "use", "static"],
        ["refresh"],
    ):
        # No one's own transcripts: this comes before every test has a home of its own.
        roots = [] if args[0] in ("config", "semantic") else ["--root", str(examples)]
        with pytest.raises(SystemExit) as exit:
            main([*args, "--archive", str(folder), *roots])
        assert not exit.value.code
    os.umask(before)
    old = {"session_id": "x", "first": 1, "last": 1, "engagement_id": "by-hand"}
    (folder / "sessions" / "tags.jsonl").write_text(json.dumps(old) + "\n")  # of older versions
    return folder


@pytest.fixture
def archive(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to be damaged; the transcripts are gone."""
    shutil.copytree(sound, tmp_path / "archive")
    monkeypatch.setenv("MINUTEBOOK_ARCHIVE", str(tmp_path / "archive"))
    return tmp_path / "archive"


@pytest.mark.parametrize("name", FILES, ids=lambda name: name.split("/")[-1][-20:])
@pytest.mark.parametrize("damage", [garbage, half, empty, folder, another_shape])
def test_damage_is_never_a_bug(
    run: Run, archive: Path, name: str, damage: Callable[[Path], None]
) -> None:
    """Every reading verb goes on, with every other session."""
    path = archive / name
    assert path.is_file()
    damage(path)
    for args in READING:
        ran = run(*args)
        assert "This is a bug" not in ran.err, (args, ran.err)
        assert "Traceback" not in ran.err
        assert ran.status in ((0, 1) if args[:1] == ["check"] else (0, 2)), (args, ran.err)
    assert len(json.loads(run("sessions", "--ghosts", "--copies", "--json").out)["sessions"]) == 9
    assert run("show", "Wren").status == 0


@pytest.mark.parametrize("name", NAMED, ids=lambda name: name.split("/")[-1])
def test_the_file_is_named(run: Run, archive: Path, name: str) -> None:
    """Which one, and why; the rest was read."""
    (archive / name).write_bytes(b"garbage")
    ran = run(*NAMED[name])
    assert ran.status == 0 and ran.out
    assert f"{archive / name} is damaged: " in ran.err
    assert ran.err.rstrip().endswith("The rest was read.")


def test_a_lost_round_comes_from_the_document(run: Run, archive: Path) -> None:
    """And one that is nowhere says so, in its place."""
    whole = run("show", "eb82c016").out
    (archive / f"{REED}/rounds/002.json").unlink()
    assert run("show", "eb82c016").out == whole
    (archive / f"{REED}.md").unlink()
    lost = run("show", "eb82c016")
    assert "missing: The file of this round is missing" in lost.out
    assert "Search misses notes that were edited" in lost.out


def test_check_names_all_of_it(run: Run, archive: Path) -> None:
    """`check --all`: problems of the archive itself, beside those of sessions; status 1."""
    assert run("check", "--all").status == 0
    (archive / "sessions/tags.jsonl").write_bytes(b"garbage\n")
    ran = run("check", "--all")
    assert ran.status == 1
    assert "tags.jsonl" in ran.out and "of the archive itself" in ran.out
    assert json.loads(run("check", "--all", "--json").out)["problems"]


def test_a_newer_archive_is_refused(run: Run, archive: Path) -> None:
    """ARC-08: by every verb, with a sentence."""
    (archive / "archive.json").write_text('{"format": 99}')
    for args in (["sessions"], ["show", "Reed"], ["ingest"], ["search", "x"]):
        ran = run(*args)
        assert (ran.status, ran.out) == (2, "")
        assert "newer minutebook" in ran.err
