"""What a session is called, everywhere the same (UND-06)."""

from __future__ import annotations

import pytest

from minutebook.derive.titles import is_opening, plain_title, session_title
from minutebook.model import SessionInfo
from minutebook.model.engagement import Engagement
from tests.conftest import ReadRecords, user


def part(topic: str, first: int, last: int) -> Engagement:
    return Engagement(
        id=topic, topic=topic, project="/o", method="build", phase="completed",
        turn_range=(first, last),
    )  # fmt: skip


def test_a_given_title_wins_over_topics() -> None:
    """UND-06: the person's title, else the agent's own, else the topic of most rounds."""
    parts = (part("Fix the login redirect", 1, 2), part("Draw a chart of the harvest", 3, 9))
    given = SessionInfo(id="s", source="claude-code", title="Orchard")
    assert session_title(given, parts) == "Orchard"
    prompt = SessionInfo(id="s", source="claude-code", title="ok so", title_is_prompt=True)
    assert session_title(prompt, parts) == "Draw a chart of the harvest"
    assert session_title(prompt) == "ok so"
    assert session_title(SessionInfo(id="s", source="claude-code")) is None


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("# **Fix** the `login` <b>button</b>", "Fix the login button"),
        ("See [the docs](https://example.org/a/b) now", "See the docs now"),
        ("\x1b[31mred\x1b[0m title\nsecond line", "red title second line"),
        ("x" * 500, "x" * 119 + "…"),
    ],
)
def test_a_title_has_no_markup(raw: str, plain: str) -> None:
    """UND-06: whatever a title is made of, it is shown as plain words on one line."""
    assert plain_title(raw) == plain


def test_a_title_that_repeats_the_prompt_is_known_as_such(read_records: ReadRecords) -> None:
    """UND-06: the reader says whether anybody gave a session its title."""
    assert is_opening("Fix the…", "Fix the  login\nplease") and not is_opening("Login", "Fix it")
    untitled, _ = read_records(user("Fix the login please"))
    assert untitled.info.title_is_prompt
    titled, _ = read_records(
        user("Fix the login please"), {"type": "ai-title", "aiTitle": "Login repair"}
    )
    assert (titled.info.title, titled.info.title_is_prompt) == ("Login repair", False)
