"""Small things people stumbled over, each put right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from minutebook.cli import terminal
from tests.cli.conftest import Run


@pytest.fixture(scope="module")
def archive(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example sessions with their minutes."""
    from tests.agents.conftest import taken

    return taken(examples, tmp_path_factory.mktemp("stumbles") / "archive").root


@pytest.fixture
def there(run: Run, archive: Path, examples: Path) -> Run:
    """The command line on that archive."""
    return lambda *args: run(*args, "--root", examples, "--archive", archive)


@pytest.mark.parametrize("name", ["week.html", "week.HTM"])
def test_a_report_has_the_format_of_its_file(there: Run, tmp_path: Path, name: str) -> None:
    """SHARE-02: an .html file holds HTML."""
    there("report", "--since", "2026-03-01", "--out", tmp_path / name)
    assert (tmp_path / name).read_text().lower().startswith("<!doctype html")


def test_a_named_format_wins_over_an_unknown_ending(there: Run, tmp_path: Path) -> None:
    """SHARE-02: --format says what an ending does not."""
    there("report", "--since", "2026-03-01", "--format", "json", "--out", tmp_path / "week.txt")
    assert json.loads((tmp_path / "week.txt").read_text())["version"] == 1


@pytest.mark.parametrize("verb", [["report"], ["export", "Reed"]])
def test_a_format_that_contradicts_the_ending_is_refused(
    there: Run, tmp_path: Path, verb: list[str]
) -> None:
    """SHARE-02: in both verbs; nothing is written."""
    refused = there(*verb, "--format", "md", "--out", tmp_path / "week.html")
    assert refused.status == 2
    assert "choose one" in refused.err
    assert not (tmp_path / "week.html").exists()


def test_an_empty_report_leads_to_the_latest_week(there: Run) -> None:
    """SHARE-02: which week has work, and the command for it."""
    told = there("report", "--date", "2019-01-01").err
    assert "minutebook report --since 2026-03-16 --until 2026-03-22" in told


def test_an_empty_report_names_the_latest_week_in_json(there: Run) -> None:
    """SHARE-02: the same dates; null where there is work."""
    empty = json.loads(there("report", "--date", "2019-01-01", "--json").out)["report"]
    full = json.loads(there("report", "--since", "2026-03-01", "--json").out)["report"]
    assert empty["latest"] == {"since": "2026-03-16", "until": "2026-03-22"}
    assert full["latest"] is None


@pytest.mark.parametrize(
    ("typed", "told"),
    [(["two tabs"], True), (["two", "tabs"], False), (['"two tabs"'], False), (["tabs"], False)],
)
def test_words_without_quotes_of_their_own_lead_to_the_phrase(
    there: Run, typed: list[str], told: bool
) -> None:
    """SRCH-04: the shell takes one pair of quotes; the footer shows how to keep them."""
    hint = """For these words in this order: minutebook search '"two tabs"'"""
    assert (hint in there("search", "--mode", "lexical", *typed).err) is told


def test_sessions_of_a_period(there: Run) -> None:
    """SRCH-04: --until and --date, as in every other list."""
    march = json.loads(there("sessions", "--date", "2026-03", "--json").out)["sessions"]
    before = json.loads(there("sessions", "--until", "2026-02", "--json").out)["sessions"]
    everything = json.loads(there("sessions", "--json").out)["sessions"]
    assert march
    assert before
    assert sorted(s["id"] for s in march + before) == sorted(s["id"] for s in everything)


def test_figures_of_whole_sessions_say_so(there: Run) -> None:
    """USE-01: why they are not those of `usage`."""
    told = there("sessions", "--usage", "--project", "orchard").err
    assert "A session that stands for copies includes theirs." in told
    assert "Whole sessions; `usage project` counts each engagement's project." in told


def test_a_second_install_says_already_once(run: Run, tmp_path: Path) -> None:
    """OPS: an English sentence."""
    args = ("install", "claude-code", "--root", tmp_path, "--archive", tmp_path / "archive")
    run(*args)
    assert run(*args).out.count("already") == 1


def test_a_dry_run_says_so_in_json(run: Run, tmp_path: Path) -> None:
    """OPS: a program can tell whether something was installed."""
    args = ("install", "claude-code", "--root", tmp_path, "--archive", tmp_path / "archive")
    dry = json.loads(run(*args, "--dry-run", "--json").out)
    assert dry["dry_run"] is True
    assert json.loads(run(*args, "--json").out)["dry_run"] is False


@pytest.mark.parametrize("word", ["sessions", "branches", "Models", "days"])
def test_a_dimension_may_be_named_as_many(there: Run, word: str) -> None:
    """USE-02: `usage sessions` is `usage session`."""
    found = json.loads(there("usage", word, "--json").out)["usage"]
    assert found["by"] == {"branches": "branch"}.get(word, word.lower().removesuffix("s"))


@pytest.mark.parametrize("by", ["project", "day"])
def test_usage_in_the_order_that_was_asked_for(there: Run, by: str) -> None:
    """USE-02: most output first; of days, too."""
    rows = json.loads(there("usage", by, "--sort", "tokens", "--json").out)["usage"]["rows"]
    output = [row["tokens"]["output"] for row in rows]
    assert len(output) > 2
    assert output == sorted(output, reverse=True)


@pytest.mark.parametrize("group", ["correct", "corpus", "engagement", "semantic", "team"])
def test_a_verb_without_its_command_shows_its_help(run: Run, group: str) -> None:
    """CLI-02: line by line, as `--help` does; status 2, since nothing was done."""
    bare, asked = run(group), run(group, "--help")
    assert (bare.status, asked.status) == (2, 0)
    assert bare.err.rstrip() == asked.out.rstrip()


def test_a_project_in_place_of_a_session_leads_to_its_cost(there: Run) -> None:
    """USE-04: `usage orchard`, where a project is called so and several sessions speak of it."""
    advice = "For the project: `minutebook usage --project orchard`."
    assert advice in there("usage", "orchard").err
    assert advice not in there("usage", "nonsense-zzz").err


def test_a_missing_engagement_leads_to_those_there_are(there: Run) -> None:
    """ING-33: with their rounds, by which they can be named."""
    told = there("correct", "Reed", "99", "method=debug").err
    assert "has no engagement '99'" in told
    assert "(#1" in told


def test_a_paragraph_below_a_bullet_keeps_its_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    """SHARE-02: in a terminal, what goes on begins below the first word."""
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setattr(terminal, "columns", lambda: 20)
    told = terminal.prose("- one two three four five\n  six seven eight nine ten")
    assert told.splitlines() == [
        "- one two three four",
        "  five",
        "  six seven eight",
        "  nine ten",
    ]


@pytest.mark.parametrize("verb", [["usage", "project"], ["sessions"], ["budget", "Reed"]])
def test_remarks_below_a_list_wrap_at_words(
    there: Run, monkeypatch: pytest.MonkeyPatch, verb: list[str]
) -> None:
    """USE-06: in a terminal no sentence is broken inside a word."""
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setattr(terminal, "columns", lambda: 60)
    ran = there(*verb)
    assert ran.status == 0
    assert all(terminal.width(line) <= 60 for line in ran.err.splitlines())
    assert not any(
        terminal.width(line) > 60 for line in ran.out.splitlines() if line.startswith("Limit of")
    )
