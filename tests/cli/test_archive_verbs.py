"""inscribe, append, status, check, export-claude, tag, rebuild as a person meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.archive.conftest import age, snapshot
from tests.archive.test_operations import SID, put, turn
from tests.cli.conftest import Run
from tests.cli.test_verbs import golden
from tests.conftest import user


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: Path) -> Path:
    """Where the verbs write; the examples are what they find."""
    monkeypatch.setenv("MINUTEBOOK_ARCHIVE", str(tmp_path / "archive"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(examples))
    return tmp_path / "archive"


def test_a_day_with_the_archive(run: Run, archive: Path, tmp_path: Path) -> None:
    """Inscribe, look, check, tag, rebuild, export: each says what it did."""
    assert run("inscribe", "--all", "--ended").out == (
        f"9 sessions: 9 new.\n30 rounds added to {archive}/sessions\n"
    )
    assert run("inscribe", "--all", "--ended").out == "9 sessions: 9 unchanged.\n"
    assert "9 sessions inscribed." in run("status").out
    assert run("check", "--all").out == "9 sessions checked: nothing that matters is lost.\n"
    assert run("tag", "Reed", "1-2", "drift").out == "2 rounds of eb82c016 tagged with drift.\n"
    assert run("rebuild").out == "9 sessions, 30 rounds indexed again.\n"
    out = run("export-claude", "Reed", "--root", tmp_path / "home").out
    assert "3 rounds written to" in out
    assert "cd /home/mara/orchard && claude --resume eb82c016-" in out
    assert run("append", "Reed", "--ended").out == "1 session: 1 unchanged.\n"


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.usefixtures("archive")
def test_check_shows_its_work(run: Run, columns: int) -> None:
    """OPS-14: identical, transformed, left behind, with counts."""
    run("inscribe", "--all", "--ended")
    ran = run("check", "Reed", columns=columns)
    assert ran.status == 0
    golden(f"check-{columns}.txt", ran.out)


def test_the_inscription_itself(run: Run, archive: Path) -> None:
    """INS: a document, as a file a person opens."""
    run("inscribe", "--all", "--ended")
    (document,) = archive.glob("sessions/claude/eb82c016*.md")
    text = document.read_text()
    source = text.split("\nsource: ")[1].split("\n")[0]
    golden("inscription.md", text.replace(source, "SOURCE"))


@pytest.mark.usefixtures("archive")
def test_a_running_session_says_that_it_waits(run: Run, tmp_path: Path) -> None:
    """OPS-08: what is kept back, and how to write it now."""
    path = put(tmp_path / "p", *turn(1), *turn(2))
    ran = run("inscribe", "--all", "--root", path)
    assert "1 session: 1 new." in ran.out
    assert "or now with `minutebook inscribe --all --ended`" in ran.err
    age(path)
    assert "1 grown" in run("inscribe", "--all", "--root", path).out


@pytest.mark.usefixtures("archive")
def test_every_json_has_a_version(run: Run, tmp_path: Path) -> None:
    """The documented shapes."""
    first = json.loads(run("inscribe", "--all", "--ended", "--json").out)
    assert {row["outcome"] for row in first["sessions"]} == {"new"}
    out = tmp_path / "out.jsonl"
    documents = [
        ("status", run("status", "--json")),
        ("checks", run("check", "Reed", "--json")),
        ("tagged", run("tag", "Reed", "1", "x", "--json")),
        ("rebuilt", run("rebuild", "--json")),
        ("exported", run("export-claude", "Reed", "--out", out, "--json")),
        ("sessions", run("append", "Reed", "--ended", "--json")),
    ]
    for key, ran in documents:
        document = json.loads(ran.out)
        assert document["version"] == 1
        assert key in document


def test_a_discrepancy_is_status_one(run: Run, archive: Path) -> None:
    """OPS-15: and the store stays as it is."""
    run("inscribe", "--all", "--ended")
    (document,) = archive.glob("sessions/claude/eb82c016*.md")
    document.write_text(document.read_text().replace("Fixed. The suite", "Mended. The suite"))
    before = snapshot(archive)
    ran = run("check", "--all")
    assert ran.status == 1
    assert "9 sessions checked: 1 with problems." in ran.out
    assert "round file 002.json differs from the document: one was edited" in ran.out
    assert snapshot(archive) == before


def test_what_rebuild_mends_is_no_failure(run: Run, archive: Path) -> None:
    """DB-06: a damaged document is named and made again; only what stays lost is status one."""
    run("inscribe", "--all", "--ended")
    (document,) = archive.glob("sessions/claude/eb82c016*.md")
    whole = document.read_bytes()
    document.write_text("nothing of it")
    mended = run("rebuild")
    assert mended.status == 0 and "made again" in mended.err
    assert document.read_bytes() == whole
    document.unlink()
    (archive / "sessions" / "claude" / document.stem / "rounds" / "001.json").unlink()
    lost = run("rebuild")
    assert lost.status == 1 and "001.json: it is gone" in lost.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["inscribe"], "Name sessions, or use --all."),
        (["inscribe", "Reed", "--all"], "Name sessions, or use --all."),
        (["inscribe", "nobody"], "No session is called 'nobody'"),
        (["append", "Reed"], "is not in the archive yet"),
        (["append", "nobody"], "No session is called 'nobody'"),
        (["check"], "Name sessions, or use --all."),
        (["check", "--all"], "Nothing is archived yet"),
        (["check", "nobody"], "No session is called 'nobody'"),
        (["check", "Reed"], "is not in the archive yet"),
        (["export-claude", "nobody"], "No session is called 'nobody'"),
        (["export-claude", "Reed"], "is not in the archive yet"),
        (["tag", "nobody", "1", "x"], "No session is called 'nobody'"),
        (["tag", "Reed", "1", "x"], "is not in the archive yet"),
        (["rebuild"], "There is no archive at"),
        (["inscribe", "--all", "--archive", "/dev/null/x"], "/dev/null"),
    ],
)
def test_bad_input_gets_one_sentence(
    run: Run, archive: Path, args: list[str], sentence: str
) -> None:
    """What is wrong and what to do, exit status 2."""
    archive.mkdir()
    ran = run(*args)
    assert (ran.status, ran.out) == (2, "")
    assert sentence in ran.err
    assert ran.err.count("\n") == 1


def test_an_archive_in_use_is_said(run: Run, archive: Path) -> None:
    """NFR-02: by whom, and since when."""
    from minutebook.record.store import writing

    with writing(archive / ".lock", "inscribe"):
        ran = run("inscribe", "--all")
    assert ran.status == 2
    assert "The archive is being written by `minutebook inscribe` (process" in ran.err


def test_one_failure_does_not_stop_the_rest(run: Run, archive: Path, tmp_path: Path) -> None:
    """OPS-03: a foreign file in the way of one session."""
    folder = archive / "sessions" / "claude"
    folder.mkdir(parents=True)
    (folder / f"{SID}.md").write_text("mine")
    put(tmp_path / "p", *turn(1))
    put(tmp_path / "p", *turn(1), name="22222222-2222-4333-8444-555555555555")
    ran = run("inscribe", "--all", "--ended", "--root", tmp_path / "p")
    assert ran.status == 2
    assert "2 sessions: 1 new, 1 failed." in ran.out
    assert (folder / f"{SID}.md").read_text() == "mine"


def test_a_transcript_can_be_checked_before_it_is_inscribed(
    run: Run, archive: Path, tmp_path: Path
) -> None:
    """OPS-14: through an archive of its own, which leaves nothing behind."""
    archive.mkdir()
    path = put(tmp_path / "p", *turn(1), *turn(2))
    ran = run("check", path)
    assert ran.status == 0
    assert "1 session checked: nothing that matters is lost." in ran.out
    assert list(archive.iterdir()) == []


def test_an_export_gives_the_record_back_unmasked(run: Run, archive: Path, tmp_path: Path) -> None:
    """ARC-06: what is shown is masked; what is exported is the record, and the help says so."""
    key = "sk-ant-api03-Vq7RmZ2xKpL9wTfBn4HsYdC6JgEaUi0o8QbXyWe3Nr5MtSvDhGkPzAj1lFuOcI"
    path = put(tmp_path / "p", user(f"the key is {key}"), *turn(2))
    places = ["--root", str(path), "--archive", str(archive)]
    run("inscribe", "--all", "--ended", *places)
    for args in (["show", SID], ["show", SID, "--json"], ["show", SID, "--full"]):
        shown = run(*args, *places)
        assert shown.status == 0 and key not in shown.out
        assert key in run(*args, *places, "--secrets").out
    run("export-claude", SID, "--out", tmp_path / "out.jsonl", "--archive", archive)
    assert key in (tmp_path / "out.jsonl").read_text()
    assert "Secrets are not masked" in " ".join(run("export-claude", "--help").out.split())
