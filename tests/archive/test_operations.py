"""inscribe, append, tag, rebuild, status: what they write, and what they never touch."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.errors import BadArgument, Locked, NotFound
from minutebook.examples import example_scripts
from minutebook.record.database import integrity, open_database
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.store import writing
from minutebook.sources.library import Library
from tests.archive.conftest import Write, age, dump, snapshot, times
from tests.archive.steps import (
    check,
    documents,
    inscribe,
    read_inscription,
    rebuild,
    register,
    status,
    tag,
)
from tests.conftest import (
    CORPUS,
    PROJECT,
    Record,
    as_line,
    assistant,
    corpus_sessions,
    needs_corpus,
    short,
    tool_result,
    tool_use,
    user,
)

SID = "11111111-2222-4333-8444-555555555555"


def turn(number: int, second: int | None = None) -> list[Record]:
    at = f"2026-03-01T10:{number:02}:00.000Z"
    later = f"2026-03-01T10:{number:02}:{second or 30:02}.000Z"
    call = tool_use(f"t{number}", command=f"ls {number}")
    return [
        user(f"prompt {number}", uuid=f"u{number}", timestamp=at, cwd="/w", gitBranch="main"),
        assistant(f"reply {number}", call, id=f"m{number}", uuid=f"a{number}", timestamp=later),
        tool_result(f"t{number}", f"out {number}", uuid=f"r{number}", timestamp=later),
    ]


def put(folder: Path, *records: Record, name: str = SID) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / f"{name}.jsonl"
    path.write_bytes(b"".join(as_line(record) + b"\n" for record in records))
    return path


# ------------------------------------------------------------ what inscribe writes


def test_inscribe_writes_document_rounds_databases_and_indexes(
    layout: Layout, write: Write, examples: Path
) -> None:
    """OPS-01, INS-01, INS-04 … INS-06, RND-01, DB-01, DB-02: everything, found by links."""
    report = write(examples)
    assert report.count("new") == 9
    folder = layout.agent("claude")
    top = layout.index.read_text()
    assert "| [Claude](claude/index.md) | 9 | 2026-02-20 | 2026-03-16 |" in top
    index = (folder / "index.md").read_text()
    for path in documents(layout):
        assert f"]({path.name})" in index
        inside = SessionFolder(path.with_suffix(""))
        assert inside.database.exists()
        names = [entry.name for entry in sorted(inside.rounds.iterdir())]
        assert names == [f"{n:03}.json" for n in range(1, len(names) + 1)]
        for name in names:
            assert f"(rounds/{name})" in inside.index.read_text()
    assert layout.database.exists()


def test_files_are_the_owners_alone(layout: Layout, write: Write, examples: Path) -> None:
    """NFR-01: 0600 and 0700, databases too."""
    write(examples)
    for path in layout.root.rglob("*"):
        mode = path.stat().st_mode & 0o777
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_the_round_file_has_its_keys(layout: Layout, write: Write, tmp_path: Path) -> None:
    """RND-02, RND-03: ordered typed blocks; a call carries its result; unanswered ones stay."""
    open_call = assistant(tool_use("t9"), id="m9", timestamp="2026-03-01T10:01:40.000Z")
    write(put(tmp_path / "p", *turn(1), open_call))
    (file,) = layout.sessions.rglob("rounds/001.json")
    round = json.loads(file.read_bytes())
    assert {"round", "started", "engagement_id", "user", "agent", "token_count"} <= round.keys()
    assert (round["round"], round["engagement_id"], round["user"]) == (1, None, "prompt 1")
    kinds = [block["type"] for block in round["agent"]]
    assert kinds == ["text", "tool_call", "tool_call"]
    assert round["agent"][1]["result"]["content"] == "out 1"
    assert "result" not in round["agent"][2]


def test_the_database_is_that_of_the_seed(layout: Layout, write: Write, tmp_path: Path) -> None:
    """DB-01 … DB-04: exactly its tables, its sample query, right counts and previews."""
    long = user("x" * 500, uuid="u2", timestamp="2026-03-01T11:00:00.000Z")
    thought = assistant(
        {"type": "thinking", "thinking": "hmm", "signature": "s"},
        "y" * 500,
        id="m2",
        timestamp="2026-03-01T11:00:01.000Z",
    )
    thought["message"]["usage"] = {"input_tokens": 100, "output_tokens": 20}
    write(put(tmp_path / "p", *turn(1), long, thought))
    (single,) = layout.sessions.rglob("session.db")
    for path in (single, layout.database):
        with sqlite3.connect(path) as database:
            tables = {
                name
                for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
            }
            assert {t for t in tables if not t.startswith("rounds_fts_")} == {
                "rounds",
                "rounds_fts",
            }
            row = database.execute("SELECT * FROM rounds WHERE round = 2").fetchone()
            assert row[:4] == (SID, 2, "2026-03-01T11:00:00.000Z", None)
            assert (row[4], row[5]) == ("x" * 120, "y" * 120)
            assert row[6:10] == (0, 1, 3, 120)
            assert (layout.sessions / row[10]).is_file()
            query = "SELECT * FROM rounds WHERE engagement_id = 'console-work' ORDER BY started"
            assert database.execute(query).fetchall() == []
            match = "{user_preview agent_preview} : 2"
            hits = f"SELECT round FROM rounds_fts WHERE rounds_fts MATCH '{match}'"
            assert database.execute(hits).fetchall() == []


def test_a_role_is_the_folder(layout: Layout, write: Write, tmp_path: Path) -> None:
    """INS-02, INS-03: a registered role gives the bucket; the UUID is unchanged everywhere."""
    register(layout, (SID[:8], "Ada", "Chief Architect"))
    write(put(tmp_path / "p", *turn(1)))
    document = layout.document("chief-architect", SID)
    header = read_inscription(document).header
    assert (header.session_id, header.role, header.name) == (SID, "Chief Architect", "Ada")
    assert document.read_text().split("\n# ")[1].startswith("Ada · 2026-03-01")


# ------------------------------------------------------------ append


def test_append_adds_and_touches_nothing_else(layout: Layout, write: Write, tmp_path: Path) -> None:
    """OPS-02, OPS-04 … OPS-06, RND-05: written bytes stay; ended, messages and indexes move on."""
    write(put(tmp_path / "p", *turn(1)))
    document = layout.document("claude", SID)
    before = document.read_text()
    first = (SessionFolder(document.with_suffix("")).round(1)).read_bytes()
    body = before[before.index("\n---\n\n### ") :]
    report = write(put(tmp_path / "p", *turn(1), *turn(2)))
    assert report.sessions[0].outcome == "grown"
    after = document.read_text()
    assert body in after
    assert after.startswith(before[:40])
    assert (SessionFolder(document.with_suffix("")).round(1)).read_bytes() == first
    header = read_inscription(document).header
    assert (header.messages, header.ended) == (4, "2026-03-01T10:02:30.000Z")
    assert "| [2](rounds/002.json) |" in SessionFolder(document.with_suffix("")).index.read_text()


def test_a_second_append_changes_not_even_a_time(
    layout: Layout, write: Write, examples: Path
) -> None:
    """OPS-07: also without the ledger, when everything is read again."""
    write(examples)
    before = times(layout.root)
    write(examples)
    assert times(layout.root) == before
    ledger = layout.ledger.read_bytes()
    layout.ledger.unlink()
    write(examples)
    assert layout.ledger.read_bytes() == ledger
    after = times(layout.root)
    assert {k: v for k, v in after.items() if "ledger" not in k and "sessions.db" not in k} == {
        k: v for k, v in before.items() if "ledger" not in k and "sessions.db" not in k
    }


def test_a_running_session_is_never_frozen_half_done(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-08, RND-06: a round that still grows waits; the next prompt, or the end, frees it."""
    path = put(tmp_path / "p", *turn(1)[:2])
    assert write(path, live=True).sessions[0].outcome == "waiting"
    assert not documents(layout)
    put(tmp_path / "p", *turn(1), *turn(2)[:1])
    write(path, live=True)
    (document,) = documents(layout)
    assert len(read_inscription(document).rounds) == 1
    age(path)
    write(path, live=True)
    assert len(read_inscription(document).rounds) == 2


def test_what_arrives_after_the_end_opens_a_round_without_a_user(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """RND-06: a closed round is closed."""
    path = put(tmp_path / "p", *turn(1))
    write(path)
    late = assistant("and one more thing", id="m9", uuid="a9", timestamp="2026-03-01T12:00:00.000Z")
    put(tmp_path / "p", *turn(1), late)
    report = write(path)
    assert report.sessions[0].rounds_added == 1
    rounds = read_inscription(layout.document("claude", SID)).rounds
    assert [round.prompt is None for round in rounds] == [False, True]
    (file,) = layout.sessions.rglob("rounds/002.json")
    assert json.loads(file.read_bytes())["user"] is None


def test_an_older_message_is_reported_not_inserted(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-04: the document is the authority up to its last message."""
    write(put(tmp_path / "p", *turn(1), *turn(5)))
    before = layout.document("claude", SID).read_bytes()
    report = write(put(tmp_path / "p", *turn(1), *turn(3), *turn(5)))
    assert (report.sessions[0].late, report.sessions[0].rounds_added) == (2, 0)
    assert layout.document("claude", SID).read_bytes() == before


def test_equal_backward_and_missing_times(layout: Layout, write: Write, tmp_path: Path) -> None:
    """OPS-04: same instant and not yet present is new; no order of times loses anything."""
    same = "2026-03-01T10:00:00.000Z"
    first = [user(f"p{n}", uuid=f"u{n}", timestamp=same) for n in range(2)]
    write(put(tmp_path / "p", *first))
    more = [*first, user("p2", uuid="u2", timestamp=same)]
    report = write(put(tmp_path / "p", *more))
    assert report.sessions[0].rounds_added == 1
    bare = [{"type": "user", "message": {"content": f"q{n}"}} for n in range(3)]
    other = "22222222-2222-4333-8444-555555555555"
    write(put(tmp_path / "p", *bare, name=other))
    assert "### undated · user" in layout.document("claude", other).read_text()


# ------------------------------------------------------------ a person's hand


def test_an_edited_summary_survives(layout: Layout, write: Write, tmp_path: Path) -> None:
    """INS-10: every later append keeps it."""
    write(put(tmp_path / "p", *turn(1)))
    document = layout.document("claude", SID)
    document.write_text(
        document.read_text().replace("\nprompt 1\n<!--", "\nMy own words.\n<!--", 1)
    )
    write(put(tmp_path / "p", *turn(1), *turn(2)))
    header = read_inscription(document).header
    assert header.summary == "My own words."
    assert len(read_inscription(document).rounds) == 2


def test_an_edited_message_is_never_overwritten(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """A message body changed by hand stays; what is new still goes behind it, and check says so."""
    write(put(tmp_path / "p", *turn(1)))
    document = layout.document("claude", SID)
    document.write_text(document.read_text().replace("reply 1", "reply one, corrected"))
    report = write(put(tmp_path / "p", *turn(1), *turn(2)))
    text = document.read_text()
    assert "reply one, corrected" in text
    assert "reply 2" in text
    assert report.sessions[0].outcome == "grown"
    assert "differs from the document" in check(layout, document).problems[0]


def test_another_sessions_file_is_not_touched(layout: Layout, write: Write, tmp_path: Path) -> None:
    """OPS-03: an error, and nothing changed."""
    write(put(tmp_path / "p", *turn(1)))
    document = layout.document("claude", SID)
    foreign = document.read_text().replace(SID, "99999999-2222-4333-8444-555555555555", 1)
    document.write_text(foreign)
    layout.ledger.unlink()
    report = write(put(tmp_path / "p", *turn(1), *turn(2)))
    assert report.count("failed") == 1
    assert "another session" in (report.sessions[0].problem or "")
    assert document.read_text() == foreign


def test_a_file_that_is_no_inscription_is_not_touched(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-03: somebody's notes of that name."""
    document = layout.document("claude", SID)
    document.parent.mkdir(parents=True)
    document.write_text("my notes")
    assert write(put(tmp_path / "p", *turn(1))).count("failed") == 1
    assert document.read_text() == "my notes"


@pytest.mark.parametrize("name", ["not-a-uuid", "with space", "-dash", "index"])
def test_session_ids_need_not_be_uuids(
    layout: Layout, write: Write, tmp_path: Path, name: str
) -> None:
    """INS-03: any file name is an id."""
    report = write(put(tmp_path / "p", *turn(1), name=name))
    assert report.sessions[0].outcome == "new"
    (document,) = documents(layout)
    assert read_inscription(document).header.session_id == name


# ------------------------------------------------------------ byte for byte


def grow(layout: Layout, source: Path, target: Path) -> None:
    """Append at every line: as if inscribe had run after each."""
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = source.read_bytes().splitlines(keepends=True)
    with target.open("wb") as file:
        for line in lines:
            file.write(line)
            file.flush()
            inscribe(layout, Library([target]).transcripts, jobs=1)
    inscribe(layout, Library([target]).transcripts, ended=True, jobs=1)


SMALL = sorted(
    corpus_sessions("claude/projects/*/*.jsonl", "cli-versions/*/projects/*/*.jsonl"),
    key=lambda path: path.read_bytes().count(b"\n"),
)


def same_both_ways(source: Path, tmp_path: Path) -> None:
    beside = source.with_suffix("")
    target = tmp_path / "p" / source.name
    if beside.is_dir():
        shutil.copytree(beside, target.with_suffix(""))
    once, often = Layout(tmp_path / "once"), Layout(tmp_path / "often")
    grow(often, source, target)
    inscribe(once, Library([target]).transcripts, ended=True, jobs=1)
    assert snapshot(often.root) == snapshot(once.root)
    before = times(often.root)
    inscribe(often, Library([target]).transcripts, ended=True, jobs=1)
    assert times(often.root) == before


@needs_corpus
@pytest.mark.parametrize("source", SMALL[:20], ids=short)
def test_appending_at_every_line_equals_inscribing_once(source: Path, tmp_path: Path) -> None:
    """Invariant 3: every prefix of real sessions; a second append changes no byte and no time."""
    same_both_ways(source, tmp_path)


@needs_corpus
@pytest.mark.slow
@pytest.mark.parametrize("source", SMALL[20:55], ids=short)
def test_appending_at_every_line_of_longer_sessions(source: Path, tmp_path: Path) -> None:
    """Invariant 3, for sessions of a few hundred lines."""
    same_both_ways(source, tmp_path)


LINES = [line for script in example_scripts() for line in script.to_bytes().splitlines()]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=14, unique=True))
def test_appending_generated_sessions_equals_inscribing_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    """Invariant 3: records in any order, results before calls, prompts anywhere."""
    folder = tmp_path_factory.mktemp("grown")
    source = folder / f"{SID}.jsonl"
    source.write_bytes(b"\n".join(lines) + b"\n")
    same_both_ways(source, folder)


# ------------------------------------------------------------ databases


def test_rebuilding_changes_nothing_visible(layout: Layout, write: Write, examples: Path) -> None:
    """Invariant 4, DB-06, DB-09: delete every database; tags come back, too."""
    write(examples)
    tag(layout, "Reed", "1-2", "search-drift")
    tag(layout, "Wren", "all", "ontology")
    tag(layout, "Reed", "2", "-")
    before = snapshot(layout.root)
    for path in layout.root.rglob("*.db"):
        path.unlink()
    rebuilt = rebuild(layout)
    assert (rebuilt.sessions, rebuilt.problems) == (9, [])
    assert snapshot(layout.root) == before


@pytest.mark.parametrize("damage", [b"", b"garbage" * 100, None])
def test_a_broken_database_is_made_again(
    layout: Layout, write: Write, tmp_path: Path, damage: bytes | None
) -> None:
    """DB-09: truncated, overwritten or gone: the next run has it back, with its tags."""
    write(put(tmp_path / "p", *turn(1)))
    tag(layout, SID, "1", "work")
    expected = dump(layout.database)
    for path in list(layout.root.rglob("*.db")):
        if damage is None:
            path.unlink()
        else:
            path.write_bytes(damage)
    write(put(tmp_path / "p", *turn(1), *turn(2)))
    for path in layout.root.rglob("*.db"):
        assert expected in dump(path)
        assert "'work'" in dump(path)


def test_a_deleted_round_file_comes_back(layout: Layout, write: Write, examples: Path) -> None:
    """RND: the document holds everything a round file does."""
    write(examples)
    before = snapshot(layout.root)
    for path in layout.sessions.rglob("rounds/002.json"):
        path.unlink()
    assert rebuild(layout).restored == 8
    assert snapshot(layout.root) == before


def test_tags_change_the_index_only(layout: Layout, write: Write, examples: Path) -> None:
    """DB-07, DB-08: both databases and the table; round files and documents stay as they are."""
    write(examples)
    before = snapshot(layout.root)
    tagged = tag(layout, "Reed", "2-3", "search-drift")
    assert (tagged.rounds, tagged.engagement_id) == (2, "search-drift")
    after = snapshot(layout.root)
    changed = {
        name
        for name, content in after.items()
        if before.get(name) != content and not name.startswith("sessions/search/")  # disposable
    }
    folder = f"sessions/claude/{tagged.session_id}"
    assert changed == {
        f"{folder}/session.db",
        f"{folder}/index.md",
        "sessions/sessions.db",
        "sessions/corrections.jsonl",
        "sessions/engagements-index.md",
    }
    assert dump(layout.database).count("'search-drift'") == 2
    index = (layout.root / folder / "index.md").read_text()
    assert index.count("| search-drift |") == 2


@pytest.mark.parametrize("rounds", ["0", "3-1", "x", "", "1-", "99999999999"])
def test_odd_ranges_are_said(layout: Layout, write: Write, examples: Path, rounds: str) -> None:
    """DB-07: one sentence."""
    write(examples)
    with pytest.raises(BadArgument, match="is not a round or a range"):
        tag(layout, "Reed", rounds, "x")


def test_a_round_that_is_not_there_cannot_be_tagged(
    layout: Layout, write: Write, examples: Path
) -> None:
    """DB-07: nothing is written for it."""
    write(examples)
    with pytest.raises(NotFound, match="there is no round 99"):
        tag(layout, "Reed", "99", "x")
    assert not layout.corrections.exists()


@pytest.mark.parametrize("steps", [250, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_operations_leave_the_index_in_step(
    layout: Layout, tmp_path: Path, steps: int
) -> None:
    """DB-05, DB-06: insert, append, tag, rebuild in any order; round files never change."""
    chance = random.Random(20260301)
    lengths: dict[str, int] = {}
    hashes: dict[Path, bytes] = {}
    folder = tmp_path / "p"
    for step in range(steps):
        what = chance.choices(["insert", "append", "tag", "rebuild"], [1, 5, 13, 0.2])[0]
        if (what == "insert" and len(lengths) < 6) or not lengths:
            lengths[f"{len(lengths):08}-2222-4333-8444-555555555555"] = 1
        elif what == "append":
            id = chance.choice(list(lengths))
            lengths[id] = min(lengths[id] + 1, 40)
        if what in ("insert", "append"):
            id = chance.choice(list(lengths))
            path = put(folder, *(r for n in range(1, lengths[id] + 1) for r in turn(n)), name=id)
            inscribe(layout, Library([path]).transcripts, ended=True, jobs=1)
        elif what == "tag" and documents(layout):
            document = chance.choice(documents(layout))
            tag(layout, document.stem, chance.choice(["1", "all"]), f"e{step % 5}")
        elif what == "rebuild" and documents(layout):
            rebuild(layout)
        for path in layout.sessions.rglob("rounds/*.json") if step % 50 == 0 else ():
            assert hashes.setdefault(path, path.read_bytes()) == path.read_bytes()
    for path in layout.root.rglob("*.db"):
        with open_database(path) as database:
            assert integrity(database) is None
    rows = sum(len(read_inscription(path).rounds) for path in documents(layout))
    assert len(dump(layout.database).splitlines()) == rows


# ------------------------------------------------------------ writers and crashes


def test_one_writer_at_a_time(layout: Layout, write: Write, examples: Path) -> None:
    """NFR-02: the second is told who writes, and since when; readers are never locked out."""
    write(examples)
    code = (
        "import sys, time; from pathlib import Path\n"
        "from minutebook.record.store import writing\n"
        "with writing(Path(sys.argv[1]), 'inscribe'):\n"
        "    print('held', flush=True); time.sleep(30)\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(layout.lock)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    try:
        with pytest.raises(
            Locked, match=rf"`minutebook inscribe` \(process {holder.pid}, 0 min ago\)"
        ):
            write(examples)
        assert len(read_inscription(documents(layout)[0]).rounds) > 0
    finally:
        holder.kill()
        holder.wait()
        assert holder.stdout is not None
        holder.stdout.close()
    with writing(layout.lock, "test"):
        pass  # the kernel let go of a killed writer's lock


_RUN = """
import sys
from pathlib import Path
from minutebook.archive import Archive
from minutebook.verbs.inscribe import inscribe
inscribe(Archive(Path(sys.argv[1]), (Path(sys.argv[2]),)), ended=True)
"""


def killed_and_finished(source: Path, tmp_path: Path, times_killed: int) -> None:
    whole = Layout(tmp_path / "whole")
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", _RUN, str(whole.root), str(source)], check=True)
    taken = time.monotonic() - start
    expected = snapshot(whole.root)
    chance = random.Random(7)
    for attempt in range(times_killed):
        layout = Layout(tmp_path / f"killed-{attempt}")
        process = subprocess.Popen(
            [sys.executable, "-c", _RUN, str(layout.root), str(source)], start_new_session=True
        )
        time.sleep(chance.uniform(0.1, taken))
        os.killpg(process.pid, 9)
        process.wait()
        for path in documents(layout):
            read_inscription(path)  # nothing visible is torn
        subprocess.run([sys.executable, "-c", _RUN, str(layout.root), str(source)], check=True)
        assert snapshot(layout.root) == expected, f"attempt {attempt}"
        shutil.rmtree(layout.root)


def test_killed_at_random_moments_the_next_run_finishes(tmp_path: Path, examples: Path) -> None:
    """Invariant 6: kill -9, then the same bytes as undisturbed."""
    killed_and_finished(examples, tmp_path, 8)


def test_what_a_killed_first_run_left_is_swept(
    layout: Layout, write: Write, examples: Path
) -> None:
    """Invariant 6: the first file of an archive, or instructions, half written."""
    left = (layout.format, layout.instructions / "0.md")
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(f".partial-1-1-{path.name}").write_bytes(b"{")
    write(examples)
    assert not list(layout.root.rglob(".partial-*"))


@needs_corpus
@pytest.mark.slow
def test_killed_fifty_times_on_the_corpus(tmp_path: Path) -> None:
    """Invariant 6, with two workers and 80 MB."""
    killed_and_finished(CORPUS / "claude", tmp_path, 50)


def test_a_full_disk_tears_nothing(layout: Layout, write: Write, tmp_path: Path) -> None:
    """A clear error, what was there stays, and the next run goes on."""
    write(put(tmp_path / "p", *turn(1)))
    before = snapshot(layout.root)
    path = put(
        tmp_path / "p",
        *turn(1),
        *turn(2),
        user("x" * 3_000_000, timestamp="2026-03-02T10:00:00.000Z"),
    )
    code = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\n"
    code += "from minutebook.cli.main import main; import sys; main(sys.argv[1:])\n"
    args = ["inscribe", "--all", "--ended", "--archive", str(layout.root), "--root", str(path)]
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "file too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert snapshot(layout.root)[f"sessions/claude/{SID}.md"] == before[f"sessions/claude/{SID}.md"]
    write(path)
    assert len(read_inscription(layout.document("claude", SID)).rounds) == 3


# ------------------------------------------------------------ status


def test_status_says_what_waits(layout: Layout, write: Write, tmp_path: Path) -> None:
    """OPS-18: ended and not inscribed, grown, running, and inscriptions that stand alone."""
    names = [f"{n}1111111-2222-4333-8444-555555555555" for n in range(4)]
    paths = [put(tmp_path / "p", *turn(1), name=name) for name in names]
    for path in paths:
        age(path)
    write(*paths[:3])
    put(tmp_path / "p", *turn(1), *turn(2), name=names[1])
    age(paths[1])
    paths[2].unlink()
    running = put(tmp_path / "p", *turn(1), name="51111111-2222-4333-8444-555555555555")
    found = status(layout, tmp_path / "p")
    assert [t.session_id for t in found.grown] == [names[1]]
    assert [t.session_id for t in found.ended] == [names[3]]
    assert [t.path for t in found.live] == [running]
    assert (found.inscribed, found.current, found.orphaned) == (3, 1, 1)


def test_status_does_not_promise_to_archive_what_is_empty(
    layout: Layout, write: Write, tmp_path: Path
) -> None:
    """OPS-18: a transcript without a round is not inscribed, so it does not wait either."""
    age(put(tmp_path / "p", *turn(1)))
    write(tmp_path / "p")
    title = {"type": "ai-title", "aiTitle": "Nothing", "sessionId": "e"}
    path = put(tmp_path / "p", title, name="61111111-2222-4333-8444-555555555555")
    age(path)
    assert status(layout, tmp_path / "p").ended == []


def test_project_markers_are_documented() -> None:
    """Slow tests and those with the real CLI have make targets of their own."""
    makefile = (PROJECT / "Makefile").read_text()
    assert "-m slow" in makefile
    assert "-m claude" in makefile


def test_killed_before_the_indexes_are_written(
    layout: Layout, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Invariant 6: the ledger is written last, so a run killed just before it is repeated."""
    transcripts = Library([examples]).transcripts

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("minutebook.archive.run.write_indexes", killed)
        inscribe(layout, transcripts, ended=True)
    inscribe(layout, transcripts, ended=True)
    assert layout.index.exists() and layout.agent_index("claude").exists()
