"""What fresh eyes broke: late results, doubles, tampering, half-written files."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from minutebook.errors import Conflict
from minutebook.model import StrayResult, Text
from minutebook.record.layout import Layout, SessionFolder
from minutebook.sources.base import Reading, Transcript
from minutebook.sources.library import Library, open_transcript
from tests.archive.conftest import Write, age, dump, snapshot, times
from tests.archive.steps import (
    check,
    documents,
    export_claude,
    inscribe,
    read_inscription,
    rebuild,
    register,
    status,
    tag,
)
from tests.archive.test_operations import SID, put, turn
from tests.conftest import Record, as_line, assistant, tool_result, tool_use, user

DAY = 86_400


def at(minute: int) -> str:
    return f"2026-03-01T11:{minute:02}:00.000Z"


def paused() -> list[Record]:
    call = assistant(tool_use("slow"), id="m1", uuid="a1", timestamp=at(1))
    return [user("build it", uuid="u1", timestamp=at(0), cwd="/w"), call]


def rest() -> list[Record]:
    return [
        tool_result("slow", "built", uuid="r1", timestamp=at(30)),
        assistant("done", id="m2", uuid="a2", timestamp=at(31)),
    ]


def test_a_call_that_waits_for_its_tool_is_given_a_day(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-08: an hour's build is no end of the session; a copy of an old transcript is."""
    hour_ago = time.time() - 3600
    recent = datetime.fromtimestamp(hour_ago, UTC).isoformat()
    young = [{**record, "timestamp": recent} for record in paused()]
    path = put(tmp_path / "p", *young)
    os.utime(path, (hour_ago, hour_ago))
    assert write(path, live=True).sessions[0].outcome == "waiting"
    put(tmp_path / "p", *young, *rest())
    os.utime(path, (hour_ago, hour_ago))
    write(path, live=True)
    (round,) = read_inscription(documents(layout)[0]).rounds
    assert [call.result.text for call in round.calls if call.result] == ["built"]
    old = put(tmp_path / "q", *paused(), name="22222222-2222-4333-8444-555555555555")
    os.utime(old, (hour_ago, hour_ago))
    assert write(old, live=True).sessions[0].outcome == "new"


def test_a_result_that_comes_after_the_end_is_not_lost(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-04, RND-06: what a written message gains later goes into a round of its own, once."""
    path = put(tmp_path / "p", *paused())
    write(path)
    more = assistant("and a word more", id="m1", uuid="a1b", timestamp=at(1))
    put(tmp_path / "p", *paused(), more, *rest())
    report = write(path).sessions[0]
    assert (report.rounds_added, report.changed) == (1, 0)
    rounds = read_inscription(documents(layout)[0]).rounds
    blocks = [block for message in rounds[1].messages for block in message.blocks]
    assert [b.result.text for b in blocks if isinstance(b, StrayResult)] == ["built"]
    assert [b.text for b in blocks if isinstance(b, Text)] == ["and a word more", "done"]
    put(tmp_path / "p", *paused(), more, *rest(), user("next", uuid="u9", timestamp=at(50)))
    assert write(path).sessions[0].rounds_added == 1
    assert len(read_inscription(documents(layout)[0]).rounds) == 3
    result = check(layout, documents(layout)[0], [path])
    assert result.problems == []


def test_a_session_inscribed_in_the_middle_of_a_turn_still_comes_back(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-16: an export says where a round begins that no prompt opens."""
    path = put(tmp_path / "p", *turn(1)[:1])
    write(path)
    put(tmp_path / "p", *turn(1), {"type": "custom-title", "customTitle": "Named later"})
    write(path)
    (document,) = documents(layout)
    inscription = read_inscription(document)
    assert [round.prompt is None for round in inscription.rounds] == [False, True]
    assert (inscription.header.title, inscription.header.name) == ("Named later", "Named later")
    assert check(layout, document, [path]).problems == []


def test_two_files_with_one_id_are_not_mixed(layout: Layout, write: Write, tmp_path: Path) -> None:
    """NFR-02: one of them is inscribed, the other named; a second run changes nothing."""
    small = put(tmp_path / "a", *turn(1))
    large = put(tmp_path / "b", *turn(2), *turn(3))
    report = write(small, large)
    outcomes = {session.transcript.path: session.outcome for session in report.sessions}
    assert outcomes == {small: "duplicate", large: "new"}
    before = times(layout.root)
    write(small, large)
    assert times(layout.root) == before
    alone = write(small)
    assert alone.sessions[0].outcome == "failed"
    assert "another transcript of this id" in (alone.sessions[0].problem or "")


def test_a_moved_source_goes_on(write: Write, tmp_path: Path) -> None:
    """The same file at another place is the same session."""
    path = put(tmp_path / "a", *turn(1))
    write(path)
    path.unlink()
    report = write(put(tmp_path / "b", *turn(1), *turn(2)))
    assert report.sessions[0].outcome == "grown"


def agent_lines(*texts: str) -> bytes:
    lines = [user("task", isSidechain=True, sessionId=SID, uuid="g0", timestamp=at(0))]
    lines += [
        assistant(text, isSidechain=True, sessionId=SID, id=f"g{n}", uuid=f"g{n}", timestamp=at(n))
        for n, text in enumerate(texts, 1)
    ]
    return b"".join(as_line(line) + b"\n" for line in lines)


def test_a_subagents_document_grows_and_never_shrinks(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """INS-16: also when only the subagent's own file has changed."""
    path = put(tmp_path / "p", *turn(1))
    file = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(agent_lines("one"))
    write(path)
    file.write_bytes(agent_lines("one", "two"))
    write(path)
    document = SessionFolder(documents(layout)[0].with_suffix("")).subagent("a1").document
    grown = document.read_bytes()
    assert b"two" in grown
    file.write_bytes(agent_lines("one"))
    write(put(tmp_path / "p", *turn(1), *turn(2)))
    assert document.read_bytes() == grown


def test_subagents_transcripts_are_not_overwritten_either(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-13, invariant 1: refused, or kept as a copy."""
    path = put(tmp_path / "p", *turn(1))
    file = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(agent_lines("one"))
    write(path)
    target = export_claude(layout, documents(layout)[0], root=tmp_path / "c").path
    target.unlink()
    original = target.with_suffix("") / "subagents" / "agent-a1.jsonl"
    original.write_bytes(b"an original\n")
    with pytest.raises(Conflict, match="agent-a1"):
        export_claude(layout, documents(layout)[0], root=tmp_path / "c")
    assert original.read_bytes() == b"an original\n"
    export_claude(layout, documents(layout)[0], root=tmp_path / "c", force=True)
    backups = [p.read_bytes() for p in original.parent.glob("*.backup")]
    assert backups == [b"an original\n"]


def test_an_id_in_the_frontmatter_cannot_lead_anywhere(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-15: check and export believe the file's name only."""
    write(put(tmp_path / "p", *turn(1)))
    (document,) = documents(layout)
    document.write_text(
        document.read_text().replace(f'session_id: "{SID}"', f"session_id: ../../{tmp_path}/X")
    )
    result = check(layout, document, [tmp_path / "p"])
    assert "is not that of its file name" in result.problems[0]
    with pytest.raises(Conflict, match="file name"):
        export_claude(layout, document, root=tmp_path / "c")
    assert not list(tmp_path.glob("X*"))


def test_a_removed_document_comes_back_from_its_rounds(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """DB-09: a removed document is made again from its rounds, whatever the source has lost."""
    path = put(tmp_path / "p", *turn(1), *turn(2))
    write(path)
    (document,) = documents(layout)
    before = document.read_bytes()
    document.unlink()
    write(put(tmp_path / "p", *turn(1)))
    assert document.read_bytes() == before


def test_half_a_tag_does_not_swallow_the_next(layout: Layout, write: Write, tmp_path: Path) -> None:
    """DB-09: a killed writer left half a line."""
    write(put(tmp_path / "p", *turn(1)))
    layout.tags.write_bytes(b'{"session_id":"ab')
    tag(layout, SID, "1", "kept")
    rebuild(layout)
    assert "'kept'" in dump(layout.database)


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw.replace(b"reply 1", b"reply \xff"),
        lambda raw: raw.replace(b'"round":{"number":1', b'"round":{"number":"one"'),
        lambda raw: raw.replace(b'"round":{', b'"round":5,"x":{'),
        lambda raw: raw.replace(b'"id":"a1"', b'"id":"a1","usage":{"tokens":"many","input":"x"}'),
        lambda raw: raw.replace(b"\n", b"\r\n"),
    ],
    ids=["not utf-8", "round number", "round", "usage", "crlf"],
)
def test_one_damaged_document_does_not_stop_the_rest(
    layout: Layout, write: Write, tmp_path: Path, damage: object
) -> None:
    """ARC-07: the others go on, the session itself is appended to, the file is named by check,
    and comes back from its round files."""
    other = "22222222-2222-4333-8444-555555555555"
    put(tmp_path / "p", *turn(1))
    put(tmp_path / "p", *turn(1), name=other)
    write(tmp_path / "p")
    document = layout.document("claude", SID)
    document.write_bytes(damage(document.read_bytes()))  # type: ignore[operator]
    put(tmp_path / "p", *turn(1), *turn(2))
    put(tmp_path / "p", *turn(1), *turn(2), name=other)
    report = write(tmp_path / "p")
    outcomes = {session.transcript.session_id: session for session in report.sessions}
    assert outcomes[other].outcome == "grown"
    assert outcomes[SID].outcome == "grown"
    if not report.remarks:  # the damage is inside: what is written is not read again
        assert not check(layout, document, [tmp_path / "p"]).ok
        with pytest.raises(Conflict, match="cannot be exported"):
            export_claude(layout, document, root=tmp_path / "c")
        assert str(document) in rebuild(layout).mended[0]
    assert check(layout, document, [tmp_path / "p"]).problems == []
    assert len(read_inscription(document).rounds) == 2


def test_a_disk_that_is_full_for_the_database_is_said(layout: Layout, tmp_path: Path) -> None:
    """A clear sentence, whichever file did not fit."""
    path = put(tmp_path / "p", *turn(1))
    code = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
    code += "from minutebook.cli.main import main; import sys; main(sys.argv[1:])\n"
    args = ["inscribe", "--all", "--ended", "--archive", str(layout.root), "--root", str(path)]
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "bug" not in done.stderr
    assert "session.db" in done.stderr
    assert not documents(layout)


def test_a_broken_cross_session_database_is_noticed_at_once(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """DB-09: also by a run that has nothing else to do; tag sees to its own."""
    path = put(tmp_path / "p", *turn(1), *turn(2))
    write(path)
    expected = dump(layout.database)
    layout.database.write_bytes(b"")
    write(path)
    assert dump(layout.database) == expected
    (single,) = layout.sessions.rglob("session.db")
    single.write_bytes(b"junk" * 99)
    assert tag(layout, SID, "2", "x").rounds == 1


def picture_turn() -> list[Record]:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    blocks = [{"type": "image", "source": source}, {"type": "text", "text": "see"}]
    return [user(blocks, uuid="u1", timestamp=at(0), cwd="/w")]


def test_a_missing_picture_is_named_and_blocks_nothing_else(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """INS-16: index and tags do without it; check and export say which one."""
    path = put(tmp_path / "p", *picture_turn())
    write(path)
    (picture,) = layout.sessions.rglob("media/*.png")
    picture.unlink()
    assert tag(layout, SID, "1", "x").rounds == 1
    rebuilt = rebuild(layout)
    assert (rebuilt.sessions, rebuilt.problems) == (1, [])
    assert picture.name in check(layout, documents(layout)[0], [path]).problems[0]


def test_leftovers_of_a_killed_append_are_swept(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """Invariant 6: also inside a session's folder."""
    path = put(tmp_path / "p", *turn(1))
    write(path)
    (rounds,) = layout.sessions.rglob("rounds")
    (rounds / ".partial-1-002.json").write_text("half")
    write(put(tmp_path / "p", *turn(1), *turn(2)))
    assert [p.name for p in sorted(rounds.iterdir())] == ["001.json", "002.json"]


def test_out_may_be_a_folder(layout: Layout, write: Write, tmp_path: Path) -> None:
    """OPS-09: written into, never moved aside."""
    write(put(tmp_path / "p", *turn(1)))
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    exported = export_claude(layout, documents(layout)[0], root=tmp_path, out=folder, force=True)
    assert exported.path == folder / f"{SID}.jsonl"
    assert (folder / "mine.txt").read_text() == "mine"


def test_fields_a_person_adds_to_the_frontmatter_stay(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """INS-07: unknown keys and engagements survive every append."""
    write(put(tmp_path / "p", *turn(1)))
    (document,) = documents(layout)
    text = document.read_text()
    text = text.replace(
        "engagements: []", "engagements:\n- id: x\n  phase_at_start: a\n  phase_at_end: b"
    )
    document.write_text(text.replace('branch: "main"', 'branch: "main"\ntopics: [mine]'))
    write(put(tmp_path / "p", *turn(1), *turn(2)))
    header = read_inscription(document).header
    assert header.extra == {"topics": ["mine"]}
    assert header.engagements == [{"id": "x", "phase_at_start": "a", "phase_at_end": "b"}]


def test_a_persons_summary_reaches_the_index(layout: Layout, write: Write, tmp_path: Path) -> None:
    """INS-05, INS-10."""
    write(put(tmp_path / "p", *turn(1)))
    (document,) = documents(layout)
    document.write_text(
        document.read_text().replace("\nprompt 1\n<!--", "\nMy own words.\n<!--", 1)
    )
    rebuild(layout)
    assert "| My own words. |" in layout.agent_index("claude").read_text()


def test_names_from_a_roster_that_is_gone_stay_true(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-14: check does not depend on today's roster."""
    path = put(tmp_path / "p", *turn(1))
    register(layout, (SID[:8], "Ada", "Architect"))
    write(path)
    assert check(layout, documents(layout)[0], [path]).problems == []


def test_a_source_that_shrank_is_remarked(layout: Layout, write: Write, tmp_path: Path) -> None:
    """OPS-04: the document keeps what the source lost, and says so."""
    write(put(tmp_path / "p", *turn(1), *turn(2)))
    before = snapshot(layout.root)[f"sessions/claude/{SID}.md"]
    path = put(tmp_path / "p", *turn(1))
    report = write(path).sessions[0]
    assert report.gone == 2
    assert snapshot(layout.root)[f"sessions/claude/{SID}.md"] == before
    result = check(layout, documents(layout)[0], [path])
    assert "the source has lost 2 of the session's messages" in result.remarks


def test_a_rewritten_source_of_the_same_size_and_time_is_noticed(
    write: Write, tmp_path: Path
) -> None:
    """The first bytes are looked at, too."""
    path = put(tmp_path / "p", *turn(1))
    age(path)
    write(path)
    other = path.read_bytes().replace(b"prompt 1", b"prompt X")
    path.write_bytes(other)
    age(path)
    assert write(path).sessions[0].changed == 1


def test_inscriptions_elsewhere_are_not_without_their_source(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-18: looking at another folder does not make sources vanish."""
    write(put(tmp_path / "p", *turn(1)))
    (tmp_path / "q").mkdir()
    assert status(layout, tmp_path / "q").orphaned == 0


@pytest.mark.parametrize(
    "prompt", ["<!-- never closed", "```\nopen", "<details>", "<script>alert(1)</script>"]
)
def test_no_content_hides_what_follows_it(
    layout: Layout, write: Write, tmp_path: Path, prompt: str
) -> None:
    """NFR-03: in any viewer the next message is seen; the text comes back all the same."""
    write(put(tmp_path / "p", user(prompt, uuid="u1", timestamp=at(0)), assistant("seen", id="m")))
    (document,) = documents(layout)
    text = document.read_text()
    lines = text.split("\n")
    opened = lines.index(prompt.split("\n")[0], 25)
    assert lines[opened - 1].startswith("```")
    assert "\n# Claude" in text
    assert not any(line.startswith(("<script", "<details>\n")) for line in lines[:24])
    assert read_inscription(document).rounds[0].messages[0].text == prompt


def test_odd_ids_do_not_break_the_index(layout: Layout, write: Write, tmp_path: Path) -> None:
    """INS-05: a pipe, a backtick, a percent sign in a name."""
    name = "a|b`c%d e"
    write(put(tmp_path / "p", *turn(1), name=name))
    index = layout.agent_index("claude").read_text()
    row = [line for line in index.split("\n") if "prompt 1" in line]
    assert len(row) == 1
    assert row[0].count(" | ") == 4
    assert "%25" in row[0]
    assert json.loads(layout.ledger.read_bytes())["sessions"].keys() == {name}


def watch_full_reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The transcripts that are read from their start from now on."""
    opened: list[Path] = []

    def spy(transcript: Transcript) -> Reading:
        opened.append(transcript.path)
        return open_transcript(transcript)

    monkeypatch.setattr("minutebook.archive.growth.open_transcript", spy)
    return opened


def test_a_running_session_is_read_from_its_last_newline(
    layout: Layout, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Incremental: what was read before is not read again."""
    path = put(tmp_path / "p", *turn(1), *turn(2))
    write(path, live=True)
    opened = watch_full_reads(monkeypatch)
    put(tmp_path / "p", *turn(1), *turn(2), *turn(3))
    assert write(path, live=True).sessions[0].rounds_added == 1
    put(tmp_path / "p", *turn(1), *turn(2), *turn(3), *turn(4))
    assert write(path).sessions[0].rounds_added == 2
    assert opened == []
    assert len(read_inscription(documents(layout)[0]).rounds) == 4
    once = Layout(tmp_path / "once")
    inscribe(once, Library([path]).transcripts, ended=True)
    assert snapshot(once.root) == snapshot(layout.root)


@pytest.mark.parametrize("how", ["source rewritten", "checkpoint broken"])
def test_what_does_not_fit_is_read_in_full(
    layout: Layout, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Incremental: the fallback, and nothing is lost by it."""
    path = put(tmp_path / "p", *turn(1), *turn(2))
    write(path, live=True)
    (document,) = documents(layout)
    (kept,) = layout.sessions.rglob("checkpoint")
    put(tmp_path / "p", *turn(1), *turn(2), *turn(3))
    if how == "source rewritten":
        path.write_bytes(path.read_bytes().replace(b"out 2", b"out X"))
    else:
        kept.write_bytes(kept.read_bytes()[:100])
    opened = watch_full_reads(monkeypatch)
    write(path)
    assert opened == [path]
    assert len(read_inscription(document).rounds) == 3
    assert not list(layout.sessions.rglob("checkpoint"))


def steps(write: Write, tmp_path: Path, *given: tuple[list[Record], bool]) -> Path:
    """Inscribe a growing session: (its records so far, whether it is taken to be over)."""
    for records, ended in given:
        path = put(tmp_path / "p", *records)
        write(path, live=not ended)
    return path


def turns(*numbers: int) -> list[Record]:
    return [record for number in numbers for record in turn(number)]


@pytest.mark.parametrize("again", [3, 4])
def test_live_and_ended_runs_in_any_order_lose_nothing(
    layout: Layout, write: Write, tmp_path: Path, again: int
) -> None:
    """RND-06: a session taken to be over in mid-round, then running again, then over."""
    given = [(turns(1, 2)[:4], True), (turns(1, 2, 3), False)]
    given += [(turns(*range(1, n + 1)), False) for n in range(4, again + 2)]
    path = steps(write, tmp_path, *given, (turns(*range(1, again + 2)), True))
    inscription = read_inscription(documents(layout)[0])
    assert [round.number for round in inscription.rounds] == list(range(1, again + 3))
    text = documents(layout)[0].read_text()
    for number in range(1, again + 2):
        for word in (f"\nreply {number}\n", f"\nout {number}\n"):
            assert text.count(word) == 1, word
    assert check(layout, documents(layout)[0], [path]).problems == []


@pytest.mark.parametrize("seed", range(40))
def test_any_mixture_of_live_and_ended_runs_keeps_everything_once(
    layout: Layout, write: Write, tmp_path: Path, seed: int
) -> None:
    """OPS-04: every prompt, reply and result is in the document once, however it was cut."""
    chance = random.Random(seed)
    records = turns(*range(1, 7))
    cuts = sorted(chance.sample(range(1, len(records)), 5))
    given = [(records[:cut], chance.random() < 0.5) for cut in cuts]
    path = steps(write, tmp_path, *given, (records, True))
    text = documents(layout)[0].read_text()
    for number in range(1, 7):
        for word in (f"\nprompt {number}\n", f"\nreply {number}\n", f"\nout {number}\n"):
            assert text.count(word) == 1 + (word == "\nprompt 1\n"), word  # and the summary
    assert check(layout, documents(layout)[0], [path]).problems == []


def test_a_prompt_typed_ahead_is_written_once(layout: Layout, write: Write, tmp_path: Path) -> None:
    """OPS-04: first only in the queue, then as an ordinary record."""
    queue = {"type": "queue-operation", "timestamp": "2026-03-01T10:01:40.000Z"}
    typed = {**queue, "operation": "enqueue", "content": "typed ahead"}
    sent = [{**queue, "operation": "dequeue"}, user("typed ahead", uuid="uq", timestamp=at(0))]
    answer = assistant("answered", id="mq", uuid="aq", timestamp=at(1))
    steps(write, tmp_path, ([*turn(1), typed], True), ([*turn(1), typed, *sent, answer], True))
    text = documents(layout)[0].read_text()
    assert text.count("\ntyped ahead\n") == 1
    assert text.count("\nanswered\n") == 1


def test_frontmatter_may_be_written_as_people_write_yaml(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """INS-07: unquoted times and numbers, odd keys, keys with our own names."""
    write(put(tmp_path / "p", *turn(1)))
    (document,) = documents(layout)
    text = document.read_text()
    header, rest = text.split("\n---\n", 1)
    header = header.replace(
        'started: "2026-03-01T10:01:00.000Z"', "started: 2026-03-01T10:01:00.000Z"
    )
    header = header.replace("role: null", "role: 2026")
    header += '\n"a: b": c\n"@x": 1\nsummary: mine\nextra: 5'
    document.write_text(header + "\n---\n" + rest)
    for last in (2, 3):
        assert (
            write(put(tmp_path / "p", *turns(*range(1, last + 1)))).sessions[0].outcome == "grown"
        )
    found = read_inscription(document).header
    assert found.extra == {"a: b": "c", "@x": 1, "summary": "mine", "extra": 5}
    assert found.started == "2026-03-01T10:01:00.000Z"
    assert len(read_inscription(document).rounds) == 3


def test_a_deleted_folder_comes_back_with_the_next_append(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """RND: the document is there, so its rounds can be."""
    write(put(tmp_path / "p", *turns(1, 2)))
    (document,) = documents(layout)
    shutil.rmtree(document.with_suffix(""))
    path = put(tmp_path / "p", *turns(1, 2, 3))
    write(path)
    assert check(layout, document, [path]).problems == []
