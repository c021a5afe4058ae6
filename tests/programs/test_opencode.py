"""OpenCode's sessions: a database that is never touched, and the tree of files before it."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from minutebook.archive import Archive
from minutebook.derive import messages as kinds
from minutebook.extract.offline import OfflineExtractor
from minutebook.model import (
    Image,
    Notice,
    Round,
    Session,
    Subagent,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from minutebook.sources import databases
from minutebook.sources.base import Transcript, read_session
from minutebook.sources.library import Library, open_transcript
from minutebook.sources.opencode import OpenCode, database, locate
from minutebook.sources.opencode.values import typed
from minutebook.verbs.check import check
from minutebook.verbs.inscribe import inscribe
from minutebook.verbs.watch import Watcher
from tests.conftest import PROJECT, needs_corpus
from tests.programs.opencode_store import (
    BESIDE,
    Store,
    counted,
    files,
    raw_database,
    raw_tree,
)
from tests.programs.samples import AGENTS, expected, in_folder, told
from tests.programs.test_every_agent import spoil
from tests.programs.test_expected import assert_call

SAMPLES = AGENTS / "opencode"
DATA = Path("home") / ".local" / "share" / "opencode"
NEW, OLD = SAMPLES / "1.18.33" / DATA, SAMPLES / "1.1.65" / DATA
PUBLIC = SAMPLES / "public-agent-sessions" / "opencode"
SOURCE = OpenCode()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "opencode")
    yield made
    made.close()


def only(folder: Path) -> Transcript:
    (one,) = SOURCE.discover([folder])[0]
    return one


def read(transcript: Transcript) -> Session:
    return read_session(open_transcript(transcript))


def first(folder: Path) -> Session:
    return read(only(folder))


def copy_of(folder: Path, place: Path) -> Path:
    shutil.copytree(folder, place, copy_function=shutil.copyfile)
    return place


def named(folder: Path, title: str) -> Transcript:
    (one,) = [t for t in SOURCE.discover([folder])[0] if read(t).info.title == title]
    return one


# ------------------------------------------------------------ nothing lost, nothing twice


def seen(session: Session | Subagent) -> Counter[str]:
    """What our reading holds, in the terms of the count made by hand."""
    found: Counter[str] = Counter()
    for round in session.rounds:
        found["prompts"] += round.prompt is not None
        found["compactions"] += len(round.compactions)
        for message in round.messages:
            for block in message.blocks:
                if isinstance(block, Text):
                    name = "prompt characters" if message.role == "user" else "words"
                    found[name] += len(block.text)
                elif isinstance(block, Thinking):
                    found["thoughts"] += len(block.text)
                elif isinstance(block, Image):
                    found["pictures"] += 1
                elif isinstance(block, Notice):
                    found["interruptions"] += block.kind == kinds.INTERRUPTION
                elif isinstance(block, ToolCall):
                    found["calls"] += 1
                    if block.result is not None:
                        found["result characters"] += len(block.result.text)
                        found["failed"] += block.result.error
    return +found


@needs_corpus
def test_a_database_is_read_whole(tmp_path: Path) -> None:
    """AGT-04: prompts, words, thoughts, calls and results of every session, counted in the raw
    rows, subagents' too."""
    raw = copy_of(NEW, tmp_path / "raw") / "opencode.db"
    sessions = [read(t) for t in SOURCE.discover([NEW])[0]]
    assert len(sessions) == 3
    for session in sessions:
        assert seen(session) == counted(raw_database(raw, session.info.id))
        for agent in session.subagents:
            assert seen(agent) == counted(raw_database(raw, agent.id))


@needs_corpus
@pytest.mark.parametrize(
    ("storage", "count"),
    [(OLD / "storage", 3), (PUBLIC / "storage_v2", 2), (PUBLIC / "storage_legacy", 1)],
    ids=["1.1.65", "v2", "legacy"],
)
def test_a_tree_is_read_whole(storage: Path, count: int) -> None:
    """AGT-04: the same for the JSON files, driven and public."""
    sessions = [read(t) for t in SOURCE.discover([storage])[0]]
    assert len(sessions) == count
    for session in sessions:
        by_hand = counted(raw_tree(storage, session.info.id))
        assert seen(session) == by_hand
        for agent in session.subagents:
            assert seen(agent) == counted(raw_tree(storage, agent.id))


@needs_corpus
def test_every_record_is_known() -> None:
    """FMT-23: nothing in the samples is unknown, unreadable or needs help."""
    for transcript in in_folder(SAMPLES):
        reading = open_transcript(transcript)
        read_session(reading)
        assert (reading.report.unknown, reading.report.bad_lines) == (Counter(), [])
        assert not reading.report.repaired


# ------------------------------------------------------------ subagents, forks


@needs_corpus
@pytest.mark.parametrize("place", [NEW, OLD], ids=["1.18.33", "1.1.65"])
def test_a_subagent_belongs_to_its_call(place: Path) -> None:
    """AGT-04: never listed, counted, tied to the call that started it, and all it said is there."""
    known = {one["id"]: one for one in expected(place.parents[3] / "expected.json")["sessions"]}
    (child,) = [one for one in known.values() if one["kind"] == "subagent"]
    listed = SOURCE.discover([place])[0]
    assert child["id"] not in {t.session_id for t in listed}
    session = read(next(t for t in listed if t.session_id == child["parent"]))
    (agent,) = session.subagents
    (call,) = [call for round in session.rounds for call in round.calls if call.agent]
    assert (agent.id, agent.call_id, agent.kind) == (child["id"], call.id, "general")
    assert (call.name, call.agent, session.info.subagents) == ("task", agent.id, 1)
    (turn,) = told(Session(session.info, agent.rounds))
    assert turn["prompt"] == child["turns"][0]["prompt"]
    for event, want in zip(turn["events"], child["turns"][0]["events"], strict=True):
        if want["type"] == "call":
            assert_call(event["call"], want)
        else:
            assert event == want


def test_a_subagents_subagent_is_attached_too(store: Store) -> None:
    """AGT-04: however deep, it hangs on the call that started it, and only the first is listed."""
    store.session("ses_a")
    store.ask("ses_a", "m1", "Delegate this")
    store.reply("ses_a", "m2", task("c1", "ses_b"))
    store.session("ses_b", parent="ses_a", title="Look (@explore subagent)")
    store.ask("ses_b", "m3", "Look")
    store.reply("ses_b", "m4", task("c2", "ses_c"))
    store.session("ses_c", parent="ses_b")
    store.round("ses_c", 1)
    session = first(store.folder)
    assert session.info.id == "ses_a"
    assert [(a.id, a.call_id) for a in session.subagents] == [("ses_b", "c1"), ("ses_c", "c2")]
    assert (session.subagents[0].kind, session.subagents[0].description) == ("explore", "Look")


def task(call: str, child: str) -> dict[str, Any]:
    state = {"status": "completed", "input": {}, "output": "", "metadata": {"sessionId": child}}
    return {"type": "tool", "tool": "task", "callID": call, "state": state}


def test_a_subagent_without_its_session_is_named(store: Store) -> None:
    """FMT-15: its parent was deleted; it is not taken for a session, and doctor can tell."""
    store.session("ses_left", parent="ses_gone")
    assert SOURCE.discover([store.folder])[0] == []
    (orphan,) = SOURCE.orphans(store.folder, ())
    assert "ses_left" in str(orphan.path)


def replies(session: Session) -> dict[str, Usage]:
    found = {}
    for round in session.rounds:
        for message in round.messages:
            if message.reply_id is not None and message.usage is not None:
                found[message.reply_id] = message.usage
        found |= {reply.id: reply.usage for reply in round.progress}
    return found


@needs_corpus
@pytest.mark.parametrize("place", [NEW, OLD], ids=["1.18.33", "1.1.65"])
def test_a_copied_reply_is_counted_once(place: Path) -> None:
    """USE-01: a fork has new ids and the replies of the original: the same by what they are
    counted by."""
    original = replies(read(named(place, "Café rename test")))
    fork = replies(read(named(place, "Café rename test (fork #1)")))
    assert original.keys() < fork.keys()
    assert len(fork.keys() - original.keys()) == 1


# ------------------------------------------------------------ usage


def added(usages: Iterator[Usage]) -> Usage:
    return sum(usages, Usage())


@needs_corpus
def test_usage_is_what_the_program_added_up(tmp_path: Path) -> None:
    """USE-01: the totals in the session's own row; reasoning is output."""
    raw = sqlite3.connect(copy_of(NEW, tmp_path / "raw") / "opencode.db")
    rows = raw.execute(
        "SELECT id, tokens_input, tokens_output + tokens_reasoning, tokens_cache_read,"
        " tokens_cache_write FROM session WHERE parent_id IS NULL"
    ).fetchall()
    raw.close()
    assert len(rows) == 3
    by_id = {t.session_id: t for t in SOURCE.discover([NEW])[0]}
    for id, *totals in rows:
        assert added(iter(replies(read(by_id[id])).values())) == Usage(*totals)


@needs_corpus
def test_usage_of_the_tree_has_reasoning_once() -> None:
    """USE-01: there `output` has it already."""
    for transcript in SOURCE.discover([OLD])[0]:
        tokens = [
            m["tokens"]
            for m, _ in raw_tree(OLD / "storage", transcript.session_id)
            if "tokens" in m
        ]
        assert tokens
        want = Usage(
            sum(t["input"] for t in tokens),
            sum(t["output"] for t in tokens),
            sum(t["cache"]["read"] for t in tokens),
            sum(t["cache"]["write"] for t in tokens),
        )
        assert added(iter(replies(read(transcript)).values())) == want


@pytest.mark.parametrize(
    ("tokens", "output"),
    [
        ({"total": 1022, "input": 402, "output": 12, "reasoning": 8, "cache": {"read": 600}}, 20),
        ({"total": 1022, "input": 402, "output": 20, "reasoning": 8, "cache": {"read": 600}}, 20),
        ({"input": 402, "output": 20, "reasoning": 8}, 20),
        ({"input": 402, "output": 2, "reasoning": 8}, 10),
        ({"total": 7, "input": 3, "output": 4}, 4),
    ],
)
def test_the_total_tells_whether_reasoning_is_apart(
    store: Store, tokens: dict[str, Any], output: int
) -> None:
    """USE-01: not the version, which is that of the program that began the session."""
    store.session("ses_a")
    store.ask("ses_a", "m1", "Count")
    store.reply("ses_a", "m2", {"type": "text", "text": "Done."}, tokens=tokens, cost=0.25)
    (message,) = first(store.folder).rounds[0].replies
    assert message.usage is not None
    assert message.usage.output == output
    assert message.billing is not None
    assert message.billing.cost_usd == 0.25


def test_steps_of_one_message_are_added(store: Store) -> None:
    """USE-01: the message itself only says what its last step used."""
    store.session("ses_a")
    store.ask("ses_a", "m1", "Count")
    steps = [{"type": "step-finish", "tokens": {"input": n, "output": 1}} for n in (5, 7)]
    store.reply("ses_a", "m2", *steps, tokens={"input": 7, "output": 1})
    (message,) = first(store.folder).rounds[0].replies
    assert message.usage == Usage(12, 2)


# ------------------------------------------------------------ what the parts mean


@needs_corpus
@pytest.mark.parametrize("place", [NEW, OLD], ids=["1.18.33", "1.1.65"])
def test_edits_compactions_and_injected_words(place: Path) -> None:
    """INS-16, FMT-14: an edit is a diff, a new file too; a compaction has its trigger; what the
    program put beside a prompt is no prompt."""
    session = read(named(place, "Café rename test"))
    calls = {call.id: call for round in session.rounds for call in round.calls}
    edit, write = calls["call_A2"].result, calls["call_A2b"].result
    assert edit is not None
    assert write is not None
    assert edit.patch[0].lines == (" def add(a, b):", "-    return a - b", "+    return a + b")
    assert write.patch[0].lines[0] == "+from calc import add"
    compactions = [c for round in session.rounds for c in round.compactions]
    assert [c.trigger for c in compactions] == ["manual"]
    assert session.info.compactions == 1
    injected = [b.text for b in notices(session.rounds[5]) if b.kind == kinds.META]
    assert "Image read successfully" in injected


def notices(round: Round) -> list[Notice]:
    return [b for message in round.messages for b in message.blocks if isinstance(b, Notice)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"Fix the bug"', "Fix the bug"),
        ('"Fix the bug"\n', "Fix the bug"),
        ('"Say \\"hello there\\" twice"', 'Say "hello there" twice'),
        ("Fix the bug", None),
        ('"one" and "two"', None),
        ('"word"', None),
        ('" "', " "),
        ('"', None),
        ('fix "the bug"', None),
    ],
)
def test_the_quotes_of_the_command_line_are_not_typed(text: str, said: str | None) -> None:
    """FMT-14: `opencode run "a b"` stores the quotes; they are kept, and not shown as words."""
    assert typed(text) == Text(text, said)


def test_a_prompt_repeated_by_the_program_is_one_prompt(store: Store) -> None:
    """FMT-14: out of room, it summarises and asks itself again what it was asked."""
    store.session("ses_a")
    store.ask("ses_a", "m1", "Describe these")
    store.message("ses_a", "m2", {"role": "user"}, {"type": "compaction", "auto": True})
    store.reply("ses_a", "m3", {"type": "text", "text": "A summary."}, summary=True)
    again = [{"type": "text", "text": t} for t in ("Describe these", "[Attached image/png: a.png]")]
    store.message("ses_a", "m4", {"role": "user"}, *again)
    store.reply("ses_a", "m5", {"type": "text", "text": "Described."})
    store.ask("ses_a", "m6", "Describe these")
    session = first(store.folder)
    assert session.info.prompts == 2
    assert session.rounds[0].compactions[0].trigger == "auto"
    assert [m.text for m in session.rounds[0].replies] == ["Described."]


def test_a_command_of_the_person_is_what_was_typed(store: Store) -> None:
    """FMT-14: `!ls` is stored as a call of the model; the same at both depths."""
    store.session("ses_a")
    store.round("ses_a", 1)
    words = "The following tool was executed by the user"
    store.ask("ses_a", "m3", words, synthetic=True)
    state = {"status": "completed", "input": {"command": "ls"}, "output": "calc.py"}
    store.reply("ses_a", "m4", {"type": "tool", "tool": "bash", "callID": "c", "state": state})
    for depth in ("skim", "full"):
        session = read_session(SOURCE.read(only(store.folder), depth))
        last = session.rounds[-1]
        assert last.prompt is not None
        assert (session.info.prompts, last.prompt.said, last.tool_count) == (2, "! ls", 1)


def test_reasoning_keeps_its_seal(store: Store) -> None:
    """AGT-04: signatures and ciphertexts of providers are kept with what they belong to."""
    store.session("ses_a")
    store.ask("ses_a", "m1", "Think")
    sealed = {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "gAAA"}}
    store.reply(
        "ses_a",
        "m2",
        {"type": "reasoning", "text": "Hm.", "metadata": {"anthropic": {"signature": "c2ln"}}},
        {"type": "reasoning", "text": "", "metadata": sealed},
    )
    (message,) = first(store.folder).rounds[0].replies
    assert message.blocks == (Thinking("Hm.", "c2ln"), Thinking("", "gAAA", redacted=True))


def test_what_is_not_known_is_kept(store: Store) -> None:
    """FMT-23: a part or a message of a later version is in the round, and named."""
    store.session("ses_a")
    store.ask("ses_a", "m1", "Go")
    store.reply("ses_a", "m2", {"type": "hologram", "beam": 3})
    store.message("ses_a", "m3", {"role": "oracle"}, {"type": "text", "text": "Beware"})
    reading = open_transcript(only(store.folder))
    session = read_session(reading)
    assert reading.report.unknown == {"part hologram": 1, "message oracle": 1}
    kept = json.dumps([repr(m.blocks) for m in session.rounds[0].messages])
    assert "beam" in kept
    assert "Beware" in kept


def test_a_title_nobody_gave_is_none(store: Store) -> None:
    """ING-03: until it is made, the beginning of the first prompt serves."""
    store.session("ses_a", title="New session - 2026-11-16T09:50:06.990Z")
    store.ask("ses_a", "m1", "Paint the shed blue")
    info = first(store.folder).info
    assert (info.title, info.title_is_prompt) == ("Paint the shed blue", True)


# ------------------------------------------------------------ untouched


def looked_at(folder: Path) -> int:
    """Everything a reader does; how many rounds there are."""
    assert SOURCE.claims(folder)
    count = 0
    for transcript in SOURCE.discover([folder])[0]:
        now = SOURCE.current(transcript)
        assert now == transcript
        SOURCE.head(transcript, transcript.size)
        SOURCE.beside(transcript)
        for depth in ("skim", "full"):
            count += len(read_session(SOURCE.read(transcript, depth)).rounds)
    return count


@needs_corpus
@pytest.mark.parametrize(
    "without", [(), ("-shm",), ("-shm", "-wal")], ids=["log", "bare", "closed"]
)
def test_nothing_in_the_folder_changes(tmp_path: Path, without: tuple[str, ...]) -> None:
    """AGT-04: no byte, no time and no file, whether the log's index is there or not."""
    folder = copy_of(NEW, tmp_path / "opencode")
    if "-wal" in without:  # as the program leaves it when it ends
        connection = sqlite3.connect(folder / "opencode.db")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
    for ending in without:
        (folder / f"opencode.db{ending}").unlink(missing_ok=True)
    before = files(folder)
    database._families.cache_clear()
    assert looked_at(folder) == 2 * 18
    assert files(folder) == before


RUNNING = """
import sys
from pathlib import Path
from tests.programs.opencode_store import Store

store = Store(Path(sys.argv[1]))
store.session("ses_a")
for line in sys.stdin:
    store.round("ses_a", int(line))
    print("written", flush=True)
"""


def test_a_running_program_is_not_disturbed(tmp_path: Path) -> None:
    """AGT-04: what it has written is seen at once, in the log, without a copy; its files stay as
    they are, and it goes on writing."""
    folder = tmp_path / "opencode"
    command = [sys.executable, "-c", RUNNING, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=PROJECT, stdin=pipe, stdout=pipe, text=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for n in range(3):
            running.stdin.write(f"{n}\n")
            running.stdin.flush()
            assert running.stdout.readline() == "written\n"
            before = files(folder)
            assert before["opencode.db-wal"][0] > 0
            assert looked_at(folder) == 2 * (n + 1)
            assert files(folder) == before
        assert folder / "opencode.db" not in databases._copies
        running.stdin.close()
    assert running.returncode == 0


def test_what_is_half_written_is_not_read(store: Store) -> None:
    """FMT-03: without a log the program writes into the database itself; what was there before is
    in a journal beside it."""
    store.session("ses_a")
    store.round("ses_a", 1)
    store.connection.execute("PRAGMA journal_mode=DELETE")
    store.connection.execute("PRAGMA cache_size=1")
    store.connection.execute("CREATE TABLE ballast (data)")
    before = read(Library([store.path]).transcripts[0])
    store.connection.execute("BEGIN")
    store.connection.execute("DELETE FROM part")
    store.connection.execute("INSERT INTO ballast VALUES (zeroblob(100000))")
    assert store.path.with_name(f"{store.path.name}-journal").exists()
    files_there = files(store.folder)
    assert read(Library([store.path]).transcripts[0]) == before
    assert files(store.folder) == files_there
    store.connection.rollback()


def test_other_tables_are_never_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """SEC: accounts' tokens are in the same file."""
    store.session("ses_a")
    store.round("ses_a", 1)
    asked: set[str] = set()
    connect = sqlite3.connect

    def watched(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)

        def note(action: int, table: str | None, *_: Any) -> int:
            if action == sqlite3.SQLITE_READ and table:
                asked.add(table)
            return sqlite3.SQLITE_OK

        connection.set_authorizer(note)
        return connection

    monkeypatch.setattr(sqlite3, "connect", watched)
    looked_at(store.folder)
    assert asked - {"m", "p"} == {"sqlite_master", "session", "message", "part"}


def test_a_copy_is_made_again_when_the_log_grew(store: Store, tmp_path: Path) -> None:
    """AGT-04: where the log can only be read in a copy, the copy follows it."""
    store.session("ses_a")
    store.round("ses_a", 1)
    there = tmp_path / "there"
    there.mkdir()
    for count in (1, 2):
        for ending in BESIDE[:2]:
            shutil.copyfile(f"{store.path}{ending}", there / f"opencode.db{ending}")
        assert len(first(there).rounds) == count
        store.round("ses_a", 2)


# ------------------------------------------------------------ growing and changing


def archive_of(store: Store, tmp_path: Path) -> Archive:
    return Archive(tmp_path / "archive", (store.folder,))


def outcomes(archive: Archive, *, ended: bool = True) -> dict[str, str]:
    archive.look_again()
    report = inscribe(archive, ended=ended)
    return {one.transcript.session_id: one.outcome for one in report.sessions}


def rounds_in(archive: Archive) -> dict[str, bytes]:
    return {
        str(path.relative_to(archive.root)): path.read_bytes()
        for path in archive.root.glob("sessions/*/*/rounds/*.json")
    }


def test_an_unchanged_session_is_not_read_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AGT-04: of many sessions in one file only the one that grew is read."""
    for id in ("ses_a", "ses_b", "ses_c"):
        store.session(id)
        store.round(id, 1)
    archive = archive_of(store, tmp_path)
    assert set(outcomes(archive).values()) == {"new"}
    asked: list[str] = []
    real = database.messages

    def noted(path: Path, id: str) -> Iterator[Any]:
        asked.append(id)
        return real(path, id)

    monkeypatch.setattr(database, "messages", noted)
    assert set(outcomes(archive).values()) == {"unchanged"}
    assert asked == []
    store.round("ses_b", 2)
    assert outcomes(archive) == {"ses_a": "unchanged", "ses_b": "grown", "ses_c": "unchanged"}
    assert set(asked) == {"ses_b"}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE session SET title = 'Another title'",
        "UPDATE part SET data = replace(data, 'fixed', 'mixed'), time_updated = time_updated + 1",
        "UPDATE message SET time_updated = time_updated + 1",
        "DELETE FROM part WHERE id = 'prt_000002'",
    ],
    ids=["title", "part", "message", "deleted"],
)
def test_a_change_in_place_is_noticed(store: Store, change: str) -> None:
    """AGT-04: rows are updated where they stand; the number of them need not change."""
    store.session("ses_a")
    store.round("ses_a", 1)
    before = only(store.folder)
    state = SOURCE.beside(before)
    store.connection.execute(change)
    now = only(store.folder)
    assert (now.size, now.mtime, SOURCE.beside(now)) != (before.size, before.mtime, state)
    assert SOURCE.head(now, now.size) == SOURCE.head(before, before.size)


def test_a_subagent_that_goes_on_changes_its_session(store: Store) -> None:
    """AGT-04: what it says belongs to the session that is listed."""
    store.session("ses_a")
    store.round("ses_a", 1)
    store.session("ses_b", parent="ses_a")
    before = only(store.folder)
    store.round("ses_b", 1)
    now = only(store.folder)
    assert now.size > before.size
    assert now.mtime > before.mtime


def test_a_reply_that_still_grows_is_not_frozen(store: Store) -> None:
    """ARC-03: although a prompt waits after it, its round is open until the next reply begins."""
    store.session("ses_a")
    store.round("ses_a", 1)
    store.ask("ses_a", "m3", "Tell me a long story")
    store.reply("ses_a", "m4", {"type": "text", "text": "Once"}, done=False)
    store.ask("ses_a", "m5", "And make it short")
    reading = open_transcript(only(store.folder))
    states = [(r.number, reading.at_end and r.number > reading.closed) for r in reading.rounds()]
    assert states == [(1, False), (2, True), (3, True)]
    store.reply("ses_a", "m6", {"type": "text", "text": "The end."})
    reading = open_transcript(only(store.folder))
    states = [(r.number, reading.at_end and r.number > reading.closed) for r in reading.rounds()]
    assert states == [(1, False), (2, False), (3, True)]


def test_a_running_session_is_archived_as_far_as_it_is_over(store: Store, tmp_path: Path) -> None:
    """ARC-03: an unfinished reply is written once, when it is whole."""
    store._clock = int(time.time() * 1000) - 60_000
    store.session("ses_a")
    store.round("ses_a", 1)
    store.ask("ses_a", "m3", "Tell me a long story")
    store.reply("ses_a", "m4", {"type": "text", "text": "Once"}, done=False)
    archive = archive_of(store, tmp_path)
    outcomes(archive, ended=False)
    assert [Path(path).stem for path in rounds_in(archive)] == ["001"]
    assert len(list(archive.open("ses_a").rounds())) == 2
    whole = {"time": {"created": store._clock, "completed": store.tick()}, "role": "assistant"}
    store.message("ses_a", "m4", whole)
    store.connection.execute(
        "UPDATE part SET data = replace(data, 'Once', 'Once upon a time') WHERE message_id = 'm4'"
    )
    outcomes(archive)
    written = rounds_in(archive)
    assert len(written) == 2
    assert b"Once upon a time" in b"".join(written.values())


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE part SET data = replace(data, 'fixed', 'ruined'), time_updated = time_updated + 9",
        "DELETE FROM message WHERE id LIKE '%1b'",
        "DELETE FROM part",
    ],
    ids=["rewritten", "undone", "emptied"],
)
def test_what_is_published_never_changes(store: Store, tmp_path: Path, change: str) -> None:
    """ARC-02: whatever becomes of the rows, round files stay byte for byte."""
    store.session("ses_a")
    for n in range(1, 4):
        store.round("ses_a", n)
    archive = archive_of(store, tmp_path)
    outcomes(archive)
    before = rounds_in(archive)
    store.connection.execute(change)
    store.round("ses_a", 4)
    outcomes(archive)
    after = rounds_in(archive)
    assert {path: after[path] for path in before} == before
    assert len(after) > len(before)


@needs_corpus
def test_a_database_is_archived_once_and_for_all(tmp_path: Path) -> None:
    """ARC-02, AGT-04: unchanged the second time, and readable with the database deleted."""
    folder = copy_of(NEW, tmp_path / "opencode")
    archive = Archive(tmp_path / "archive", (folder,))
    assert set(outcomes(archive).values()) == {"new"}
    assert set(outcomes(archive).values()) == {"unchanged"}
    before = {t.session_id: read(t) for t in SOURCE.discover([folder])[0]}
    shutil.rmtree(folder)
    left = Archive(tmp_path / "archive", ())
    for id, session in before.items():
        stored = list(left.open(id).rounds())
        assert [[*r.calls] for r in stored] == [[*r.calls] for r in session.rounds]
        assert words(stored) == words(session.rounds)


@needs_corpus
@pytest.mark.parametrize("place", [NEW, OLD], ids=["1.18.33", "1.1.65"])
def test_the_way_back_loses_nothing(place: Path, tmp_path: Path) -> None:
    """OPS-16: an inscription, exported for Claude Code and read again, is the same; what was typed
    and what was stored between quotes, both."""
    archive = Archive(tmp_path / "archive", (place,))
    for id in outcomes(archive):
        assert check(archive, id).problems == []


def words(rounds: Sequence[Round]) -> list[list[str]]:
    return [[message.text for message in round.messages] for round in rounds]


def test_only_what_changed_is_taken_by_watch(store: Store, tmp_path: Path) -> None:
    """FUT-05: one file, many sessions: the one that was written to."""
    for id in ("ses_a", "ses_b", "ses_c"):
        store.session(id)
        store.round(id, 1)
    watcher = Watcher(archive_of(store, tmp_path), OfflineExtractor)
    assert [taken.sessions for taken in watcher._catch_up()] == [3]
    assert list(watcher._catch_up()) == []
    store.round("ses_b", 2)
    log = store.path.with_name("opencode.db-wal")
    assert SOURCE.matters(log)
    assert [taken.sessions for taken in watcher._heard({log})] == [1]
    assert "ses_b" in SOURCE.sessions_of([log])


# ------------------------------------------------------------ places


@needs_corpus
def test_an_imported_tree_is_the_same_session(tmp_path: Path) -> None:
    """AGT-04: 1.2 put the files into the database under their ids and left them: the database
    wins, nothing is listed twice, and what was archived from the files stays as it was."""
    folder = copy_of(OLD, tmp_path / "opencode")
    archive = Archive(tmp_path / "archive", (folder,))
    assert set(outcomes(archive).values()) == {"new"}
    before = rounds_in(archive)
    store = Store(folder)
    imported(folder / "storage", store.connection)
    listed = SOURCE.discover([folder])[0]
    assert {t.path.name for t in listed} == {"opencode.db"}
    assert len(listed) == 3
    for transcript in listed:
        twin = next(
            t
            for t in SOURCE.discover([folder / "storage"])[0]
            if t.session_id == transcript.session_id
        )
        assert read(transcript).rounds == read(twin).rounds
    assert not set(outcomes(archive).values()) & {"failed", "duplicate", "unusable"}
    assert rounds_in(archive) == before
    store.close()


def imported(storage: Path, connection: sqlite3.Connection) -> None:
    """As 1.2.1 does it: the same ids, which are columns now."""
    for path in storage.glob("session/*/*.json"):
        s = json.loads(path.read_bytes())
        row = (
            s["id"],
            s["projectID"],
            s.get("parentID"),
            s["slug"],
            s["directory"],
            s["title"],
            s["version"],
            None,
            s["time"]["created"],
            s["time"]["updated"],
        )
        connection.execute(f"INSERT INTO session VALUES ({','.join('?' * 10)})", row)
    for path in storage.glob("message/*/*.json"):
        m = json.loads(path.read_bytes())
        at, id, session = m["time"]["created"], m.pop("id"), m.pop("sessionID")
        said = (id, session, at, at, json.dumps(m))
        connection.execute("INSERT INTO message VALUES (?,?,?,?,?)", said)
    for path in storage.glob("part/*/*.json"):
        p = json.loads(path.read_bytes())
        id, message, session = p.pop("id"), p.pop("messageID"), p.pop("sessionID")
        part = (id, message, session, 1, 1, json.dumps(p))
        connection.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", part)


def test_the_places_it_may_be_moved_to(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INS-02: `$XDG_DATA_HOME`, `$OPENCODE_DB`, a database of another channel."""
    store.session("ses_a")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("OPENCODE_DB", raising=False)
    assert SOURCE.default_root() == store.folder
    other = Store(tmp_path / "elsewhere")
    other.session("ses_moved")
    other.close()
    moved = tmp_path / "elsewhere" / "moved.db"
    (tmp_path / "elsewhere" / "opencode.db").rename(moved)
    monkeypatch.setenv("OPENCODE_DB", str(moved))
    shutil.copyfile(moved, store.folder / "opencode-beta.db")
    found = SOURCE.discover([store.folder])[0]
    assert sorted(t.path.name for t in found) == ["moved.db", "opencode-beta.db", "opencode.db"]
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert SOURCE.default_root() == tmp_path / ".local" / "share" / "opencode"


def test_a_file_can_be_named(store: Store) -> None:
    """FMT-02: the database itself is a place; its newest session comes first."""
    store.session("ses_a")
    store.round("ses_a", 1)
    store.session("ses_b")
    store.round("ses_b", 1)
    found = Library([store.path]).transcripts
    assert [(t.source, t.session_id) for t in found] == [
        ("opencode", "ses_b"),
        ("opencode", "ses_a"),
    ]
    assert found[0].location == f"{store.path}#ses_b"


def test_what_is_not_its_database_is_left_alone(tmp_path: Path) -> None:
    """AGT-02: another program's database is not claimed; a broken one is a trouble."""
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE session (id)")
    other.commit()
    other.close()
    (tmp_path / "opencode.db").write_bytes(b"SQLite format 3\x00" + b"\x07" * 5000)
    assert not SOURCE.claims(tmp_path / "other.db")
    for place in (tmp_path, tmp_path / "opencode.db"):
        library = Library([place])
        (trouble,) = library.troubles
        assert library.transcripts == []
        assert "database" in trouble.reason


def test_a_name_in_a_file_leads_nowhere_else(tmp_path: Path) -> None:
    """SEC: a session's id is not a path."""
    storage = tmp_path / "storage"
    for folder in ("session/p", "message", "part"):
        (storage / folder).mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.mkdir()
    said = {"id": "m1", "role": "user", "time": {"created": 1}}
    (secret / "m1.json").write_text(json.dumps(said))
    session = {"id": "../../secret", "time": {"created": 1}, "title": "x"}
    (storage / "session" / "p" / "ses_x.json").write_text(json.dumps(session))
    for transcript in SOURCE.discover([storage])[0]:
        reading = open_transcript(transcript)
        read_session(reading)
        assert reading.report.lines == 0


def test_how_to_go_on() -> None:
    """AGT-01: the command that resumes a session."""
    assert SOURCE.resume_command("ses_a", "/w/my app") == "cd '/w/my app' && opencode -s ses_a"


# ------------------------------------------------------------ rubbish


@needs_corpus
@pytest.mark.parametrize("seed", range(6))
def test_nothing_in_a_row_makes_it_fail(tmp_path: Path, seed: int) -> None:
    """FMT-03, FMT-04: odd values anywhere, torn and missing data: read, counted, never raised."""
    chance = random.Random(seed)
    folder = copy_of(NEW, tmp_path / "opencode")
    connection = sqlite3.connect(folder / "opencode.db")
    for table in ("message", "part"):
        for id, data in connection.execute(f"SELECT id, data FROM {table}").fetchall():
            now = spoiled(data, chance)
            connection.execute(f"UPDATE {table} SET data = ? WHERE id = ?", (now, id))
    connection.execute("UPDATE session SET title = x'ff', directory = 7, time_updated = 'x'")
    connection.execute("UPDATE part SET time_updated = 'soon' WHERE id LIKE '%a'")
    connection.commit()
    connection.close()
    bad = 0
    for transcript in SOURCE.discover([folder])[0]:
        for depth in ("skim", "full"):
            reading = SOURCE.read(transcript, depth)
            msgspec.json.encode(read_session(reading))  # it can be written down
            bad += len(reading.report.bad_lines)
    assert bad


def test_sessions_that_are_each_others_parents_are_listed(store: Store) -> None:
    """FMT-03: one of each ring, with the others as its subagents; nothing vanishes."""
    parents = {"a": "b", "b": "a", "below": "a", "self": "self", "x": "z", "y": "x", "z": "y"}
    for id, parent in parents.items():
        store.session(f"ses_{id}", parent=f"ses_{parent}")
        store.round(f"ses_{id}", 1)
    listed = {t.session_id: read(t) for t in Library([store.folder]).transcripts}
    assert {id: {agent.id for agent in session.subagents} for id, session in listed.items()} == {
        "ses_a": {"ses_b", "ses_below"},
        "ses_self": set(),
        "ses_x": {"ses_y", "ses_z"},
    }


@needs_corpus
@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_database_is_a_trouble(tmp_path: Path, seed: int) -> None:
    """FMT-03: cut, overwritten, without its log: what can be read is, the rest is told, and nothing
    is raised or written."""
    chance = random.Random(seed)
    folder = copy_of(NEW, tmp_path / "opencode")
    for path in [folder / f"opencode.db{ending}" for ending in BESIDE]:
        data, kind = bytearray(path.read_bytes()), chance.choice(("whole", "cut", "odd", "gone"))
        if kind == "cut":
            del data[chance.randrange(len(data)) :]
        elif kind == "odd":
            for _ in range(300):
                data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        if kind == "gone":
            path.unlink()
    before = files(folder)
    SOURCE.claims(folder)
    found, told = SOURCE.discover([folder])
    assert bool(told) != bool(found) or not (folder / "opencode.db").exists()
    for transcript in found:
        assert SOURCE.current(transcript) is not None
        for depth in ("skim", "full"):
            read_session(SOURCE.read(transcript, depth))
    assert files(folder) == before


def test_a_damaged_schema_is_a_trouble(store: Store) -> None:
    """FMT-03: what sqlite says of it is no UTF-8, and its own error cannot be made of that."""
    store.session("ses_a")
    store.close()
    data = store.path.read_bytes()
    store.path.write_bytes(data.replace(b"CREATE TABLE part", b"CREATE T\x8aBLE part"))
    found, (trouble,) = SOURCE.discover([store.folder])
    assert (found, trouble.path) == ([], store.path)
    assert "not a database that can be read" in trouble.reason


def spoiled(data: str, chance: random.Random) -> Any:
    pick = chance.random()
    if pick < 0.05:
        return data[: len(data) // 2]
    if pick < 0.08:
        return b"\xff\xfe rubbish"
    if pick < 0.1:
        return 7
    value = json.loads(data)
    for _ in range(chance.randint(0, 3)):
        spoil(value, chance)
    return json.dumps(value)


@needs_corpus
@pytest.mark.parametrize("seed", range(6))
def test_nothing_in_a_file_of_the_tree_makes_it_fail(tmp_path: Path, seed: int) -> None:
    """FMT-03, FMT-04: the same for the JSON files."""
    chance = random.Random(seed)
    folder = copy_of(OLD, tmp_path / "opencode")
    for path in sorted(folder.rglob("*.json")):
        now = spoiled(path.read_text(encoding="utf-8"), chance)
        path.write_bytes(now if isinstance(now, bytes) else str(now).encode())
    for transcript in SOURCE.discover([folder])[0]:
        for depth in ("skim", "full"):
            read_session(SOURCE.read(transcript, depth))


def test_a_database_that_vanishes_is_a_problem(store: Store) -> None:
    """FMT-03: an OSError, as of any file; the session is no longer current."""
    store.session("ses_a")
    store.round("ses_a", 1)
    transcript = only(store.folder)
    store.connection.execute("DELETE FROM session")
    assert SOURCE.current(transcript) is None
    assert SOURCE.beside(transcript) == ""
    with pytest.raises(FileNotFoundError):
        list(SOURCE.read(transcript, "full").rounds())
    store.close()
    for ending in BESIDE:
        Path(f"{store.path}{ending}").unlink(missing_ok=True)
    assert SOURCE.current(transcript) is None
    with pytest.raises(OSError, match="No such file"):
        locate.head(transcript)
