"""The way back into Codex CLI: rollouts that it resumes and that give the same rounds again."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from minutebook.model import Session
from minutebook.sources.base import ExportHeader, Transcript, read_session
from minutebook.sources.codex.export import CodexExporter
from minutebook.sources.library import Library, open_transcript
from tests.conftest import CORPUS, needs_corpus
from tests.programs.samples import AGENTS, in_folder, read

pytestmark = needs_corpus
EXPORTER = CodexExporter()
SAMPLES = in_folder(AGENTS / "codex") if AGENTS.is_dir() else []
CLAUDE = Library([CORPUS / "claude"]).transcripts[:12] if CORPUS.is_dir() else []


def name(transcript: Transcript) -> str:
    return f"{transcript.source}-{transcript.path.name[-24:]}"


def exported(session: Session, root: Path) -> Path:
    info = session.info
    path = EXPORTER.place_for(root, info.cwd or "/", info.id)
    path.parent.mkdir(parents=True)
    header = ExportHeader(
        title=info.title, cwd=info.cwd, branch=info.branch, version=next(iter(info.versions), None)
    )
    path.write_bytes(b"".join(EXPORTER.emit(info.id, header, session.rounds)))
    for file, pieces in EXPORTER.emit_agents(path, info.id, session.subagents):
        file.write_bytes(b"".join(pieces))
    return path


@pytest.mark.parametrize("transcript", [*SAMPLES, *CLAUDE], ids=name)
def test_an_export_gives_the_same_rounds(transcript: Transcript, tmp_path: Path) -> None:
    """OPS-09, AGT-06: whatever agent a session is of, its export reads as it did."""
    session = read(transcript)
    exported(session, tmp_path)
    (found,) = Library([tmp_path]).transcripts
    again = read(found)
    assert again.rounds == session.rounds
    assert sorted(again.subagents, key=lambda a: a.id) == sorted(
        session.subagents, key=lambda a: a.id
    )
    for field in ("prompts", "calls", "compactions", "usage", "title", "prompt_ids", "subagents"):
        assert getattr(again.info, field) == getattr(session.info, field), field


@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_a_skim_of_an_export_says_what_a_full_reading_says(
    transcript: Transcript, tmp_path: Path
) -> None:
    """AGT-04: exports are read at both depths."""
    exported(read(transcript), tmp_path)
    (found,) = Library([tmp_path]).transcripts
    skim, full = (read_session(open_transcript(found, depth)) for depth in ("skim", "full"))
    assert skim.info.prompt_ids == full.info.prompt_ids
    assert (skim.info.calls, skim.info.title) == (full.info.calls, full.info.title)
    assert [[m.text for m in r.replies if m.text] for r in skim.rounds] == [
        [m.text for m in r.replies if m.text] for r in full.rounds
    ]


@pytest.mark.parametrize(
    "transcript", [t for t in SAMPLES if t.path.name.startswith("rollout-")], ids=name
)
def test_codexs_own_lines_have_what_the_source_has(transcript: Transcript, tmp_path: Path) -> None:
    """OPS-14: without our field, as Codex reads it: nothing of what matters is lost."""
    path = exported(read(transcript), tmp_path)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        del line["minutebook"]
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    reports, fates = EXPORTER.compare(transcript.path, path)
    assert {r.name: r.lost_examples for r in reports if r.lost} == {}
    assert fates


def test_a_loss_is_seen(tmp_path: Path) -> None:
    """OPS-14: the comparison can fail."""
    transcript = next(t for t in SAMPLES if t.path.name.startswith("rollout-"))
    path = exported(read(transcript), tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if b"function_call_output" not in line))
    reports, _ = EXPORTER.compare(transcript.path, path)
    assert next(r.lost for r in reports if r.name == "tool result") > 0


def test_what_codex_adds_to_an_export_is_read(tmp_path: Path) -> None:
    """OPS-12: a session that was resumed goes on behind what was exported."""
    transcript = next(t for t in SAMPLES if "0.144.1" in str(t.path))
    session = read(transcript)
    path = exported(session, tmp_path)
    more = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "more"}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "ok"}],
        },
    ]
    with path.open("ab") as file:
        for item in more:
            line = {"timestamp": "2026-12-01T00:00:00.000Z", "type": "response_item"}
            file.write(json.dumps(line | {"payload": item}).encode() + b"\n")
    (found,) = Library([tmp_path]).transcripts
    again = read(found)
    assert again.rounds[: len(session.rounds)] == session.rounds
    assert again.rounds[-1].prompt is not None
    assert again.rounds[-1].prompt.text == "more"


def test_an_id_that_is_no_uuid_becomes_one(tmp_path: Path) -> None:
    """AGT-06: Codex takes nothing else; the same id gives the same place."""
    first, second = (EXPORTER.place_for(tmp_path, "/", "ses_1") for _ in range(2))
    assert first.name[-42:] == second.name[-42:]


def test_what_is_not_sent_is_counted() -> None:
    """OPS-11: what another agent wrote that Codex's schema cannot hold."""
    claude = [EXPORTER.not_sent(read(transcript).rounds) for transcript in CLAUDE]
    assert any(counts.get("thinking the provider cannot read") for counts in claude)
    own = next(t for t in SAMPLES if t.session_id == "01a1e3c2-f3aa-7c13-b14e-f433b2f15256")
    assert EXPORTER.not_sent(read(own).rounds) == {"notice": 1}
