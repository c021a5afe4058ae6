"""The public surface, pinned."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

import pytest

import minutebook
from minutebook.record.engagements import read_records
from tests.conftest import as_line, user


def test_the_public_names_are_these() -> None:
    """A name is added or removed on purpose, here and in the changelog."""
    assert sorted(minutebook.__all__) == sorted(
        [
            "Ambiguous",
            "Archive",
            "BadArgument",
            "Conflict",
            "Edge",
            "Engagement",
            "Hit",
            "Lineage",
            "Locked",
            "MinutebookError",
            "NotFound",
            "OpenSession",
            "Query",
            "Round",
            "Session",
            "SessionInfo",
            "SessionRecord",
            "SessionSummary",
            "SharedFile",
            "__version__",
            "engagement",
            "engagements",
            "export",
            "find_transcripts",
            "ingest",
            "open_archive",
            "open_team",
            "read_session",
            "said",
            "skeleton",
            "skim_session",
            "turn_pairs",
        ]
    )


def test_every_public_name_is_there() -> None:
    """They are loaded when asked for, and documented."""
    for name in minutebook.__all__:
        assert getattr(minutebook, name) is not None
    assert set(minutebook.__all__) <= set(dir(minutebook))


def test_a_session_can_be_read_from_python(examples: Path) -> None:
    """The library without the command line."""
    transcripts = minutebook.find_transcripts(examples)
    assert len(transcripts) == 9
    session = minutebook.read_session(transcripts[0].path)
    assert session.rounds
    skimmed = minutebook.skim_session(transcripts[0].path)
    assert [r.prompt and r.prompt.text for r in skimmed.rounds] == [
        r.prompt and r.prompt.text for r in session.rounds
    ]
    assert list(minutebook.turn_pairs(session.info, session.rounds))
    assert minutebook.skeleton(session.rounds).text


def test_sessions_can_be_ingested_from_python(examples: Path, tmp_path: Path) -> None:
    """``ingest`` and ``engagements``, offline where there is no key."""
    report = minutebook.ingest(examples, archive=tmp_path)
    records = minutebook.engagements(tmp_path)
    assert report.ingested == sum(bool(record.engagements) for record in records.values()) == 8
    assert {record.extractor for record in records.values() if not record.ghost} == {"offline"}


def test_the_archive_is_the_librarys_noun(examples: Path, tmp_path: Path) -> None:
    """Sessions, rounds, engagements and hits from one object, with no command line."""
    minutebook.ingest(examples, archive=tmp_path, extractor="offline")
    with minutebook.open_archive(tmp_path, [examples]) as archive:
        hits = archive.search("passkey login", limit=5)
        assert hits
        assert len(hits) <= 5
        assert all(isinstance(hit, minutebook.Hit) for hit in hits)
        assert archive.search("passkey", mode="lexical", where="turns")
        session = archive.session(hits[0].session_id[:8])
        assert isinstance(session, minutebook.OpenSession)
        assert isinstance(session.round(hits[0].round), minutebook.Round)
        listed = archive.sessions().sessions
        assert all(isinstance(summary, minutebook.SessionSummary) for summary in listed)
        pairs = list(archive.engagements(copies=True))
        assert len(pairs) == sum(len(r.engagements) for r in archive.records().values())
        record, engagement = pairs[0]
        assert engagement in record.engagements
    with pytest.raises(minutebook.NotFound, match="no archive"):
        minutebook.open_archive(tmp_path / "elsewhere")


def test_the_library_masks_too(tmp_path: Path) -> None:
    """ARC-06: what the archive hands out is masked, unless it is opened with secrets."""
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    path = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    path.write_bytes(as_line(user(f"Use {secret} please", sessionId=path.stem)) + b"\n")
    for secrets in (False, True):
        archive = minutebook.open_archive(roots=[path], secrets=secrets)
        assert (secret in str(archive.session(path.stem).round(1))) is secrets
        (hit,) = archive.search("please", mode="lexical")
        assert secret not in str(hit)  # nor is it in the index


def test_two_threads_do_not_wait_for_each_other(
    examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ARC-01: a list of sessions asks the minutes, the minutes ask the archive back."""
    archive = minutebook.open_archive(tmp_path / "archive", [examples], create=True)
    both_inside = threading.Barrier(2)

    def read_slowly(*args: Any) -> Any:
        with contextlib.suppress(threading.BrokenBarrierError):
            both_inside.wait(0.5)
        return read_records(*args)

    def list_sessions() -> None:
        with archive._lock, contextlib.suppress(threading.BrokenBarrierError):
            both_inside.wait(0.5)
            archive.sessions()

    monkeypatch.setattr("minutebook.archive.minutes.read_records", read_slowly)
    threads = [
        threading.Thread(target=call, daemon=True)
        for call in (archive.minutes.records, list_sessions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


def test_a_list_of_sessions_can_be_gone_over(examples: Path, tmp_path: Path) -> None:
    """OPS: `for session in archive.sessions()`, and `len`."""
    found = minutebook.open_archive(tmp_path / "archive", [examples], create=True).sessions()
    assert [session.id for session in found] == [session.id for session in found.sessions]
    assert len(found) == found.total


def test_misspelt_values_are_refused(examples: Path, tmp_path: Path) -> None:
    """OPS: never an answer to something else."""
    archive = minutebook.open_archive(tmp_path / "archive", [examples], create=True)
    with pytest.raises(minutebook.BadArgument, match="choose one of lexical, semantic, hybrid"):
        archive.search("login", mode="banana")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(minutebook.BadArgument, match="Did you mean 'project'"):
        archive.report(projekt="orchard")
    with pytest.raises(minutebook.BadArgument, match="Did you mean 'since'"):
        archive.usage(sinces="March")
