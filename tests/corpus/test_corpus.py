"""The turn-pair corpus as a library (CORP-01 … CORP-17)."""

from __future__ import annotations

import doctest
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import minutebook
import minutebook.corpus as module
from minutebook.corpus import CorpusSource, policy, preset, search, with_synopsis
from minutebook.derive.turn_pairs import TurnMetadata, TurnPair
from minutebook.errors import BadArgument, NotFound
from minutebook.index.static import StaticEmbedder
from tests.conftest import as_line, user


def pair(number: int, asked: str, answered: str, full: str = "", **meta: object) -> TurnPair:
    metadata = TurnMetadata("session", number, **meta)  # type: ignore[arg-type]
    return TurnPair(f"session:{number}", asked, answered, full or answered, metadata)


PAIRS = [
    pair(1, "Fix the login redirect", "It keeps the query now.", project="orchard", branch="main"),
    pair(2, "Draw a chart of apples", "The bars are green.", project="orchard", has_tool_use=True),
    pair(3, "Why is it slow?", "The redirect loops.", "I looked at caches. The redirect loops."),
]  # fmt: skip


def corpus(**options: object) -> CorpusSource:
    return CorpusSource.from_claude_sessions(fetcher=lambda: iter(PAIRS), **options)  # type: ignore[arg-type]


def ids(hits: list[module.TurnHit]) -> list[str]:
    return [hit.pair.id for hit in hits]


def test_doctests_run() -> None:
    """The modules' own examples are true."""
    for documented in (module, policy):
        results = doctest.testmod(documented)
        assert results.attempted and not results.failed


def test_it_is_lazy() -> None:
    """CORP-05, CORP-15: nothing is fetched before somebody asks; the fetcher is injectable."""
    fetched = []

    def fetch() -> Iterator[TurnPair]:
        fetched.append(1)
        yield from PAIRS

    source = CorpusSource.from_claude_sessions(fetcher=fetch)
    assert fetched == []
    assert [p.id for p in source] == ["session:1", "session:2", "session:3"]
    with pytest.raises(TypeError):
        CorpusSource.from_claude_sessions(90)  # type: ignore[call-arg]


def test_surfaces() -> None:
    """CORP-07, CORP-08, CORP-16: two lean surfaces, a third on request; empty ones dropped."""
    assert ids(search(corpus(), "redirect", mode="lexical", surfaces={"user_prompt"})) == [
        "session:1"
    ]
    answered = search(corpus(), "redirect", mode="lexical", surfaces={"assistant_summary"})
    assert ids(answered) == ["session:3"] and answered[0].surface == "assistant_summary"
    assert search(corpus(), "caches", mode="lexical") == []
    assert ids(search(corpus(include_full=True), "caches", mode="lexical")) == ["session:3"]
    with pytest.raises(BadArgument, match="user_prompt, assistant_summary"):
        search(corpus(), "x", surfaces={"assistant_full"})
    empty = pair(4, "", "only an answer")
    assert corpus().strategy.texts(empty) == {"assistant_summary": "only an answer"}


def test_hits_collapse_to_the_best_surface() -> None:
    """CORP-17: a turn is found once, by the side that has more of the query."""
    both = [pair(1, "apples", "apples and pears and apples")]
    source = CorpusSource.from_claude_sessions(fetcher=lambda: iter(both))
    (hit,) = search(source, "apples pears", mode="lexical")
    assert hit.surface == "assistant_summary"


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_modes(mode: str) -> None:
    """CORP-17: by words, by meaning, by both."""
    hits = search(corpus(), "Draw a chart of apples", mode=mode)  # type: ignore[arg-type]
    assert ids(hits)[0] == "session:2"


def test_filters() -> None:
    """CORP-04: by any field of the metadata, or by a function."""
    assert ids(search(corpus(), "redirect", mode="lexical", filter={"project": "orchard"})) == [
        "session:1"
    ]
    assert search(corpus(), "redirect", mode="lexical", filter={"has_tool_use": True}) == []
    late = search(corpus(), "redirect", mode="lexical", filter=lambda meta: meta.round > 1)
    assert ids(late) == ["session:3"]
    with pytest.raises(BadArgument, match="filtered by session_id"):
        search(corpus(), "redirect", mode="lexical", filter={"colour": "red"})


def test_only_what_changed_is_indexed(tmp_path: Path) -> None:
    """CORP-06: the change signal is a hash of the turn; unchanged turns are left alone."""
    pairs = list(PAIRS)
    source = CorpusSource.from_claude_sessions(fetcher=lambda: iter(pairs), folder=tmp_path)
    first = source.refresh(embed=True)
    assert (first.added, first.embedded) == (3, 3)
    signal = source.change_signal(pairs[0])
    pairs.append(pair(4, "One more thing to do", "Done and dusted now."))
    again = source.refresh(embed=True)
    assert (again.added, again.removed, again.embedded) == (1, 0, 1)
    assert source.change_signal(pairs[0]) == signal
    pairs[0] = pair(1, "Fix the login redirect, please", "It keeps the query now.")
    changed = source.refresh(embed=True)
    assert (changed.added, changed.removed, changed.embedded) == (1, 1, 1)
    del pairs[1:]
    assert source.refresh().removed == 3


def test_presets_and_synopses() -> None:
    """CORP-09, CORP-10: `sessions` is registered; a synopsis is an opt-in wrapper."""
    assert ids(search(preset("sessions", fetcher=lambda: iter(PAIRS)), "chart", mode="lexical"))
    with pytest.raises(NotFound, match="choose one of sessions"):
        preset("dreams")
    told = with_synopsis(corpus(), lambda _: "a synopsis about zebras")
    assert len(search(told, "zebras", mode="lexical")) == 3
    assert search(corpus(), "zebras", mode="lexical") == []


def test_a_synopsis_keeps_the_embedder_of_its_corpus() -> None:
    """CORP-10: turns are compared by the model that was chosen for them."""
    own = StaticEmbedder()
    plain = CorpusSource.from_claude_sessions(fetcher=lambda: iter(PAIRS), embedder=lambda: own)
    assert with_synopsis(plain, lambda _: "a synopsis").embedder() is own


def test_windows_projects_and_numbers(examples: Path, tmp_path: Path) -> None:
    """CORP-11, CORP-12: 90 days unless told otherwise; projects and max_sessions narrow."""
    everything = list(CorpusSource.from_claude_sessions(since=None, roots=[examples]))
    assert len({p.metadata.session_id for p in everything}) == 9
    some = CorpusSource.from_claude_sessions(since=None, roots=[examples], projects=["orchard"])
    assert {p.metadata.project for p in some} == {"orchard"}
    one = CorpusSource.from_claude_sessions(since=None, roots=[examples], projects="orchard")
    assert list(one) == list(some)
    newest = CorpusSource.from_claude_sessions(since=None, roots=[examples], max_sessions=2)
    assert len({p.metadata.session_id for p in newest}) == 2
    old = next(examples.glob("projects/*/*.jsonl"))
    copy = tmp_path / old.name
    copy.write_bytes(old.read_bytes())
    then = time.time() - 100 * 86_400
    os.utime(copy, (then, then))
    assert list(CorpusSource.from_claude_sessions(roots=[copy])) == []


def test_turns_have_stable_ids(examples: Path) -> None:
    """CORP-01 … CORP-03: `session_id:user_uuid`, the final text as summary, all text as full."""
    for turn in CorpusSource.from_claude_sessions(since=None, roots=[examples]):
        assert turn.id.startswith(turn.metadata.session_id + ":")
        assert turn.assistant_full.endswith(turn.assistant_summary)


def test_a_message_id_may_be_in_two_sessions() -> None:
    """Forks copy messages: a turn is known by its session and its id."""
    both = [
        TurnPair("s1:u1", "about giraffes", "", "", TurnMetadata("s1", 1)),
        TurnPair("s2:u1", "about giraffes", "", "", TurnMetadata("s2", 1)),
    ]
    source = CorpusSource.from_claude_sessions(fetcher=lambda: iter(both))
    assert sorted(ids(search(source, "giraffes", mode="lexical"))) == ["s1:u1", "s2:u1"]
    one = search(source, "giraffes", mode="lexical", filter={"session_id": "s1"})
    assert ids(one) == ["s1:u1"]


def test_a_full_answer_is_a_surface_of_its_own() -> None:
    """CORP-08: the summary alone, and the surface that really matched."""
    source = corpus(include_full=True)
    assert search(source, "caches", mode="lexical", surfaces={"assistant_summary"}) == []
    (hit,) = search(source, "caches", mode="lexical", surfaces={"assistant_full"})
    assert hit.surface == "assistant_full"
    with pytest.raises(BadArgument, match="modes are lexical"):
        search(source, "caches", mode="bogus")  # type: ignore[arg-type]


def quiet(examples: Path, folder: Path) -> Path:
    """A copy of the examples in which no session is running any more."""
    root = folder / "claude"
    shutil.copytree(examples, root)
    then = time.time() - 86_400
    for path in root.rglob("*.jsonl"):
        os.utime(path, (then, then))
    return root


def test_archived_sessions_are_read_from_the_archive(examples: Path, tmp_path: Path) -> None:
    """ARC-02: the same turns with every transcript deleted; those not archived are there too."""
    root = quiet(examples, tmp_path)
    minutebook.ingest(root, archive=tmp_path / "archive", extractor="offline")
    named = {"since": None, "archive": tmp_path / "archive", "roots": [root]}
    before = list(CorpusSource.from_claude_sessions(**named))  # type: ignore[arg-type]
    read = CorpusSource.from_claude_sessions(since=None, roots=[examples])
    assert sorted(p.id for p in before) == sorted(p.id for p in read)
    shutil.rmtree(root / "projects")
    (root / "projects" / "-x").mkdir(parents=True)
    assert list(CorpusSource.from_claude_sessions(**named)) == before  # type: ignore[arg-type]
    with minutebook.open_archive(tmp_path / "archive", [root]) as archive:
        some = CorpusSource.from_claude_sessions(since=None, archive=archive, projects="orchard")
        assert {p.metadata.project for p in some} == {"orchard"}
        assert search(some, "passkey login", mode="lexical")
    new = root / "projects" / "-x" / "11111111-2222-4333-8444-555555555555.jsonl"
    new.write_bytes(as_line(user("About giraffes", sessionId=new.stem, uuid="u1")) + b"\n")
    after = list(CorpusSource.from_claude_sessions(**named))  # type: ignore[arg-type]
    assert {p.id for p in after} - {p.id for p in before} == {f"{new.stem}:u1"}


def test_roots_alone_are_what_counts(examples: Path, tmp_path: Path) -> None:
    """CORP-05: an archive nobody named adds no session to those of the roots."""
    minutebook.ingest(quiet(examples, tmp_path), extractor="offline")  # the usual archive
    path = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    path.write_bytes(as_line(user("About giraffes", sessionId=path.stem, uuid="u1")) + b"\n")
    turns = list(CorpusSource.from_claude_sessions(since=None, roots=[path]))
    assert [p.id for p in turns] == [f"{path.stem}:u1"]
    everything = CorpusSource.from_claude_sessions(since=None)
    assert len({p.metadata.session_id for p in everything}) == 9


def test_turns_have_no_secrets(tmp_path: Path) -> None:
    """ARC-06: unless the archive was opened with them."""
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    path = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    path.write_bytes(as_line(user(f"Use {secret} please", sessionId=path.stem)) + b"\n")
    (turn,) = CorpusSource.from_claude_sessions(since=None, roots=[path])
    assert secret not in turn.user_prompt
    archive = minutebook.open_archive(roots=[path], secrets=True)
    (turn,) = CorpusSource.from_claude_sessions(since=None, archive=archive)
    assert secret in turn.user_prompt
