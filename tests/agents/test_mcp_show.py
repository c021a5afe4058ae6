"""What an agent is told to give, and how it reads what is long."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from minutebook.archive import Archive
from minutebook.derive.tokens import tokens
from minutebook.errors import BadArgument, NotFound
from minutebook.mcp.telling import MOST_TOKENS
from minutebook.mcp.tools import Tools
from minutebook.model.engagement import METHODS
from tests.agents.conftest import session_of, taken, written
from tests.agents.test_mcp import asked
from tests.conftest import assistant, tool_result, tool_use, user


def test_every_parameter_is_described(archive: Archive, examples: Path) -> None:
    """FUT-05: an agent reads what to give; of methods, which there are."""

    async def ask(client: Client) -> list[Any]:
        return list((await client.list_tools()).tools)

    bare, methods = [], []
    for tool in asked(examples, archive.root, ask):
        for name, schema in tool.input_schema.get("properties", {}).items():
            if not schema.get("description"):
                bare.append((tool.name, name))
            if name == "method":
                choices = schema.get("enum") or schema["anyOf"][0].get("enum")
                methods.append((tool.name, choices == list(METHODS)))
    assert bare == []
    assert methods == [(name, True) for name in ("search", "engagements", "engagement_start")]


def _long(tmp_path: Path) -> tuple[Tools, list[str]]:
    """A session whose first round is longer than an answer, and its words in order."""
    words = [f"word{number:06}" for number in range(6_000)]
    lines = [" ".join(words[at : at + 9]) for at in range(0, len(words), 9)]
    id = "c0fff321-2222-4333-8444-555555555555"
    run = tool_use("t1", command="cat words")
    written(
        tmp_path / "claude",
        id,
        user("Print the words"),
        assistant("Here they are.", run, id="msg_1"),
        tool_result("t1", "\n".join(lines)),
        assistant("Done.", id="msg_2"),
        user("Thanks"),
        assistant("Welcome.", id="msg_3"),
    )
    return Tools(taken(tmp_path / "claude", tmp_path / "archive")), words


def _followed(show: Callable[[str | None], str]) -> list[str]:
    """Every answer that the cursors lead to."""
    answers, cursor = [], None
    while True:
        answers.append(show(cursor))
        more = re.search(r"cursor='([\d.]+)'", answers[-1])
        if more is None:
            return answers
        cursor = more[1]


def test_a_block_that_search_names_is_given_in_full(tmp_path: Path) -> None:
    """CTX-01: the whole output, and nothing of the round around it."""
    tools, words = _long(tmp_path)
    found = tools.search("word000017", where="tools")
    (address,) = re.findall(r"c0fff321#1\.\d+", found)
    answers = _followed(lambda cursor: tools.show(address, cursor=cursor))
    assert re.findall(r"word\d{6}", "".join(answers)) == words
    assert "Done." not in "".join(answers)


def test_a_block_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """CTX-01: never another one, nor the round."""
    tools, _ = _long(tmp_path)
    with pytest.raises(NotFound, match="there is no block 99"):
        tools.show("c0fff321#1.99")


def test_a_long_round_is_given_in_parts(tmp_path: Path) -> None:
    """CTX-05: each answer says that it is a part; together they are everything, once."""
    tools, words = _long(tmp_path)
    answers = _followed(lambda cursor: tools.show("c0fff321#1-2", "omit", "full", "full", cursor))
    assert all(tokens(text) <= MOST_TOKENS + 300 for text in answers)
    assert "part 1 of" in answers[0]
    assert re.findall(r"word\d{6}", "".join(answers)) == words
    assert "Welcome." in answers[-1]


@pytest.mark.parametrize("cursor", ["9", "0.99", "1.1", "x", "1.", "-1"])
def test_a_cursor_of_another_answer_is_refused(tmp_path: Path, cursor: str) -> None:
    """CTX-05: a sentence, not an empty answer."""
    tools, _ = _long(tmp_path)
    with pytest.raises(BadArgument, match="is not a cursor"):
        tools.show("c0fff321#1-2", tool_output="full", cursor=cursor)


def test_contexts_speak_of_tools(archive: Archive) -> None:
    """FUT-05: where there is more is told with parameters, not with commands."""
    tools, id = Tools(archive), session_of(archive, "passkey")
    told = [
        tools.context(query="passkey login", budget=600),
        tools.context(sessions=[id], budget=600),
        tools.context(sessions=[id], compressed=True),
    ]
    assert all("--full" not in text and "minutebook show" not in text for text in told)
    assert all("minutebook context" not in text for text in told)
    assert f'`show address="{id[:8]}#1"`' in told[2]


def test_an_empty_report_leads_to_the_latest_week(archive: Archive) -> None:
    """SHARE-02: with the parameters that give it."""
    told = Tools(archive).report(date="2019-01-01")
    assert "The latest week with work: since=2026-03-16, until=2026-03-22." in told


def test_a_report_of_a_date(archive: Archive) -> None:
    """FUT-05: a period in words, as on the command line."""
    assert "2026-03-01 to 2026-03-31" in Tools(archive).report(date="2026-03")
