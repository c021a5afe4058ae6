"""The offline extractor: evidence in, engagements out, and a reason for each choice (ING-32)."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.derive.activity import Activity, Commit
from minutebook.extract.offline.boundaries import choose, weigh
from minutebook.extract.offline.closing import phase_of
from minutebook.extract.offline.extractor import extract_offline
from minutebook.extract.offline.methods import method_of
from minutebook.extract.offline.requests import is_reply
from minutebook.extract.offline.words import Vocabulary
from minutebook.extract.validation import parse_reply


def at(minute: int) -> str:
    return f"2026-03-02T{9 + minute // 60:02}:{minute % 60:02}:00.000Z"


def rounds_of(*prompts: str, minutes: int = 2, **fields: object) -> list[Activity]:
    return [
        Activity(
            number=number,
            started=at(number * minutes),
            ended=at(number * minutes),
            prompt=prompt,
            answer="Done.",
            **fields,  # type: ignore[arg-type] # a test names what it sets
        )
        for number, prompt in enumerate(prompts, 1)
    ]


def two_jobs() -> list[Activity]:
    """Four rounds on a login, a commit, a long pause, four rounds on a chart."""
    login = rounds_of(
        "Fix the login redirect in the auth module",
        "The redirect still drops the query string",
        "yes",
        "commit it",
        edits=2,
        files=("auth.py",),
    )
    login[-1] = Activity(
        number=4, started=at(8), ended=at(9), prompt="commit it", answer="Committed.",
        committing=1, commits=(Commit("1a2b3c4", "fix: keep the query string"),),
    )  # fmt: skip
    chart = [
        Activity(
            number=4 + number,
            started=at(60 + number * 2),
            ended=at(60 + number * 2),
            prompt=prompt,
            answer="The chart has bars now.",
            edits=3,
            files=("chart.ts",),
        )
        for number, prompt in enumerate(
            (
                "Next, draw a bar chart of the weekly harvest on the dashboard page",
                "Use green bars for the chart",
                "ok",
                "Add labels to the chart axis",
            ),
            1,
        )
    ]
    return [*login, *chart]


def test_a_session_is_cut_where_the_work_changes() -> None:
    """ING-10: closed by a commit, a pause, other words, other files: one cut, at that round."""
    reply, why = extract_offline(two_jobs(), "Orchard", "/o")
    assert [part.turn_range for part in reply.engagements] == [[1, 4], [5, 8]]
    assert [part.method for part in reply.engagements] == ["debug", "build"]
    assert "chart" in reply.engagements[1].topic
    assert any("pause" in reason.what for reason in why[1].cut)
    assert why[0].cut == ()


def test_answers_and_short_sessions_are_not_cut() -> None:
    """Replies belong to what they answer; a handful of rounds is one engagement."""
    assert (
        is_reply("yes") and is_reply("2") and is_reply("a, but faster") and not is_reply("add it")
    )
    rounds = rounds_of("Draw a chart", "yes", "1", "go on", "ok", "yes", "2", "b")
    assert choose(weigh(rounds, Vocabulary(rounds)), rounds) == []
    short = two_jobs()[2:7]
    assert choose(weigh(short, Vocabulary(short)), short) == []


@pytest.mark.parametrize(
    ("prompt", "fields", "method"),
    [
        ("Fix the crash when the list is empty", {"edits": 1}, "debug"),
        ("Rename the module and move the helpers", {"edits": 9}, "reorg"),
        ("Review PR #36", {"shells": 3}, "review"),
        ("Write a short description for the pull request and the changelog", {}, "write"),
        ("/superpowers:brainstorming how should we design the cache", {}, "design"),
        ("Add an export button to the toolbar", {"edits": 4}, "build"),
        ("What does this warning mean?", {}, "discuss"),
        ("Compare the three databases, find out which is fastest", {"lookups": 5}, "research"),
        ("Deploy the release to production", {"deploys": 2, "shells": 2}, "deploy"),
        ("Triage the backlog and prioritize", {"shells": 1}, "triage"),
        ("Make a plan for the migration of users", {"plans": 1}, "plan"),
    ],
)  # fmt: skip
def test_methods_from_words_and_deeds(prompt: str, fields: dict[str, int], method: str) -> None:
    """ING-13: each of the eleven methods, from a request and what the tools did."""
    found, why = method_of(rounds_of(prompt, **fields))
    assert found == method
    assert why and all(reason.what for reason in why)


@pytest.mark.parametrize(
    ("fields", "phase"),
    [
        ({"answer": "All tests pass."}, "completed"),
        ({"answer": ""}, "in-progress"),
        ({"answer": "Half way.", "interrupted": True}, "in-progress"),
        ({"answer": "Now let me run the tests:"}, "in-progress"),
        ({"answer": "Want me to commit this?"}, "in-progress"),
        ({"answer": "Committed. Anything else?", "committing": 1}, "completed"),
        ({"answer": "I cannot continue: blocked by a missing token."}, "blocked"),
        ({"answer": "Saved.", "command": "/handoff"}, "handed-off"),
    ],
)
def test_phases_from_the_end(fields: dict[str, object], phase: str) -> None:
    """ING-14: the phase is how the last round of the range ended."""
    first = rounds_of("Do the thing")[0]
    last = Activity(number=2, prompt="go on", **fields)  # type: ignore[arg-type]
    assert phase_of([first, last], None, last=True)[0] == phase


def test_what_is_taken_back_is_abandoned() -> None:
    rounds = rounds_of("Try a cache", "Revert the changes, it is slower")
    assert phase_of(rounds[:1], rounds[1], last=False)[0] == "abandoned"


WORDS = st.text(max_size=60) | st.sampled_from(
    ["yes", "/review", "next task: x", "```\ncode\n", "ERROR at x(", "https://" + "a" * 50]
)


@given(
    st.lists(
        st.builds(
            lambda prompt, answer, edits, stamp: (prompt, answer, edits, stamp),
            WORDS,
            WORDS,
            st.integers(0, 9),
            st.none() | st.just("2026-03-02T10:00:00Z") | st.just("nonsense"),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_any_session_gives_a_valid_reply(rounds: list[tuple[str, str, int, str | None]]) -> None:
    """Whatever was said, the answer covers all rounds once and passes the validation every
    model has to pass; the same session gives the same answer."""
    acts = [
        Activity(number=n, prompt=p, answer=a, edits=e, started=s, ended=s)
        for n, (p, a, e, s) in enumerate(rounds, 1)
    ]
    reply, why = extract_offline(acts, None, "system")
    assert extract_offline(acts, None, "system")[0] == reply
    covered = [
        n for part in reply.engagements for n in range(part.turn_range[0], part.turn_range[1] + 1)
    ]
    assert covered == list(range(1, len(acts) + 1))
    assert len(why) == len(reply.engagements)
    assert parse_reply(msgspec.json.encode(reply), len(acts)) == reply
