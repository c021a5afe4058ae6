"""Exactly the surfaces that are asked for, in every mode (CORP-07, CORP-08, CORP-13, CORP-17)."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import pytest

from minutebook.corpus import CorpusSource, Surface, TurnHit, search
from minutebook.derive.turn_pairs import TurnMetadata, TurnPair
from minutebook.errors import BadArgument
from minutebook.index.engine import Mode

# What stands on each surface, and nowhere else.
TEXTS: dict[Surface, str] = {
    "user_prompt": "Please prune the apple trees behind the barn",
    "assistant_summary": "The invoice for the plumber has been paid in full",
    "assistant_full": "First the telescope was pointed at the rings of Saturn",
    "title": "Rehearsing the violin concerto for the festival",
}
SURFACES = get_args(Surface)
SETS = [set(chosen) for size in (1, 2, 3, 4) for chosen in combinations(SURFACES, size)]
OTHERS = [
    ("Repair the bicycle brakes before the long ride", "The cables were replaced and oiled."),
    ("Write a poem about winter storms at sea", "Waves of grey salt, in four stanzas."),
]


def turns() -> list[TurnPair]:
    meta = TurnMetadata("s1", 1, title=TEXTS["title"])
    full = f"{TEXTS['assistant_full']}.\n\n{TEXTS['assistant_summary']}"
    first = TurnPair("s1:u1", TEXTS["user_prompt"], TEXTS["assistant_summary"], full, meta)
    others = [
        TurnPair(f"s1:u{n}", asked, told, told, TurnMetadata("s1", n, title=TEXTS["title"]))
        for n, (asked, told) in enumerate(OTHERS, 2)
    ]
    return [first, *others]


@pytest.fixture(scope="module")
def corpus() -> CorpusSource:
    source = CorpusSource.from_claude_sessions(fetcher=turns, include_full=True)
    source.refresh(embed=True)
    return source


def found(corpus: CorpusSource, query: str, **options: Any) -> list[TurnHit]:
    return search(corpus, query, refresh=False, **options)


@pytest.mark.parametrize("wanted", SETS, ids=lambda names: "+".join(sorted(names)))
@pytest.mark.parametrize("mode", get_args(Mode))
def test_exactly_these_surfaces(corpus: CorpusSource, mode: Mode, wanted: set[str]) -> None:
    """CORP-08: a text is found on its own surface, which is named, and not without it."""
    for surface, text in TEXTS.items():
        hits = found(corpus, text, surfaces=wanted, mode=mode)
        best = next((hit for hit in hits if hit.pair.id == "s1:u1"), None)
        # All of the answer has its final words, too.
        covered = wanted | ({"assistant_summary"} if "assistant_full" in wanted else set())
        if mode == "lexical":
            assert (best is not None) == (surface in covered), surface
        if surface in covered:
            assert hits and hits[0] is best
            named = {surface} if surface in wanted else {"assistant_full"}
            assert hits[0].surface in named
        elif best is not None:  # mere likeness, of a surface that was looked at
            assert best.surface in wanted


@pytest.mark.parametrize("wanted", [{"assistant_summary"}, {"user_prompt", "assistant_summary"}])
def test_a_summary_search_does_not_see_the_deliberation(
    corpus: CorpusSource, wanted: set[str]
) -> None:
    """CORP-08: by meaning it finds the same as where the deliberation is not indexed at all."""
    lean = CorpusSource.from_claude_sessions(fetcher=turns)
    lean.refresh(embed=True)
    for query in (*TEXTS.values(), "paid the plumber for rings of Saturn"):
        here, there = (
            [(hit.pair.id, hit.surface, round(hit.score, 6)) for hit in
             found(source, query, surfaces=wanted, mode="semantic")]
            for source in (corpus, lean)
        )  # fmt: skip
        assert here == there
    hits = found(corpus, "astronomy, the planet Saturn", surfaces={"assistant_full"})
    assert (hits[0].pair.id, hits[0].surface) == ("s1:u1", "assistant_full")


def test_titles() -> None:
    """CORP-13: one a session, on by default; a hit is the session's first turn."""
    source = CorpusSource.from_claude_sessions(fetcher=turns)
    (hit,) = search(source, "violin concerto", mode="lexical")
    assert (hit.pair.id, hit.surface) == ("s1:u1", "title")
    (hit,) = search(source, "festival", mode="lexical", surfaces={"title"})
    assert hit.surface == "title"
    assert search(source, "invoice", mode="lexical", surfaces={"title"}) == []
    assert search(source, "violin", mode="lexical", surfaces={"user_prompt"}) == []


def test_a_title_that_only_repeats_the_prompt_is_none() -> None:
    """CORP-13: where a session has no title, the beginning of its prompt stands for it."""
    meta = TurnMetadata("s1", 1, title="Please prune the apple…")
    pair = TurnPair("s1:u1", TEXTS["user_prompt"], "Done.", "Done.", meta)
    source = CorpusSource.from_claude_sessions(fetcher=lambda: [pair])
    assert search(source, "prune", mode="lexical", surfaces={"title"}) == []
    (hit,) = search(source, "prune", mode="lexical")
    assert hit.surface == "user_prompt"


def test_a_new_title_is_found_and_no_turn_indexed() -> None:
    """CORP-06, CORP-13: a renamed session is known by its new name."""
    pairs = turns()
    source = CorpusSource.from_claude_sessions(fetcher=lambda: iter(pairs))
    source.refresh()
    pairs[:] = [
        TurnPair(p.id, p.user_prompt, p.assistant_summary, p.assistant_full,
                 TurnMetadata("s1", p.metadata.round, title="About zebras and quaggas"))
        for p in pairs
    ]  # fmt: skip
    assert source.refresh().added == 0
    (hit,) = search(source, "quaggas", mode="lexical", refresh=False)
    assert hit.surface == "title" and hit.pair.metadata.title == "About zebras and quaggas"


def test_words_without_spaces_stay_on_their_side() -> None:
    """CORP-08: Chinese, Japanese and Korean too."""
    pair = TurnPair("s1:u1", "検索の速さ", "索引を作り直した", "", TurnMetadata("s1", 1))
    source = CorpusSource.from_claude_sessions(fetcher=lambda: [pair])
    assert search(source, "索引", mode="lexical", surfaces={"user_prompt"}) == []
    (hit,) = search(source, "索引", mode="lexical", surfaces={"assistant_summary"})
    assert hit.surface == "assistant_summary"


def test_unknown_surfaces_are_refused(corpus: CorpusSource) -> None:
    """CORP-08: none, or another, is an error that lists them; one may be named alone."""
    for wrong in ({"thinking"}, set(), "thinking"):
        with pytest.raises(BadArgument, match="user_prompt, assistant_summary, assistant_full"):
            found(corpus, "x", surfaces=wrong)
    for surface, text in TEXTS.items():
        assert found(corpus, text, surfaces=surface, mode="lexical")[0].surface == surface


def test_a_lean_corpus_does_not_see_what_a_full_one_left(tmp_path: Path) -> None:
    """CORP-07: neither before it has been refreshed, nor after."""
    full = CorpusSource.from_claude_sessions(fetcher=turns, include_full=True, folder=tmp_path)
    full.refresh(embed=True)
    lean = CorpusSource.from_claude_sessions(fetcher=turns, folder=tmp_path)
    for refresh in (False, True):
        assert search(lean, "telescope", mode="lexical", refresh=refresh) == []
    assert search(full, "telescope", mode="lexical")
