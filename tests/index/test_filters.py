"""Filters hold, in every combination and in every mode."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minutebook.index.engine import Engine, Mode, Scope
from minutebook.index.entry import Entry
from minutebook.index.query import Filters, Query, parse_query
from minutebook.index.static import StaticEmbedder
from tests.index.conftest import put, turn

PROJECTS, BRANCHES, MODELS = ("/w/orchard", "/w/Garden", ""), ("main", "fix-1"), ("opus", "haiku")


def entries() -> list[Entry]:
    """Turns that differ in everything one can filter by; all of them are about apples."""
    kinds = cycle([(p, b, m) for p in PROJECTS for b in BRANCHES for m in MODELS])
    found = []
    for number in range(60):
        project, branch, model = next(kinds)
        words = "We talked about apples and pears here" if number % 3 else "Only apples this time"
        found.append(
            turn(
                words,
                "The apples are red" if number % 4 else "",
                session=f"{number % 7}{'abcdef'[number % 6]}-session",
                number=number,
                project=project,
                branch=branch,
                model=model,
                at=1_000 * number,
                tools=number % 5 == 0,
            )
        )
    return found


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, embedder: StaticEmbedder) -> Engine:
    folder: Path = tmp_path_factory.mktemp("filters")
    put(folder, entries())
    found = Engine(folder / "search.db", folder)
    found.embed_missing(embedder)
    return found


def passes(entry: Entry, query: Query) -> bool:
    """By hand."""
    limits = query.filters
    named = (
        (limits.project, entry.project),
        (limits.branch, entry.branch),
        (limits.model, entry.model),
    )
    text = f"{entry.asked} {entry.answered}".lower()
    return (
        all(part is None or part.lower() in value.lower() for part, value in named)
        and (limits.session is None or entry.session_id.startswith(limits.session.lower()))
        and (limits.after is None or entry.at >= limits.after)
        and (limits.before is None or entry.at < limits.before)
        and (limits.tools is None or entry.tools is limits.tools)
        and not any(word in text for word in query.excluded)
        and all(phrase in text for phrase in query.phrases)
    )


filters = st.builds(
    Filters,
    project=st.sampled_from([None, "orchard", "garden", "w", "nowhere"]),
    branch=st.sampled_from([None, "main", "FIX"]),
    model=st.sampled_from([None, "opus", "ai"]),
    session=st.sampled_from([None, "1", "2c", "x"]),
    after=st.sampled_from([None, 0, 20_000, 59_000]),
    before=st.sampled_from([None, 1_000, 40_000]),
    tools=st.sampled_from([None, True, False]),
)
typed = st.sampled_from(
    ["apples", 'apples "apples and pears"', "apples -pears", '"apples are red"']
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(limits=filters, words=typed, mode=st.sampled_from(["lexical", "semantic", "hybrid"]))
def test_every_combination_is_filtering_by_hand(
    engine: Engine, embedder: StaticEmbedder, limits: Filters, words: str, mode: Mode
) -> None:
    """SRCH-08, SRCH-18: filters, phrases and exclusions, all at once."""
    query = parse_query(words, limits)
    hits = engine.search(
        query,
        mode=mode,
        scope=Scope(("turn",)),
        embedder=lambda: embedder,
        by_session=False,
    )
    expected = {entry.key for entry in entries() if passes(entry, query)}
    found = {hit.entry.key for hit in hits}
    if mode == "semantic":  # what is hardly alike may be missing, nothing may be too much
        assert found <= expected
    else:
        assert found == expected
    of_sessions = engine.search(query, mode=mode, scope=Scope(("turn",)), embedder=lambda: embedder)
    assert {hit.entry.key for hit in of_sessions} <= expected
    if mode != "semantic":
        sessions = {entry.session_id for entry in entries() if entry.key in expected}
        assert {hit.entry.session_id for hit in of_sessions} == sessions
