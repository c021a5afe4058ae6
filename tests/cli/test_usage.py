"""``minutebook usage``: a table that fits, marks that are said, lists that can be sorted."""

from __future__ import annotations

import csv
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
from tests.conftest import assistant, tool_use, user


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
    assert "of which subagents" in done.out and "at API prices" in done.out
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
    out = run("usage", "--date", "2026-03-02", "--root", tmp_path).out
    assert "The period before (2026-03-01) cost" in out and "with it, 2026-03-02: cost" in out
    out = run("usage", "--since", "2026-02-20", "--until", "2026-02-25", "--root", tmp_path).err
    assert "Nothing matches these filters." in out


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


def test_a_list_ends_with_its_total(run: Run, examples: Path) -> None:
    """USE-04: what the sessions of a list used together, in the table and in JSON."""
    shown = run("sessions", "--usage", "-n", "1", "--root", examples)
    last = shown.out.splitlines()[-1]
    told = json.loads(run("sessions", "--usage", "--json", "--root", examples).out)
    cents = sum(row["usage"]["cost"]["usd"] for row in told["sessions"])
    assert told["usage"]["cost"]["usd"] == pytest.approx(cents)
    assert last.startswith("total") and f"${cents:,.2f}" in last
    assert "the total is of all" in shown.err


def test_a_name_has_room_beside_what_was_used(run: Run, examples: Path) -> None:
    """USE-04: at 80 columns a name has at least 25 characters."""
    head = run("sessions", "--usage", "--root", examples, columns=80).out.splitlines()[0]
    assert head.index("output") - head.index("name") > 25


def test_no_sentence_has_an_empty_time(run: Run, tmp_path: Path) -> None:
    """USE-06: time that was not spent is left out, prices that are not known are said so."""
    write(tmp_path, "one", asked("go", at(0)), reply("m1", "2026-03-01T10:00:00.200Z", model="x"))
    out = run("usage", "--root", tmp_path).out
    assert "Active 0s by the clock." in out and "The API prices are not known" in out
    write(tmp_path, "two", asked("go", at(5)), reply("m2", at(6)))
    out = run("usage", "--root", tmp_path).out
    assert "Active 1m by the clock; agents worked 1m in all." in out


def test_replies_without_usage_are_marked(run: Run, tmp_path: Path) -> None:
    """USE-02, USE-06: what was not recorded is never silently free."""
    none = {"input_tokens": 0, "output_tokens": 0}
    write(tmp_path, "one", asked("go", at(0)), reply("m1", at(1), usage=none))
    done = run("usage", "model", "--root", tmp_path)
    assert "unrecorded" in done.out and "$" not in done.out
    assert "No usage was recorded." in done.out
    assert "1 reply without recorded usage" in done.err
    write(tmp_path, "two", asked("go", at(5)), reply("m2", at(6)))
    assert "≥$" in run("usage", "model", "--root", tmp_path).out


def test_calls_of_an_unnamed_model_have_a_name(run: Run, tmp_path: Path) -> None:
    """USE-06: work of messages without model and usage is a row that says so, without a cost."""
    bare = assistant(tool_use("t1", "Bash", command="ls"), id="m1", timestamp=at(1))
    bare["message"].pop("model", None)
    bare["message"].pop("usage", None)
    write(tmp_path, "one", asked("go", at(0)), bare, reply("m2", at(2)))
    (row,) = [
        line
        for line in run("usage", "model", "--root", tmp_path, columns=120).out.splitlines()
        if line.startswith("(not recorded)")
    ]
    assert "$" not in row


def test_engagements_have_an_address(run: Run, examples: Path, tmp_path: Path) -> None:
    """USE-04: a row of an engagement can be given to `show`."""
    places = ("--root", examples, "--archive", tmp_path / "archive")
    before = run("usage", "engagement", "--root", examples)
    assert "`minutebook ingest` finds them" in before.err
    assert run("ingest", "--extractor", "offline", *places).status == 0
    done = run("usage", "engagement", *places)
    assert "`minutebook ingest` finds them" not in done.err
    rows = json.loads(run("usage", "engagement", "--json", *places).out)["usage"]["rows"]
    address = rows[0]["address"]
    assert f"{address} " in done.out and run("show", address, *places).status == 0


def test_threads_have_the_name_a_person_gave(run: Run, examples: Path, tmp_path: Path) -> None:
    """USE-04, FUT-06: a named thread is called so."""
    places = ("--root", examples, "--archive", tmp_path / "archive")
    assert run("ingest", "--extractor", "offline", *places).status == 0
    assert run("thread", "Reed", "1", "search-drift", *places).status == 0
    assert "\nsearch-drift: " in run("usage", "thread", *places).out


def test_long_names_have_room(run: Run, examples: Path) -> None:
    """USE-04: on a wider terminal, names of sessions come before figures of work."""
    for columns, room in ((80, 35), (120, 50), (200, 50)):
        head = run("usage", "session", "--root", examples, columns=columns).out.splitlines()[0]
        assert head.index("replies") >= room, head


def test_spreadsheets_say_what_was_copied(run: Run, examples: Path) -> None:
    """USE-03: a copied session's own time can be worked out from a row."""
    done = run("usage", "session", "--csv", "--root", examples)
    rows = list(csv.DictReader(done.out.splitlines()))
    assert all(None not in row and None not in row.values() for row in rows)
    assert sum(float(row["copied_agent_s"]) for row in rows) > 0


def test_programs_are_a_dimension(run: Run, examples: Path) -> None:
    """USE-04, AGT-01: which coding agent ran, whatever its sessions are called."""
    rows = json.loads(run("usage", "program", "--json", "--root", examples).out)["usage"]["rows"]
    assert [row["key"] for row in rows] == ["claude"]


def test_counts_show_what_was_used_without_engagements(run: Run, examples: Path) -> None:
    """USE-04: what was used needs no minutes."""
    done = run("stats", "--usage", "--root", examples)
    assert done.status == 0 and "Used, by project" in done.out and "minutebook ingest" in done.err
    told = json.loads(run("stats", "--usage", "--json", "--root", examples).out)
    assert told["stats"]["engagements"] == 0 and told["usage"]["project"]["total"]["replies"] > 0
    assert run("stats", "--root", examples).status == 2


def test_counts_say_which_rows_they_leave_out(run: Run, tmp_path: Path) -> None:
    """USE-04: a total stands below rows that are counted to the last."""
    for n in range(14):
        prompt = user("go", timestamp=at(n), uuid=f"p{n}", cwd=f"/w/app{n}")
        write(tmp_path, f"s{n}", prompt, reply(f"m{n}", at(n + 1)))
    assert "… and 2 more" in run("stats", "--usage", "--root", tmp_path).out


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


def test_rows_left_out_by_default_are_said(run: Run, tmp_path: Path) -> None:
    """USE-06: that 31 rows are shown is the default, unless a number was given."""
    days = [f"2026-{1 + n // 28:02}-{1 + n % 28:02}" for n in range(40)]
    replies = [reply(f"m{n}", f"{day}T10:01:00Z") for n, day in enumerate(days)]
    write(tmp_path, "one", asked("go", at(0)), *replies)
    assert "31 of 40 rows (--limit, by default 31);" in run("usage", "--root", tmp_path).err
    assert "3 of 40 rows (--limit);" in run("usage", "-n", "3", "--root", tmp_path).err
