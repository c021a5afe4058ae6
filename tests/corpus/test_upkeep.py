"""Change detection, scope, usage, policy: what a corpus reads, and when (CORP-04 … CORP-15)."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minutebook
import minutebook.corpus.reading as reading
from minutebook.archive import Archive
from minutebook.archive.turns import SessionTurns, in_projects, session_turns
from minutebook.corpus import CorpusSource, Policy, kept_corpus, search, with_synopsis
from minutebook.derive.turn_pairs import TurnMetadata, TurnPair
from minutebook.errors import BadArgument, NotFound
from minutebook.model import Usage
from minutebook.record.store import writing
from tests.conftest import as_line, assistant, user

NOW = time.time()


def session(root: Path, number: int, *rounds: str, days: float = 1, cwd: str = "/w/pear") -> Path:
    """A transcript of so many rounds, last active some days ago."""
    name = f"{number:08x}-2222-4333-8444-555555555555"
    path = root / "projects" / "-w" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    then = NOW - days * 86_400
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(then))
    lines = []
    for place, asked in enumerate(rounds):
        common = {"sessionId": name, "cwd": cwd, "timestamp": at}
        lines.append(user(asked, uuid=f"u{place}", **common))
        answer = assistant(
            f"Answer to {asked}.", id=f"m{number}-{place}", uuid=f"a{place}", **common
        )
        answer["message"]["usage"] = {"input_tokens": 7, "output_tokens": 100 * (place + 1)}
        lines.append(answer)
    path.write_bytes(b"".join(as_line(line) + b"\n" for line in lines))
    os.utime(path, (then, then))
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "claude"
    session(root, 1, "Plant the walnut tree", "Water the walnut tree", days=2)
    session(root, 2, "Paint the garden fence", days=10, cwd="/w/Orchard/web")
    session(root, 3, "Sharpen the old chisels", days=50)
    return root


def of(root: Path, **options: object) -> CorpusSource:
    return CorpusSource.from_claude_sessions(roots=[root], **options)  # type: ignore[arg-type]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the sessions that were read."""
    seen: list[str] = []
    real = session_turns

    def noting(archive: Archive, session_id: str) -> SessionTurns:
        seen.append(session_id[:8])
        return real(archive, session_id)

    monkeypatch.setattr(reading, "session_turns", noting)
    return seen


def asked(corpus: CorpusSource, query: str, **options: object) -> list[str]:
    hits = search(corpus, query, mode="lexical", **options)  # type: ignore[arg-type]
    return [hit.pair.user_prompt for hit in hits]


# -- one read


def test_an_unchanged_corpus_is_not_read_again(root: Path, reads: list[str]) -> None:
    """CORP-06: each session is read once, whatever is asked; a changed one once more."""
    corpus = of(root)
    assert asked(corpus, "walnut plant")[0] == "Plant the walnut tree"
    assert sorted(reads) == ["00000001", "00000002", "00000003"]
    for query in ("walnut", "fence", "chisels"):
        assert asked(corpus, query)
    assert len(reads) == 3
    session(root, 2, "Paint the garden fence", "Now in green", days=10, cwd="/w/Orchard/web")
    done = corpus.refresh()
    assert (done.added, done.removed, done.sessions) == (1, 0, 1) and reads[3:] == ["00000002"]
    assert asked(corpus, "green") == ["Now in green"]


def test_a_deleted_session_is_forgotten(root: Path) -> None:
    """CORP-06: what is gone is found no more."""
    corpus = of(root)
    assert asked(corpus, "chisels")
    next(root.rglob("00000003*")).unlink()
    assert asked(corpus, "chisels") == [] and asked(corpus, "walnut")


def test_a_fetcher_is_read_once_a_refresh() -> None:
    """CORP-15: not at all without one."""
    calls = []

    def fetch() -> Iterator[TurnPair]:
        calls.append(1)
        yield TurnPair("s:1", "Plant it", "Done \ud800.", "x", TurnMetadata("s", 1, usage=Usage(5)))

    corpus = CorpusSource.from_claude_sessions(fetcher=fetch)
    with pytest.raises(NotFound, match="not built yet"):
        search(corpus, "plant", refresh=False)
    (hit,) = search(corpus, "plant", mode="lexical")
    assert hit.pair == next(fetch()) and len(calls) == 2
    assert search(corpus, "plant", refresh=False, mode="lexical") == [hit] and len(calls) == 2


def test_hits_are_the_pairs_that_were_read(root: Path, examples: Path) -> None:
    """CORP-01 … CORP-04: from the index as from the source, every field and every word."""
    for place in (root, examples):
        corpus = of(place, since=None)
        pairs = {pair.id: pair for pair in corpus}
        corpus.refresh()
        keys = list(corpus.store.first_keys([p.metadata.session_id for p in corpus], None).values())
        assert len(keys) == len({pair.metadata.session_id for pair in pairs.values()})
        for kept in corpus.store.pairs(keys).values():
            assert kept == pairs[kept.id]


def test_the_archive_is_checked_by_its_ledger(root: Path, tmp_path: Path, reads: list[str]) -> None:
    """ARC-02, CORP-06: archived sessions are read once, also when their transcripts go."""
    place = tmp_path / "archive"
    minutebook.ingest(root, archive=place, extractor="offline")
    corpus = CorpusSource.from_claude_sessions(archive=place, roots=[root])
    assert asked(corpus, "walnut") and len(reads) == 3
    shutil.rmtree(root / "projects" / "-w")
    assert asked(corpus, "walnut") and asked(corpus, "chisels") and len(reads) == 3


def test_a_corpus_may_be_searched_while_another_process_writes_it(
    root: Path, tmp_path: Path
) -> None:
    """NFR-02: the index as it was serves until then."""
    corpus = of(root, folder=tmp_path / "kept")
    assert asked(corpus, "walnut")
    session(root, 4, "Oil the wooden bench")
    with writing(tmp_path / "kept" / ".lock", "corpus build"):
        assert asked(corpus, "bench") == [] and asked(corpus, "walnut")
    assert asked(corpus, "bench")


def test_a_broken_index_is_made_again(root: Path, tmp_path: Path) -> None:
    """NFR-02: it is disposable."""
    corpus = of(root, folder=tmp_path / "kept")
    assert asked(corpus, "walnut")
    (tmp_path / "kept" / "search.db").write_bytes(b"no database" * 500)
    corpus = of(root, folder=tmp_path / "kept")
    assert asked(corpus, "walnut")
    for part in ("lexical", "vectors"):
        for mode in ("lexical", "semantic"):
            assert search(corpus, "plant the walnut tree", mode=mode)
            for folder in (tmp_path / "kept").glob(f"*/{part}"):
                shutil.rmtree(folder)
            corpus = of(root, folder=tmp_path / "kept")
            assert search(corpus, "plant the walnut tree", mode=mode)


def test_an_interrupted_change_of_options_is_made_good(root: Path, tmp_path: Path) -> None:
    """CORP-07, NFR-02: neither the old options nor the new ones take it for theirs."""
    kept = tmp_path / "kept"
    assert asked(of(root, folder=kept), "walnut")

    def broken(_: TurnPair) -> str:
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        of(root, policy=Policy(synopsis=broken, storage=kept)).refresh()
    assert of(root, folder=kept).refresh().sessions == 3
    assert of(root, folder=kept).refresh().sessions == 0


def test_odd_ids_are_kept(root: Path) -> None:
    """CORP-01: a transcript may call its messages anything."""
    odd = root / "projects" / "-w" / "00000009-2222-4333-8444-555555555555.jsonl"
    odd.write_bytes(
        b'{"type":"user","uuid":"\\ud800\\u0000:x","sessionId":"s","timestamp":'
        b'"2026-11-01T10:00:00Z","message":{"role":"user","content":"Feed the \\udfff quokka"}}\n'
    )
    corpus = of(root, since=None)
    (hit,) = search(corpus, "quokka", mode="lexical")
    assert hit.pair.user_prompt.endswith("quokka")
    assert corpus.scope[hit.pair.id] == hit.pair


# -- windows, projects, numbers


def test_a_kept_index_follows_its_options(root: Path, tmp_path: Path) -> None:
    """CORP-07, CORP-11, CORP-12: the same folder with other options is another corpus."""
    kept = tmp_path / "kept"
    assert asked(of(root, folder=kept, since=20), "walnut fence chisels") != []
    assert asked(of(root, folder=kept, since=20), "chisels") == []
    assert asked(of(root, folder=kept, since=90), "chisels")
    assert asked(of(root, folder=kept, projects="orchard"), "walnut") == []
    assert asked(of(root, folder=kept, projects=["orchard", "PEAR"]), "walnut")
    assert asked(of(root, folder=kept, max_sessions=1), "fence") == []
    assert asked(of(root, folder=kept, max_sessions=2), "fence")
    assert asked(of(root, folder=kept, projects=[]), "walnut") == []


def test_turns_before_the_window_are_not_found(root: Path) -> None:
    """CORP-11: of a session that went on, only what is recent."""
    path = session(root, 5, "About gooseberries", days=200)
    new = user("About raspberries", uuid="u9", sessionId=path.stem, cwd="/w/pear")
    new["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    path.write_bytes(path.read_bytes() + as_line(new) + b"\n")
    assert asked(of(root), "raspberries") and asked(of(root), "gooseberries") == []
    assert asked(of(root, since=None), "gooseberries")
    corpus = of(root, since=1)
    assert asked(corpus, "raspberries")
    assert {pair.user_prompt for pair in corpus} == {"About raspberries"}


def test_other_projects_are_read_only_once(root: Path, reads: list[str], tmp_path: Path) -> None:
    """CORP-12: where a session worked is remembered, also of those that do not count."""
    corpus = of(root, projects="orchard", folder=tmp_path)
    assert asked(corpus, "fence") and len(reads) == 3
    assert asked(of(root, projects="orchard", folder=tmp_path), "fence") and len(reads) == 3
    assert asked(of(root, projects="pear", folder=tmp_path), "walnut") and len(reads) == 5


@settings(max_examples=100)
@given(st.lists(st.text("aB/.", max_size=6), max_size=3), st.text("Ab/.", max_size=3))
def test_a_project_is_a_part_of_a_folder(cwds: list[str], part: str) -> None:
    """CORP-12: whatever its case; one text is a list of one; more texts let more through."""
    fits = in_projects(cwds, (part,))
    assert fits == any(part.lower() in cwd.lower() for cwd in cwds)
    assert in_projects(cwds, None) and not in_projects(cwds, ())
    assert in_projects(cwds, (part, "zzz")) == fits


# -- usage


@pytest.mark.parametrize("archived", [False, True])
def test_usage_is_the_rounds_own(root: Path, tmp_path: Path, archived: bool) -> None:
    """CORP-04: as the provider counted it, from a transcript and from the archive."""
    if archived:
        minutebook.ingest(root, archive=tmp_path / "a", extractor="offline")
        corpus = CorpusSource.from_claude_sessions(archive=tmp_path / "a", roots=[root])
    else:
        corpus = of(root)
    used = {pair.user_prompt: pair.metadata.usage for pair in corpus}
    assert used["Plant the walnut tree"] == Usage(7, 100)
    assert used["Water the walnut tree"] == Usage(7, 200)
    large = {"usage": lambda usage: usage.output > 150}
    assert asked(corpus, "walnut", filter=large) == ["Water the walnut tree"]
    assert asked(corpus, "walnut", filter={"usage": Usage(7, 100)}) == ["Plant the walnut tree"]
    assert asked(corpus, "walnut", filter=lambda meta: meta.usage.total < 150) == [
        "Plant the walnut tree"
    ]


def test_usage_of_the_examples_is_that_of_their_rounds(examples: Path) -> None:
    """CORP-04: every round of every example."""
    archive = minutebook.open_archive(roots=[examples])
    for pair in of(examples, since=None):
        round = archive.open(pair.metadata.session_id).round(pair.metadata.round)
        assert pair.metadata.usage == round.usage
        assert pair.metadata.has_tool_use == any(True for _ in round.calls)


def test_a_rare_filter_looks_deeper() -> None:
    """CORP-04: what passes is found behind any number of turns that do not."""
    pairs = [
        TurnPair(
            f"s{n}:u", "the same walnut words", "", "", TurnMetadata(f"s{n}", 1, usage=Usage(n))
        )
        for n in range(2_500)
    ]  # fmt: skip
    corpus = CorpusSource.from_claude_sessions(fetcher=lambda: iter(pairs))
    corpus.refresh()
    hits = search(
        corpus, "walnut", mode="lexical", refresh=False, filter=lambda meta: meta.usage.input == 7
    )
    assert [hit.pair.id for hit in hits] == ["s7:u"]


# -- scope


def test_the_scope_reads_only_what_it_needs(root: Path, reads: list[str]) -> None:
    """CORP-05: a turn by its id costs its session; what does not count is not there."""
    corpus = of(root, projects="pear", since=20)
    id = "00000001-2222-4333-8444-555555555555:u1"
    assert corpus.scope[id].user_prompt == "Water the walnut tree"
    assert reads == ["00000001"]
    assert corpus.scope[id] is corpus.scope[id] and reads == ["00000001"]
    assert id in corpus.scope and f"{id}x" not in corpus.scope
    for other in ("nonsense", "00000002-2222-4333-8444-555555555555:u0",
                  "00000003-2222-4333-8444-555555555555:u0"):  # fmt: skip
        assert other not in corpus.scope
        with pytest.raises(KeyError):
            corpus.scope[other]
    assert len(corpus.scope) == 2 and list(corpus.scope) == [p.id for p in corpus]
    assert dict(corpus.scope) == {p.id: p for p in corpus}
    assert list(corpus.scope.values()) == list(corpus)
    assert dict(corpus.scope.items()) == dict(corpus.scope)


def test_the_scope_keeps_to_the_newest(root: Path) -> None:
    """CORP-12: `max_sessions` holds for it, too."""
    scope = of(root, max_sessions=1).scope
    assert "00000001-2222-4333-8444-555555555555:u0" in scope
    assert "00000002-2222-4333-8444-555555555555:u0" not in scope


def test_the_scope_of_a_fetcher() -> None:
    """CORP-15: the function is called when something is looked up, and not before."""
    pair = TurnPair("s:1", "Plant it", "Done.", "Done.", TurnMetadata("s", 1))
    scope = CorpusSource.from_claude_sessions(fetcher=lambda: [pair]).scope
    assert scope["s:1"] == pair and len(scope) == 1 and "s:2" not in scope


# -- policy


def test_a_manual_corpus_is_refreshed_by_hand(root: Path) -> None:
    """CORP-05: the schedule says when; a caller may say otherwise."""
    corpus = of(root, policy=Policy(schedule="manual"))
    corpus.refresh()
    session(root, 4, "Oil the wooden bench")
    assert asked(corpus, "bench") == []
    assert asked(corpus, "bench", refresh=True)
    with pytest.raises(BadArgument, match="not a schedule"):
        of(root, policy=Policy(schedule="hourly"))  # type: ignore[arg-type]


def test_synopses_are_for_recent_sessions_and_made_once(root: Path, tmp_path: Path) -> None:
    """CORP-10: nobody pays twice for a turn, nor for old ones; the pair stays as it is."""
    made: list[str] = []

    def synopsis(pair: TurnPair) -> str:
        made.append(pair.user_prompt)
        return "It is about horticulture."

    policy = Policy(synopsis=synopsis, synopsis_days=20, storage=tmp_path / "kept")
    corpus = of(root, policy=policy)
    assert sorted(asked(corpus, "horticulture")) == sorted(made)
    assert len(made) == 3 and "Sharpen the old chisels" not in made
    session(root, 1, "Plant the walnut tree", "Water the walnut tree", "Dig a pond", days=2)
    (hit,) = search(corpus, "horticulture pond", mode="lexical", k=1)
    assert made[3:] == ["Dig a pond"] and hit.pair.assistant_summary == "Answer to Dig a pond."
    again = with_synopsis(of(root), synopsis, days=5)
    assert len(asked(again, "horticulture")) == 3


def test_a_failing_synopsis_loses_only_itself(root: Path, tmp_path: Path) -> None:
    """CORP-10: what was made before it is kept."""
    made: list[str] = []

    def synopsis(pair: TurnPair) -> str:
        if pair.user_prompt.startswith("Sharpen") and len(made) < 4:
            made.append("")
            raise ValueError("the service is down")
        made.append(pair.user_prompt)
        return "horticulture"

    policy = Policy(synopsis=synopsis, synopsis_days=None, storage=tmp_path / "kept")
    with pytest.raises(ValueError, match="service is down"):
        of(root, policy=policy).refresh()
    assert len(asked(of(root, policy=policy), "horticulture")) == 4
    assert len(made) == len(set(made))


def test_the_folder_is_private_and_remembers(root: Path, tmp_path: Path) -> None:
    """NFR-01, CORP-09: what an archive keeps is the owner's, and opened as it was built."""
    (tmp_path / "archive").mkdir()
    archive = minutebook.open_archive(tmp_path / "archive", [root])
    before = os.umask(0)
    try:
        kept_corpus(archive, projects=("orchard",), schedule="manual").refresh(embed=True)
    finally:
        os.umask(before)
    for path in (tmp_path / "archive" / "corpora").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    known = json.loads((tmp_path / "archive" / "corpora" / "sessions" / "corpus.json").read_text())
    assert known == {"projects": ["orchard"], "schedule": "manual"}
    again = kept_corpus(archive)
    assert again.policy.schedule == "manual"
    assert asked(again, "fence") and asked(again, "walnut") == []
    assert asked(kept_corpus(archive, anew=True), "walnut")


def test_secrets_are_not_in_the_folder(tmp_path: Path) -> None:
    """ARC-06: neither in the pairs nor in the title."""
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    root = tmp_path / "claude"
    path = session(root, 1, f"Use {secret} please")
    title = {"type": "ai-title", "aiTitle": f"Using {secret}", "sessionId": path.stem}
    path.write_bytes(path.read_bytes() + as_line(title) + b"\n")
    corpus = of(root, folder=tmp_path / "kept")
    (hit,) = search(corpus, "please", mode="lexical")
    assert secret not in str(hit)
    corpus.refresh(embed=True)
    for file in (tmp_path / "kept").rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes()
