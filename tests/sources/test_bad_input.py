"""Broken, hostile and foreign files: each is counted and named, none stops the rest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from minutebook.archive.archive import Archive
from minutebook.errors import NotFound
from minutebook.sources.base import read_session
from minutebook.sources.claude_code.locate import discover
from minutebook.sources.claude_code.read import ClaudeReading
from minutebook.sources.jsonl import LineReader
from minutebook.sources.library import overview
from minutebook.verbs.doctor import diagnose
from tests.conftest import ReadRecords, as_line, assistant, user

GOOD = as_line(user("before"))
AFTER = as_line(user("after"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "blank line"),
        (b"   \t", "blank line"),
        (b"not json at all", "half-written or broken JSON"),
        (b'{"type":"user","mess', "half-written or broken JSON"),
        (b'{"type":"user","message":{"content":"\xff\xfe"}}', "not UTF-8"),
        (b"[1,2]", "a JSON list where an object should be"),
        (b"null", "a JSON NoneType where an object should be"),
        (b'{"a":' * 60_000 + b"1" + b"}" * 60_000, "nested too deeply"),
    ],
    ids=lambda value: str(value)[:30],
)
@pytest.mark.parametrize("depth", ["skim", "full"])
def test_a_bad_line_is_reported_and_the_rest_is_read(
    read_records: ReadRecords, line: bytes, reason: str, depth: str
) -> None:
    """FMT-03: skipped, counted, named with its line number; the run goes on."""
    session, report = read_records(GOOD, line, AFTER, depth=depth)
    assert [r.prompt.text for r in session.rounds if r.prompt] == ["before", "after"]
    assert [(bad.line, bad.reason) for bad in report.bad_lines] == [(2, reason)]


def test_glued_records_are_taken_apart(read_records: ReadRecords) -> None:
    """FMT-03: ``}{``, as an append to a file without a final newline leaves it."""
    session, report = read_records(GOOD + AFTER)
    assert len(session.rounds) == 2
    assert report.repaired["glued records"] == 1
    assert not report.bad_lines


def test_a_good_record_before_garbage_is_kept(read_records: ReadRecords) -> None:
    """FMT-03: half of a line may still be read; the line is reported all the same."""
    session, report = read_records(GOOD + b'{"type":"us')
    assert len(session.rounds) == 1
    assert [bad.line for bad in report.bad_lines] == [1]


def test_bom_crlf_and_a_missing_last_newline_do_no_harm(tmp_path: Path) -> None:
    """FMT-03: read as if they were not there."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD + b"\r\n" + AFTER)
    reading = ClaudeReading(path)
    assert len(list(reading.rounds())) == 2
    assert not reading.report.bad_lines
    assert not reading.report.repaired


def test_line_separators_inside_strings_are_content(read_records: ReadRecords) -> None:
    """FMT-03: lines end at the byte 0x0A alone."""
    words = "one\u2028two\u2029three\x85four\x0bfive"
    session, report = read_records(user(words))
    assert session.rounds[0].prompt is not None
    assert session.rounds[0].prompt.text == words
    assert not report.bad_lines


def test_null_characters_and_lone_surrogates_are_survived(read_records: ReadRecords) -> None:
    """FMT-03: ``\\u0000`` is content; a lone surrogate becomes U+FFFD and is counted."""
    line = b'{"type":"user","message":{"content":"a\\u0000b \\ud83d c"}}'
    session, report = read_records(line)
    assert session.rounds[0].prompt is not None
    assert session.rounds[0].prompt.text == "a\x00b \ufffd c"
    assert report.repaired["lone surrogate"] == 1


def test_a_three_megabyte_line_is_read(read_records: ReadRecords) -> None:
    """FMT-22: longer than every buffer."""
    words = "x" * 3_000_000
    session, _ = read_records(user(words), user("after"))
    assert [len(r.prompt.text) for r in session.rounds if r.prompt] == [3_000_000, 5]


@pytest.mark.parametrize("size", [1, 7, 4096, 262_143, 262_144, 262_145, 1_100_000])
def test_the_line_reader_gives_every_line_at_every_size(tmp_path: Path, size: int) -> None:
    """FMT-03: whatever falls on a buffer's edge."""
    lines = [bytes([65 + n % 26]) * (size if n % 3 else n) for n in range(9)]
    path = tmp_path / "f"
    path.write_bytes(b"\n".join(lines))
    reader = LineReader(path)
    assert [bytes(reader.data[a:b]) for a, b in reader] == lines
    assert reader.number == len(lines)


def test_the_line_reader_can_begin_in_the_middle(tmp_path: Path) -> None:
    """A grown file is read from where the last reading ended."""
    path = tmp_path / "f"
    path.write_bytes(b"one\ntwo\nthree\n")
    reader = LineReader(path, start=4)
    assert [bytes(reader.data[a:b]) for a, b in reader] == [b"two", b"three"]


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    """What is left is read; nothing crashes."""
    path = tmp_path / "s.jsonl"
    line = as_line(user("x" * 1000)) + b"\n"
    path.write_bytes(line * 2000)
    rounds = ClaudeReading(path).rounds()
    assert next(rounds).number == 1
    os.truncate(path, 10)
    assert len(list(rounds)) < 2000


def test_look_alikes_of_other_tools_are_named(tmp_path: Path) -> None:
    """Qwen Code writes the same envelope around ``message.parts``."""
    message = {"role": "user", "parts": [{"text": "hi"}]}
    path = tmp_path / "q.jsonl"
    path.write_bytes(as_line({"type": "user", "uuid": "u", "message": message}) + b"\n")
    (transcript,), _ = discover([path])
    assert overview(transcript).problem == "a transcript of Qwen Code"


def test_a_file_that_is_no_transcript_is_named(tmp_path: Path) -> None:
    """JSON lines of something else entirely."""
    path = tmp_path / "data.jsonl"
    path.write_text('{"role":"x"}\n{"n":1}\n')
    (transcript,), _ = discover([path])
    assert overview(transcript).problem == "no record of Claude Code in it"


def test_an_empty_file_is_an_empty_session(tmp_path: Path) -> None:
    """2.0.77 leaves such files behind."""
    path = tmp_path / "s.jsonl"
    path.touch()
    session = read_session(ClaudeReading(path))
    assert (session.rounds, session.info.prompts) == ((), 0)


def test_unreadable_places_are_troubles_and_the_rest_is_found(tmp_path: Path) -> None:
    """A folder without permission, a dangling link: named by doctor, and passed over."""
    projects = tmp_path / "projects"
    (projects / "p").mkdir(parents=True)
    (projects / "p" / "good.jsonl").write_bytes(GOOD + b"\n")
    (projects / "p" / "gone.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    closed = projects / "closed"
    closed.mkdir()
    closed.chmod(0)
    try:
        transcripts, troubles = discover([tmp_path])
    finally:
        closed.chmod(0o700)
    assert [t.session_id for t in transcripts] == ["good"]
    reasons = {trouble.path.name: trouble.reason for trouble in troubles}
    assert reasons["gone.jsonl"] == "a link to a file that is not there"
    if os.geteuid() != 0:  # root may read everything
        assert reasons["closed"] == "permission denied"


def test_a_file_that_vanishes_between_finding_and_reading(tmp_path: Path) -> None:
    """A problem of that one session, for sessions and doctor alike."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(GOOD + b"\n")
    archive = Archive(tmp_path / "archive", (tmp_path,))
    assert len(archive.library.transcripts) == 1
    path.unlink()
    (pair,) = archive.library.overviews()
    assert pair[1].problem == "no such file or directory"
    assert [t.reason for t in diagnose(archive).foreign] == ["no such file or directory"]


def test_a_root_that_does_not_exist_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    """FMT-01: what a person typed wrong is said, not ignored."""
    with pytest.raises(NotFound, match="There is no folder or transcript at"):
        discover([tmp_path / "nowhere"])


def test_doctor_names_every_bad_line(tmp_path: Path) -> None:
    """FMT-23: file, line and reason."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n".join([GOOD, b"{broken", as_line(assistant("ok")), b""]))
    (bad,) = diagnose(Archive(tmp_path / "archive", (path,))).bad_files
    assert (bad.path, [(line.line, line.reason) for line in bad.bad_lines]) == (
        path,
        [(2, "half-written or broken JSON")],
    )


def test_settings_that_are_broken_fall_back_to_thirty_days(tmp_path: Path) -> None:
    """FMT-23: ``cleanupPeriodDays`` where it is configured, else the default."""
    from minutebook.sources.claude_code.settings import retention_days

    assert retention_days(tmp_path) == 30
    (tmp_path / "settings.json").write_text("{ // comments\n")
    assert retention_days(tmp_path) == 30
    (tmp_path / "settings.json").write_text(json.dumps({"cleanupPeriodDays": 99999}))
    assert retention_days(tmp_path) == 99999


def test_links_in_circles_and_pipes_are_passed_over(tmp_path: Path) -> None:
    """A loop of links, a pipe where a transcript or an agent should be: nothing waits or stops."""
    projects = tmp_path / "projects"
    (projects / "p").mkdir(parents=True)
    (projects / "p" / "good.jsonl").write_bytes(GOOD + b"\n")
    (projects / "loop").symlink_to(projects / "loop")
    os.mkfifo(projects / "p" / "pipe.jsonl")
    os.mkfifo(projects / "p" / "agent-pipe.jsonl")
    (projects / "p" / "folder.jsonl").mkdir()
    archive = Archive(tmp_path / "archive", (tmp_path,))
    assert [t.session_id for t in archive.library.transcripts] == ["good"]
    names = {trouble.path.name for trouble in diagnose(archive).troubles}
    assert names >= {"loop", "pipe.jsonl", "agent-pipe.jsonl"}


def test_megabytes_of_blanks_do_not_hang(read_records: ReadRecords) -> None:
    """No expression backtracks over what a transcript holds."""
    blanks = " " * 200_000
    session, _ = read_records(
        user("<command-name>" + blanks + "x"),
        user("<system-reminder>" * 20_000),
        user("/rename" + blanks + "\nx"),
        user("<task-notification><summary>" + blanks),
        user("<bash-input>" + blanks),
    )
    assert session.info.prompts >= 2


def test_memory_is_bounded_by_rounds_not_by_the_file(tmp_path: Path) -> None:
    """FMT-22: sixty rounds of a megabyte each, read in far less than the file holds."""
    import subprocess
    import sys

    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        for number in range(60):
            file.write(as_line(user(f"{number} " + "x" * 1_000_000)) + b"\n")
            file.write(as_line(assistant("ok", id=f"m{number}")) + b"\n")
    code = (
        "import sys, resource\n"
        "from pathlib import Path\n"
        "from minutebook.sources.claude_code.read import ClaudeReading\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "for depth in ('skim', 'full'):\n"
        "    for round in ClaudeReading(Path(sys.argv[1]), depth).rounds(): pass\n"
        "print((peak() - before) // 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 30, "megabytes above the start, for a file of sixty"


@pytest.mark.parametrize(
    ("settings", "days"),
    [('{"cleanupPeriodDays": -5}', 30), ('{"cleanupPeriodDays": ' + "9" * 400 + "}", 30)],
)
def test_odd_settings(tmp_path: Path, settings: str, days: int) -> None:
    """FMT-23: a number nobody can mean is not believed."""
    from minutebook.sources.claude_code.settings import retention_days

    (tmp_path / "settings.json").write_text(settings)
    assert retention_days(tmp_path) == days
    (tmp_path / "settings.json").write_bytes(b"\xef\xbb\xbf" + b'{"cleanupPeriodDays": 5}')
    assert retention_days(tmp_path) == 5
