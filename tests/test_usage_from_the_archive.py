"""What was used, counted from an archive whose transcripts are gone (USE-01, USE-03)."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from minutebook.archive import Archive
from minutebook.derive.usage.figures import Figures
from minutebook.verbs.inscribe import inscribe
from tests.conftest import CORPUS, assistant, needs_corpus, user
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


def counted(archive: Archive, reference: Any) -> dict[str, list[float]]:
    """What the archive says was used, by model: replies, five kinds of tokens, searches, cents;
    those of models that the reference has a price of."""
    found = {row.key: row.figures for row in archive.usage("model").rows}
    return {
        model: [*figures_of(figures), cents(figures) if reference.known(model) else 0.0]
        for model, figures in found.items()
    }


def figures_of(figures: Figures) -> list[float]:
    tokens = msgspec.structs.astuple(figures.tokens)
    return [figures.replies, *tokens, figures.web_searches]


def cents(figures: Figures) -> float:
    assert figures.cost is not None
    return round(figures.cost.usd, 2)


def timed(archive: Archive) -> dict[str, int]:
    times = archive.usage("session").total.times
    assert times is not None
    return {
        "wall_s": round(times.wall),
        "agent_s": round(times.agent),
        "human_s": round(times.yours),
        "agent_by_clock_s": round(times.agent_clock),
        "active_by_clock_s": round(times.active_clock),
    }


def expected(reference: Any, root: Path) -> dict[str, list[float]]:
    found = reference.count(list(reference.replies(str(root))), lambda reply: reply.id)
    rows = reference.table(found)
    return {m: [*row[:7], round(row[7], 2)] for m, row in rows.items() if m != "TOTAL"}


def owned(reference: Any, root: Path) -> dict[str, int]:
    """Replies of each session's own, as the reference's ``--sessions`` counts them."""
    found = list(reference.replies(str(root)))
    last: dict[str, str] = {}
    holders: dict[str, set[str]] = {}
    for reply in found:
        last[reply.session] = max(last.get(reply.session, ""), reply.at or "")
        holders.setdefault(reply.id, set()).add(reply.session)
    return dict(
        Counter(
            min(holders[reply.id], key=lambda session: (last[session], session))
            for reply in reference.count(found, lambda reply: reply.id)
        )
    )


def times(reference: Any, root: Path, tmp_path: Path) -> dict[str, int]:
    """The reference's times, of sessions: it takes any file for one, also those of another
    agent and of subagents."""
    copy = tmp_path / "sessions"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("agent-*", *OTHERS))
    found: dict[str, int] = reference.time(str(copy))
    return {name: seconds for name, seconds in found.items() if name != "sessions"}


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
    assert counted(archive, reference) == expected(reference, root)
    assert timed(archive) == times(reference, root, tmp_path)


TABLE = """
claude-3-5-haiku-20241022 1 4 1 16999 0 0 0.0014
claude-fable-5 457 13026 361873 89296428 117095 1218638 133.3568
claude-haiku-4-5-20251001 329 33127 31310 21265721 141785 955399 4.4043
claude-opus-4-1-20250805 3 14 3 76406 483 0 0.1241
claude-opus-4-5-20251101 1068 29047 113938 101416870 3343614 1441466 89.0144
claude-opus-4-6 1747 6506 427862 205650680 930819 4468072 164.0528
claude-opus-4-7 1418 3097 808261 330003590 596016 2723619 216.1851
claude-opus-4-8 548 127162 509093 97136905 39889 1616912 78.3500
claude-opus-5 658 4260 322944 180191949 0 4432275 142.5136
claude-sonnet-4-20250514 457 1693 98804 75303284 2800399 0 34.5796
claude-sonnet-4-5-20250929 86 4506 5538 5146589 1182477 42176 6.3279
claude-sonnet-4-6 10 14 269 316118 0 49555 0.3962
claude-sonnet-5 335 1930 194976 61913940 0 1067270 18.6055
gpt-5.3-codex 9 0 0 0 0 0 0.0000
TOTAL 7126 224386 2874872 1167735479 9152577 18015382 887.9117
"""


@needs_corpus
@pytest.mark.parametrize("form", ["archived alone", "transcripts alone"])
def test_the_corpus_meets_the_reference_table(form: str, tmp_path: Path) -> None:
    """USE-01, USE-02: every row of design/usage.md, section 7: tokens to the unit, dollars to
    the hundredth of a cent."""
    root = CORPUS / "claude" / "projects"
    if form == "archived alone":
        archive = archived_alone(root, tmp_path)
    else:
        archive = Archive(tmp_path / "none", (CORPUS / "claude",))
    found = archive.usage("model")
    told = {row.key: row.figures for row in found.rows} | {"TOTAL": found.total}
    rows = [
        f"{name} {' '.join(map(str, figures_of(f)[:-1]))} {f.cost.usd:.4f}"
        for name, f in told.items()
        if f.cost is not None
    ]
    assert sorted(rows) == sorted(TABLE.strip().splitlines())


@needs_corpus
def test_a_reply_belongs_to_the_session_that_ended_first(reference: Any, tmp_path: Path) -> None:
    """USE-01: forks and resumed copies count what is their own, as the reference says."""
    root = CORPUS / "claude" / "projects"
    archive = Archive(tmp_path / "none", (CORPUS / "claude",))
    rows = archive.usage("session").rows
    assert {r.key: r.figures.replies for r in rows if r.figures.replies} == owned(reference, root)


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
    assert counted(archive, reference) == expected(reference, root)
    assert timed(archive) == times(reference, root, tmp_path)


def made_transcripts(folder: Path) -> Path:
    """What the corpus does not have: fast mode, batches, web searches, missing ids, odd counts."""
    base = {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 30_000}
    kinds: list[dict[str, Any]] = [
        {"speed": "fast"},
        {"service_tier": "batch"},
        {"service_tier": "priority"},
        {"inference_geo": "us"},
        {"server_tool_use": {"web_search_requests": 100, "web_fetch_requests": 3}},
        {"cache_creation_input_tokens": 900, "cache_creation": {"ephemeral_1h_input_tokens": 400}},
        {"cache_creation_input_tokens": 10, "cache_creation": {"ephemeral_1h_input_tokens": 400}},
        {"cache_creation_input_tokens": 250_000},
    ]
    records = [user("go", uuid="u0", sessionId="made", cwd="/w/made")]
    for at, more in enumerate(kinds):
        for model in ("claude-opus-4-6", "claude-sonnet-4-5-20250929", "an-unknown-model"):
            record = assistant(f"reply {at}", id=f"m{at}-{model}", uuid=f"a{at}-{model}")
            record["message"] |= {"model": model, "usage": {**base, **more}}
            records.append(record)
    for at in range(2):  # without an id of the provider: each line is a reply
        record = assistant("nameless", uuid=f"n{at}")
        del record["message"]["id"]
        record["message"] |= {"usage": base}
        records.append(record)
    synthetic = assistant("No response requested.", id="s1", uuid="s1")
    synthetic["message"] |= {"model": "<synthetic>", "usage": {"input_tokens": 0}}
    records.append(synthetic)
    project = folder / "projects" / "-w-made"
    project.mkdir(parents=True)
    copied = [{**record, "sessionId": "copied"} for record in records]
    later = assistant("one more", id="own", uuid="own", timestamp="2026-03-02T10:00:00.000Z")
    later["message"] |= {"usage": base}
    for name, held in (("made", records), ("copied", [*copied, later])):
        text = "".join(json.dumps(record) + "\n" for record in held)
        (project / f"{name}.jsonl").write_text(text)
    return folder


def test_what_the_corpus_lacks_counts_as_the_reference_does(reference: Any, tmp_path: Path) -> None:
    """USE-01, USE-02: fast mode, batches, searches, unknown models, missing ids, a fork."""
    made = made_transcripts(tmp_path / "made")
    root = made / "projects"
    assert counted(Archive(tmp_path / "none", (made,)), reference) == expected(reference, root)
    archive = archived_alone(root, tmp_path / "gone")
    assert counted(archive, reference) == expected(reference, root)
    assert {r.key: r.figures.replies for r in archive.usage("session").rows} == owned(
        reference, root
    )
