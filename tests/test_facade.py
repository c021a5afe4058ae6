"""The public surface, pinned."""

from __future__ import annotations

from pathlib import Path

import minutebook


def test_the_public_names_are_these() -> None:
    """A name is added or removed on purpose, here and in the changelog."""
    assert sorted(minutebook.__all__) == sorted(
        [
            "Ambiguous",
            "BadArgument",
            "Engagement",
            "MinutebookError",
            "NotFound",
            "Round",
            "Session",
            "SessionInfo",
            "SessionRecord",
            "__version__",
            "engagements",
            "find_transcripts",
            "ingest",
            "read_session",
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
