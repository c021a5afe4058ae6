"""sessions, show, doctor, demo: what a person and a program see."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from minutebook.cli import terminal
from minutebook.cli.terminal import width
from tests.cli.conftest import Run
from tests.conftest import PROJECT, as_line, assistant, tool_result, tool_use, user

GOLDENS = Path(__file__).parent / "goldens"


def golden(name: str, text: str) -> None:
    """Compare with a file; ``UPDATE_GOLDENS=1`` writes it, for a person to read and commit."""
    path = GOLDENS / name
    if os.environ.get("UPDATE_GOLDENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [80, 200])
def test_sessions_fit_the_terminal(run: Run, examples: Path, columns: int) -> None:
    """The list at 80 and 200 columns, wide characters included."""
    ran = run("sessions", "--ghosts", "--root", examples, columns=columns)
    assert ran.status == 0
    assert max(width(line) for line in ran.out.splitlines()) <= columns
    golden(f"sessions-{columns}.txt", ran.out)


@pytest.mark.parametrize("columns", [80, 200])
def test_show_is_readable(run: Run, examples: Path, columns: int) -> None:
    """A transcript at 80 and 200 columns."""
    ran = run("show", "Ledger outage after the 22:28 rollout", "--root", examples, columns=columns)
    assert ran.status == 0
    golden(f"show-{columns}.txt", ran.out)


@pytest.mark.parametrize("columns", [80, 200])
def test_doctor_reports_the_format(run: Run, examples: Path, columns: int) -> None:
    """FMT-23: record types, block types, versions, what is left out, unknown, unreadable."""
    ran = run("doctor", "--root", examples, columns=columns)
    assert ran.status == 0
    golden(f"doctor-{columns}.txt", ran.out.replace(str(examples), "EXAMPLES"))


def test_sessions_are_newest_first_without_ghosts(run: Run, examples: Path) -> None:
    """Newest activity first; ghosts only with ``--ghosts``, and their number is said."""
    shown = run("sessions", "--root", examples)
    days = [line[:10] for line in shown.out.splitlines()[1:]]
    assert days == sorted(days, reverse=True)
    assert "1 ghost (--ghosts)" in shown.err
    everything = run("sessions", "--ghosts", "--root", examples)
    assert len(everything.out.splitlines()) == len(days) + 2


def test_the_list_says_how_many_there_are(run: Run, examples: Path) -> None:
    """The total, also where only some are shown; ghosts and how to see them."""
    whole = run("sessions", "--root", examples)
    assert "7 sessions.\nNot shown: 1 ghost (--ghosts), 1 copy (--copies).\n" in whole.err
    some = run("sessions", "-n", "3", "--root", examples)
    assert len(some.out.splitlines()) == 4
    assert "3 of 7 sessions (--limit)." in some.err
    document = json.loads(run("sessions", "-n", "3", "--json", "--root", examples).out)
    assert (len(document["sessions"]), document["total"]) == (3, 7)
    assert "Include ghosts: sessions with no substantive work." in run("sessions", "--help").out


def test_a_terminal_gets_a_screenful_of_sessions(
    run: Run, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SRCH-16: on a terminal a long list ends early and says so; --all, pipes and JSON have all."""
    monkeypatch.setattr("minutebook.cli.sessions._AT_ONCE", 2)
    everything = run("sessions", "--root", examples)
    assert "--limit" not in everything.err
    monkeypatch.setattr("minutebook.cli.terminal.is_terminal", lambda: True)
    some = run("sessions", "--root", examples)
    assert len(some.out.splitlines()) == 3 and "(--all)" in some.err
    whole = run("sessions", "--all", "--root", examples)
    assert len(whole.out.splitlines()) == len(everything.out.splitlines())
    document = json.loads(run("sessions", "--json", "--root", examples).out)
    assert len(document["sessions"]) == document["total"]


def test_a_bullet_goes_on_under_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrapped list stays a list."""
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    lines = terminal.prose("- " + "word " * 20).split("\n")
    assert len(lines) > 2 and all(line.startswith("  word") for line in lines[1:])
    assert max(map(len, lines)) <= 40


def test_the_date_of_a_session_outlives_its_branch() -> None:
    """Where there is no room, what matters less is left out whole."""
    facts = [(2, "a project"), (7, "feature/a-branch-with-a-long-name"), (0, "2026-03-13")]
    assert terminal.first_that_fit(facts, 30) == "a project · 2026-03-13"


def test_what_is_too_long_for_a_line_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures of a round go on under each other, none is lost."""
    monkeypatch.setenv("COLUMNS", "40")
    text = "  abc#1  $1.00  " + ", ".join(["281k written again"] * 4)
    lines = terminal.hanging(text, 16).split("\n")
    assert max(map(len, lines)) <= 40 and lines[1].startswith(" " * 16)
    assert sum(line.count("281k") for line in lines) == 4


def test_sessions_can_be_filtered(run: Run, examples: Path) -> None:
    """``--project`` by substring, ``--since`` by last activity, both together."""
    listed = json.loads(run("sessions", "--json", "-p", "atlas", "--root", examples).out)
    assert {row["project"] for row in listed["sessions"]} == {"atlas"}
    recent = json.loads(
        run("sessions", "--json", "--since", "2026-03-11", "-p", "atlas", "--root", examples).out
    )
    assert [row["title"] for row in recent["sessions"]] == ["Migrate atlas to SQLite"]


def test_sessions_json_has_everything_a_program_needs(run: Run, examples: Path) -> None:
    """The documented shape, with links between sessions that share history."""
    document = json.loads(run("sessions", "--json", "--ghosts", "--copies", "--root", examples).out)
    assert document["version"] == 1
    rows = {row["title"]: row for row in document["sessions"]}
    passkeys = rows["Add passkey login to orchard"]
    fork = rows["Hide the password form behind a flag"]
    assert {"session_id": fork["id"], "evidence": "shared-messages", "shared": 4} in passkeys[
        "links"
    ]
    assert passkeys["pull_requests"][0]["number"] == 41
    assert rows["Reed"]["name_source"] == "rename"
    assert rows["Reed"]["subagents"] == 1
    wren = rows["Settle the ontology of places, regions and events"]
    assert (wren["name"], wren["name_source"]) == ("Wren", "signature")
    assert [row["ghost"] for row in document["sessions"]].count(True) == 1
    documented = (PROJECT / "docs" / "json.md").read_text(encoding="utf-8")
    assert [key for key in passkeys if f"`{key}`" not in documented] == []


@pytest.mark.parametrize("name", ["eb82c016", "EB82C016-C70F", "Reed", "reed"])
def test_a_session_is_found_by_prefix_or_name(run: Run, examples: Path, name: str) -> None:
    """UUID prefix, name or title, in any case."""
    document = json.loads(run("show", name, "--json", "--root", examples).out)
    assert document["session"]["id"].startswith("eb82c016")


def test_a_session_is_found_by_part_of_its_title_and_by_path(run: Run, examples: Path) -> None:
    """A unique part is enough; a file needs no root."""
    found = json.loads(run("show", "朝の", "--json", "--root", examples).out)
    path = found["path"]
    assert json.loads(run("show", f"{path}#2", "--json").out)["rounds"][0]["number"] == 2


def test_show_gives_the_rounds_asked_for(run: Run, examples: Path) -> None:
    """``#2`` and ``#2-3``."""
    for address, expected in (("Reed#2", [2]), ("Reed#2-3", [2, 3]), ("Reed#3-99", [3])):
        document = json.loads(run("show", address, "--json", "--root", examples).out)
        assert [round["number"] for round in document["rounds"]] == expected


@pytest.mark.parametrize(
    ("part", "marker"),
    [
        ("user", "Roll back first"),
        ("assistant", "Production only, understood"),
        ("calls", "▸ Bash kubectl get pods"),
        ("results", "CrashLoopBackOff"),
    ],
)
def test_only_shows_the_parts_asked_for(run: Run, examples: Path, part: str, marker: str) -> None:
    """``--only``: each part alone, and nothing of the others."""
    markers = ["Roll back first", "Production only", "▸ Bash kubectl get", "CrashLoopBackOff"]
    out = run("show", "Ledger outage", "--only", part, "--root", examples).out
    assert [m for m in markers if m in out] == [m for m in markers if m in marker or marker in m]


def test_thinking_is_shown_on_request(run: Run, examples: Path) -> None:
    """``--only thinking``, and everything with ``--full``."""
    assert (
        "Two types with one supertype"
        in run("show", "Wren", "--only", "thinking", "--root", examples).out
    )
    assert "Two types with one supertype" in run("show", "Wren", "--full", "--root", examples).out
    plain = run("show", "Wren", "--root", examples)
    assert "Two types" not in plain.out
    assert "1 thinking" in plain.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["show", "nobody"], "No session is called 'nobody'"),
        (["show", "Reed#9"], "has 3 rounds; there is no round 9"),
        (["show", "Reed#0"], "'#0' is not a round or a range"),
        (["show", "~nobody-here"], "No session is called"),
        (["show", "x" * 5000 + ".jsonl"], "No session is called"),
        (["show", "Reed#" + "9" * 5000], "is not a round or a range"),
        (["show", "#2"], "No session is called"),
        (["sessions", "--since", ""], "is not a date"),
        (["sessions", "--root", "~nobody-here"], "There is no home folder"),
        (["demo", "--into", "/dev/null"], "/dev/null"),
        (["show", "Reed#5-2"], "rounds count from 1"),
        (["show", "passkey login", "--only", "poems"], "--only knows user, assistant"),
        (["show", "Reed", "--only", ","], "--only needs at least one of"),
        (["sessions", "--since", "2026-02-30"], "is not a date"),
        (["sessions", "--limit", "0"], "not in the range"),
        (["sesions"], "Did you mean 'sessions'?"),
        (["frobnicate"], "`minutebook --help` lists them"),
        (["show"], "Missing argument"),
    ],
)
def test_bad_input_gets_one_sentence_and_status_two(
    run: Run, examples: Path, args: list[str], sentence: str
) -> None:
    """Bad input from a person: what is wrong, what to do, exit status 2."""
    root = [] if args[0] not in ("show", "sessions") else ["--root", str(examples)]
    ran = run(*args, *root)
    assert ran.status == 2
    assert ran.out == ""
    assert sentence in ran.err
    assert "Traceback" not in ran.err


def test_an_ambiguous_name_lists_the_candidates(run: Run, examples: Path) -> None:
    """Two sessions fit: both are named."""
    ran = run("show", "the", "--root", examples)
    assert ran.status == 2
    assert "fits 4 sessions: 60a4643c, 7c8fc3ae, e30ddb67, fa23f399." in ran.err


def test_a_copy_makes_no_name_ambiguous(run: Run, examples: Path) -> None:
    """ARC-04, UND-08: a name that fits a session and a mere copy of it means the session; the
    copy is found by what only it is called."""
    both = run("show", "pass", "--root", examples)
    assert (both.status, both.out.splitlines()[0]) == (0, "Hide the password form behind a flag")
    copy = run("show", "passkey", "--root", examples)
    assert (copy.status, copy.out.splitlines()[0]) == (0, "Add passkey login to orchard")


def test_a_root_that_is_not_there(run: Run, tmp_path: Path) -> None:
    """FMT-01: said, with its path."""
    ran = run("sessions", "--root", tmp_path / "nowhere")
    assert (ran.status, ran.err.count("\n")) == (2, 1)


def test_several_roots_are_read_together(run: Run, examples: Path, tmp_path: Path) -> None:
    """FMT-01: ``--root`` may be given several times; FMT-02: one may be a file."""
    extra = tmp_path / "extra.jsonl"
    extra.write_bytes(b"".join(as_line(user(f"prompt {n}")) + b"\n" for n in range(3)))
    listed = json.loads(run("sessions", "--json", "--root", examples, "--root", extra).out)
    assert {row["id"] for row in listed["sessions"]} >= {"extra"}
    assert len(listed["sessions"]) > 5


def test_the_configured_folder_is_the_default(
    run: Run, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FMT-01: ``$CLAUDE_CONFIG_DIR``."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(examples))
    assert "Reed" in run("sessions").out


def test_nothing_found_says_what_to_do(run: Run) -> None:
    """An empty machine: a hint, not an error."""
    for verb, what in (("sessions", "No sessions found"), ("doctor", "No transcripts found")):
        ran = run(verb)
        assert (ran.status, ran.out) == (0, "")
        assert what in ran.err


def test_without_transcripts_the_overview_shows_examples(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``make run`` on an empty machine ends with what it found, where the archive is, and three
    things to do next, which work once the line before them was typed."""
    ran = run()
    assert "these are example sessions" in ran.out
    assert re.search(r"Found 17 sessions, \d+ rounds, 4 projects, 2 coding agents\.", ran.out)
    assert re.search(r"^Archive: .*/examples/archive$", ran.out, re.MULTILINE)
    for name, value in re.findall(r"(\w+)=(\S+)", ran.out):
        monkeypatch.setenv(name, value)
    commands = re.findall(r"^  minutebook (.+?) +#", ran.out, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["ingest", "search", "serve"]
    for command in commands[:2]:
        assert run(*command.split()).status == 0, command
    assert "What to do next:\n  minutebook show " in run().out  # the minutes are taken


def test_the_demo_needs_nothing_and_changes_nothing_twice(run: Run, tmp_path: Path) -> None:
    """``demo`` writes its examples once; a second time leaves even their times alone."""
    run("demo", "--into", tmp_path)

    def times() -> dict[Path, int]:
        files = (path for path in tmp_path.rglob("*") if not path.name.endswith(".lock"))
        return {path: path.stat().st_mtime_ns for path in files}

    before = times()
    assert "Found 17 sessions" in run("demo", "--into", tmp_path).out
    assert times() == before


def test_doctor_warns_of_the_clean_up(run: Run, tmp_path: Path) -> None:
    """FMT-23: how many go next, by the configured number of days."""
    project = tmp_path / "projects" / "p"
    project.mkdir(parents=True)
    (tmp_path / "settings.json").write_text('{"cleanupPeriodDays": 10}')
    for age in (1, 5, 30):
        path = project / f"age-{age}.jsonl"
        path.write_bytes(as_line(user("x")) + b"\n")
        then = time.time() - age * 86_400
        os.utime(path, (then, then))
    out = run("doctor", "--root", tmp_path).out
    assert "deletes transcripts after 10 days" in out
    assert "1 session is older already" in out
    assert "1 session follows within a week" in out
    assert "First to be deleted: age-30 (`minutebook show age-30`)." in out
    assert out.index("deletes transcripts") < out.index("Records")
    document = json.loads(run("doctor", "--json", "--root", tmp_path).out)
    (clean_up,) = document["diagnosis"]["clean_ups"]
    assert (clean_up["days"], clean_up["overdue"], clean_up["soon"]) == (10, 1, 1)


def test_unusable_files_have_one_name_and_one_count(run: Run, tmp_path: Path) -> None:
    """FMT-23: the home screen, the list and doctor count the same files, and doctor begins so."""
    project = tmp_path / "projects" / "p"
    agents = project / "gone" / "subagents"
    agents.mkdir(parents=True)
    (project / "s.jsonl").write_bytes(as_line(user("x")) + b"\n")
    (project / "notes.jsonl").write_text('{"a": 1}\n')
    (agents / "agent-a1.jsonl").write_bytes(as_line(user("x")) + b"\n")
    doctor = run("doctor", "--root", tmp_path).out
    assert doctor.lstrip().startswith("1 unusable file\n")
    assert "1 subagent without its session\n" in doctor
    unusable = json.loads(run("sessions", "--json", "--root", tmp_path).out)["unusable"]
    assert all(trouble["path"] in doctor for trouble in unusable) and len(unusable) == 1
    listed = run("sessions", "--root", tmp_path)
    assert "1 unusable file (see doctor)" in listed.out + listed.err


HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\x07\u202egnp.exe \x1b[31mred\x1b[0m \x00\x08"


def test_no_escape_reaches_the_terminal(run: Run, tmp_path: Path) -> None:
    """Untrusted text: titles, prompts, replies, tool names, inputs, results, paths."""
    folder = tmp_path / "bad\x1b[31mname"
    folder.mkdir()
    path = folder / "s.jsonl"
    cwd = f"/home/{HOSTILE}"
    lines = [
        user(f"prompt {HOSTILE}", cwd=cwd, gitBranch=HOSTILE),
        assistant(f"reply {HOSTILE}", {"type": "thinking", "thinking": HOSTILE, "signature": "s"}),
        assistant(tool_use("t1", f"Tool{HOSTILE}", command=HOSTILE), id="m2"),
        tool_result("t1", HOSTILE),
        {"type": f"odd{HOSTILE}"},
        {"type": "ai-title", "aiTitle": f"title {HOSTILE}"},
        user([{"type": "image", "source": {"media_type": HOSTILE, "data": "x"}}]),
        user("three"),
    ]
    path.write_bytes(b"".join(as_line(line) + b"\n" for line in lines) + b"broken\n")
    (folder / "aaaa\x1b]0;PWN\x07.jsonl").write_bytes(path.read_bytes())
    places = ["--root", str(folder)]
    reading = (["sessions"], ["show", "s", "--full"], ["show", "aaaa"], ["doctor"], ["status"])
    archived = (
        *(["ingest"], ["search", "prompt"], ["search"], ["stats"], ["similar", "s#1"]),
        *(["ingest", "--again", "--explain"], ["inscribe", "--all"], ["check", "--all"]),
        *(["correct", "s", "1", f"topic={HOSTILE}"], ["tag", "s", "1", "x"]),
    )
    for args in (*reading, *archived, *reading):
        ran = run(*args, *places)
        assert ran.status in (0, 1), (args, ran.err)
        bad = re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.out + ran.err)
        assert bad == [], args


def test_a_title_may_end_like_an_address(run: Run, tmp_path: Path) -> None:
    """``Fix issue #12`` is a name before it is a round."""
    lines = [user(f"prompt {n}") for n in range(3)] + [
        {"type": "ai-title", "aiTitle": "Fix issue #12"}
    ]
    (tmp_path / "s.jsonl").write_bytes(b"".join(as_line(line) + b"\n" for line in lines))
    assert run("show", "Fix issue #12", "--root", tmp_path).status == 0


def test_only_a_configuration_folder_is_cleaned_up(run: Run, tmp_path: Path) -> None:
    """FMT-23: no threat where Claude Code does not delete."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(as_line(user("x")) + b"\n")
    os.utime(path, (0, 0))
    assert "deletes" not in run("doctor", "--root", tmp_path).out


def test_only_ghosts_are_shown_after_all(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The overview of a new user with one short session."""
    project = tmp_path / "projects" / "p"
    project.mkdir(parents=True)
    (project / "s.jsonl").write_bytes(as_line(user("my only prompt")) + b"\n")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    out = run().out
    assert "my only prompt" in out
    assert "Found 1 session, 1 round" in out
    assert out.count("  minutebook ") == 3


@pytest.mark.parametrize("columns", [40, 50, 69])
def test_narrow_terminals(run: Run, examples: Path, columns: int) -> None:
    """Columns stay aligned down to 40."""
    lines = run("sessions", "--root", examples, columns=columns).out.splitlines()
    assert len({width(line) for line in lines}) == 1


def test_names_that_are_not_utf8_do_not_kill_the_list(run: Run, tmp_path: Path) -> None:
    """A file name of odd bytes is listed with a question mark."""
    name = os.fsdecode(b"caf\xe9.jsonl")
    (tmp_path / name).write_bytes(as_line(user("x")) + b"\n")
    document = json.loads(run("sessions", "--json", "--ghosts", "--root", tmp_path).out)
    assert [row["id"] for row in document["sessions"]] == ["caf?"]


def test_an_ambiguous_roster_is_said(run: Run, examples: Path, tmp_path: Path) -> None:
    """ID-06: none is used, and a warning says so."""
    (tmp_path / "agent-roster.jsonl").write_text(
        '{"session":"eb82c016","name":"A"}\n{"session":"eb82c016","name":"B"}\n'
    )
    ran = run("sessions", "--root", examples, "--archive", tmp_path)
    assert "The roster has several names for eb82c016" in ran.err
