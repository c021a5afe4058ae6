"""Options that need a value, and words that are asked for by another name."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    "typed",
    [
        ("search", "--error", "--json"),
        ("search", "kite", "--file", "--json"),
        ("search", "--error", "--limit", "3"),
        ("search", "--command", "--archive", "x"),
        ("search", "--limit", "--json"),
        ("usage", "--project", "--json"),
        ("sessions", "-p", "--json"),
        ("team", "push", "--since", "--all"),
    ],
)
def test_an_option_is_no_value_of_another(run: Run, typed: tuple[str, ...]) -> None:
    """SRCH-17: it is refused in one sentence that says how to mean it."""
    ran = run(*typed)
    assert ran.status == 2 and not ran.out and ran.err.count("\n") == 1
    assert " needs a value; to use '--" in ran.err and "=--" in ran.err


def test_what_is_meant_may_begin_like_an_option(run: Run) -> None:
    """SRCH-17: with an equals sign it is a value."""
    ran = run("search", "--error=--json", "--archive", "/nonexistent/archive")
    assert "needs a value" not in ran.err


def test_help_knows_verbs_by_other_names(run: Run) -> None:
    """USE-04: `help cost` leads where `cost` does."""
    ran = run("help", "cost")
    assert ran.status == 2 and "Did you mean 'usage'?" in ran.err
