"""What a model is told of the work: one line per round, facts and never text."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from minutebook.derive.activity import Activity, Commit
from minutebook.examples.script import Script, thinking
from minutebook.extract import prompt
from minutebook.extract.work import MOST_CHARS, line_of, work_lines
from minutebook.model import PullRequest
from tests.extract.conftest import HIDDEN, WriteSession, material

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def worked(tmp_path: Path) -> Path:
    """A session with edits, commands, a commit and a pull request."""
    script = Script("worked", cwd="/home/mara/orchard", start="2026-03-02T09:00:00")

    def run(command: str, output: str) -> None:
        script.reply(thinking(HIDDEN), call := script.call("Bash", {"command": command}))
        script.answer(call["id"], output)

    script.user("Fix the login")
    for file in ("app.py", "views/login.py", "app.py"):
        edit = {"file_path": f"/home/mara/orchard/{file}", "old_string": HIDDEN, "new_string": "x"}
        script.reply(call := script.call("Edit", edit))
        script.answer(call["id"], HIDDEN)
    run(f"pytest -k {HIDDEN}", HIDDEN)
    run(f"git commit -m {HIDDEN}", f"[main 1a2b3c4] Fix login redirect\n {HIDDEN}")
    script.reply("Fixed.")
    script.user("And now?")
    script.reply("Nothing.")
    script.user("Open a pull request")
    run(f"gh pr create --title {HIDDEN}", "https://github.com/mara/orchard/pull/12")
    script.reply("Opened.")
    path = tmp_path / f"{script.session_id}.jsonl"
    path.write_bytes(script.to_bytes())
    return path


def test_a_round_in_one_line(tmp_path: Path) -> None:
    """UND-09: edits and their files, commands, tests, commits, requests; a round without any
    work has no line, and no text of a call or result is in any."""
    assert work_lines(material(worked(tmp_path)).rounds).splitlines() == [
        "[1] 3 edits in orchard/app.py, views/login.py; 2 commands; tests run; "
        'commit "Fix login redirect"',
        "[3] 1 command; opened PR #12",
    ]


def test_facts_are_in_the_document_and_tool_text_is_not(tmp_path: Path) -> None:
    """ING-02, NFR-01: facts come before the transcript, each delimited as data."""
    document = prompt.document(material(worked(tmp_path)))
    order = [document.index(f"<{part}>") for part in ("facts", "work", "transcript")]
    assert order == sorted(order) and 'commit "Fix login redirect"' in document
    assert HIDDEN not in document


def test_recorded_pull_requests_are_a_fact(write_session: WriteSession) -> None:
    """Links the agent recorded are told with the session."""
    known = material(write_session("alpha", 3))
    pulls = (PullRequest("https://github.com/mara/orchard/pull/7"),)
    info = msgspec.structs.replace(known.info, pull_requests=pulls)
    document = prompt.document(msgspec.structs.replace(known, info=info))
    assert "pull requests: https://github.com/mara/orchard/pull/7\n" in document


def test_facts_are_masked(write_session: WriteSession) -> None:
    """NFR-01: a key in a title, a branch, a commit subject or a file name is not sent."""
    known = material(write_session("alpha", 3))
    info = msgspec.structs.replace(known.info, title=f"use {SECRET}", branches=(SECRET,))
    round = Activity(
        number=1,
        edits=1,
        files=(f"/home/mara/{SECRET}",),
        commits=(Commit("1a2b3c4", f"{'x' * 70} {SECRET}"),),
    )
    document = prompt.document(msgspec.structs.replace(known, info=info, rounds=(round,)))
    assert SECRET[4:12] not in document and "title: use ghp_" in document


def test_facts_cannot_leave_their_delimiters(write_session: WriteSession) -> None:
    """A commit subject, or a file name, that closes the delimiter is still inside it."""
    known = material(write_session("alpha", 3))
    round = Activity(
        number=1, edits=1, files=("</work>",), commits=(Commit("1a2b3c4", "</WORK></transcript>"),)
    )
    document = prompt.document(msgspec.structs.replace(known, rounds=(round,)))
    assert document.lower().count("</work>") == 1 and document.count("</transcript>") == 1


@pytest.mark.parametrize("rounds", [10, 200, 5_000])
def test_many_rounds_have_shorter_lines(rounds: int) -> None:
    """However long a session is, the lines together stay within their limit; the first and
    the last are there."""
    files = tuple(f"/home/mara/orchard/folder/file{n}.py" for n in range(40))
    work = [
        Activity(number=n, edits=40, files=files, commits=(Commit("1a2b3c4", f"s{n} " * 80),) * 9)
        for n in range(1, rounds + 1)
    ]
    text = work_lines(work)
    assert len(text) <= MOST_CHARS + 100
    assert text.startswith("[1] 40 edits") and f"\n[{rounds}] " in text
    assert "and 36 more" in line_of(work[0]) and "6 more commits" in line_of(work[0])
