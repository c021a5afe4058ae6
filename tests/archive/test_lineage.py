"""The lineage of an archive: recorded links counted apart, inference measured, kept and shown."""

from __future__ import annotations

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path

import pytest
from benchmarks.lineage import alone, judge, with_own_ids
from benchmarks.made_copies import make, make_negatives, originals

from minutebook.archive import Archive
from minutebook.archive import lineage as kept
from minutebook.archive.lineage import known_sessions
from minutebook.derive.lineage import edges_of
from minutebook.extract.offline import OfflineExtractor
from minutebook.model.lineage import COPYING, components
from minutebook.verbs.ingest import ingest
from minutebook.verbs.inscribe import inscribe
from tests.archive.test_operations import put
from tests.conftest import CORPUS, assistant, needs_corpus, user
from tests.generated.generate import generate

KEY = "ghp_" + "Zk3qW8xT2mLr9VbN5cYp" + "7HdJ4sGf6AeU1oQi"
FIRST, SECOND = (f"{letter * 8}-2222-4333-8444-555555555555" for letter in "ab")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated sessions of all versions, forks among them."""
    folder = tmp_path_factory.mktemp("made")
    generate(folder, seed=5, sessions=30)
    return folder


def counted(files: Iterable[Path]) -> tuple[dict[frozenset[str], int], set[tuple[str, str]]]:
    """What raw lines record, without anything of ours: how many uuids of user records each two
    sessions share, and which sessions a file names."""
    holders: dict[str, set[str]] = defaultdict(set)
    named: set[tuple[str, str]] = set()
    for path in files:
        for line in path.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if not isinstance(record, dict) or "message" not in record:
                continue
            if record.get("type") in ("user", "human") and isinstance(record.get("uuid"), str):
                holders[record["uuid"]].add(path.stem)
            other = record.get("sessionId")
            if isinstance(other, str) and other and other != path.stem:
                named.add((other, path.stem))
    shared: dict[frozenset[str], int] = defaultdict(int)
    for ids in holders.values():
        for pair in combinations(sorted(ids), 2):
            shared[frozenset(pair)] += 1
    return dict(shared), named


def check_recorded(archive: Archive, files: list[Path]) -> int:
    """The links that are recorded are those of an independent count; how many there are."""
    shared, named = counted(files)
    edges = [e for e in archive.lineage().edges if e.recorded and e.kind in COPYING]
    fields = {
        (e.older, e.newer) for e in edges for evidence in e.evidence if evidence.what == "sessionId"
    }
    assert fields == named
    by_id = {
        frozenset((e.older, e.newer))
        for e in edges
        if any(evidence.what == "shared-messages" for evidence in e.evidence)
    }
    assert by_id <= shared.keys(), "each is one that the count has"
    # Of three copies two edges are enough: what the count ties, edges tie, and nothing else.
    ours = components((e.older, e.newer) for e in edges)
    theirs = components([*((min(pair), max(pair)) for pair in shared), *named])
    assert sorted(map(sorted, ours)) == sorted(map(sorted, theirs))
    return len(edges)


def test_recorded_links_equal_an_independent_count(made: Path, tmp_path: Path) -> None:
    """FUT-02, FMT-16: on generated sessions of every version."""
    files = sorted((made / "projects").glob("*/*.jsonl"))
    files = [path for path in files if not path.name.startswith("agent-")]
    assert check_recorded(Archive(tmp_path / "archive", (made,)), files) > 3


@needs_corpus
def test_recorded_links_of_real_sessions_equal_an_independent_count(tmp_path: Path) -> None:
    """FUT-02, FMT-16: on the real transcripts."""
    archive = Archive(tmp_path / "archive", (CORPUS / "claude",))
    ids = {known.info.id for known in known_sessions(archive)}
    files = [p for p in sorted((CORPUS / "claude/projects").glob("*/*.jsonl")) if p.stem in ids]
    assert check_recorded(archive, files) > 2


def test_copies_with_other_ids_are_found(made: Path, tmp_path: Path) -> None:
    """FUT-02: a small version of ``benchmarks/lineage.py``: pair, kind and direction."""
    pool = originals([made], alone(known_sessions(Archive(tmp_path / "a", (made,)))))
    copies = make(tmp_path / "copies", pool, 15)
    make_negatives(tmp_path / "copies", pool, 12)
    known = known_sessions(Archive(tmp_path / "b", (made, tmp_path / "copies")))
    score = judge(copies, edges_of(with_own_ids(known, copies)))
    assert score.precision >= 0.95, score.wrong
    assert score.recall >= 0.8


@pytest.fixture
def family(made: Path, tmp_path: Path) -> Archive:
    """An archive of generated sessions and of copies with other ids, all inscribed."""
    pool = originals([made], alone(known_sessions(Archive(tmp_path / "a", (made,)))))
    shutil.copytree(made / "projects", tmp_path / "places" / "projects")
    make(tmp_path / "places", pool, 9)
    archive = Archive(tmp_path / "archive", (tmp_path / "places",))
    inscribe(archive, list(archive.library.transcripts), ended=True)
    return Archive(tmp_path / "archive", (tmp_path / "places",))


def test_the_evidence_can_be_looked_up(family: Archive) -> None:
    """FUT-02: every round that is named is there, and what is shared was asked in both."""
    found = family.lineage()
    copied = [edge for edge in found.edges if edge.kind in COPYING]
    assert {edge.kind for edge in copied} == COPYING
    assert {edge.recorded for edge in copied} == {True, False}
    for edge in found.edges:
        assert edge.evidence and 0 < edge.confidence <= 1
        for evidence in edge.evidence:
            assert evidence.what
            for id, number in ((edge.older, evidence.older), (edge.newer, evidence.newer)):
                if number is not None and "/" not in id:
                    assert family.open(id).round(number).number == number
        for here, there in enumerate(edge.shared, 1):
            mine, theirs = family.open(edge.newer).round(here), family.open(edge.older).round(there)
            if mine.prompt is not None and theirs.prompt is not None:
                assert mine.prompt.said == theirs.prompt.said


def test_the_answer_is_the_same_without_transcripts(family: Archive) -> None:
    """ARC-02: and without what was kept, and from a new reading of the archive."""
    before = family.lineage()
    assert before.families()
    shutil.rmtree(family.places[0])
    assert Archive(family.root).lineage() == before
    shutil.rmtree(family.layout.search)
    assert Archive(family.root).lineage() == before


def test_sessions_are_read_once(family: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """FUT-02: a second look reads one small private file and no round."""
    before = family.lineage()
    for path in (family.layout.lineage, family.layout.traces):
        assert path.stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(kept, "trace_of", None)
    monkeypatch.setattr(kept, "edges_of", None)
    assert Archive(family.root, family.places).lineage() == before


def test_only_what_changed_is_read_again(family: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """FUT-02: a new session costs one reading."""
    family.lineage()
    read: list[str] = []
    own = kept._rounds

    def noting(archive: Archive, session_id: str) -> object:
        read.append(session_id)
        return own(archive, session_id)

    monkeypatch.setattr(kept, "_rounds", noting)
    put(
        family.places[0] / "projects" / "-new",
        user("Something new."),
        assistant("Yes."),
        name=FIRST,
    )
    Archive(family.root, family.places).lineage()
    assert read == [FIRST]


def test_a_file_that_is_no_transcript_is_not_read_again(
    family: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FUT-02: once a run has found that a file is none, no look at the lineage opens it."""
    put(family.places[0] / "projects" / "-odd", {"rows": [1, 2]}, name=FIRST)
    inscribe(Archive(family.root, family.places))
    read: list[str] = []
    own = kept._rounds

    def noting(archive: Archive, session_id: str) -> object:
        read.append(session_id)
        return own(archive, session_id)

    monkeypatch.setattr(kept, "_rounds", noting)
    Archive(family.root, family.places).lineage()
    assert FIRST not in read


def test_ties_of_older_rules_hold_until_new_ones_are_found(family: Archive) -> None:
    """UND-08, ARC-08: after an update copies are not listed until somebody asks for lineage."""
    before = family.lineage()
    assert family.known_ties()
    path = family.layout.lineage
    path.write_bytes(path.read_bytes().replace(b'"version":2', b'"version":1', 1))
    again = Archive(family.root, family.places)
    assert again.known_ties() == family.known_ties()
    assert again.lineage() == before


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": 99}', b'{"version":1,"edges":[1]}'])
def test_what_is_kept_may_be_damaged(family: Archive, content: bytes) -> None:
    """ARC-07: it is made again."""
    before = family.lineage()
    for path in (family.layout.lineage, family.layout.traces):
        path.write_bytes(content)
    assert Archive(family.root, family.places).lineage() == before


def test_nothing_is_kept_where_nothing_can_be_written(
    family: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ARC-09: the answer is the same."""

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(kept, "make_folder", refuse)
    shutil.rmtree(family.layout.search, ignore_errors=True)
    found = family.lineage()
    assert found.edges and not family.layout.lineage.exists()


def test_secrets_are_masked(tmp_path: Path) -> None:
    """ARC-06: in the words that are quoted, and in names; an archive with secrets shows them."""
    old = [user(f"Use {KEY} now.", timestamp="2026-03-01T10:00:00.000Z"), assistant("Yes. " * 90)]
    new = [
        user(f"ok now push with {KEY}", timestamp="2026-03-01T10:20:00.000Z"),
        assistant("Pushed.", timestamp="2026-03-01T10:21:00.000Z"),
    ]
    for name, records in ((FIRST, old), (SECOND, new)):
        found = [
            {**record, "gitBranch": "feat/keys", "cwd": "/home/dev/keys"} for record in records
        ]
        put(tmp_path / "p", *found, name=name)
    said = str(Archive(tmp_path / "archive", (tmp_path / "p",)).lineage())
    assert "continues" in said and "push with" in said and KEY not in said


def test_a_session_alone_is_a_lineage_of_one(examples: Path, tmp_path: Path) -> None:
    """FUT-02: nothing ties it; its name is what a person calls it."""
    archive = Archive(tmp_path / "archive", (examples,))
    tied = {id for e in archive.lineage().edges for id in (e.older, e.newer)}
    lonely = next(s.id for s in archive.sessions().sessions if s.id not in tied)
    found = archive.lineage(lonely)
    assert [node.id for node in found.nodes] == [lonely] and found.edges == ()
    assert found.nodes[0].name == archive.summary(lonely).name


def test_growth_does_not_find_copies_again(
    family: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FUT-02: whoever searches inside a session makes it grow; that makes it nobody's copy."""
    wanted = kept.copies(family)
    assert wanted
    transcript = family.library.transcripts[0]
    with transcript.path.open("ab") as file:
        file.write(json.dumps(user("And more?")).encode() + b"\n")
    looked: list[object] = []
    found = kept._found

    def noting(archive: Archive, states: Mapping[str, str], state: str) -> object:
        looked.append(state)
        return found(archive, states, state)

    monkeypatch.setattr(kept, "_found", noting)
    again = Archive(family.root, family.places)
    assert kept.copies(again) == wanted and not looked
    assert kept.lineage(again).edges and looked


def test_ingesting_traces_what_reading_the_archive_would(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FUT-02: sessions are traced as they are read, not read again; the traces are the same."""
    over = shutil.copytree(made, tmp_path / "over")
    for path in over.rglob("*.jsonl"):
        os.utime(path, (1e9, 1e9))  # sessions that are over: a living one is read again
    inscribed = Archive(tmp_path / "inscribed", (over,))
    inscribe(inscribed)
    kept.lineage(inscribed)

    def unwanted(*_: object) -> bytes:
        raise AssertionError("a session was read again")

    monkeypatch.setattr(kept, "_packed", unwanted)
    ingested = Archive(tmp_path / "ingested", (over,))
    ingest(ingested, OfflineExtractor())
    assert ingested.layout.traces.read_bytes() == inscribed.layout.traces.read_bytes()
