"""What contradicts itself, or is spelt wrong, is refused in one sentence, with status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from minutebook.archive import Archive
from minutebook.derive.secrets import mask
from minutebook.derive.usage.figures import Cost
from minutebook.derive.usage.wording import money
from minutebook.extract.offline import OfflineExtractor
from minutebook.verbs.ingest import ingest
from tests.cli.conftest import Run


@pytest.fixture
def places(tmp_path: Path, examples: Path) -> list[str]:
    ingest(Archive(tmp_path / "archive", (examples,)), OfflineExtractor(), ended=True)
    return ["--root", str(examples), "--archive", str(tmp_path / "archive")]


@pytest.mark.parametrize("verb", ["report", "search", "sessions", "stats", "usage", "budget"])
@pytest.mark.parametrize(
    "dates",
    [
        ("--date", "2026-03-02", "--since", "2026-03-01"),
        ("--week", "--today"),
        ("--date", "2026-03-02", "--week"),
        ("--today", "--until", "2026-03-05"),
    ],
)
def test_dates_that_contradict_each_other_are_refused(
    run: Run, places: list[str], verb: str, dates: tuple[str, ...]
) -> None:
    """SRCH-08: no date is dropped in silence: one period, or its limits."""
    ran = run(verb, *dates, *places)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1), ran.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--out", "x.pdf"), "'.pdf' is not a format: use .html"),
        (("--format", "md", "--out", "x.html"), "contradict each other"),
    ],
)
def test_a_file_is_what_its_name_says(
    run: Run, places: list[str], args: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    """SHARE-01: no HTML in a .pdf, and no Markdown in an .html."""
    place = tmp_path / args[-1]
    ran = run("export", "7c8fc3ae", *args[:-1], place, *places)
    assert (ran.status, words in ran.err, ran.err.count("\n")) == (2, True, 1), ran.err
    assert not place.exists()
    assert run("export", "7c8fc3ae", "--format", "md", "--out", tmp_path / "x", *places).status == 0


@pytest.mark.parametrize(
    ("verb", "end", "words"),
    [
        ("show", "#x", "'#x' is not a round or a range"),
        ("budget", "#3", "'#3' names rounds, and this needs a whole session: '7c8fc3ae'."),
        ("budget", "#", "'#' is not a round"),
    ],
)
def test_what_is_wrong_after_the_sign_is_said(
    run: Run, places: list[str], verb: str, end: str, words: str
) -> None:
    """ARC-04: the session exists; only the rounds after it are wrong."""
    ran = run(verb, f"7c8fc3ae{end}", *places)
    assert (ran.status, words in ran.err, "No session" in ran.err) == (2, True, False), ran.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("report", "--sinc", "x"), "There is no option --sinc. Did you mean --since?\n"),
        (("show",), "Missing argument 'SESSION'. `minutebook show --help` explains it.\n"),
        (("searc", "x"), "There is no verb 'searc'. Did you mean 'search'?\n"),
        (("cost",), "There is no verb 'cost'. Did you mean 'usage'?\n"),
        (("Resume", "x"), "There is no verb 'Resume'. Did you mean 'export-claude'?\n"),
        (("serve", "--port", "x"), "Invalid value for '--port': 'x' is not a number.\n"),
        (("export", "x", "--format", "pdf"), "Invalid value for '--format': 'pdf' is not one of"),
    ],
)
def test_a_wrong_option_is_one_sentence(run: Run, args: tuple[str, ...], said: str) -> None:
    """CLI-02: what is wrong and what was meant; three lines of usage are not needed for it."""
    ran = run(*args)
    assert (ran.status, ran.err.count("\n")) == (2, 1) and ran.err.startswith(said), ran.err


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("https://{}@git.example/x.git", "q7Zk3W8xT2mLr9VbN5cYp7HdJ4sGf"),
        ("https://{}:x-oauth-basic@git.example/x.git", "q7Zk3W8xT2mLr9VbN5cYp7HdJ4sGf"),
        ("https://{}@git.example/x.git", "glpat-" + "aBcDeFgHiJkL"),
    ],
)
def test_a_token_as_the_user_of_a_url_is_masked(url: str, own: str) -> None:
    """SHARE-03: a token needs no password beside it."""
    shown = mask(f"git clone {url.format(own)}")
    assert own not in shown and "git.example/x.git" in shown


@pytest.mark.parametrize(
    "text",
    [
        "git clone ssh://git@git.example/x.git",
        "https://christopher.robinson@git.example/x",
        "https://deploy-bot-production@git.example/x",
        "https://$GITHUB_TOKEN_OF_THE_BOT@git.example/x",
    ],
)
def test_a_user_of_a_url_is_not_a_token(text: str) -> None:
    """SHARE-03: names of people, of machines and of variables stay."""
    assert mask(text) == text


def test_a_cost_of_bounded_output_is_a_bound() -> None:
    """USE-06: where output is at least what is shown, so is what it costs."""
    assert money(Cost(12 * 10**12, cut_off=1)) == "≥$12.00"
