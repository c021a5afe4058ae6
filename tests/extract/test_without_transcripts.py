"""Labelling after the transcripts are gone: from the archive alone (ARC-02)."""

from __future__ import annotations

import shutil
from pathlib import Path

from minutebook.archive import Archive
from minutebook.extract.anthropic import AnthropicExtractor
from minutebook.extract.offline import OfflineExtractor
from minutebook.extract.secret import Secret
from minutebook.verbs.ingest import ingest
from tests.conftest import CORPUS, needs_corpus
from tests.extract.stub import good_reply, serve


def gone(root: Path) -> Archive:
    return Archive(root, (root / "nothing",), lenient=True)


@needs_corpus
def test_a_model_labels_every_session_and_a_lost_file_is_made_again(tmp_path: Path) -> None:
    """ARC-02: `ingest --again` with a model, and after engagements.jsonl was lost."""
    config, root = tmp_path / "claude", tmp_path / "archive"
    shutil.copytree(CORPUS / "claude", config)
    first = ingest(Archive(root, (config,)), OfflineExtractor(), ended=True)
    shutil.rmtree(config)
    before = {id: r.engagements for id, r in gone(root).records().items()}
    ghosts = sum(record.ghost for record in gone(root).records().values())
    with serve(lambda *_: good_reply((1, 1))) as stub:
        extractor = AnthropicExtractor(Secret("key"), base_url=stub.url, retries=0)
        report = ingest(gone(root), extractor, again=True)
    assert report.failures == []
    assert report.ingested + report.copies == len(before) - ghosts == first.ingested
    assert report.calls == report.ingested + report.forecast.second_looks
    records = gone(root).records()
    assert {r.extractor for r in records.values() if not r.ghost} == {"anthropic"}
    gone(root).layout.engagements.unlink()
    again = ingest(gone(root), OfflineExtractor())
    assert again.ingested == first.ingested
    assert {id: r.engagements for id, r in gone(root).records().items()} == before


def test_nothing_is_due_because_a_transcript_is_gone(tmp_path: Path, examples: Path) -> None:
    """ARC-02: what was labelled stays so, and is not paid for again."""
    config, root = tmp_path / "claude", tmp_path / "archive"
    shutil.copytree(examples, config)
    ingest(Archive(root, (config,)), OfflineExtractor(), ended=True)
    shutil.rmtree(config)
    report = ingest(gone(root), OfflineExtractor())
    assert (report.ingested, report.failures) == (0, [])
    assert report.sessions == 9
