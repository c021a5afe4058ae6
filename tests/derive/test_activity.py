"""What was done in a round, from its calls and their results."""

from __future__ import annotations

import pytest

from minutebook.derive.activity import ANSWER_CHARS, PROMPT_CHARS, Commit, activity
from minutebook.derive.calls import Choice
from minutebook.extract.material import hidden
from tests.conftest import ReadRecords, assistant, tool_result, tool_use, user


def test_files_commits_and_requests_are_found(read_records: ReadRecords) -> None:
    """Edited files, commits as git reports them, pull requests the session itself opened."""
    url = "https://github.com/mara/orchard/pull/12"
    session, _ = read_records(
        user("Fix the redirect, commit and open a PR"),
        assistant(
            tool_use("t1", "Edit", file_path="/o/a.py", old_string="x", new_string="y"),
            tool_use("t2", "Edit", file_path="/o/a.py", old_string="y", new_string="z"),
            tool_use("t3", command="pytest -q"),
            tool_use("t4", command="git commit -am fix"),
            tool_use("t5", command="gh pr create --fill"),
            tool_use("t6", command="gh pr view 99"),
            tool_use("t7", command="git commit --amend -m 'Fix it'"),
        ),
        tool_result("t3", "1 failed", is_error=True),
        tool_result("t4", "[main 1a2b3c4] Fix the redirect\n 1 file changed"),
        tool_result("t5", url),
        tool_result("t6", "https://github.com/mara/orchard/pull/99"),
        tool_result("t7", "[main 2b3c4d5] Fix it\n 1 file changed"),
        assistant("Done: it is open.", id="msg_2"),
    )
    seen = activity(session.rounds[0])
    assert seen.files == ("/o/a.py",)
    assert (seen.edits, seen.tests, seen.committing) == (2, 1, 2)
    amended = Commit("2b3c4d5", "Fix it", amends=True)
    assert seen.commits == (Commit("1a2b3c4", "Fix the redirect"), amended)
    assert seen.pull_requests == (url,)
    assert seen.closes and seen.answer == "Done: it is open."


def test_a_rebase_makes_no_new_work(read_records: ReadRecords) -> None:
    """Commits on no branch are made anew where a rebase runs; elsewhere that is how one works."""
    session, _ = read_records(
        user("Rebase it"),
        assistant(
            tool_use("t1", command="git rebase --continue"),
            tool_use("t2", command="git commit -am 'Sort the seeds'"),
        ),
        tool_result("t1", "[detached HEAD 1a2b3c4] Paint the gate\n 1 file changed"),
        tool_result("t2", "[detached HEAD 2b3c4d5] Sort the seeds\n 1 file changed"),
    )
    assert [commit.replayed for commit in activity(session.rounds[0]).commits] == [True, False]


@pytest.mark.parametrize(
    ("command", "replayed"),
    [
        ("git --no-pager rebase --continue", True),
        ("git -C /o -c core.editor=true rebase --continue", True),
        ("GIT_EDITOR=true git rebase --continue", True),
        ("cd /o && git cherry-pick 1a2b3c4", True),
        ("git commit -m 'Explain git rebase in the guide'", False),
        ("git commit -m 'Paint the gate' && git rebase --continue", False),
        ("grep -rn 'git rebase' docs", False),
    ],
)
def test_what_a_rebase_replays_is_told_by_its_command(
    read_records: ReadRecords, command: str, replayed: bool
) -> None:
    """UND-02: a message about a rebase is none, and what is committed beside one is new."""
    session, _ = read_records(
        user("Go on"),
        assistant(tool_use("t1", command=command)),
        tool_result("t1", "[detached HEAD 1a2b3c4] Paint the gate\n 1 file changed"),
    )
    (commit,) = activity(session.rounds[0]).commits
    assert commit.replayed is replayed


def test_a_here_strings_mark_is_no_part_of_a_subject(read_records: ReadRecords) -> None:
    """UND-02, SHARE-02: PowerShell's ``@'`` around a message, which another shell handed to git."""
    session, _ = read_records(
        user("Commit the ladder"),
        assistant(tool_use("t1", command="git commit -m @'\nfeat: Mend the ladder\n'@")),
        tool_result("t1", "[main 1a2b3c4] @ feat: Mend the ladder\n 1 file changed"),
    )
    (commit,) = activity(session.rounds[0]).commits
    assert commit.subject == "feat: Mend the ladder"


def test_a_round_that_only_looks_closes_nothing(read_records: ReadRecords) -> None:
    """Reading a log that mentions commits is not committing."""
    session, _ = read_records(
        user("What happened?"),
        assistant(tool_use("t1", command="git log"), tool_use("t2", "Read", file_path="/o/a.py")),
        tool_result("t1", "commit 1a2b3c4\n    Fix"),
        assistant("Little.", id="msg_2"),
    )
    seen = activity(session.rounds[0])
    assert not seen.closes and not seen.files
    assert (seen.reads, seen.shells) == (1, 1)


def test_long_words_are_shortened_in_the_middle(read_records: ReadRecords) -> None:
    """The beginning and the end of an answer are where it says what came of it."""
    session, _ = read_records(user("Go"), assistant("start " + "x" * 50_000 + " end"))
    answer = activity(session.rounds[0]).answer
    assert len(answer) < ANSWER_CHARS + 10
    assert answer.startswith("start") and answer.endswith("end")


def test_odd_inputs_are_no_trouble(read_records: ReadRecords) -> None:
    """Commands that are numbers, inputs that are lists, results without text."""
    session, _ = read_records(
        user("Go"),
        assistant(
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": 7}},
            {"type": "tool_use", "id": "t2", "name": "Edit", "input": ["file_path"]},
            {"type": "tool_use", "id": "t3", "name": "Bash", "input": None},
        ),
        tool_result("t1", [{"type": "image", "source": {}}]),
    )
    assert activity(session.rounds[0]).shells == 2


def test_plans_tasks_titles_and_choices_are_found(read_records: ReadRecords) -> None:
    """UND-02, UND-03: what a topic and a decision can be made of: a plan's heading, the list of
    things to do, a request's title, and what the person chose over what."""
    asked = [
        {"question": "Which store?", "options": [{"label": "SQLite"}, {"label": "Postgres"}]},
        "nonsense",
    ]
    session, _ = read_records(
        user("Implement it"),
        assistant("I'll start with the store."),
        assistant(
            tool_use("t1", "ExitPlanMode", plan="# Plan: keep rows\n\nText"),
            tool_use("t2", "TodoWrite", todos=[{"content": "Write  the store"}, 7]),
            tool_use("t3", "Task", description="Review the store", prompt="…"),
            tool_use("t4", command='gh pr create --title "Keep rows in SQLite" --fill'),
            tool_use("t5", "AskUserQuestion", questions=asked),
            id="msg_2",
        ),
        tool_result("t4", "https://github.com/mara/orchard/pull/12"),
        tool_result("t5", 'User has answered your questions: "Which store?"="SQLite".'),
        assistant("Done.", id="msg_3"),
    )
    seen = activity(session.rounds[0])
    assert seen.opening == "I'll start with the store."
    assert seen.plan == "Plan: keep rows"
    assert seen.tasks == ("Write the store", "Review the store")
    assert seen.pull_titles == ("Keep rows in SQLite",)
    assert seen.choices == (Choice("Which store?", "SQLite", ("Postgres",)),)


@pytest.mark.parametrize("place", [0, 10, 20, 39])
def test_a_key_is_hidden_before_a_text_is_cut(read_records: ReadRecords, place: int) -> None:
    """NFR-01, ARC-06: a key that stands where a prompt, an answer or a task is cut leaves no half
    of it in what labels are made of."""
    key = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

    def around(cut: int) -> str:
        before = "rotate it " * ((cut - place) // 10)
        return f"{before:{cut - place}}{key} is the new one. {'Done. ' * 1_500}"

    task = tool_use("t1", "TodoWrite", todos=[{"content": around(300), "status": "pending"}])
    session, _ = read_records(
        user(around(PROMPT_CHARS * 2 // 3)),
        assistant(task),
        tool_result("t1", "ok"),
        assistant(around(ANSWER_CHARS * 2 // 3), id="msg_2"),
    )
    seen = activity(session.rounds[0], hidden)
    said = " ".join((seen.prompt, seen.answer, seen.opening, *seen.tasks))
    assert len(seen.answer) <= ANSWER_CHARS + 3 and seen.tasks
    assert "16C7e42F" not in said
    assert "Ae178B4a" not in said
