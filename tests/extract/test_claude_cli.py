"""The user's own `claude` in trouble: what failures cost, and which of them are a session's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minutebook.extract.claude_cli import ClaudeCliExtractor
from minutebook.extract.extractor import Failed, NoAnswer, Refused, Unavailable
from minutebook.extract.pricing import Budget
from minutebook.record.layout import Layout
from minutebook.verbs.ingest import ingest
from tests.extract.conftest import WriteSession, archive_at, material
from tests.extract.test_services import cli_answer, fake_claude

__all__ = ["fake_claude"]


# -- what failures cost

GAVE_UP = cli_answer(
    None,
    subtype="error_max_structured_output_retries",
    is_error=True,
    total_cost_usd=0.42,
    errors=["Failed to provide valid structured output after 5 attempts"],
)


def failing_claude(monkeypatch: pytest.MonkeyPatch, answer: str, status: int = 1) -> None:
    monkeypatch.setenv("FAKE_ANSWER", answer)
    monkeypatch.setenv("FAKE_STATUS", str(status))


def test_a_failed_claude_call_counts(
    config: Path,
    layout: Layout,
    write_session: WriteSession,
    fake_claude: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ING-30: what `claude` says a failure took is in the report, and in what may still be
    spent."""
    for name in ("apple", "pear", "plum"):
        write_session(name, 3)
    failing_claude(monkeypatch, GAVE_UP)
    extractor = ClaudeCliExtractor(budget=Budget(0.5))
    report = ingest(archive_at(layout, config), extractor, concurrency=1)
    assert (report.calls, report.cost_usd, report.left) == (1, 0.42, 2)
    assert report.usage.output == 5 and report.stopped == "the cost limit is reached"
    assert len(fake_claude.read_text().splitlines()) == 1


def test_a_call_without_an_end_counts_with_its_worst_case(
    write_session: WriteSession, tmp_path: Path
) -> None:
    """ING-30: what `claude` had spent when it was ended is not known: the limit must hold."""
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    extractor = ClaudeCliExtractor(budget=Budget(1), program=str(program), timeout=0.3)
    with pytest.raises(Unavailable, match="did not answer") as error:
        extractor.extract(material(write_session("orchard", 3)))
    spent = error.value.spent
    assert spent.calls == 1 and 0 < spent.cost_usd == extractor.budget.spent < 0.5


@pytest.mark.usefixtures("fake_claude")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (
            {"errors": ["No answer after 5 attempts", "gave up"]},
            "No answer after 5 attempts; gave up",
        ),
        ({"result": "Prompt is too long."}, "Prompt is too long"),
    ],
)
def test_a_failure_of_claude_is_a_clause(
    write_session: WriteSession, monkeypatch: pytest.MonkeyPatch, fields: Any, reason: str
) -> None:
    """ING-19: neither a list as a program prints it, nor a full stop before ours."""
    failing_claude(monkeypatch, cli_answer(None, is_error=True, **fields))
    with pytest.raises(Failed) as error:
        ClaudeCliExtractor().extract(material(write_session("orchard", 3)))
    assert str(error.value) == f"claude failed: {reason}"


# -- sessions it cannot take


@pytest.mark.usefixtures("three_too_long", "fake_claude")
def test_sessions_claude_gives_up_block_no_other(
    config: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ING-19: a reply the schema never took is one session's failure."""
    failing_claude(monkeypatch, GAVE_UP)
    report = ingest(archive_at(layout, config), ClaudeCliExtractor(), concurrency=1)
    assert (report.calls, len(report.failures), report.stopped) == (4, 4, None)


@pytest.mark.usefixtures("fake_claude")
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Prompt is too long", Failed),
        ("Prompt is too long: 215,500 tokens > 200,000 maximum", Failed),
        ('API Error: 400 {"type":"error"}', Failed),
        ('API Error: 413 {"type":"error"}', Failed),
        ('API Error: 429 {"type":"error"}', Unavailable),
        ('API Error: 529 {"type":"overloaded_error"}', Unavailable),
        ("API Error (500 Internal Server Error)", Unavailable),
        ("API Error: Request timed out.", Unavailable),
        ("Claude usage limit reached. Your limit will reset at 3pm.", Refused),
        ("API Error: Unable to connect to API (ConnectionRefused)", Unavailable),
        ("getaddrinfo ENOTFOUND api.example", Unavailable),
        ("Context limit reached · /compact or /clear to continue", Failed),
        ("It hit your login form; the schema is invalid", Failed),
        ("Invalid API key · Please run /login", Refused),
        ("You've reached your usage limit", Refused),
        ("Credit balance is too low", Refused),
        ('API Error: 404 {"type":"not_found_error"}', Refused),
    ],
)
def test_what_claude_says_tells_whose_trouble_it_is(
    write_session: WriteSession,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    kind: type[NoAnswer],
) -> None:
    """ING-19: only what holds for every session ends a run, at once or after a few."""
    failing_claude(monkeypatch, cli_answer(None, is_error=True, result=said))
    with pytest.raises(NoAnswer) as error:
        ClaudeCliExtractor().extract(material(write_session("orchard", 3)))
    assert type(error.value) is kind
