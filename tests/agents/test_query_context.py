"""Contexts for a query: the answers that match first, nothing irrelevant in full."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.archive.relevance import Relevant
from minutebook.derive.tokens import tokens
from minutebook.errors import BadArgument
from minutebook.index.query import parse_query
from minutebook.model import Block, Message, Round, Text, ToolCall, ToolResult
from minutebook.verbs.context_text import Context, Source, account
from minutebook.verbs.digest import short, tellings
from minutebook.verbs.query_context import build_query_context
from tests.agents.test_context import FakeSession

QUERY = "passkey challenge"


def made(
    number: int, asked: str, *said: str, calls: int = 0, error: bool = False, output: str = "noise"
) -> Round:
    """A round: a prompt, then texts, with calls before the last."""
    work = [
        ToolCall(f"t{n}", "Read" if n % 3 else "Bash", {"command": f"make {n}"}, ToolResult(output))
        for n in range(calls)
    ]
    if error:
        work.append(ToolCall("e", "Bash", {"command": "false"}, ToolResult(output, error=True)))
    texts = [Text(words) for words in said]
    blocks: tuple[Block, ...] = (*texts[:-1], *work, *texts[-1:])
    prompt = Message("user", (Text(asked),), at="2026-03-01T10:00:00Z")
    return Round(number, (prompt, Message("assistant", blocks)), tool_count=len(work))


def built(
    rounds: Sequence[Round],
    order: Sequence[int],
    budget: int | None = None,
    *,
    every: bool = False,
    around: int = 0,
    scores: Sequence[float] = (),
) -> Context:
    session = FakeSession(list(rounds))
    levels = scores or [10.0] * len(order)
    found = [Relevant(session.session_id, n, s) for n, s in zip(order, levels, strict=True)]
    return build_query_context(
        [Source(session)],
        parse_query(QUERY),
        found,
        typed=QUERY,
        budget=budget,
        around=around,
        every=every,
    )


def told(context: Context) -> dict[int, str]:
    return {
        number: piece.told
        for piece in context.pieces
        for number in range(piece.first, piece.last + 1)
    }


def first(round: Round) -> str:
    return next(tellings("3a4d64e0#1", round, parse_query(QUERY))).text


# -- one round


def test_the_answer_is_whole_and_tools_are_lines() -> None:
    """CTX-01: prompt and last text in full, calls as single lines, no output of tools."""
    text = first(made(1, "Fix it", "Let me look.", "It was the cache.\nDone.", calls=2))
    assert "Fix it" in text
    assert "It was the cache.\nDone." in text
    assert "- Bash make 0\n- Read make 1\n" in text
    assert "Let me look" not in text
    assert "noise" not in text


def test_many_calls_are_counted() -> None:
    """CTX-01: a long run of calls is one line, and says what failed."""
    text = first(made(1, "Fix it", "Done.", calls=12, error=True))
    assert "- 13 calls: 8 Read, 5 Bash (1 failed)\n" in text


def test_an_earlier_text_is_told_where_it_matches() -> None:
    """CTX-01: what the query is about may be said before the last words."""
    matching = "The passkey challenge is stored per tab."
    text = first(made(1, "Go on", "Nothing yet.", matching, "All tests pass.", calls=1))
    assert matching in text
    assert "All tests pass." in text
    assert "Nothing yet" not in text


def test_a_long_prompt_is_shortened_to_what_matches() -> None:
    """CTX-01: its beginning, and the part that has the words."""
    prompt = f"Please read this log. {'line of a log ' * 400} passkey challenge {'more ' * 400}"
    text = first(made(1, prompt, "Read."))
    assert "Please read this log." in text
    assert "passkey challenge" in text
    assert len(text) < 1_200


def test_what_is_shortened_says_how_to_get_it() -> None:
    """CTX-03: the command that gives the whole round; none where nothing is left out."""
    assert "`minutebook show 3a4d64e0#1` gives the round" in first(made(1, "a", "b", calls=1))
    whole = next(tellings("3a4d64e0#1", made(1, "a", "b"), parse_query(QUERY)))
    assert whole.told == "full"
    assert "minutebook show" not in whole.text


def test_a_code_block_that_is_cut_is_closed() -> None:
    """What follows must not become a part of it."""
    answer = "Here:\n```python\n" + "x = 1\n" * 2_000 + "```\nThat is all."
    whole, cut, _ = tellings("3a4d64e0#1", made(1, "a", answer, calls=1), parse_query(QUERY))
    for telling in (whole, cut):
        assert telling.text.count("```") % 2 == 0


# -- a context


def test_a_round_too_large_is_told_in_passages() -> None:
    """CTX-03: neither left out nor a mere reference: prompt, what matches, the last text cut."""
    answer = (
        "It begins here. " + "words " * 4_000 + "\n\nThe passkey challenge.\n\n" + "more " * 999
    )
    context = built([made(1, "Why?", answer)], [1], 1_500)
    (piece,) = context.pieces
    assert piece.told == "passages"
    assert "It begins here." in piece.text
    assert "The passkey challenge." in piece.text
    assert "minutebook show 3a4d64e0#1" in piece.text
    assert context.tokens <= 1_500


def test_answers_then_neighbours_then_references() -> None:
    """CTX-01: the best rounds, those beside them, and a line for the others that were found."""
    rounds = [made(n, f"ask {n}", f"answer {n}", calls=1) for n in range(1, 21)]
    scores = [20.0, 19.0, 2.0, 1.0]
    context = built(rounds, [5, 12, 18, 19], scores=scores)
    answered = {5: "answer", 12: "answer", 18: "reference", 19: "reference"}
    assert told(context) == answered | dict.fromkeys((4, 6, 11, 13), "short")


def test_nothing_irrelevant_is_told() -> None:
    """CTX-01: what has far less to do with it than the best is a line, however much room."""
    rounds = [made(n, f"ask {n}", f"answer {n}", calls=1) for n in range(1, 10)]
    context = built(rounds, [1, 9], 50_000, scores=[30.0, 3.0])
    assert told(context)[9] == "reference"


def test_the_best_come_first_where_room_is_scarce() -> None:
    """CTX-05: an answer that matters more is not given up for one that matters less."""
    rounds = [made(n, f"ask {n}", "words " * 200, calls=1) for n in range(1, 31)]
    order = [7, 3, 15, 1, 22, 30, 9]
    context = built(rounds, order, 1_700)
    answered = {n for n, how in told(context).items() if how == "answer"}
    assert answered
    assert answered == set(order[: len(answered)])


def test_named_sessions_are_told_of_as_a_whole() -> None:
    """CTX-03: every round of a session that was named is told, mentioned or counted, once."""
    rounds = [made(n, f"ask {n}", "words " * 90, calls=1) for n in range(1, 61)]
    for budget in (None, 400, 1_500, 6_000):
        context = built(rounds, [7, 40], budget, every=True)
        assert sorted(told(context)) == list(range(1, 61))
        assert budget is None or context.tokens <= budget


def test_what_is_left_out_is_said() -> None:
    """CTX-05: how many more rounds have some of it, and how to find them."""
    rounds = [made(n, f"ask {n}", "words " * 300, calls=1) for n in range(1, 31)]
    context = built(rounds, list(range(1, 31)), 900)
    assert context.left_out
    assert f"(at least {context.left_out}): `minutebook search 'passkey challenge'`" in context.text
    assert f"{context.left_out} or more left out" in account(context)


_ROUNDS = st.lists(
    st.tuples(st.text(max_size=900), st.lists(st.text(max_size=2_500), max_size=3)),
    min_size=1,
    max_size=20,
)


@given(_ROUNDS, st.integers(100, 8_000), st.booleans(), st.integers(0, 99), st.data())
def test_any_budget_is_held(
    words: list[tuple[str, list[str]]],
    budget: int,
    every: bool,
    around: int,
    data: st.DataObject,
) -> None:
    """CTX-05: whatever the rounds are like, the budget is held or the smallest is named."""
    rounds = [made(n, asked, *said, calls=n % 6) for n, (asked, said) in enumerate(words, 1)]
    order = data.draw(st.lists(st.sampled_from(range(1, len(rounds) + 1)), unique=True, min_size=1))
    try:
        context = built(rounds, order, budget, every=every, around=around)
    except BadArgument as error:
        assert "smallest" in str(error)
        return
    assert context.tokens == tokens(context.text)
    assert context.tokens + around <= budget
    assert order[0] in told(context)
    for piece in context.pieces:
        assert piece.text.rstrip() in context.text
        assert f"3a4d64e0#{piece.first}" in piece.inject


@given(st.integers(120, 400))
def test_the_smallest_budget_that_is_named_will_do(budget: int) -> None:
    """CTX-05: an error says what to ask for."""
    rounds = [made(n, "ask", "answer") for n in range(1, 9)]
    try:
        built(rounds, [3], 1, around=budget)
    except BadArgument as error:
        smallest = int(str(error).split(" tokens.")[0].rsplit(" ", 1)[1])
        assert built(rounds, [3], smallest, around=budget).pieces
    else:
        pytest.fail("one token held a context")


def test_a_neighbour_is_a_line_of_each_side() -> None:
    """CTX-01: enough to know what was going on."""
    text = short("3a4d64e0#1", made(1, "ask\nme " * 100, "so\nit is " * 100, calls=3)).text
    assert len(text.splitlines()) == 6
    assert len(text) < 620
