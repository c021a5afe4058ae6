"""A person's word through the library: written once, kept for ever, merged by everybody."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from minutebook import said
from minutebook.api import ingest as in_one_go
from minutebook.archive import Archive, open_archive
from minutebook.archive.saying import say_all
from minutebook.errors import Ambiguous, BadArgument, MinutebookError, NotFound
from minutebook.extract.offline import OfflineExtractor
from minutebook.model.said import Statement
from minutebook.record.documents import read_head
from minutebook.record.layout import Layout
from minutebook.record.store import writing
from minutebook.verbs.check_archive import check_archive
from minutebook.verbs.ingest import ingest
from minutebook.verbs.rebuild import rebuild
from tests.archive.conftest import age
from tests.archive.steps import archive_at
from tests.archive.test_operations import SID, put, turn


@pytest.fixture
def path(layout: Layout, tmp_path: Path) -> Path:
    """A session of six rounds in one engagement, ingested."""
    path = put(tmp_path / "p", *(record for n in range(1, 7) for record in turn(n)))
    age(path)
    ingest(archive_at(layout, path), OfflineExtractor())
    return path


@pytest.fixture
def archive(layout: Layout, path: Path) -> Archive:
    return archive_at(layout, path)


def again(layout: Layout, path: Path) -> Archive:
    """The same archive after everything was extracted once more."""
    ingest(archive_at(layout, path), OfflineExtractor(), again=True)
    return archive_at(layout, path)


def test_a_summary_of_topics_has_the_topics_a_person_gave(archive: Archive) -> None:
    """UND-07, ARC-05: where rules made it; also after a split, without what is hidden, and with
    the person's title; taken back, it is as it was."""
    before = archive.record(SID).session_summary
    topic = archive.record(SID).engagements[0].topic
    assert topic in before
    archive.say(SID, said.Set("1", values={"topic": "Graft the pears"}))
    made = archive.say(SID, said.Split("1", round=4)).made
    assert made is not None
    archive.say(SID, said.Set(made.id, values={"topic": "Prune the plums"}))
    assert archive.record(SID).session_summary == "prompt 1. Graft the pears. Prune the plums."
    assert archive.summary(SID).summary == "prompt 1. Graft the pears. Prune the plums."
    archive.say(SID, said.Hide(made.id))
    archive.say(SID, said.Set(values={"title": "Orchard"}))
    assert archive.record(SID).session_summary == "Orchard. Graft the pears."
    for _ in range(5):
        archive.say(SID, said.Undo())
    assert archive.record(SID).session_summary == before


def test_a_summary_that_a_model_wrote_stays(layout: Layout, archive: Archive) -> None:
    """UND-07: a topic that a person corrected changes what rules repeat, and nothing else."""
    told = archive.record(SID).session_summary
    content = layout.engagements.read_text()
    content = content.replace('"extractor":"offline"', '"extractor":"anthropic"')
    layout.engagements.write_text(content)
    now = Archive(archive.root, archive.places)
    now.say(SID, said.Set("1", values={"topic": "Graft the pears"}))
    assert now.record(SID).session_summary == told


def test_everything_said_survives(layout: Layout, archive: Archive, path: Path) -> None:
    """UND-07, ING-33: re-ingestion, growth, a lost engagements.jsonl, a rebuild, a lost ledger."""
    made = archive.say(SID, said.Split("1", round=4)).made
    assert made is not None
    archive.say(SID, said.Set(made.id, values={"topic": "The second half", "method": "debug"}))
    archive.say(SID, said.Star(made.id))
    archive.say(SID, said.Note(made.id, text="read this again"))
    archive.say(SID, said.Set(values={"title": "Orchard", "agent_name": "Wren"}))
    archive.say(SID, said.Set(values={"agent_role": "gardener", "summary": "All in all."}))

    def holds(now: Archive, last: int) -> None:
        record = now.record(SID)
        one, two = record.engagements
        assert (one.turn_range, two.turn_range) == ((1, 3), (4, last))
        assert (two.topic, two.method, two.starred) == ("The second half", "debug", True)
        assert two.note == "read this again"
        assert (record.title, record.agent_name, record.agent_role) == (
            *("Orchard", "Wren"),
            "gardener",
        )
        assert record.session_summary == record.told_summary == "All in all."
        assert now.summary(SID).name == "Wren · Orchard"
        assert now.resolve("orchard") == now.resolve("Wren") == SID
        assert read_head(now.folder(SID).document)[0].summary == "All in all."

    holds(archive, 6)
    holds(again(layout, path), 6)
    layout.engagements.unlink()
    holds(again(layout, path), 6)
    put(path.parent, *(record for n in range(1, 9) for record in turn(n)))
    age(path)
    holds(again(layout, path), 8)
    path.unlink()
    holds(again(layout, path), 8)
    layout.ledger.unlink()
    rebuild(archive_at(layout))
    holds(archive_at(layout), 8)


def test_undo_takes_back_one_thing_at_a_time(archive: Archive) -> None:
    """UND-07: several fields said at once are one thing; nothing is deleted; then there is none."""
    before = archive.record(SID)
    archive.say(SID, said.Set("1", values={"topic": "Said", "phase": "blocked"}))
    archive.say(SID, said.Split("1", round=3))
    archive.say(SID, said.Hide())
    for expected in (said.Hide, said.Split, said.Set):
        spoken = archive.say("", said.Undo())
        assert spoken.undone is not None and isinstance(spoken.undone.statement, expected)
    assert archive.record(SID) == before
    with pytest.raises(NotFound, match="There is no correction"):
        archive.say(SID, said.Undo())
    told = archive.said(SID)
    assert [item.undone for item in told] == [True] * 3 + [False] * 3
    assert len(archive.layout.corrections.read_text().splitlines()) == 6


def test_a_summary_taken_back_leaves_the_document(layout: Layout, archive: Archive) -> None:
    """UND-07, INS-10: a summary said, said again and taken back is what the document has, and a
    later run does not take an old one for words written by hand."""
    document = archive.folder(SID).document
    first = read_head(document)[0].summary
    archive.say(SID, said.Set(values={"summary": "One <b> & two"}))
    assert "One &lt;b> &amp; two" in document.read_text()
    archive.say(SID, said.Set(values={"summary": "Another"}))
    assert read_head(document)[0].summary == "Another"
    archive.say(SID, said.Undo())
    assert read_head(document)[0].summary == "One &lt;b> &amp; two"
    archive.say(SID, said.Undo())
    assert (read_head(document)[0].summary, read_head(document)[0].edited) == (first, False)
    written = layout.corrections.read_text()
    rebuild(archive_at(layout))
    assert layout.corrections.read_text() == written


def test_a_session_without_minutes_can_be_spoken_of(layout: Layout, tmp_path: Path) -> None:
    """UND-07: a star, a title and a name for what is only a transcript so far."""
    layout.sessions.mkdir(parents=True)
    path = put(tmp_path / "p", *turn(1))
    archive = archive_at(layout, path)
    archive.say(SID, said.Star())
    archive.say(SID, said.Set(values={"title": "Quick look"}))
    assert archive.record(SID).starred and archive.cards()[SID].title == "Quick look"
    (row,) = archive.sessions(ghosts=True, starred=True).sessions
    assert (row.name, row.starred) == ("Quick look", True)
    assert archive.search("quick look")[0].session_id == SID
    with pytest.raises(NotFound, match="has no engagements"):
        archive.say(SID, said.Split("1", round=1))


def test_a_damaged_last_line_is_named_and_costs_only_itself(
    layout: Layout, archive: Archive, path: Path
) -> None:
    """ARC-07: half a line, left by a killed writer, is passed over; the next stands alone."""
    archive.say(SID, said.Star())
    with layout.corrections.open("ab") as file:
        file.write(b'{"version":2,"session_id":"' + SID.encode()[:9])
    now = archive_at(layout, path)
    assert now.record(SID).starred
    assert any("half there" in trouble.reason for trouble in now.troubles())
    now.say(SID, said.Note(text="after it"))
    now = archive_at(layout, path)
    assert now.record(SID).starred and now.record(SID).note == "after it"
    assert any("1 line cannot be read" in trouble.reason for trouble in now.troubles())


def test_a_writer_killed_at_any_moment_leaves_whole_statements(layout: Layout, path: Path) -> None:
    """UND-07: kill -9 in the middle of it; what is written is read, and the next can speak."""
    script = (
        "import sys\nfrom pathlib import Path\nfrom minutebook.archive import Archive\n"
        "from minutebook import said\n"
        "archive = Archive(Path(sys.argv[1]), (Path(sys.argv[2]),))\n"
        "print('ready', flush=True)\n"
        "while True:\n    archive.say(sys.argv[3], said.Note(text='x' * 1500))\n"
    )
    for wait in (0.02, 0.05, 0.11):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(layout.root), str(path), SID],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    now = archive_at(layout, path)
    now.say(SID, said.Star())
    assert now.record(SID).starred
    assert not [t for t in now.troubles() if "cannot be read" in t.reason]


def _speak(root: str, path: str, name: str) -> None:
    archive = Archive(Path(root), (Path(path),))
    for number in range(10):
        archive.say(SID, said.Note(text=f"{name} {number}"))


def test_two_who_speak_at_once_are_both_heard(archive: Archive, path: Path) -> None:
    """NFR-02, UND-07: every line is there once and whole, in the order each said them."""
    context = multiprocessing.get_context("spawn")
    args = [(str(archive.root), str(path), name) for name in ("one", "two")]
    processes = [context.Process(target=_speak, args=given) for given in args]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    notes = [i.statement.text for i in archive.said(SID) if isinstance(i.statement, said.Note)]
    for name in ("one", "two"):
        assert [n for n in notes if n.startswith(name)] == [f"{name} {n}" for n in range(10)]
    assert archive.troubles() == []


def test_a_run_that_writes_does_not_keep_a_person_from_speaking(
    layout: Layout, archive: Archive, path: Path
) -> None:
    """UND-07: while somebody ingests it is written down and seen at once; the page follows."""
    with writing(layout.ingest_lock, "ingest"):
        assert archive.say(SID, said.Star()).indexed
    with writing(layout.lock, "ingest"):
        spoken = archive.say(SID, said.Set("1", values={"topic": "In the meantime"}))
        archive.say(SID, said.Split("1", round=3))
    assert not spoken.indexed
    assert archive.record(SID).engagements[0].topic == "In the meantime"
    assert check_archive(archive) != []
    ingest(archive_at(layout, path), OfflineExtractor())  # nothing is new but what was said
    assert check_archive(archive_at(layout, path)) == []
    assert "In the meantime" in layout.engagements_index.read_text()


def test_what_a_newer_version_said_is_kept_and_named(
    layout: Layout, archive: Archive, path: Path
) -> None:
    """ARC-08: an unknown kind is not applied, not deleted, and said once."""
    archive.say(SID, said.Star())
    line = {"version": 3, "at": "2030-01-01T00:00:00Z", "session_id": SID}
    future = json.dumps({**line, "said": {"kind": "weave", "with": ["a"]}})
    with layout.corrections.open("a") as file:
        file.write(future + "\n")
    now = archive_at(layout, path)
    assert now.record(SID).starred
    (trouble,) = now.troubles()
    assert "1 line is of a newer minutebook, kept and not applied" in trouble.reason
    spoken = now.say(SID, said.Undo())  # of what is understood
    assert spoken.undone is not None and isinstance(spoken.undone.statement, said.Star)
    assert future in layout.corrections.read_text()


def test_files_of_older_versions_are_read(layout: Layout, archive: Archive, path: Path) -> None:
    """ING-33, ARC-08: corrections without a version, and tags in a file of their own."""
    id = archive.record(SID).engagements[0].id
    line = {"session_id": SID, "engagement_id": id, "turn_range": [1, 6]}
    old: list[dict[str, Any]] = [
        {**line, "field": "topic", "value": "Said long ago"},
        {**line, "field": "turn_range", "value": [1, 5]},
        {**line, "engagement_id": "", "turn_range": [0, 0], "field": "summary", "value": "Once."},
    ]
    layout.corrections.write_text("".join(json.dumps(value) + "\n" for value in old))
    tag = {"session_id": SID, "first": 2, "last": 3, "engagement_id": "aside"}
    layout.tags.write_text(json.dumps(tag) + "\n")
    record = archive_at(layout, path).record(SID)
    assert record.session_summary == "Once."
    found = {e.id: e for e in record.engagements}
    assert found[id].topic == "Said long ago" and found[id].ranges == ((1, 1), (4, 5))
    assert found["aside"].turn_range == (2, 3) and found[f"{id}-2"].turn_range == (6, 6)
    assert archive_at(layout, path).troubles() == []
    now = archive_at(layout, path)
    spoken = now.say(SID, said.Undo())
    assert isinstance(spoken.undone and spoken.undone.statement, said.Tag)
    assert "aside" not in {e.id for e in now.record(SID).engagements}


SAID_TWICE: list[Statement] = [
    *(said.Set("1", values={"method": "debug"}), said.Set("1", values={"turn_range": (1, 4)})),
    *(said.Star("1"), said.Hide("1"), said.Note("1", text="a"), said.Thread("1", name="pears")),
    *(said.Move("1", first=1, last=4), said.Thread("1", name="")),
    *(said.Set(values={"title": "Orchard"}), said.Star(), said.Hide(), said.Note(text="a")),
]


@pytest.mark.parametrize("statement", SAID_TWICE, ids=lambda value: str(value)[:40])
def test_what_was_said_already_is_not_recorded_again(
    archive: Archive, statement: Statement
) -> None:
    """UND-07: the answer has what holds; what only an extractor says is recorded, for it may
    change; what was taken back can be said again."""
    first = archive.say(SID, statement)
    again = archive.say(SID, statement)
    assert first.said is not None and again.said is None
    assert (again.engagement, again.session) == (first.engagement, first.session)
    assert len(archive.said(SID)) == 1
    archive.say(SID, said.Undo())
    assert archive.say(SID, statement).said is not None


def test_a_value_that_an_extractor_gave_can_be_confirmed(archive: Archive) -> None:
    """UND-07: a person's word holds, whatever is found later."""
    method = archive.record(SID).engagements[0].method
    assert archive.say(SID, said.Set("1", values={"method": method})).said is not None


def test_undo_of_another_one_than_the_last_is_refused(archive: Archive) -> None:
    """UND-07: whoever names what is to be taken back takes back that or nothing."""
    archive.say(SID, said.Star("1"))
    archive.say(SID, said.Note("1", text="later"))
    first, last = (item.id for item in archive.said(SID))
    with pytest.raises(BadArgument, match=f"'{first}' is not the last correction; that is"):
        archive.say(SID, said.Undo(first))
    assert archive.record(SID).engagements[0].note == "later"
    archive.say(SID, said.Undo(last))
    assert archive.record(SID).engagements[0].note == ""


WRONG: list[tuple[Statement, str]] = [
    (said.Set("1", values={"method": "magic"}), "choose one of review"),
    (said.Set("1", values={"title": "x"}), "is not a field of an engagement"),
    (said.Set(values={"topic": "x"}), "is not a field of a session"),
    (said.Set(values={}), "Give field=value"),
    (said.Set("1", values={"topic": " "}), "cannot be empty"),
    (said.Set("1", values={"topic": ("a",)}), "is a text"),
    (said.Set("1", values={"key_decisions": "a"}), "list of sentences"),
    (said.Set("1", values={"key_decisions": ("a", "b", "c", "d")}), "At most 3"),
    (said.Set("1", values={"turn_range": (2, 99)}), "has 6 rounds"),
    (said.Note("1", text="a word " * 300), "note has 2,099 characters: write at most 2,000"),
    (said.Set("1", values={"outcome": "x" * 2_001}), "outcome has 2,001 characters"),
    (said.Set("nobody", values={"topic": "x"}), "has no engagement 'nobody'"),
    (said.Split("1", round=1), "begins at round 1 already"),
    (said.Split("1", round=7), "is not in"),
    (said.Split("", round=2), "has no engagement ''"),
    (said.Join("1", other="2"), "are one already"),
    (said.Move("1", first=3, last=1), "has 6 rounds"),
    (said.Move("1", first=0, last=1), "has 6 rounds"),
    (said.Undo(), "There is no correction"),
]


@pytest.mark.parametrize(("statement", "words"), WRONG, ids=lambda value: str(value)[:40])
def test_what_makes_no_sense_is_refused(archive: Archive, statement: Statement, words: str) -> None:
    """UND-07: one sentence that says what would, and nothing is written."""
    with pytest.raises(MinutebookError, match=words):
        archive.say(SID, statement)
    assert not archive.layout.corrections.exists()


def test_half_a_name_that_fits_two_is_refused(archive: Archive) -> None:
    """UND-07: both are named."""
    id = archive.record(SID).engagements[0].id
    archive.say(SID, said.Split("1", round=4))
    with pytest.raises(Ambiguous, match=f"{id}, {id}-2"):
        archive.say(SID, said.Star(id[:3]))
    with pytest.raises(BadArgument, match="is not in"):
        archive.say(SID, said.Split(id, round=5))


def test_control_characters_and_secrets_stay_out_of_sight(archive: Archive) -> None:
    """ARC-06: a note is one clean line, and masked like everything the archive hands out."""
    key = "sk-ant-api03-Vq7RmZ2xKpL9wTfBn4HsYdC6JgEaUi0o8QbXyWe3Nr5MtSvDhGkPzAj1lFuOcI"
    archive.say(SID, said.Note(text=f"one\x1b[31m\ntwo {key}"))
    note = archive.record(SID).note
    assert note.startswith("one two ") and key not in note
    assert key not in str(archive.said(SID)) and key in archive.layout.corrections.read_text()


def test_what_is_written_is_for_the_owner_only(archive: Archive) -> None:
    """NFR-01: the file and the lock beside it."""
    before = os.umask(0)
    try:
        archive.say(SID, said.Star())
    finally:
        os.umask(before)
    for file in (archive.layout.corrections, archive.layout.said_lock):
        assert file.stat().st_mode & 0o077 == 0


def test_a_later_word_of_one_call_wins(archive: Archive) -> None:
    """UND-07: what is said already is judged by what the words before it left."""
    archive.say(SID, said.Star("1"))
    first, second = say_all(archive, SID, [said.Unstar("1"), said.Star("1")])
    assert first.said is not None and second.said is not None
    assert archive.record(SID).engagements[0].starred


def test_an_undo_names_what_has_other_rounds_again(archive: Archive) -> None:
    """UND-07: as the correction did that it takes back."""
    archive.say(SID, said.Split("1", round=4))
    archive.say(SID, said.Join("1", other="4"))
    back = archive.say(SID, said.Undo())
    assert [engagement.turn_range for engagement in back.changed] == [(4, 6)]


def test_several_statements_are_written_together_or_not(examples: Path, tmp_path: Path) -> None:
    """UND-07: where one of them is refused, none is written."""
    in_one_go(examples, archive=tmp_path, extractor="offline")
    with open_archive(tmp_path, [examples]) as archive:
        good = said.Set(values={"title": "Another title"})
        with pytest.raises(BadArgument):
            say_all(archive, "Reed", [good, said.Set("1", values={"method": "juggle"})])
        assert archive.said("Reed") == []
        spoken = say_all(archive, "Reed", [good, said.Set("1", values={"topic": "Pears"})])
        assert [item.said for item in spoken] == archive.said("Reed")
