"""``engagement.md``: written, edited by hand, broken, killed in mid-write, by two (FUT-01)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from minutebook import engagement
from minutebook.cli.main import main
from minutebook.cli.remedies import worded
from minutebook.errors import Ambiguous, BadArgument, Conflict, NotFound
from minutebook.model.prospective import EngagementFile
from minutebook.record.engagement_files import ProjectEngagements
from minutebook.record.engagement_text import Draft
from minutebook.record.store import write_new

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)

BY_HAND = """---
# kept by Mara
engagement_id: passkeys   # short
mood: "hopeful"
method: build
phase: implement
obligations:
  # the first is old
  - Tell ops
  - what: Write the changelog
    due: 2026-03-01
  # none after this
phases_completed: [{phase: started, at: 2026-03-01T09:00:00+01:00}]
nested: {a: [1, 2], b: null}
sessions: []
---

# Passkey   login

Some *text* with --- and\ttabs.

---

key: value
"""


def begun(project: Path, topic: str = "Passkey login", method: str = "build") -> EngagementFile:
    return engagement.start(project, topic, method, now=NOON).engagement


def only(project: Path) -> EngagementFile:
    (file,) = engagement.listed(project)
    return file


# -- the course of an engagement


def test_start_writes_one_file_and_says_which(tmp_path: Path) -> None:
    """FUT-01: `start` makes engagement.md, names it, and touches nothing else."""
    (tmp_path / ".gitignore").write_text("build/\n")
    done = engagement.start(tmp_path, "Passkey login", "build", actors=["Reed"], now=NOON)
    assert done.created == (str(tmp_path / "engagement.md"),)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".gitignore", "engagement.md"]
    assert (tmp_path / ".gitignore").read_text() == "build/\n"
    front = yaml.safe_load((tmp_path / "engagement.md").read_text().split("---\n")[1])
    assert list(front) == [
        *("engagement_id", "method", "phase", "started", "updated", "phases_completed"),
        *("obligations", "actors", "domains", "parent_engagement", "sessions"),
    ]
    assert front["phase"] == "started" and front["actors"] == ["Reed"]


def test_times_are_local_with_their_offset(tmp_path: Path) -> None:
    """FUT-01: the clock can be given, and is written as a local time with its offset."""
    assert begun(tmp_path).started == NOON.astimezone().isoformat(timespec="seconds")


def test_a_step_goes_from_phase_to_phase(tmp_path: Path) -> None:
    """FUT-01: each step is noted with when the one before it was left."""
    begun(tmp_path)
    engagement.advance(tmp_path, "implement", now=NOON)
    found = engagement.advance(tmp_path, "test", note="green", now=LATER).engagement
    assert found.phase == "test"
    assert [passed.phase for passed in found.phases_completed] == ["started", "implement"]
    assert found.body.rstrip().endswith(": green")


def test_a_step_the_graph_does_not_have_is_refused(tmp_path: Path) -> None:
    """FUT-01: the sentence names the allowed steps, and the file keeps its bytes."""
    begun(tmp_path)
    before = (tmp_path / "engagement.md").read_bytes()
    with pytest.raises(BadArgument, match="choose one of design, implement"):
        engagement.advance(tmp_path, "review")
    assert (tmp_path / "engagement.md").read_bytes() == before


def test_force_records_the_violation(tmp_path: Path) -> None:
    """FUT-01: the file says which step was taken against the graph, and when."""
    begun(tmp_path)
    done = engagement.advance(tmp_path, "review", force=True, now=LATER)
    (violation,) = done.engagement.violations
    assert done.violation and (violation.before, violation.after) == ("started", "review")


def test_closing_moves_the_file(tmp_path: Path) -> None:
    """FUT-01: engagements/archive/<id>.md; nothing is current afterwards."""
    id = begun(tmp_path, method="discuss").id
    done = engagement.close(tmp_path, outcome="Agreed.", now=LATER)
    assert done.engagement.path == str(tmp_path / "engagements" / "archive" / f"{id}.md")
    assert done.engagement.phase == "completed" and not (tmp_path / "engagement.md").exists()
    with pytest.raises(NotFound) as refused:
        engagement.status(tmp_path)
    assert "`minutebook engagement start` begins one." in worded(refused.value)


def test_beside_an_open_one_start_asks(tmp_path: Path) -> None:
    """FUT-01: --child or --switch; nothing is written before that is said."""
    begun(tmp_path)
    with pytest.raises(Conflict, match="is open in") as refused:
        engagement.start(tmp_path, "Other", "debug")
    assert re.search(r"--child .* --switch", worded(refused.value))
    assert only(tmp_path).topic == "Passkey login"


def test_beside_a_finished_one_start_says_so(tmp_path: Path) -> None:
    """FUT-01: one that was ended by hand is not called open, and can be moved to the archive."""
    ended = begun(tmp_path)
    path = tmp_path / "engagement.md"
    path.write_text(path.read_text().replace("phase: started", "phase: completed"))
    with pytest.raises(Conflict, match="has ended, but is still in"):
        engagement.start(tmp_path, "Other", "debug")
    with pytest.raises(BadArgument, match="no open engagement"):
        engagement.start(tmp_path, "Other", "debug", child=True)
    engagement.start(tmp_path, "Other", "debug", switch=True)
    assert (tmp_path / "engagements" / "archive" / f"{ended.id}.md").exists()


def test_closing_answers_beside_any_number_of_closed_ones(tmp_path: Path) -> None:
    """FUT-01: the file just written is read by its path, though a list of files is bounded."""
    closed = tmp_path / "engagements" / "archive"
    closed.mkdir(parents=True)
    for number in range(501):
        (closed / f"z{number}.md").write_text(f"---\nengagement_id: z{number}\n---\n")
    begun(tmp_path)
    done = engagement.close(tmp_path, phase="abandoned", now=LATER)
    assert (done.engagement.phase, done.engagement.place) == ("abandoned", "archived")


@pytest.mark.parametrize("verb", ["start", "advance"])
def test_a_refusal_shows_no_secret(tmp_path: Path, verb: str) -> None:
    """ARC-06: a key in a file's title or phase is not in the sentence."""
    path, secret = tmp_path / "engagement.md", "sk-ant-" + "api03-" + "aB3dE6gH9jK2mN5pQ8sT1v" * 4
    begun(tmp_path, "Rotate it")
    text = path.read_text().replace("# Rotate it", f"# Rotate {secret}")
    path.write_text(text.replace("phase: started", f"phase: {secret}"))
    with pytest.raises((Conflict, BadArgument)) as refused:
        if verb == "start":
            engagement.start(tmp_path, "Other", "debug")
        else:
            engagement.advance(tmp_path, "nowhere")
    assert "sk-ant-" in str(refused.value) and secret[13:] not in str(refused.value)


def test_a_child_waits_for_its_end_and_gives_back(tmp_path: Path) -> None:
    """FUT-01: the parent moves aside, and is the current one again when the child is closed."""
    parent = begun(tmp_path)
    child = engagement.start(tmp_path, "A detail", "discuss", child=True, now=NOON).engagement
    assert child.parent_engagement == parent.id
    assert (tmp_path / "engagements" / f"{parent.id}.md").exists()
    engagement.close(tmp_path, now=LATER)
    assert engagement.status(tmp_path).engagement.id == parent.id
    assert engagement.status(tmp_path).engagement.place == "current"


def test_what_was_put_aside_is_reached_by_its_id(tmp_path: Path) -> None:
    """FUT-01: --switch leaves the other one open in engagements/."""
    first = begun(tmp_path)
    second = engagement.start(tmp_path, "Other", "debug", switch=True, now=NOON).engagement
    assert second.parent_engagement is None
    moved = engagement.advance(tmp_path, "implement", id=first.id, now=LATER).engagement
    assert (moved.place, moved.phase) == ("open", "implement")


def test_what_is_blocked_goes_on_where_it_was(tmp_path: Path) -> None:
    """FUT-01: a pause is not a way around the graph."""
    begun(tmp_path)
    engagement.advance(tmp_path, "implement")
    found = engagement.advance(tmp_path, "blocked")
    assert {"implement", "test"} <= set(found.allowed) and "review" not in found.allowed


def test_obligations_are_owed_overdue_and_done(tmp_path: Path) -> None:
    """FUT-01: with the day they are due; one that is due today is not overdue."""
    begun(tmp_path)
    engagement.note(tmp_path, obligation="Tell ops", due="2026-03-04", now=NOON)
    engagement.note(tmp_path, obligation="Write: docs", due="5d", now=NOON)
    assert engagement.status(tmp_path, now=NOON).overdue == ()
    (late,) = engagement.status(tmp_path, now=LATER).overdue
    assert late.what == "Tell ops"
    engagement.note(tmp_path, done=1, now=LATER)
    found = engagement.status(tmp_path, now=LATER)
    assert found.overdue == () and [o.what for o in found.engagement.owed] == ["Write: docs"]


@pytest.mark.parametrize("id", ["../x", "a/b", "", ".hidden", "a" * 81, "x\ny"])
def test_an_id_is_a_harmless_file_name(tmp_path: Path, id: str) -> None:
    """FUT-01: nothing is written outside the folder."""
    if id:
        with pytest.raises(BadArgument, match="not an id"):
            engagement.start(tmp_path, "Topic", "build", id=id)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_may_be_named_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FUT-01: as the documentation does, `~` is the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "orchard").mkdir()
    engagement.start("~/orchard", "Passkey login", "build")
    assert [file.project for file in engagement.listed("~/orchard")] == [str(tmp_path / "orchard")]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """FUT-01: it is never made."""
    with pytest.raises(BadArgument, match="There is no folder"):
        engagement.start(tmp_path / "gone", "Topic", "build")


# -- files by hand


def test_what_a_person_wrote_survives(tmp_path: Path) -> None:
    """FUT-01: keys, comments, order and text of a person's own stay byte for byte."""
    path = tmp_path / "engagement.md"
    path.write_text(BY_HAND)
    engagement.advance(tmp_path, "test", now=NOON)
    engagement.note(tmp_path, "a line", obligation="New one", now=NOON)
    engagement.note(tmp_path, done=1, now=NOON)
    engagement.note(tmp_path, done=2, now=NOON)
    now = path.read_text()
    body = BY_HAND.split("---\n", 2)[2]
    assert now.split("---\n", 2)[2].startswith(body)
    for line in BY_HAND.split("---\n", 2)[1].splitlines():
        if not line.startswith(("phase:", "phases_completed", "  - Tell ops")):
            assert f"{line}\n" in now, line
    found = only(tmp_path)
    assert found.problems == () and found.phase == "test"
    assert [o.what for o in found.obligations] == ["Tell ops", "Write the changelog", "New one"]
    assert [o.done is not None for o in found.obligations] == [True, True, False]


def test_windows_line_ends_and_a_mark_stay(tmp_path: Path) -> None:
    """FUT-01: CRLF and a byte order mark are kept."""
    path = tmp_path / "engagement.md"
    path.write_bytes(b"\xef\xbb\xbf" + BY_HAND.replace("\n", "\r\n").encode())
    engagement.advance(tmp_path, "test", note="x", now=NOON)
    now = path.read_bytes()
    assert now.startswith(b"\xef\xbb\xbf---\r\n")
    assert now.count(b"\n") == now.count(b"\r\n")


def test_who_may_read_it_stays(tmp_path: Path) -> None:
    """FUT-01: a change keeps the file's mode."""
    begun(tmp_path)
    (tmp_path / "engagement.md").chmod(0o644)
    engagement.advance(tmp_path, "implement")
    assert (tmp_path / "engagement.md").stat().st_mode & 0o777 == 0o644


BIG = BY_HAND + "x" * 5_000_000
CONFLICT = BY_HAND.replace(
    "phase: impl", "<<<<<<< HEAD\nphase: test\n=======\nphase: impl"
).replace("obligations:", ">>>>>>> other\nobligations:")
STAIRS = "".join(f"{' ' * depth}x:\n" for depth in range(340))
BROKEN = {
    "no frontmatter": ("# Only a title\n\nwords\n", "no frontmatter"),
    "empty": ("", "no frontmatter"),
    "no end": ("---\nengagement_id: x\n", "has no end"),
    "not YAML": ("---\nphase: [a\n---\n\n# T\n", "not YAML"),
    "a list": ("---\n- a\n---\n", "has no fields"),
    "merge conflict": (CONFLICT, "merge conflict markers"),
    "5 MB": (BIG, "only its beginning was read"),
    "not a list": (BY_HAND.replace("sessions: []", "sessions: {a: b}"), "sessions is not a list"),
    "not a word": (BY_HAND.replace("method: build", "method: [a]"), "method is not a word"),
    "not a time": (BY_HAND.replace("sessions: []", "started: soon"), "started is not a time"),
    "a number owed": (
        BY_HAND.replace("  - Tell ops", "  - 7"),
        "1 of the obligations cannot",
    ),
    "an impossible day": (
        BY_HAND.replace("due: 2026-03-01", "due: 2026-99-31"),
        "obligation 2 has a due date that does not exist: '2026-99-31'",
    ),
    "odd items": (BY_HAND.replace("  - Tell ops", "  - [1]"), "1 of the obligations cannot"),
    "aliases": (BY_HAND.replace('"hopeful"', "&a [x, x]\nworse: [*a, *a]"), "anchors or aliases"),
    "long": (BY_HAND.replace("hopeful", "x" * 70_000), "longer than 64 KB"),
    "stairs": ("---\nphase: a\n" + STAIRS + "---\n", "no engagement_id"),
    "deep": ("---\nx: " + "[" * 5000 + "\n---\n", "nested too deeply"),
}


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("# Login", "Login"),
        ("#  Login ## ", "Login"),
        ("# C# and F#", "C# and F"),
        ("# Login\r", "Login"),
        ("#\n\n# Login", "Login"),
        ("# " + "#" * 900_000 + "x", "#" * 300),
    ],
)
def test_the_title_is_the_first_heading(tmp_path: Path, line: str, topic: str) -> None:
    """FUT-01: without closing hashes, in one pass over the file however many there are."""
    (tmp_path / "engagement.md").write_text(f"---\nengagement_id: a\n---\n{line}\n\n# Other\n")
    assert only(tmp_path).topic == topic


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_reported(tmp_path: Path, kind: str) -> None:
    """FUT-01: what is wrong is said in a sentence; reading never fails."""
    text, problem = BROKEN[kind]
    (tmp_path / "engagement.md").write_text(text)
    assert any(problem in told for told in only(tmp_path).problems), only(tmp_path).problems


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("verb", ["advance", "note", "close", "start"])
def test_a_broken_file_loses_nothing(tmp_path: Path, kind: str, verb: str) -> None:
    """FUT-01: a verb either refuses, or leaves everything that stood there in the file."""
    text, _ = BROKEN[kind]
    (tmp_path / "engagement.md").write_text(text)
    try:
        match verb:
            case "advance":
                engagement.advance(tmp_path, "test", force=True)
            case "note":
                engagement.note(tmp_path, "a line", obligation="x")
            case "close":
                engagement.close(tmp_path, force=True)
            case "start":
                engagement.start(tmp_path, "Other", "build", switch=True)
    except (Conflict, BadArgument):
        assert (tmp_path / "engagement.md").read_text() == text
        return
    held = [path.read_text() for path in tmp_path.rglob("*.md")]
    lines = [line for line in text.splitlines() if not line.startswith(("phase", "obligations"))]
    assert any(all(line in now for line in lines) for now in held)


def test_an_unknown_method_is_reported_and_can_go_on(tmp_path: Path) -> None:
    """FUT-01: it has the steps that every method has."""
    text = BY_HAND.replace("method: build", "method: gardening").replace("implement", "in-progress")
    (tmp_path / "engagement.md").write_text(text)
    found = engagement.status(tmp_path)
    assert any("'gardening' is not a method" in told for told in found.engagement.problems)
    assert engagement.advance(tmp_path, "completed").engagement.phase == "completed"


def test_two_with_one_id_are_reported_and_left_alone(tmp_path: Path) -> None:
    """FUT-01: both name the other; no verb guesses which is meant."""
    (tmp_path / "engagements").mkdir()
    paths = [tmp_path / "engagement.md", tmp_path / "engagements" / "other.md"]
    for path in paths:
        path.write_text(BY_HAND)
    assert all("is also that of" in f.problems[-1] for f in engagement.listed(tmp_path))
    for id in (None, "passkeys"):
        with pytest.raises(Ambiguous):
            engagement.advance(tmp_path, "test", id=id)
    assert [path.read_text() for path in paths] == [BY_HAND, BY_HAND]


def test_links_are_not_followed(tmp_path: Path) -> None:
    """FUT-01: neither a link to a file elsewhere nor a linked folder is read or written."""
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    project.mkdir()
    (outside / "secret.md").write_text(BY_HAND)
    (project / "engagement.md").symlink_to(outside / "secret.md")
    (project / "engagements").symlink_to(outside)
    (file,) = engagement.listed(project)
    assert "it is a link" in file.problems[0] and file.method == ""
    with pytest.raises(Conflict):
        engagement.advance(project, "test")
    with pytest.raises(Conflict):
        engagement.start(project, "Other", "build", switch=True)
    assert (outside / "secret.md").read_text() == BY_HAND
    assert sorted(os.listdir(outside)) == ["secret.md"]  # noqa: PTH208 - names are enough


def test_a_folder_in_its_place_is_not_called_open(tmp_path: Path) -> None:
    """FUT-01: `start` and `note` say what stands there; nothing is written."""
    (tmp_path / "engagement.md").mkdir()
    for do in (lambda: begun(tmp_path), lambda: engagement.note(tmp_path, "a word")):
        with pytest.raises(Conflict, match=r"left alone: (it cannot be read|it is not|is a)"):
            do()


def test_a_link_in_its_place_is_called_a_link(tmp_path: Path) -> None:
    """FUT-01: in words, not in those of the operating system."""
    (tmp_path / "engagement.md").symlink_to(tmp_path / "elsewhere.md")
    with pytest.raises(Conflict, match="was left alone: it is a link"):
        engagement.note(tmp_path, "a word")


def typed(*args: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["engagement", *args])
    return int(end.value.code or 0)


def test_the_list_needs_no_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """FUT-01: what is overdue in this folder is listed before there is an archive; one that was
    named must be there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MINUTEBOOK_ARCHIVE", raising=False)
    (tmp_path / "engagement.md").write_text(BY_HAND)
    assert typed("list", "--overdue") == 0
    assert "1 OVERDUE" in capsys.readouterr().out
    assert typed("list", "--archive", str(tmp_path / "none")) == 2
    monkeypatch.setenv("MINUTEBOOK_ARCHIVE", str(tmp_path / "none"))
    assert typed("list") == 2


def test_closing_with_something_owed_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """FUT-01: an obligation is not forgotten silently."""
    (tmp_path / "engagement.md").write_text(BY_HAND)
    assert typed("close", "--as", "abandoned", "--dir", str(tmp_path)) == 0
    told = capsys.readouterr().err
    assert "Closed with 2 obligations still owed, 1 of them overdue" in told


def test_the_status_of_a_broken_file_has_no_empty_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """FUT-01: what is not known is said so."""
    (tmp_path / "engagement.md").write_text(BROKEN["not YAML"][0])
    assert typed("status", "--dir", str(tmp_path)) == 0
    told = capsys.readouterr()
    assert "  its phase is not known\n" in told.out and "not YAML" in told.err


def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    """FUT-01: what is not a plain file is reported."""
    os.mkfifo(tmp_path / "engagement.md")
    assert "not a plain file" in only(tmp_path).problems[0]


words = st.text(st.characters(codec="utf-8"), max_size=40)


@given(value=words, item=words)
def test_any_words_come_back(value: str, item: str) -> None:
    """FUT-01: whatever is written as a value is read back, or nothing is written."""
    draft = Draft(BY_HAND.encode(), "x")
    try:
        draft.set("mood", value)
        draft.append("obligations", {"what": item})
        content = draft.content
    except Conflict:
        return
    front = yaml.load(content.decode().split("---\n")[1], Loader=yaml.BaseLoader)
    assert (front["mood"], front["obligations"][-1]["what"]) == (value, item)
    assert content.decode().endswith(BY_HAND.split("---\n", 2)[2])


# -- several at once


def test_an_edit_in_between_is_never_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FUT-01: somebody saves the file between our reading and our writing: they win."""
    begun(tmp_path)
    path = tmp_path / "engagement.md"
    theirs = path.read_text() + "\nTheir words.\n"

    def meanwhile(partial: Path, content: bytes) -> None:
        write_new(partial, content)
        path.write_text(theirs)

    monkeypatch.setattr("minutebook.record.engagement_files.write_new", meanwhile)
    with pytest.raises(Conflict, match="changed by another program"):
        engagement.advance(tmp_path, "implement")
    assert path.read_text() == theirs
    assert [p.name for p in tmp_path.iterdir()] == ["engagement.md"]


def test_of_two_writers_one_wins_and_the_other_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FUT-01: both have read the same file; one step is taken, not two, not half of each."""
    begun(tmp_path)
    both = threading.Barrier(2)
    read = ProjectEngagements.content

    def together(home: ProjectEngagements, file: EngagementFile) -> bytes:
        content = read(home, file)
        both.wait(10)
        return content

    monkeypatch.setattr(ProjectEngagements, "content", together)
    ends: list[str] = []

    def go(step: str) -> None:
        try:
            ends.append(engagement.advance(tmp_path, step).engagement.phase)
        except Conflict as error:
            ends.append(str(error))

    threads = [threading.Thread(target=go, args=(step,)) for step in ("design", "implement")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [end for end in ends if "changed by another program" in end]
    won = [end for end in ends if end in ("design", "implement")]
    assert len(told) == len(won) == 1
    assert only(tmp_path).phase == won[0] and len(only(tmp_path).phases_completed) == 1


_WRITER = """
import sys
from pathlib import Path
from minutebook import engagement
from minutebook.cli.main import main
print("ready", flush=True)
number = 0
while True:
    number += 1
    engagement.note(sys.argv[1], "line %d " % number + "x" * 5_000)
"""


@pytest.mark.parametrize("wait", [0.05, 0.15, 0.25, 0.4])
def test_a_kill_leaves_the_old_or_the_new(tmp_path: Path, wait: float) -> None:
    """FUT-01: kill -9 in mid-write; the file is whole, and the next verb sweeps what was left."""
    begun(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    threading.Event().wait(wait)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    found = only(tmp_path)
    text = (tmp_path / "engagement.md").read_text()
    lines = [line for line in text.splitlines() if "x" * 100 in line]
    assert found.problems == () and found.phase == "started"
    assert all(line.endswith("x" * 5_000) for line in lines) and text.endswith("\n")
    engagement.note(tmp_path, "after")
    assert [path.name for path in tmp_path.iterdir()] == ["engagement.md"]
