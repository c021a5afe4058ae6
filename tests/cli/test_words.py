"""Words of a query that look like options."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.cli.search import command
from minutebook.cli.words import WordsCommand
from minutebook.errors import BadArgument
from tests.cli.conftest import Run


@click.command(cls=WordsCommand)
@click.argument("words", nargs=-1)
@click.option("-p", "--project")
@click.option("-k", "--limit", type=int)
@click.option("-w", "--week", is_flag=True)
@click.option("-v", "--verbose", is_flag=True)
@click.option("--tools/--no-tools", default=None)
def looking(**_: object) -> None:
    """A command with words."""


@pytest.mark.parametrize(
    ("typed", "words", "given"),
    [
        ("-rf", "-rf", {}),
        ("git -rf", "git -rf", {}),
        ("login -redirect", "login -redirect", {}),
        ("login -password", "login -password", {}),
        ("login -p orchard", "login", {"project": "orchard"}),
        ("-w login -v", "login", {"week": True, "verbose": True}),
        ("-wv login", "login", {"week": True, "verbose": True}),
        ("-vp orchard login", "login", {"verbose": True, "project": "orchard"}),
        ("-x", "-x", {}),
        ("-- -w", "-w", {}),
        ("-- -x", "-x", {}),
        ("a -- --limit 3", "a --limit 3", {}),
        ("a -k3", "a", {"limit": 3}),
        ("a -k 3 b", "a b", {"limit": 3}),
        ("grep -k login", "grep -k login", {}),
        ("grep -k", "grep -k", {}),
        ("a --limit=3 b", "a b", {"limit": 3}),
        ("a -p -rf b", "a b", {"project": "-rf"}),
        ("push --force --no-tools", "push --force", {"tools": False}),
        ("ls -", "ls -", {}),
        ("-www", "-www", {}),
        ("drwxr-xr-x -rw-r--r--", "drwxr-xr-x -rw-r--r--", {}),
    ],
)
def test_what_is_not_an_option_is_a_word(typed: str, words: str, given: dict[str, object]) -> None:
    """SRCH-20: a line from a terminal is a query as it stands."""
    found = looking.make_context("looking", typed.split()).params
    assert " ".join(found.pop("words")) == words
    assert {name: value for name, value in found.items() if value not in (None, False)} == {
        name: value for name, value in given.items() if value is not False
    }
    assert found["tools"] is given.get("tools")


def test_a_mistyped_option_gets_a_suggestion(run: Run) -> None:
    """SRCH-20: `--limt` is a mistake, not a word."""
    ran = run("search", "login", "--limt", "3")
    assert ran.status == 2 and "--limit" in ran.err


def test_search_takes_the_limit_as_usage_and_sessions_do() -> None:
    """SRCH-20: `search login -n 3` lists three hits, and looks for one word."""
    assert command.make_context("search", ["login", "-n", "3"]).params["limit"] == 3


@pytest.mark.parametrize("rest", [[], ["--", "login"]])
def test_an_option_without_its_value_says_so(run: Run, rest: list[str]) -> None:
    """SRCH-20: `search --instructions` needs a value; the mark before the words is not one."""
    ran = run("search", "--instructions", *rest)
    assert ran.status == 2 and "'--instructions' requires a value" in ran.err


@pytest.mark.parametrize("word", ["-rf", "-x"])
def test_such_a_word_can_be_searched_for(run: Run, word: str) -> None:
    """SRCH-20: `search -rf` and `search git -rf` are searches."""
    for args in ([word], ["git", word], ["--", word]):
        ran = run("search", *args)
        assert "No such option" not in ran.err and ran.status == 0, ran.err


@given(st.lists(st.text(alphabet="-rfwvpmk3 xé", max_size=6), max_size=4))
def test_any_words_are_safe(args: list[str]) -> None:
    """SRCH-20: whatever is typed is understood, or is one sentence."""
    try:
        command.make_context("search", list(args))
    except (BadArgument, click.UsageError, click.exceptions.Exit):
        return
