"""The offline extractor: evidence in, engagements out, and a reason for each choice (ING-32)."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from minutebook.derive.activity import Activity
from minutebook.extract.offline.extractor import extract_offline
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
