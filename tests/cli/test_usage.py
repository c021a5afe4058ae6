"""``minutebook usage``: a table that fits, marks that are said, lists that can be sorted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from minutebook.cli import terminal
from minutebook.derive.usage.figures import Cost
from minutebook.derive.usage.tally import DIMENSIONS
from minutebook.derive.usage.wording import duration, money, short
from tests.archive.test_usage import asked, at, reply, write
from tests.cli.conftest import Run


@pytest.mark.parametrize("columns", [80, 120, 200])
@pytest.mark.parametrize("by", DIMENSIONS)
def test_the_table_fits(run: Run, examples: Path, by: str, columns: int) -> None:
    """USE-04: no line of the table is wider than the terminal."""
    done = run("usage", by, "--root", examples, columns=columns)
    assert done.status == 0, done.err
    table = done.out.split("\n\n")[0].splitlines()
    assert len(table) > 2 and max(map(terminal.width, table)) <= columns


def test_one_session(run: Run, examples: Path) -> None:
    """USE-04: by model, with its subagents as a line of their own."""
    done = run("usage", "Reed", "--root", examples)
    assert "of it subagents" in done.out and "at API prices" in done.out
    found = json.loads(run("usage", "Reed", "--json", "--root", examples).out)["usage"]
    assert found["session_id"].startswith("eb82c016") and found["by"] == "model"
    rows = json.loads(run("usage", "session", "--json", "--root", examples).out)["usage"]["rows"]
    (row,) = [row for row in rows if row["key"] == found["session_id"]]
    assert row["replies"] == found["total"]["replies"]


def test_what_is_not_known_is_said(run: Run, tmp_path: Path) -> None:
    """USE-02, USE-06: an unknown model is named, never silently free."""
    strange = reply("m1", at(1), model="m\x1b[31m-7", stop_reason=None)
    write(tmp_path, "one", asked("go", at(0)), strange, reply("m2", at(2)))
    done = run("usage", "--root", tmp_path)
    assert "≥$0.0" in done.out and "≥140" in done.out
    assert "Unpriced: 1 reply of m" in done.err and "\x1b" not in done.out + done.err


def test_no_time_of_yours_is_not_mentioned(run: Run, tmp_path: Path) -> None:
    """USE-03: one question, asked at the start, takes none."""
    write(tmp_path, "one", asked("go", at(0)), reply("m1", at(1)))
    told = run("usage", "--root", tmp_path).out
    assert "by the clock; agents worked" in told and "you" not in told.split("by the clock")[1]


def test_a_period_is_compared_with_the_one_before(run: Run, tmp_path: Path) -> None:
    """USE-04: as long a time before."""
    write(tmp_path, "one", asked("go", at(0)), reply("m1", at(1)))
    late = reply("m2", "2026-03-02T10:00:00Z")
    write(tmp_path, "two", asked("go", "2026-03-02T09:59:00Z"), late, {**late, "uuid": "again"})
    found = json.loads(run("usage", "--date", "2026-03-02", "--json", "--root", tmp_path).out)
    assert found["usage"]["total"]["replies"] == found["usage"]["previous"]["replies"] == 1
    assert "The period before cost" in run("usage", "--date", "2026-03-02", "--root", tmp_path).out


@pytest.mark.parametrize(
    "wrong", [["nobody-is-called-so"], ["day", "--by", "week"], ["--csv", "--json"], ["--by", "x"]]
)
def test_what_cannot_be_is_refused(run: Run, examples: Path, wrong: list[str]) -> None:
    """One sentence, status 2."""
    done = run("usage", *wrong, "--root", examples)
    assert done.status == 2 and done.err.count("\n") == 1 and "bug" not in done.err


@pytest.mark.parametrize("sort", ["cost", "tokens", "active"])
def test_lists_can_be_sorted_by_what_was_used(run: Run, examples: Path, sort: str) -> None:
    """USE-04: the most first; `usage` in JSON."""
    rows = json.loads(run("sessions", "--sort", sort, "--json", "--root", examples).out)["sessions"]
    place = {
        "cost": ("cost", "usd"),
        "tokens": ("tokens", "output"),
        "active": ("times", "active_clock_s"),
    }[sort]
    values = [row["usage"][place[0]][place[1]] for row in rows]
    assert values == sorted(values, reverse=True) and values[0] > 0
    done = run("sessions", "--sort", sort, "--root", examples, columns=80)
    assert max(map(terminal.width, done.out.splitlines())) <= 80


def test_lists_without_cost_look_up_no_prices(examples: Path) -> None:
    """Start-up is a feature: the price library is imported for prices alone."""
    code = (
        "import sys; from minutebook.cli.main import main\n"
        f"try: main(['sessions', '--root', {str(examples)!r}])\n"
        "except SystemExit: print('genai_prices' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")


def test_figures_are_short() -> None:
    """Counts in five characters and a unit, times in hours and minutes."""
    counts = [0, 999, 9_999, 10_000, 99_949, 123_456, 1_167_735_479, 10**14]
    assert [short(n) for n in counts] == [
        *("0", "999", "9,999", "10.0k", "99.9k", "123k", "1.2B", "100.0T")
    ]
    assert [duration(s) for s in (0, 40, 3_599, 3_600, 182_498)] == [
        *("", "40s", "59m", "1h 00m", "50h 41m")
    ]
    assert money(Cost(12 * 10**12)) == "$12.00"
    assert money(Cost(12 * 10**12, dearer=1)) == "≥$12.00"
    assert money(Cost(0, {"m": 1})) == "unpriced"
