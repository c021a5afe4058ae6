"""How the context of a session begins: what a successor must know first."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.archive import Archive
from minutebook.derive.messages import INTERRUPTION
from minutebook.errors import BadArgument
from minutebook.model import Message, Notice, Round, Text, ToolCall, ToolResult
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.verbs.context import build_context
from minutebook.verbs.context_text import Source
from minutebook.verbs.materialise import materialise
from minutebook.verbs.session_summary import session_summary
from tests.agents.conftest import session_of
from tests.agents.test_context import FakeSession

PULL = "https://github.com/a/b/pull/7"


def worked(number: int, asked: str, said: str, *paths: str) -> Round:
    edits = (
        ToolCall(f"t{n}", "Edit", {"file_path": path}, ToolResult("ok"), kind="edit")
        for n, path in enumerate(paths)
    )
    reply = Message("assistant", (*edits, *((Text(said),) if said else ())))
    return Round(number, (Message("user", (Text(asked),)), reply))


def engaged(first: int, last: int, phase: str, *decisions: str) -> Engagement:
    return Engagement(
        id=f"e{first}",
        topic=f"topic of {first}",
        project="/srv/x",
        method="build",
        phase=phase,
        key_decisions=decisions,
        outcome=f"outcome of {first}",
        turn_range=(first, last),
    )


def record(*engagements: Engagement) -> SessionRecord:
    return SessionRecord(session_id="3a4d64e0-1111", cwd="/srv/x", engagements=engagements)


class LargeSession(FakeSession):
    """Rounds of some megabytes, made when they are read."""

    count = 40

    def __init__(self) -> None:
        super().__init__([])

    def round(self, number: int) -> Round:
        return worked(number, f"{number} " * 1_000_000, "Done.", f"/srv/x/{number % 3}.py")


def test_one_round_at_a_time_is_in_memory() -> None:
    """FMT-22, CTX-02: a summary of a large session does not hold all of its rounds."""
    tracemalloc.start()
    lines = session_summary(LargeSession(), record())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lines[0].startswith("- Goal: 1 1 1") and "1.py (14), " in lines[-1]
    assert peak < 40_000_000


def test_goal_decisions_outcome_open_ends_requests_files() -> None:
    """CTX-02: in this order, a line each, files changed most often first."""
    rounds = [
        worked(1, "Build the garden\nwith a gate", "Planned.", "/srv/x/gate.py"),
        worked(2, "Go on", "Which colour do you want?", "/srv/x/gate.py", "/srv/y/wall.py"),
    ]
    minutes = record(engaged(1, 1, "completed", "Use oak"), engaged(2, 2, "in-progress"))
    lines = session_summary(FakeSession(rounds), minutes, [PULL])
    assert lines == (
        "- Goal: Build the garden with a gate",
        "- Topics: topic of 1 (#1); topic of 2 (#2)",
        "- Decided (#1): Use oak",
        "- Outcome (#1): outcome of 1",
        "- Outcome (#2): outcome of 2",
        "- Open (#2, in-progress): topic of 2",
        "- Open: the last answer (#2) asks: Which colour do you want?",
        f"- Pull request: {PULL}",
        "- Files changed (how often): gate.py (2), /srv/y/wall.py (1)",
    )


@pytest.mark.parametrize(
    ("last", "line"),
    [
        (worked(1, "Go on", ""), "the last prompt (#1) has no answer"),
        (worked(1, "Go on", "Shall I?"), "the last answer (#1) asks: Shall I?"),
        (
            Round(1, (Message("user", (Text("Go"), Notice(INTERRUPTION, "stop"))),)),
            "the last round (#1) was interrupted",
        ),
    ],
)
def test_ends_that_are_open(last: Round, line: str) -> None:
    """CTX-02: a question nobody answered is the first thing to know."""
    assert f"- Open: {line}" in session_summary(FakeSession([last]), record())


def test_nothing_is_said_of_what_there_is_none_of() -> None:
    """CTX-02: empty parts are left out."""
    lines = session_summary(FakeSession([worked(1, "Hello", "Hello.")]), record())
    assert lines == ("- Goal: Hello",)


@pytest.mark.parametrize("mode", ["recent", "compressed", "full"])
def test_a_whole_session_begins_with_it(archive: Archive, mode: str) -> None:
    """CTX-02: before its rounds, in every mode; rounds that were chosen stand alone."""
    id = session_of(archive, "passkey")
    text = materialise(archive, [id], mode=mode).text  # type: ignore[arg-type]  # one of the three
    assert "\n- Goal: " in text
    assert text.index("- Goal: ") < text.index("#1` " if mode != "full" else "### ")
    assert "- Goal: " not in materialise(archive, [f"{id}#1"]).text


@given(st.integers(60, 3_000), st.lists(st.text(max_size=500), min_size=1, max_size=12))
def test_it_is_held_within_the_budget(budget: int, words: list[str]) -> None:
    """CTX-05: it gives way before rounds do, and the budget is held."""
    session = FakeSession([worked(n, w, w, f"/srv/{n}") for n, w in enumerate(words, 1)])
    decided = [engaged(n, n, "blocked", *words[:3]) for n in range(1, len(words) + 1)]
    summary = session_summary(session, record(*decided))
    wanted = tuple(range(len(words), 0, -1))
    try:
        context = build_context([Source(session, wanted=wanted, summary=summary)], budget=budget)
    except BadArgument as error:
        assert "smallest" in str(error)
        return
    assert context.tokens <= budget
    assert [n for p in context.pieces for n in range(p.first, p.last + 1)] == sorted(wanted)
