"""Any one file damaged: everything else works, the file is named, and check finds it (ARC-07)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.archive.finding import search
from minutebook.archive.refreshing import refresh
from minutebook.extract.offline import OfflineExtractor
from minutebook.index.query import parse_query
from minutebook.record.rounds import SCHEMA, Newer, read_round, read_words
from minutebook.verbs.check import check
from minutebook.verbs.check_archive import check_archive
from minutebook.verbs.correct import correct
from minutebook.verbs.ingest import ingest
from minutebook.verbs.rebuild import rebuild
from minutebook.verbs.tag import tag

SESSION = "eb82c016-c70f-5ceb-a51c-144afda4b7b3"
"""One with subagents among the examples."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Path:
    """An archive with everything an archive can have; its transcripts are gone."""
    root = tmp_path_factory.mktemp("whole") / "archive"
    archive = Archive(root, (examples,))
    ingest(archive, OfflineExtractor(), ended=True)
    tag(archive, SESSION, "1", "by-hand")
    engagement = archive.record("60a4643c-1ab3-5e54-bb1f-66d330e9fa45").engagements[0]
    correct(archive, "60a4643c", engagement.id, "topic=Said by a person, about the index")
    old = {"session_id": SESSION, "first": 1, "last": 1, "engagement_id": "by-hand"}
    (root / "sessions" / "tags.jsonl").write_text(json.dumps(old) + "\n")  # of an older version
    (root / "agent-roster.jsonl").write_text(
        json.dumps({"session": SESSION[:8], "name": "Robin", "role": None}) + "\n"
    )
    (root / "config.json").write_text('{"version": 1, "ghost_prompts": 3}')
    (root / "sessions" / "semantic.json").write_text('{"kind": "static"}')
    archive = Archive(root, (root / "nothing",), lenient=True)
    refresh(archive)
    return root


def opened(root: Path) -> Archive:
    return Archive(root, (root / "nothing",), lenient=True)


DURABLE = (
    "archive.json",
    "config.json",
    "agent-roster.jsonl",
    "sessions/engagements.jsonl",
    "sessions/corrections.jsonl",
    "sessions/tags.jsonl",
    f"sessions/claude/{SESSION}.md",
    f"sessions/claude/{SESSION}/session.json",
    f"sessions/claude/{SESSION}/rounds/002.json",
    f"sessions/claude/{SESSION}/subagents/AGENT.md",
    f"sessions/claude/{SESSION}/subagents/AGENT/rounds/001.json",
)
DISPOSABLE = (
    "sessions/ledger.json",
    "sessions/sessions.db",
    "sessions/search.db",
    "sessions/index.md",
    "sessions/engagements-index.md",
    "sessions/semantic.json",
    "sessions/claude/index.md",
    f"sessions/claude/{SESSION}/session.db",
    f"sessions/claude/{SESSION}/index.md",
)


def garbled(path: Path) -> None:
    path.write_bytes(b'\x00\xff{"broken' + path.read_bytes()[40:])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: max(1, path.stat().st_size // 2)])


def replaced(path: Path) -> None:
    path.unlink()
    path.mkdir()


def newer(path: Path) -> None:
    """From a newer version, where a file has one."""
    text = path.read_text("utf-8")
    for name in ("schema", "version", "format"):
        for gap in ("", " "):
            for now in ("1", "2"):
                text = text.replace(f'"{name}":{gap}{now}', f'"{name}":{gap}99')
    path.write_text(text, "utf-8")


DAMAGES: tuple[Callable[[Path], None], ...] = (garbled, emptied, truncated, replaced)
VERSIONED = (
    "config.json",
    f"sessions/claude/{SESSION}/session.json",
    f"sessions/claude/{SESSION}/rounds/002.json",
    "sessions/ledger.json",
)
CASES = [
    *((name, damage) for name in (*DURABLE, *DISPOSABLE) for damage in DAMAGES),
    *((name, newer) for name in VERSIONED),
]


@pytest.mark.parametrize(
    ("name", "damage"), CASES, ids=[f"{n.split('/')[-1]}-{d.__name__}" for n, d in CASES]
)
def test_one_damaged_file_costs_only_itself(
    whole: Path, tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    """ARC-07: lists, reading, minutes and search go on; the file is named by check."""
    root = tmp_path / "archive"
    shutil.copytree(whole, root)
    path = root / name.replace("AGENT", first_agent(root))
    before = path.read_bytes() if path.is_file() else b""
    damage(path)
    archive = opened(root)
    sessions = {s.id for s in archive.sessions(ghosts=True).sessions}
    assert sessions == {s.id for s in opened(whole).sessions(ghosts=True).sessions}
    for id in sessions:
        assert archive.open(id).count == opened(whole).open(id).count
        for round in archive.open(id).rounds():
            assert round.messages
    assert archive.records() or "engagements" in name
    answer = search(archive, parse_query("passkey"), mode="lexical")
    assert answer.hits
    harmless = damage is truncated and is_only_shorter(path, before)
    if not harmless:
        assert named(root, path), f"{path} is not named"
    rebuild(opened(root))
    left = [trouble for trouble in check_archive(opened(root)) if trouble.path != path]
    assert left == []


def first_agent(root: Path) -> str:
    folder = root / "sessions" / "claude" / SESSION / "subagents"
    return min(entry.stem for entry in folder.glob("*.md"))


def is_only_shorter(path: Path, before: bytes) -> bool:
    """Half of a page is a page, and half of a small file of lines may be whole lines."""
    return path.suffix == ".md" and path.name.endswith("index.md") and bool(before)


def named(root: Path, path: Path) -> bool:
    """Whether check names a file, by the archive or by its session."""
    # Searching has mended what a search mends.
    archive = opened(root)
    told = [str(trouble.path) + trouble.reason for trouble in check_archive(archive)]
    for id in archive.ledger().sessions:
        told += check(archive, id).problems
    words = {path.name, path.stem, str(path)}
    if path.name == "search.db":
        return True  # the search before has made it again
    if path.parent.name != "rounds" and path.suffix == ".md" and path.name != "index.md":
        words |= {"the document"}
    return any(word in line for line in told for word in words)


def test_a_damaged_document_ends_no_verb(whole: Path, tmp_path: Path) -> None:
    """ARC-07: through the command line: no verb calls it a bug, and the file is named."""
    root = tmp_path / "archive"
    shutil.copytree(whole, root)
    (root / "sessions" / "claude" / f"{SESSION}.md").write_bytes(b"\xff torn")
    for verb in (
        ["sessions"],
        ["search", "passkey", "--mode", "lexical"],
        ["show", SESSION[:8]],
        ["context", SESSION[:8]],
        ["context", "--query", "passkey", "--budget", "2000"],
        ["tag", "60a4643c", "1", "x"],
        ["stats"],
        ["status"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "minutebook", *verb, "--archive", str(root)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (verb, done.stderr)
        assert "bug" not in done.stderr


def test_a_round_file_of_a_newer_format_is_never_misread(whole: Path, tmp_path: Path) -> None:
    """ARC-08: also where it reads like one of ours: not as a whole, not for its words, not for its
    shape; the document serves, the file is named, and no rebuild replaces it."""
    root = tmp_path / "archive"
    shutil.copytree(whole, root)
    path = root / "sessions" / "claude" / SESSION / "rounds" / "002.json"
    ours = json.loads(path.read_bytes())
    kinds = opened(root).open(SESSION).shapes()[1]
    theirs = {**ours, "schema": SCHEMA + 1, "user": "Misread!", "agent": [], "messages": []}
    path.write_text(json.dumps(theirs))
    content = path.read_bytes()
    for read in (read_round, read_words):
        with pytest.raises(Newer, match=f"newer minutebook \\(format {SCHEMA + 1}\\)"):
            read(content)
    archive = opened(root)
    session = archive.open(SESSION)
    prompt = session.stored(2).prompt
    assert prompt is not None and prompt.said and "Misread!" not in prompt.said
    assert session.shapes()[1] == kinds
    assert "newer minutebook" in session.damaged[str(path)]
    assert search(archive, parse_query('"Misread!"'), mode="lexical").hits == []
    done = rebuild(opened(root))
    assert path.read_bytes() == content
    assert [p for p in done.problems if "newer minutebook" in p and "stays as it is" in p]
