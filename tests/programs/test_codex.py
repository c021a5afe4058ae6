"""What is particular to Codex CLI: three formats of lines, two kinds of files, forks, subagents."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive import Archive
from minutebook.model import (
    Attachment,
    Image,
    Link,
    Notice,
    Round,
    Session,
    StrayResult,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    Usage,
)
from minutebook.sources.base import Transcript
from minutebook.sources.codex import agents, titles
from minutebook.sources.codex.locate import head_of
from minutebook.sources.codex.results import End, envelope_hunks, result_of
from minutebook.sources.library import Library, open_file, open_transcript, overview
from minutebook.sources.registry import SOURCES
from minutebook.verbs.check import check, check_file
from minutebook.verbs.inscribe import inscribe
from tests.conftest import needs_corpus
from tests.programs.samples import AGENTS, in_folder, read

pytestmark = needs_corpus
HERE = AGENTS / "codex"
NEW = HERE / "0.166.0" / "home" / ".codex"
PUBLIC = HERE / "public-git-sync" / "home" / ".codex"
PARENT, CHILD = "019d7d08-46c9-7f73-affe-4e6ca9852d56", "019d7e3d-0164-79d1-af76-e4ee6689b94f"
SAMPLES = in_folder(HERE) if HERE.is_dir() else []
ROLLOUTS = [t for t in SAMPLES if t.path.name.startswith("rollout-")]
# Public ones that somebody put together: prompts without their events, calls that share one id.
MADE = [t for t in SAMPLES if t.path.name in ("large.jsonl", "small.jsonl")]
CODEX = SOURCES["codex"]
ZSTD = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def name(transcript: Transcript) -> str:
    return f"{transcript.path.parts[-7]}-{transcript.path.name[-24:]}"


def sessions(home: Path) -> dict[str, Transcript]:
    return {transcript.session_id: transcript for transcript in Library([home]).transcripts}


def read_file(path: Path) -> Session:
    (transcript,) = Library([path]).transcripts
    return read(transcript)


# ------------------------------------------------------------ counted in another way


def raw_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Objects of a file, glued ones too; read here without our reader."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = ZSTD.decompress(data)
    for line in data.decode().split("\n"):
        position = 0
        while position < len(line):
            value, position = json.JSONDecoder().raw_decode(line, position)
            yield value


def raw_items(path: Path) -> list[dict[str, Any]]:
    found = []
    for line in raw_lines(path):
        item = line.get("payload", line)
        if line.get("type") == "response_item" or "payload" not in line:
            found.append(item)
    return found


def raw_prompts(path: Path) -> list[str]:
    """The events have the prompts and nothing else; before there were events, tags tell."""
    found = []
    for line in raw_lines(path):
        payload = line.get("payload", {})
        item = payload.get("item", {}) if isinstance(payload, dict) else {}
        if payload.get("type") == "user_message":
            found.append(payload["message"])
        elif item.get("type") == "UserMessage":
            found.append("\n".join(p["text"] for p in item["content"] if p["type"] == "text"))
    bare = [i for i in raw_items(path) if i.get("role") == "user"] if not found else []
    return found or ["".join(piece["text"] for piece in item["content"]) for item in bare]


def raw_texts(path: Path) -> list[str]:
    """Assistant messages, but for those that became a summary."""
    summaries = [
        line["payload"]["message"] for line in raw_lines(path) if line.get("type") == "compacted"
    ]
    texts = [
        piece["text"]
        for item in raw_items(path)
        if item.get("role") == "assistant"
        for piece in item["content"]
        if piece.get("text")
    ]
    return [t for t in texts if not any(summary.endswith(t) for summary in summaries)]


def blocks(session: Session, kind: type[Any]) -> list[Any]:
    return [
        block
        for round in session.rounds
        for message in round.messages
        for block in message.blocks
        if isinstance(block, kind)
    ]


@pytest.mark.parametrize("transcript", [t for t in SAMPLES if t not in MADE], ids=name)
def test_nothing_is_lost_and_nothing_told_twice(transcript: Transcript) -> None:
    """AGT-04: prompts, texts, reasoning, calls and results, as counted in the raw file."""
    session, path = read(transcript), transcript.path
    items = raw_items(path)
    prompts = [r.prompt.text for r in session.rounds if r.prompt is not None]
    assert prompts == raw_prompts(path)
    said = [b.text for r in session.rounds for m in r.replies for b in m.blocks if type(b) is Text]
    assert said == raw_texts(path)
    thoughts = [
        "\n\n".join(p["text"] for p in i.get("summary") or []) for i in items if "summary" in i
    ]
    assert [b.text for b in blocks(session, Thinking) if b.text] == [t for t in thoughts if t]
    calls = {b.id: b for b in blocks(session, ToolCall)}
    wanted = [i for i in items if i.get("type") in ("function_call", "custom_tool_call")]
    searches = [i for i in items if i.get("type") == "web_search_call"]
    assert len(calls) == len(wanted) + len(searches) == session.info.calls
    for item in wanted:
        call = calls[item["call_id"]]
        given = json.loads(item["arguments"]) if "arguments" in item else item["input"]
        assert (call.name, call.input) == (item["name"], given)
    for item in items:
        if str(item.get("type")).endswith("_call_output"):
            result = calls[item["call_id"]].result
            assert result is not None
            assert result.text.strip() in plain(item["output"])


@pytest.mark.parametrize("transcript", MADE, ids=name)
def test_files_that_somebody_made_are_read_whole(transcript: Transcript) -> None:
    """AGT-04: words of both sides, calls and results, by their number in the raw file."""
    session, items = read(transcript), raw_items(transcript.path)
    kinds = Counter(str(item.get("type")) for item in items)
    asked = [
        piece["text"]
        for item in items
        if item.get("type") == "message" and item["role"] == "user"
        for piece in item["content"]
        if piece.get("text")
    ]
    kept = [b.data.get("text") for b in blocks(session, Attachment)]
    kept += [b.text for kind in (Text, Notice) for b in blocks(session, kind)]
    assert set(asked) <= set(kept)
    told = [b for r in session.rounds for m in r.replies for b in m.blocks if type(b) is Text]
    assert [block.text for block in told] == raw_texts(transcript.path)
    calls = blocks(session, ToolCall)
    called = {kind: n for kind, n in kinds.items() if kind.endswith("_call")} | {"tool_call": 0}
    assert len(calls) == sum(called.values()) == session.info.calls
    outputs = sum(n for kind, n in kinds.items() if kind.endswith("_output"))
    itself = kinds["web_search_call"] + kinds["image_generation_call"]
    answered = sum(call.result is not None for call in calls) - itself
    assert answered + len(blocks(session, StrayResult)) == outputs
    odd = kinds["tool_call"] + kinds["tool_result"]  # no version of Codex wrote these
    assert sum("item tool_" in block.kind for block in blocks(session, Unknown)) == odd


def plain(output: Any) -> str:
    if isinstance(output, list):
        return "\n".join(piece.get("text", "") for piece in output)
    if output.startswith('{"output":'):
        return str(json.loads(output)["output"])
    return str(output)


@pytest.mark.parametrize("transcript", ROLLOUTS, ids=name)
def test_usage_is_what_the_file_says(transcript: Transcript) -> None:
    """USE-01: what was used, each response once, whatever is repeated; input without cache."""
    session = read(transcript)
    total: Counter[str] = Counter()
    first = None
    for line in raw_lines(transcript.path):
        payload = line.get("payload", {})
        info = payload.get("info") if payload.get("type") == "token_count" else None
        if info:
            first = first or info
            total = Counter(info["total_token_usage"])
    if first is not None:  # a fork goes on from its parent's sum
        total -= Counter(first["total_token_usage"]) - Counter(first["last_token_usage"])
    used = usage(session.rounds)
    assert used.input + used.cache_read + used.cache_write == total["input_tokens"]
    assert (used.cache_read, used.output) == (total["cached_input_tokens"], total["output_tokens"])


def usage(rounds: tuple[Round, ...]) -> Usage:
    told = (round.usage for round in rounds)
    elsewhere = (reply.usage for round in rounds for reply in round.progress)
    return sum([*told, *elsewhere], start=Usage())


@pytest.mark.parametrize("transcript", SAMPLES, ids=name)
def test_ids_are_unique_in_a_session(transcript: Transcript) -> None:
    """FMT-12: every message can be named."""
    session = read(transcript)
    ids = [message.id for round in session.rounds for message in round.messages]
    assert None not in ids
    assert len(set(ids)) == len(ids)


def test_a_file_of_another_form_is_read() -> None:
    """FMT-04: lines of a form no version of Codex wrote are kept and counted, and never raise."""
    path = HERE / "public-agent-sessions" / "codex" / "schema_drift.jsonl"
    transcript = Transcript(path, "codex", "drift", path.stat().st_size, 0.0)
    reading = open_transcript(transcript)
    list(reading.rounds())
    assert sum(reading.report.unknown.values()) + sum(reading.report.left_out.values()) >= 4


# ------------------------------------------------------------ files


def test_a_migrated_file_has_the_same_rounds() -> None:
    """AGT-04: `codex migrate-rollouts` changes lines, and neither rounds nor ids."""
    before, after = (
        read_file(next((HERE / "maintenance" / place).rglob("rollout-*.jsonl")))
        for place in ("before", "after-migrate")
    )
    assert before == after
    assert len(before.rounds) == 4


def test_an_archive_gains_nothing_from_a_migration(tmp_path: Path) -> None:
    """ARC-02, AGT-04: migrated in place, compressed, put away: nothing published changes."""
    home = tmp_path / "home"
    shutil.copytree(HERE / "maintenance" / "before" / "home" / ".codex", home)
    archive = Archive(tmp_path / "archive", (home,))
    assert [one.outcome for one in inscribe(archive, ended=True).sessions] == ["new"]
    published = files(archive.root)
    path = next(home.rglob("rollout-*.jsonl"))

    shutil.copyfile(next((HERE / "maintenance" / "after-migrate").rglob("*.jsonl")), path)
    assert inscribe(Archive(archive.root, (home,)), ended=True).sessions
    assert files(archive.root) == published

    compress(path)
    (one,) = inscribe(Archive(archive.root, (home,)), ended=True).sessions
    assert one.problem is None
    assert files(archive.root) == published

    away = home / "archived_sessions"
    away.mkdir()
    shutil.move(path.with_name(path.name + ".zst"), away)
    (one,) = inscribe(Archive(archive.root, (home,)), ended=True).sessions
    assert one.problem is None
    assert files(archive.root) == published
    assert {o.outcome for o in inscribe(Archive(archive.root, (home,)), ended=True).sessions} == {
        "unchanged"
    }


def test_a_session_that_grows_is_archived_as_if_at_once(tmp_path: Path) -> None:
    """ARC-03: whatever was written at each of many visits, the end is the same bytes."""
    source = next((HERE / "maintenance" / "before").rglob("rollout-*.jsonl"))
    lines = source.read_bytes().splitlines(keepends=True)
    home = tmp_path / "home" / "sessions"
    home.mkdir(parents=True)
    path = home / source.name
    shutil.copyfile(source, path)
    inscribe(Archive(tmp_path / "one", (home,)), ended=True)
    for count in range(4, len(lines), 7):
        path.write_bytes(b"".join(lines[:count]))
        inscribe(Archive(tmp_path / "many", (home,)))
    path.write_bytes(b"".join(lines))
    inscribe(Archive(tmp_path / "many", (home,)), ended=True)
    assert files(tmp_path / "many") == files(tmp_path / "one")
    assert len(files(tmp_path / "one")) == 4


def test_a_file_that_cannot_be_read_is_listed(tmp_path: Path) -> None:
    """FMT-03: a rollout whose first line is broken does not vanish."""
    path = tmp_path / "sessions" / "rollout-2026-01-01T00-00-00-x.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"{broken\n")
    found, _ = CODEX.discover([tmp_path])
    assert [transcript.path for transcript in found] == [path]
    assert open_file(path).source == CODEX.name


def test_a_rollout_without_a_head_is_archived_and_checked(tmp_path: Path) -> None:
    """OPS-14: it goes by the name of its file, which is no UUID and becomes one in an export."""
    source = next(iter(sessions(NEW).values())).path
    path = tmp_path / "sessions" / "rollout-2026-11-16T09-49-26-mine.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"{broken\n" + source.read_bytes().split(b"\n", 1)[1])
    archive = Archive(tmp_path / "archive", (tmp_path,))
    inscribe(archive, ended=True)
    found = check(archive, "rollout-2026-11-16T09-49-26-mine")
    assert (found.problems, found.remarks) == ([], [])


def files(root: Path) -> dict[str, bytes]:
    found = root.glob("sessions/*/*/rounds/*.json")
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def compress(path: Path) -> Path:
    packed = path.with_name(path.name + ".zst")
    packed.write_bytes(ZSTD.compress(path.read_bytes()))
    path.unlink()
    return packed


def test_a_compressed_file_is_read_as_what_it_was(tmp_path: Path) -> None:
    """FMT-02: `.jsonl.zst` gives the rounds and the size of the `.jsonl`."""
    path = tmp_path / next(iter(sessions(NEW).values())).path.name
    shutil.copyfile(next(iter(sessions(NEW).values())).path, path)
    (plain_one,) = Library([tmp_path]).transcripts
    expected = read(plain_one)
    compress(path)
    (packed,) = Library([tmp_path]).transcripts
    assert read(packed) == expected
    assert (packed.size, packed.session_id) == (plain_one.size, plain_one.session_id)


def test_both_files_of_a_session_are_one_session(tmp_path: Path) -> None:
    """AGT-02: while Codex unpacks a file there are two of them."""
    source = next(iter(sessions(NEW).values())).path
    shutil.copyfile(source, tmp_path / source.name)
    compress(tmp_path / source.name)
    shutil.copyfile(source, tmp_path / source.name)
    assert [t.path.suffix for t in Library([tmp_path]).transcripts] == [".jsonl"]


def test_a_damaged_compressed_file_is_a_problem(tmp_path: Path) -> None:
    """FMT-03: it is named, and nothing is raised."""
    source = next(iter(sessions(NEW).values())).path
    path = compress(Path(shutil.copyfile(source, tmp_path / source.name)))
    (transcript,) = Library([tmp_path]).transcripts
    whole = path.read_bytes()
    path.write_bytes(whole[:10] + b"\xff" * 200 + whole[210:])
    assert "damaged" in (overview(transcript).problem or "")


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    """FMT-22: a few bytes that would become gigabytes are refused."""
    path = tmp_path / "rollout-bomb.jsonl.zst"
    path.write_bytes(ZSTD.compress(b" " * (80 << 20)))
    transcript = Transcript(path, "codex", "bomb", path.stat().st_size, 0.0)
    assert "too large" in (overview(transcript).problem or "")


# ------------------------------------------------------------ titles


def named_home(tmp_path: Path) -> tuple[Path, Transcript]:
    home = tmp_path / "home"
    shutil.copytree(NEW, home)
    return home, sessions(home)["01a1e3c3-aab7-7bf2-a1b4-226abf5d5b40"]


def test_the_last_name_in_the_index_counts(tmp_path: Path) -> None:
    """ING-03: a session renamed again is called that, and an archive notices."""
    home, transcript = named_home(tmp_path)
    before = CODEX.beside(transcript)
    with (home / titles.INDEX).open("a") as index:
        index.write(json.dumps({"id": transcript.session_id, "thread_name": "Another"}) + "\n")
    assert read(transcript).info.title == "Another"
    assert CODEX.beside(transcript) != before


def test_the_database_names_what_the_index_does_not(tmp_path: Path) -> None:
    """ING-03: `threads.name`, read without touching the database."""
    home, transcript = named_home(tmp_path)
    (home / titles.INDEX).unlink()
    state = home / "state_5.sqlite"
    before = state.read_bytes()
    assert read(transcript).info.title == "Café rename test"
    assert state.read_bytes() == before
    assert not list(home.glob("state_5.sqlite-*"))


def test_names_that_are_only_in_the_log_are_read(tmp_path: Path) -> None:
    """ING-03: while Codex runs, the newest is in the write-ahead log; it stays as it is."""
    home, transcript = named_home(tmp_path)
    (home / titles.INDEX).unlink()
    running = sqlite3.connect(home / "state_5.sqlite")
    running.execute("PRAGMA journal_mode=WAL")
    running.execute("UPDATE threads SET name = 'Fresh' WHERE id = ?", (transcript.session_id,))
    running.commit()
    before = {path.name: path.stat().st_mtime_ns for path in home.glob("state_5*")}
    assert read(transcript).info.title == "Fresh"
    assert {path.name: path.stat().st_mtime_ns for path in home.glob("state_5*")} == before
    running.close()


def test_a_name_in_the_rollout_serves_without_the_others() -> None:
    """ING-03: Desktop writes an event; nobody gave that title, so it names no agent."""
    info = read(sessions(PUBLIC)["019ddeed-72de-7371-bf67-ac505f4386ba"]).info
    assert (info.title, info.names.titles) == ("Add image to repo", ())


# ------------------------------------------------------------ subagents and forks


def test_subagents_are_no_sessions() -> None:
    """AGT-04: of seven rollouts one is a subagent's; it is attached to the call that started it."""
    found = sessions(NEW)
    assert len(found) == 6
    session = read(found["01a1e3c2-f3aa-7c13-b14e-f433b2f15256"])
    (agent,) = session.subagents
    (call,) = [call for round in session.rounds for call in round.calls if call.agent]
    assert (call.name, call.agent, agent.call_id) == ("spawn_agent", agent.id, call.id)
    assert session.info.subagents == 1


def test_heads_are_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ING-03: however many sessions lie in a folder, asking for each one's subagents is little."""
    home, _ = named_home(tmp_path)
    looked: list[Path] = []

    def noting(path: Path) -> object:
        looked.append(path)
        return head_of(path)

    monkeypatch.setattr(agents, "head_of", noting)
    known = sessions(home)
    for id, transcript in known.items():
        agents.agent_files(transcript.path, id)
    first = len(looked)
    for id, transcript in known.items():
        agents.agent_files(transcript.path, id)
    assert 0 < first == len(looked) == len(set(looked))


def test_a_subagents_growth_is_noticed(tmp_path: Path) -> None:
    """ING-03: its file stands elsewhere; what changes there changes the session."""
    home, _ = named_home(tmp_path)
    transcript = sessions(home)["01a1e3c2-f3aa-7c13-b14e-f433b2f15256"]
    before = CODEX.beside(transcript)
    child = next(home.rglob("*01a1e3c3-310b-*.jsonl"))
    child.write_bytes(child.read_bytes() + b"{}\n")
    assert CODEX.beside(transcript) != before
    assert transcript.session_id in CODEX.sessions_of([child])


def test_a_subagent_does_not_repeat_its_parent() -> None:
    """AGT-04, USE-01: of the history it was given, nothing is its own: no round and no token."""
    (agent,) = read(sessions(PUBLIC)[PARENT]).subagents
    assert agent.id == CHILD
    path = next(PUBLIC.rglob(f"*{CHILD}.jsonl"))
    assert [r.prompt.text for r in agent.rounds if r.prompt] == raw_prompts(path)[-6:]
    totals = [
        line["payload"]["info"]["total_token_usage"]
        for line in raw_lines(path)
        if line["payload"].get("type") == "token_count" and line["payload"]["info"]
    ]
    given = max(t["total_tokens"] for t in totals if t["total_tokens"] <= 14_081_852)
    assert usage(agent.rounds).total == totals[-1]["total_tokens"] - given


def test_a_subagent_without_its_session_is_listed() -> None:
    """OPS-04: nothing is listed twice, and nothing vanishes."""
    library = Library([PUBLIC])
    # Its day has no other file: the session that started it was not published.
    name = "rollout-2026-06-17T15-17-40-019ed628-d563-7e40-bbb1-93a6a302d688.jsonl"
    assert [t.path.name for t in library.transcripts].count(name) == 1
    assert library.orphans == []


def legacy_fork(tmp_path: Path) -> Path:
    """What `codex fork` up to 0.14x leaves: the subagent's file, as if a person had forked."""
    source = next(PUBLIC.rglob(f"*{CHILD}.jsonl"))
    head, *rest = source.read_bytes().splitlines(keepends=True)
    line = json.loads(head)
    line["payload"]["source"] = "cli"
    path = tmp_path / source.name
    path.write_bytes(json.dumps(line).encode() + b"\n" + b"".join(rest))
    return path


def test_rollouts_that_are_each_others_parents_are_listed(tmp_path: Path) -> None:
    """FMT-03: one of them, with the other as its subagent; else neither would be seen."""
    ids = [f"01a1e3c2-f3aa-7c13-b14e-{number:012d}" for number in (1, 2)]
    for id, parent in zip(ids, reversed(ids), strict=True):
        spawned = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
        folder = tmp_path / "sessions" / "2026" / "01" / "01"
        folder.mkdir(parents=True, exist_ok=True)
        path = write(folder, ("session_meta", {**HEAD, "id": id, "source": spawned}), user("go on"))
        path.rename(folder / f"rollout-2026-01-01T00-00-00-{id}.jsonl")
    (listed,) = Library([tmp_path]).transcripts
    assert listed.session_id == ids[0]
    assert [agent.id for agent in read(listed).subagents] == [ids[1]]


def test_a_fork_shares_its_parents_replies(tmp_path: Path) -> None:
    """USE-01, FUT-02: copied lines have new times; their rounds have the ids they had."""
    fork = read_file(legacy_fork(tmp_path))
    parent = read(sessions(PUBLIC)[PARENT])
    assert fork.info.links == (Link(PARENT, "forkedFrom"),)
    shared = [{message.reply_id for message in round.replies} for round in parent.rounds[:4]]
    assert [{m.reply_id for m in r.replies} for r in fork.rounds[:4]] == shared
    assert fork.info.prompt_ids[:4] == parent.info.prompt_ids[:4]
    assert len(fork.rounds) == 15
    assert fork.info.duration_ms == 0


def test_a_fork_by_reference_is_linked() -> None:
    """FUT-02: 0.166 writes only what is new; the parent is named, and nothing of it counted."""
    fork = read(sessions(NEW)["01a1e3c4-4b03-7990-a2dc-504e4d1b6386"])
    assert fork.info.links == (Link("01a1e3c3-aab7-7bf2-a1b4-226abf5d5b40", "forkedFrom"),)
    assert usage(fork.rounds).total == 1049


# ------------------------------------------------------------ what happened


def test_a_summary_is_no_answer() -> None:
    """USE-04: a compaction has its trigger and its size; the summary is a notice, once."""
    found = sessions(NEW)
    by_hand = read(found["01a1e3c3-aab7-7bf2-a1b4-226abf5d5b40"])
    by_itself = read(found["01a1e3c3-6fe1-7950-82ef-8751c10b6dfb"])
    compactions = [c for s in (by_hand, by_itself) for r in s.rounds for c in r.compactions]
    assert [(c.trigger, c.tokens_before) for c in compactions] == [
        ("manual", 1046),
        ("auto", 250050),
    ]
    for session in (by_hand, by_itself):
        assert session.info.compactions == 1
        assert not [t for t in blocks(session, Text) if t.text == "Stub side answer"]
        (notice,) = [n for n in blocks(session, Notice) if n.kind == "compaction"]
        assert notice.text.endswith("Stub side answer")


def test_an_interruption_is_seen_once() -> None:
    """FMT-14: a marker in the user's name and an event tell of one interruption."""
    session = read(sessions(NEW)["01a1e3c3-aab7-7bf2-a1b4-226abf5d5b40"])
    assert [n.kind for n in blocks(session, Notice)].count("interruption") == 1


def test_a_failed_request_leaves_a_notice() -> None:
    """AGT-04: the prompt stays, and the error is said."""
    session = read(sessions(NEW)["01a1e3c2-f3aa-7c13-b14e-f433b2f15256"])
    (notice,) = [n for n in blocks(session, Notice) if n.kind == "system"]
    assert "stub error 400" in notice.text


def test_context_is_attached_by_what_it_is() -> None:
    """FMT-14, FUT-03: AGENTS.md with its folder, the environment, the agent's own instructions."""
    session = read(sessions(NEW)["01a1e3c2-f3aa-7c13-b14e-f433b2f15256"])
    given = {b.kind: b.data for b in blocks(session, Attachment)}
    assert given["instructions"] == {
        "name": "AGENTS.md",
        "folder": "/home/dev/lab/demo",
        "content": "Use tabs. Be brief.\n",
    }
    assert {"system", "skills", "permissions", "environment"} <= given.keys()
    assert given["environment"]["text"].startswith("<environment_context>")


def test_instructions_of_the_oldest_files_are_kept() -> None:
    """FUT-03: 0.20 has AGENTS.md in the head of the file."""
    session = read_file(next((HERE / "0.20.0").rglob("*.jsonl")))
    (given,) = blocks(session, Attachment)
    assert (given.kind, given.data["content"]) == ("instructions", "Use tabs. Be brief.\n")


def test_what_desktop_wraps_around_a_prompt_is_not_said() -> None:
    """FMT-14: files that were mentioned stand before the request; the picture stays."""
    session = read(sessions(PUBLIC)["019ddeed-72de-7371-bf67-ac505f4386ba"])
    prompt = session.rounds[0].prompt
    assert prompt is not None
    assert prompt.said.startswith("can you add this image to the top of the repo")
    assert prompt.text.startswith("\n# Files mentioned by the user:")
    assert [b.media_type for b in prompt.blocks if isinstance(b, Image)] == ["image/png"]


def test_lines_joined_by_a_crash_are_both_read() -> None:
    """FMT-03: two objects on one line, seen in the wild."""
    reading = open_transcript(sessions(PUBLIC)["019d6d29-8cf7-7fe3-adc9-8c3e4d9d5603"])
    list(reading.rounds())
    assert reading.report.repaired["glued records"] == 1
    assert reading.report.bad_lines == []


def test_no_public_file_has_anything_unknown() -> None:
    """AGT-04: whatever real sessions of 0.118 to 0.166 hold is understood."""
    for transcript in ROLLOUTS:
        session = read(transcript)
        assert blocks(session, Unknown) == [], transcript.path


# ------------------------------------------------------------ edits and commands


def test_edits_are_hunks_as_recorded() -> None:
    """AGT-03: with line numbers where Codex recorded a diff, in code mode too."""
    session = read(sessions(NEW)["01a1e3c2-f3aa-7c13-b14e-f433b2f15256"])
    call = next(c for r in session.rounds for c in r.calls if c.name == "apply_patch")
    assert call.kind == "edit"
    assert call.result is not None
    first, second = call.result.patch
    assert (first.old_start, first.lines) == (
        1,
        (" def add(a, b):", "-    return a - b", "+    return a + b"),
    )
    assert second.lines[0] == "+from calc import add"
    script = read(sessions(NEW)["01a1e3c3-8409-75f2-bcdb-7b678c4399cb"])
    patches = [c.result.patch for r in script.rounds for c in r.calls if c.result is not None]
    assert [len(patch) for patch in patches] == [0, 1]


def test_edits_through_the_shell_are_edits() -> None:
    """AGT-03: 0.20 calls `apply_patch` as a command; its text is all there is."""
    session = read_file(next((HERE / "0.20.0").rglob("*.jsonl")))
    call = list(session.rounds[0].calls)[1]
    assert (call.name, call.kind) == ("shell", "edit")
    assert call.result is not None
    assert [len(hunk.lines) for hunk in call.result.patch] == [3, 3]


def test_a_patch_in_the_models_own_form() -> None:
    """AGT-03: several files and places, a move, lines without numbers."""
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@ def f():\n x\n-y\n+z\n"
        "@@\n-1\n*** Delete File: c.py\n*** Add File: d.py\n+new\n*** End Patch\n"
    )
    hunks = envelope_hunks(patch)
    assert [hunk.lines for hunk in hunks] == [(" x", "-y", "+z"), ("-1",), ("+new",)]
    assert (hunks[0].old_lines, hunks[0].new_lines) == (2, 2)


@pytest.mark.parametrize(
    ("output", "code", "error"),
    [
        ("Exit code: 3\nWall time: 0.1 seconds\nOutput:\nno", 3, True),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 9", 0, False),
        ("Chunk ID: a\nWall time: 1.5 seconds\nProcess exited with code 1\nOutput:\n", 1, True),
        ("Command: x\nChunk ID: a\nProcess running with session ID 7\nOutput:\n", None, False),
        ('{"output":"no\\n","metadata":{"exit_code":2,"duration_seconds":0.5}}', 2, True),
        ("exec_command failed for `x`: Denied { output: O { exit_code: 1, x } }", 1, True),
        ("aborted by user after 2.0s", None, True),
        ("failed to parse function arguments: x", None, True),
        ("just words: Exit code: 5", None, False),
    ],
)
def test_failure_is_told_in_many_ways(output: str, code: int | None, error: bool) -> None:
    """AGT-04: a command that failed is an error, with its code, in every version's words."""
    result = result_of(output, None, "run", None, None)
    assert (result.exit_code, result.error) == (code, error)


def test_an_event_knows_the_code_where_the_output_does_not() -> None:
    """AGT-04: `exec_command_end` comes before the output of a command that was still running."""
    result = result_of("Process running with session ID 7", None, "run", End(4, True), None)
    assert (result.exit_code, result.error) == (4, True)


def test_a_command_that_ends_later_is_marked_then(tmp_path: Path) -> None:
    """AGT-04: the end of a long command changes its result, while its round is open."""
    head = {"id": "01a1e3c2-f3aa-7c13-b14e-f433b2f15256", "timestamp": "2026-01-01T00:00:00.000Z"}
    path = write(
        tmp_path,
        ("session_meta", head),
        ("event_msg", {"type": "user_message", "message": "go"}),
        (
            "response_item",
            {"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"},
        ),
        (
            "response_item",
            {
                "type": "function_call_output",
                "call_id": "c",
                "output": "Chunk ID: 1\nProcess running with session ID 1\nOutput:\n",
            },
        ),
        ("event_msg", {"type": "exec_command_end", "call_id": "c", "exit_code": 2}),
    )
    (call,) = read_file(path).rounds[0].calls
    assert call.result is not None
    assert (call.result.exit_code, call.result.error) == (2, True)


def write(folder: Path, *lines: tuple[str, dict[str, Any]]) -> Path:
    path = folder / "rollout-2026-01-01T00-00-00-01a1e3c2-f3aa-7c13-b14e-f433b2f15256.jsonl"
    with path.open("w") as file:
        for number, (kind, payload) in enumerate(lines):
            at = f"2026-01-01T00:00:{number:02d}.000Z"
            file.write(json.dumps({"timestamp": at, "type": kind, "payload": payload}) + "\n")
    return path


HEAD = {"id": "01a1e3c2-f3aa-7c13-b14e-f433b2f15256", "timestamp": "2026-01-01T00:00:00.000Z"}


def user(*texts: str) -> tuple[str, dict[str, Any]]:
    content = [{"type": "input_text", "text": text} for text in texts]
    return "response_item", {"type": "message", "role": "user", "content": content}


def test_the_same_prompt_twice_is_two_prompts(tmp_path: Path) -> None:
    """FMT-12: told by an item and an event each; words do not make an id."""
    event = ("event_msg", {"type": "user_message", "message": "go on"})
    path = write(tmp_path, ("session_meta", HEAD), user("go on"), event, user("go on"), event)
    session = read_file(path)
    assert session.info.prompts == 2
    assert len(set(session.info.prompt_ids)) == 2


@pytest.mark.parametrize(
    "line",
    [
        ("event_msg", {"type": "user_message", "message": "go on", "kind": ["odd"]}),
        (
            "event_msg",
            {
                "type": "item_completed",
                "item": {
                    "type": "CollabAgentToolCall",
                    "id": "c1",
                    "tool": "spawn_agent",
                    "receiver_thread_ids": [{"odd": 1}],
                },
            },
        ),
        ("response_item", {"type": "reasoning", "summary": [{"text": ["odd"]}, {"text": "well"}]}),
    ],
)
def test_an_odd_field_costs_nothing(line: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    """FMT-04: neither the session, nor where its reading can be gone on from, nor its check."""
    call = {"type": "function_call", "name": "spawn_agent", "call_id": "c1", "arguments": "{}"}
    lines = (("response_item", call), user("go on"), line, user("and on"))
    path = write(tmp_path, ("session_meta", HEAD), *lines)
    reading = CODEX.read(open_file(path), "full")
    assert [round.prompt.text for round in reading.rounds() if round.prompt] == ["go on", "and on"]
    assert reading.checkpoint is not None
    assert check_file(path).problems == []


def test_a_person_may_type_a_tag(tmp_path: Path) -> None:
    """FMT-14: what looks like context is a prompt where an event says it was typed."""
    typed = "<html>why is this empty?</html>"
    event = ("event_msg", {"type": "user_message", "message": typed})
    path = write(tmp_path, ("session_meta", HEAD), user(typed), event)
    session = read_file(path)
    assert [r.prompt.text for r in session.rounds if r.prompt] == [typed]
    assert blocks(session, Attachment) == []


def test_a_command_the_person_ran_is_theirs(tmp_path: Path) -> None:
    """FMT-14: `!ls` is a prompt, what it printed is not."""
    ran = (
        "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\nOutput:\na.py\n"
        "</result>\n</user_shell_command>"
    )
    session = read_file(write(tmp_path, ("session_meta", HEAD), user(ran)))
    assert [r.prompt.text for r in session.rounds if r.prompt] == ["! ls"]
    (printed,) = blocks(session, Notice)
    assert (printed.kind, "a.py" in printed.text) == ("command-output", True)


def test_parts_of_a_message_are_told_apart(tmp_path: Path) -> None:
    """FMT-14: instructions and a prompt in one message; the labels of 0.166 are believed."""
    kind, item = user(
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nhi\n</INSTRUCTIONS>", "<b>do</b>"
    )
    item["internal_chat_message_metadata_passthrough"] = {
        "content_item_kinds": ["agents_md.instructions", "user.text"]
    }
    session = read_file(write(tmp_path, ("session_meta", HEAD), (kind, item)))
    assert [r.prompt.text for r in session.rounds if r.prompt] == ["<b>do</b>"]
    assert [b.kind for b in blocks(session, Attachment)] == ["instructions"]


def test_a_round_begins_with_the_context_of_its_prompt(tmp_path: Path) -> None:
    """FMT-11: what Codex tells the model when a session is resumed belongs to the next prompt."""
    reply = (
        "response_item",
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "ok"}],
        },
    )
    again = user("<environment_context>\n<cwd>/x</cwd>\n</environment_context>")
    path = write(tmp_path, ("session_meta", HEAD), user("one"), reply, again, user("two"), reply)
    first, second = read_file(path).rounds
    assert [type(b) for b in first.blocks] == [Text, Text]
    assert [type(m.blocks[0]) for m in second.messages] == [Attachment, Text, Text]


def test_it_is_found_where_codex_home_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AGT-01: `CODEX_HOME` moves everything."""
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    assert CODEX.default_root() == tmp_path
    assert CODEX.resume_command("a b", "/x y") == "cd '/x y' && codex resume 'a b'"
