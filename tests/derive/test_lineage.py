"""Which session comes from which: resumed, forked, copied, continued, delegated. All pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.derive.lineage import Known, edges_of
from minutebook.derive.traces import trace_of
from minutebook.model import Link, Message, Round, SessionInfo, Text, ToolCall, ToolResult
from minutebook.model.lineage import Edge

HOUR = 3_600.0
START = 1_772_000_000.0
Turn = tuple[str, str]
TALK: list[Turn] = [
    (f"Please look after the {tree} in row {at}.", f"The {tree} needs water and light. " * 20)
    for at, tree in enumerate(["walnut", "cherry", "quince", "medlar", "pear", "apple"])
]


def at(seconds: float) -> str:
    return datetime.fromtimestamp(START + seconds, UTC).isoformat(timespec="milliseconds")


def rounds(
    turns: Sequence[Turn],
    *,
    since: float = 0.0,
    ids: str = "",
    branch: str | None = None,
    cwd: str = "/home/dev/orchard",
    calls: Sequence[ToolCall] = (),
) -> list[Round]:
    found = []
    for number, (asked, answered) in enumerate(turns, 1):
        moment = since + 600 * number
        id = f"{ids}-{number:04}-0000-4000-8000" if ids else None
        said = tuple(Text(text) for text in (answered,) if text)
        own = tuple(calls) if number == len(turns) else ()
        found.append(
            Round(
                number,
                (
                    Message("user", (Text(asked),), id=id, at=at(moment)),
                    Message("assistant", (*own, *said), at=at(moment + 60)),
                ),
                cwd=cwd,
                branch=branch,
            )
        )
    return found


def session(id: str, found: list[Round], **fields: Any) -> Known:
    info = SessionInfo(
        id=id,
        source="test",
        started=found[0].started if found else None,
        ended=found[-1].ended if found else None,
        cwds=("/home/dev/orchard",),
        **fields,
    )
    return Known(info, trace_of(found, ["agent"]))


def told(edges: list[Edge]) -> list[tuple[str, str, str, bool]]:
    return [(edge.older, edge.newer, edge.kind, edge.recorded) for edge in edges]


OWN = [("Now the hazel, please.", "The hazel is fine as it is. " * 20)]


@pytest.mark.parametrize("ids", ["shared", ""], ids=["one id", "other ids"])
@pytest.mark.parametrize("shift", [0.0, 50 * HOUR], ids=["same moments", "other moments"])
@pytest.mark.parametrize(
    ("kind", "count", "goes_on"), [("resumes", 6, True), ("forks", 3, True), ("copies", 6, False)]
)
def test_history_that_was_copied(
    kind: str, count: int, goes_on: bool, shift: float, ids: str
) -> None:
    """FUT-02, FMT-16: what holds all and goes on resumes, what holds a beginning forks, what adds
    nothing copies; recorded by ids, inferred where those are others."""
    first = session("a", rounds(TALK, ids=ids or "first"))
    copied = rounds(TALK[:count], since=shift, ids=ids)
    own = rounds(OWN, since=shift + 40 * HOUR) if goes_on else []
    again = [Round(len(copied) + r.number, r.messages, r.cwd) for r in own]
    (edge,) = edges_of([session("b", [*copied, *again]), first])
    assert told([edge]) == [("a", "b", kind, bool(ids))]
    assert edge.shared == tuple(range(1, count + 1))
    (evidence,) = edge.evidence
    assert (evidence.older, evidence.newer, evidence.count) == (count, count, count)
    assert edge.confidence == 1.0 if ids else 0.9 <= edge.confidence < 1.0


def test_what_only_begins_alike_is_not_a_copy() -> None:
    """FUT-02: one template, the same prompts throughout, an answer that begins the same."""
    same_prompts = [(asked, f"{n} other words. " * 40) for n, (asked, _) in enumerate(TALK)]
    begins = [(TALK[0][0], TALK[0][1][:300] + " and then something else entirely." * 9)]
    made = [
        session("a", rounds(TALK, ids="first")),
        session("b", rounds(same_prompts, since=30 * HOUR)),
        session("c", rounds(begins, since=60 * HOUR)),
        session("d", rounds([TALK[0], *OWN], since=90 * HOUR)[1:]),
    ]
    assert [e for e in edges_of(made) if e.kind in ("resumes", "forks", "copies")] == []


def test_of_several_it_comes_from_the_nearest() -> None:
    """FUT-02: a chain of resumes is a chain, whatever the first of them shares with the last."""
    lengths = {"c": 6, "a": 2, "b": 4}
    made = [session(name, rounds(TALK[:n], ids="one")) for name, n in lengths.items()]
    assert told(edges_of(made)) == [("a", "b", "resumes", True), ("b", "c", "resumes", True)]


def test_fields_name_the_session_it_comes_from() -> None:
    """FMT-16: a field is recorded, whether or not that session is here; where messages are shared
    too, both are evidence."""
    first = session("a", rounds(TALK[:2], ids="one"))
    links = (Link("a", "forkedFrom"), Link("gone", "parentSessionId"))
    second = session("b", rounds(TALK[:3], ids="one"), links=links)
    found = {edge.older: edge for edge in edges_of([first, second])}
    assert found["a"].kind == "forks" and found["gone"].kind == "resumes"
    assert [e.what for e in found["a"].evidence] == ["forkedFrom", "shared-messages"]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5),
            st.integers(0, 5),
            st.sampled_from(["forkedFrom", "parentSessionId", "sessionId", "surgery"]),
        ),
        max_size=12,
    ),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), max_size=6),
)
def test_edges_never_form_a_circle(
    links: list[tuple[int, int, Any]], copies: list[tuple[int, int]]
) -> None:
    """FUT-02: whatever hostile fields say, and whatever is shared."""
    beginnings = dict(copies)
    made = [
        session(
            str(name),
            rounds(TALK[: beginnings.get(name, 0)], ids="one", since=name) or rounds(OWN),
            links=tuple(Link(str(to), field) for own, to, field in links if own == name),
        )
        for name in range(6)
    ]
    below: dict[str, list[str]] = {}
    for edge in edges_of(made):
        below.setdefault(edge.older, []).append(edge.newer)
    seen: dict[str, int] = {}

    def visit(id: str) -> None:
        seen[id] = 1
        for other in below.get(id, ()):
            assert seen.get(other) != 1, "a circle"
            if other not in seen:
                visit(other)
        seen[id] = 2

    for id in below:
        if id not in seen:
            visit(id)


PLAN = "# Irrigation\n\n" + "\n".join(
    f"- Step {n}: lay the pipe along row {n} and test the valve there" for n in range(8)
)


def test_a_plan_that_was_handed_over_continues() -> None:
    """FUT-02: a session that begins with the plan another one wrote goes on with its work."""
    hand_over = ToolCall("t1", "HandOver", {"plan": PLAN}, kind="plan")
    first = session("a", rounds(TALK[:2], calls=[hand_over]))
    later = rounds([(f"Implement the following plan:\n\n{PLAN}", "Done. " * 50)], since=HOUR)
    template = "Implement the following plan:\n\n# Fences\n\nbuild them"
    other = rounds([(template, "Yes.")], since=2 * HOUR)
    (edge,) = edges_of([first, session("b", later), session("c", other)])
    assert (edge.older, edge.newer, edge.kind, edge.recorded) == ("a", "b", "continues", False)
    plan = edge.evidence[0]
    assert (plan.what, plan.count, plan.older, plan.newer) == ("plan", 8, 2, 1)
    assert edge.confidence >= 0.9


@pytest.mark.parametrize(
    ("branch", "gap", "continues"),
    [
        ("feat/irrigation", 0.2 * HOUR, True),
        ("main", 0.2 * HOUR, False),
        ("feat/irrigation", 20 * 24 * HOUR, False),
    ],
)
def test_a_branch_and_a_moment_continue(branch: str, gap: float, continues: bool) -> None:
    """FUT-02: the same branch minutes later does; a trunk, or weeks later, says too little."""
    first = rounds(TALK[:1], branch=branch)
    second = rounds(OWN, since=gap, branch=branch)
    edges = edges_of([session("a", first), session("b", second)])
    assert told(edges) == ([("a", "b", "continues", False)] if continues else [])


def test_an_agent_that_a_command_starts_is_delegated() -> None:
    """FUT-02: by the prompt in the command, while it ran; not the same words an hour later."""
    call = ToolCall(
        "t1",
        "Shell",
        {"command": "cd /tmp && agent -p 'Count the \"old\" trees' --fast"},
        ToolResult("42", at=at(700)),
        at=at(620),
        kind="run",
    )
    first = session("a", rounds(TALK[:1], calls=[call]))
    asked = [('Count the "old" trees', "There are 42 of them. " * 10)]
    inside = session("b", rounds(asked, since=30.0))
    outside = session("c", rounds(asked, since=8 * HOUR))
    edges = [e for e in edges_of([first, inside, outside]) if e.kind == "delegated"]
    assert told(edges) == [("a", "b", "delegated", False)]
    assert edges[0].evidence[0].older == 1 and "Count the" in edges[0].evidence[0].text


def test_subagents_are_delegated() -> None:
    """FUT-02: by the call that started them."""
    call = ToolCall("t1", "Task", {"description": "Prune"}, agent="x1", kind="delegate")
    (edge,) = edges_of([session("a", rounds(TALK[:2], calls=[call]))])
    assert told([edge]) == [("a", "a/x1", "delegated", True)]
    assert edge.evidence[0].older == 2
