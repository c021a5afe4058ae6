"""What was used, counted from an archive whose transcripts are gone (USE-01, USE-03)."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive import Archive
from minutebook.derive.clock import read_clock
from minutebook.model import Reply, Round
from minutebook.record.facts import read_facts
from minutebook.record.merge import accounting
from minutebook.verbs.inscribe import inscribe
from tests.conftest import CORPUS, needs_corpus
from tests.generated import generate

# Files of Qwen Code among the corpus's: `doctor` names them.
OTHERS = (
    "00000000-1111-2222-3333-444444444444.jsonl",
    "11111111-2222-3333-4444-555555555555.jsonl",
    "cccccccc-dddd-eeee-ffff-000000000000.jsonl",
    "019f0000-0000-7000-8000-000000000004.jsonl",
)
REFERENCE = CORPUS.parent / "tools" / "usage_reference.py"


@pytest.fixture(scope="module")
def reference() -> Any:
    if not REFERENCE.exists():
        pytest.skip(f"needs the reference count: none at {REFERENCE}")
    spec = importlib.util.spec_from_file_location("usage_reference", REFERENCE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sightings(archive: Archive, session_id: str) -> Iterator[Reply]:
    """Every reply a session holds: its own, its subagents', those repeated while they ran."""

    def of(rounds: Iterator[Round]) -> Iterator[Reply]:
        for round in rounds:
            yield from round.progress
            yield from (accounting(m) for m in round.replies if m.usage is not None)

    opened = archive.open(session_id)
    yield from of(opened.stored_rounds())
    for agent in opened.subagents():
        yield from of(iter(opened.stored_subagent(agent.id).rounds))
    yield from read_facts(archive.folder(session_id)).loose.replies


def counted(archive: Archive) -> dict[str, list[int]]:
    """Rule A of usage.md: once a message id over everything; by model."""
    best: dict[str, Reply] = {}
    for session_id in archive.ledger().sessions:
        for reply in sightings(archive, session_id):
            known = best.get(reply.id)
            if known is None or reply.usage.total > known.usage.total:
                best[reply.id] = reply
    rows: dict[str, list[int]] = {}
    for reply in best.values():
        if reply.model == "<synthetic>":
            continue
        row = rows.setdefault(reply.model or "unknown", [0] * 6)
        u = reply.usage
        told = (1, u.input, u.output, u.cache_read, u.cache_write_5m, u.cache_write_1h)
        for at, value in enumerate(told):
            row[at] += value
    return rows


def timed(archive: Archive, reference: Any) -> dict[str, int]:
    """The same arithmetic as the reference's, on the clocks the archive keeps."""
    wall = agent = human = 0.0
    sessions, spans, active = 0, [], []
    for session_id in archive.ledger().sessions:
        clocks = [round.clock for round in archive.open(session_id).stored_rounds()]
        clocks.append(read_facts(archive.folder(session_id)).loose.clock)
        found = [(m.at / 1000, m.made_by) for clock in clocks for m in read_clock(clock)]
        found.sort(key=lambda moment: moment[0])  # of one moment, in the order of the file
        if len(found) < 2:
            continue
        sessions += 1
        wall += found[-1][0] - found[0][0]
        for (a, _), (b, what) in pairwise(found):
            if what in reference.MADE:
                agent += min(b - a, reference.AGENT_CAP)
                spans.append((a, min(b, a + reference.AGENT_CAP)))
            elif what in reference.GIVEN and b - a <= reference.HUMAN_CAP:
                human += b - a
                active.append((a, b))
    return {
        "sessions": sessions,
        "wall_s": round(wall),
        "agent_s": round(agent),
        "human_s": round(human),
        "agent_by_clock_s": round(reference.union(spans)),
        "active_by_clock_s": round(reference.union(spans + active)),
    }


def expected(reference: Any, root: Path) -> dict[str, list[int]]:
    found = reference.count(list(reference.replies(str(root))), lambda reply: reply.id)
    rows = reference.table(found)
    return {model: row[:6] for model, row in rows.items() if model != "TOTAL"}


def times(reference: Any, root: Path, tmp_path: Path) -> dict[str, int]:
    """The reference's times, of sessions: it takes any file for one, also those of another
    agent and of subagents."""
    copy = tmp_path / "sessions"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("agent-*", *OTHERS))
    found: dict[str, int] = reference.time(str(copy))
    return found


def archived_alone(root: Path, tmp_path: Path) -> Archive:
    """Everything under a root archived, and the transcripts then gone."""
    copy = tmp_path / "claude"
    shutil.copytree(root, copy / "projects")
    archive = Archive(tmp_path / "archive", (copy,))
    inscribe(archive, ended=True)
    shutil.rmtree(copy)
    copy.mkdir()
    return Archive(tmp_path / "archive", (copy,))


def is_plain(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


@needs_corpus
def test_the_corpus_counts_as_the_reference_does(reference: Any, tmp_path: Path) -> None:
    """USE-01, USE-03: tokens to the unit, times to the second, from the archive alone."""
    root = CORPUS / "claude" / "projects"
    archive = archived_alone(root, tmp_path)
    assert counted(archive) == expected(reference, root)
    assert timed(archive, reference) == times(reference, root, tmp_path)


def test_a_generated_corpus_counts_as_the_reference_does(reference: Any, tmp_path: Path) -> None:
    """USE-01, USE-03: the same for forks, subagents, progress lines, synthetic replies.

    Without the lines that need help: the reference passes over them, we do not.
    """
    generate(tmp_path / "made", seed=7)
    root = tmp_path / "made" / "projects"
    for path in root.rglob("*.jsonl"):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(line for line in lines if is_plain(line)))
    archive = archived_alone(root, tmp_path / "gone")
    assert counted(archive) == expected(reference, root)
    assert timed(archive, reference) == times(reference, root, tmp_path)
