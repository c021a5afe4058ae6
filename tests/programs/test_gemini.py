"""Gemini CLI: what is particular to its sessions."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from minutebook.archive import Archive
from minutebook.model import Attachment, Notice, Session, Text, Thinking, Unknown, Usage
from minutebook.sources.base import Transcript, read_session
from minutebook.sources.gemini import Gemini
from minutebook.sources.library import Library, open_transcript, overview
from minutebook.verbs.inscribe import inscribe
from tests.conftest import needs_corpus
from tests.programs.samples import AGENTS, in_folder, read

NEW = AGENTS / "gemini" / "0.61.0" / "home" / ".gemini"
OLD = AGENTS / "gemini" / "0.29.0" / "home" / ".gemini"
TALK, TUI = "54cb1a1d-9b02-4446-9521-d544806d644c", "4cd8e334-1a58-4b96-ab19-3e77076f4c5d"
OLD_TALK = "8f76092b-0c95-4f2d-a0bc-40f70b35463f"
SAMPLES = in_folder(AGENTS / "gemini") if AGENTS.is_dir() else []
REPLIES = ("gemini", "model")


def raw(path: Path) -> list[dict[str, Any]]:
    """The richest version of each message, in the order they were first written; by the standard
    library alone."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        whole = json.loads(text)
        return list(whole.get("messages", whole.get("history")))
    found: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        message = json.loads(line)
        if "id" in message:
            found[message["id"]] = {**found.get(message["id"], {}), **message}
    return list(found.values())


def kind(message: dict[str, Any]) -> str:
    return str(message.get("type") or message.get("role"))


def parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content", message.get("parts")) or []
    return [{"text": content}] if isinstance(content, str) else content


def of(id: str) -> Session:
    (one,) = [t for t in SAMPLES if t.session_id == id]
    return read(one)


def blocks(session: Session, sort: type) -> list[Any]:
    return [b for r in session.rounds for m in r.messages for b in m.blocks if isinstance(b, sort)]


def sample(transcript: Transcript) -> str:
    return f"{transcript.path.parent.name[-12:]}-{transcript.path.stem[-12:]}"


# ------------------------------------------------------------ nothing lost, nothing twice


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=sample)
def test_everything_that_was_said_is_there_once(transcript: Transcript) -> None:
    """AGT-04: texts, reasoning, calls and results of every sample, counted from the raw file."""
    session = read(transcript)
    replies = [message for message in raw(transcript.path) if kind(message) in REPLIES]
    said = [p["text"] for message in replies for p in parts(message) if p.get("text")]
    calls = [call for message in replies for call in message.get("toolCalls", [])]
    own = [m for r in session.rounds for m in r.replies]
    assert [b.text for m in own for b in m.blocks if isinstance(b, Text)] == said
    thoughts = [thought for message in replies for thought in message.get("thoughts", [])]
    assert len(blocks(session, Thinking)) == len(thoughts)
    assert [c.id for r in session.rounds for c in r.calls] == [call["id"] for call in calls]
    answered = [c for r in session.rounds for c in r.calls if c.result is not None]
    assert len(answered) == sum("result" in call for call in calls) == session.info.calls


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=sample)
def test_prompts_are_the_messages_of_a_person(transcript: Transcript) -> None:
    """FMT-14: user messages with words; results and injected context are not said."""
    users = [message for message in raw(transcript.path) if kind(message) == "user"]
    typed = [message for message in users if any("text" in part for part in parts(message))]
    typed = [m for m in typed if parts(m)[0].get("text") != "System: Please continue."]
    prompts = [r.prompt for r in read(transcript).rounds if r.prompt is not None]
    assert [prompt.at for prompt in prompts] == [message.get("timestamp") for message in typed]
    assert not [p for p in prompts if p.said.lstrip().startswith(("<session_", "<loaded_"))]


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=sample)
def test_ids_of_messages_are_unique(transcript: Transcript) -> None:
    """AGT-04: an id names one message of its session, however often it is written."""
    ids = [m.id for r in read(transcript).rounds for m in r.messages]
    assert None not in ids
    assert len(set(ids)) == len(ids)


@needs_corpus
@pytest.mark.parametrize("transcript", SAMPLES, ids=sample)
def test_usage_is_what_the_file_says(transcript: Transcript) -> None:
    """USE-01: each reply once, with what was cached apart, and reasoning counted in the output."""
    told = [message["tokens"] for message in raw(transcript.path) if message.get("tokens")]
    cached = sum(one["cached"] for one in told)
    output = sum(one["output"] + one["thoughts"] for one in told)
    expected = Usage(sum(one["input"] for one in told) - cached, output, cached)
    assert read(transcript).info.usage == expected


# ------------------------------------------------------------ what the agent itself forgets


@needs_corpus
def test_a_prompt_that_was_taken_out_stays_and_says_so() -> None:
    """AGT-04: the prompts of a failed turn and of a cancelled one."""
    for id, number in ((TALK, 5), (TUI, 2)):
        session = of(id)
        noted = [
            r.number
            for r in session.rounds
            for m in r.messages
            for b in m.blocks
            if isinstance(b, Notice) and "took this prompt out" in b.text
        ]
        assert noted == [number]
        assert session.rounds[number - 1].prompt is not None


@needs_corpus
def test_a_resume_marks_nothing() -> None:
    """AGT-04: a process that has only begun lists nothing but the context; that is no removal."""
    session = of(TALK)
    assert len([b for b in blocks(session, Notice) if b.kind == "system"]) == 1


@needs_corpus
def test_a_cancelled_request_is_an_interruption() -> None:
    """AGT-04: in both formats."""
    for id in (TUI, "dfacc818-ba8b-4d7d-8136-94844b28d17a"):
        assert [b.kind for b in blocks(of(id), Notice)].count("interruption") == 1


@needs_corpus
def test_a_compression_is_seen_and_copies_nothing() -> None:
    """FMT-25: the summary is a notice, and what was kept under new ids is not said again."""
    session = of(TUI)
    assert session.info.compactions == 1
    (at,) = [r.number for r in session.rounds if r.compactions]
    assert at == 3
    assert [b.text for b in blocks(session, Notice) if b.kind == "compaction"] == [
        "Stub side answer"
    ]
    assert len(session.rounds) == 4


@needs_corpus
def test_injected_context_is_kept_once() -> None:
    """FMT-14: every process writes it again."""
    contexts = [b for b in blocks(of(TALK), Attachment) if "<session_context>" in b.data["text"]]
    assert len(contexts) == 1


# ------------------------------------------------------------ subagents


@needs_corpus
def test_a_subagent_is_attached_to_its_call_and_not_listed() -> None:
    """FMT-15: by ``agentId`` of the call."""
    session = of(TALK)
    (agent,) = session.subagents
    (call,) = [c for r in session.rounds for c in r.calls if c.agent]
    assert (call.id, call.agent, call.kind) == (agent.call_id, agent.id, "delegate")
    assert (agent.kind, session.info.subagents) == ("generalist", 1)
    assert {t.session_id for t in Gemini().discover([NEW])[0]} == {TALK, TUI}


@needs_corpus
def test_a_subagents_call_is_known_after_a_checkpoint(tmp_path: Path) -> None:
    """AGT-04: what was read before the last checkpoint is not read again."""
    shutil.copytree(NEW, tmp_path / ".gemini")
    (one,) = [t for t in Gemini().discover([tmp_path / ".gemini"])[0] if t.session_id == TALK]
    reading = Gemini().read(one, "full")
    for _ in reading.rounds():
        pass
    assert reading.checkpoint is not None
    resumed = Gemini().resume(one, reading.checkpoint)
    assert resumed is not None
    for _ in resumed.rounds():
        pass
    assert list(resumed.subagents()) == list(of(TALK).subagents)


@needs_corpus
def test_a_changed_subagent_is_noticed(tmp_path: Path) -> None:
    """AGT-04: `beside` changes with its file, and the file names its session."""
    shutil.copytree(NEW, tmp_path / ".gemini")
    (one,) = [t for t in Gemini().discover([tmp_path / ".gemini"])[0] if t.session_id == TALK]
    before = Gemini().beside(one)
    (agent,) = tmp_path.glob(f".gemini/tmp/*/chats/{TALK}/*.jsonl")
    agent.write_bytes(agent.read_bytes() + b"\n")
    assert Gemini().beside(one) != before
    assert Gemini().sessions_of([agent, one.path]) == {TALK}
    assert Gemini().matters(agent)
    assert Gemini().matters(one.path)
    assert not Gemini().matters(one.path.parent.parent / "logs.json")
    one.path.unlink()
    (orphan,) = Gemini().orphans(one.path.parent, {TUI})
    assert orphan.path == agent


# ------------------------------------------------------------ results


@needs_corpus
@pytest.mark.parametrize("id", [TALK, OLD_TALK])
def test_edits_are_hunks(id: str) -> None:
    """AGT-04: as the agent recorded them."""
    (edit,) = [c for c in of(id).rounds[0].calls if c.name == "replace"]
    assert edit.result is not None
    assert edit.result.patch[0].lines == (
        " def add(a, b):",
        "-    return a - b",
        "+    return a + b",
    )


@pytest.mark.parametrize(
    ("output", "code", "error"),
    [
        ("Output: fine\nProcess Group PGID: 7", 0, False),
        ("Output: Exit Code: 9\nProcess Group PGID: 7", 0, False),
        ("Output: x\nExit Code: 3\nProcess Group PGID: 7", 3, True),
        ("<untrusted_context>\nOutput: x\nExit Code: 127\n</untrusted_context>", 127, True),
        ("Output: x\nExit Code: 9\nmore of it\nProcess Group PGID: 7", 0, False),
        ("Error: (none)\nExit Code: (none)\nSignal: 9\nProcess Group PGID: 7", None, True),
        ("Output: x\nSignal: 15\nProcess Group PGID: 7", None, True),
        ("Command moved to background (PID: 12).", None, False),
    ],
)
def test_exit_codes_are_read_from_the_last_lines(
    tmp_path: Path, output: str, code: int | None, error: bool
) -> None:
    """AGT-04: not from what the command printed."""
    call = {"id": "c", "name": "run_shell_command", "args": {}, "status": "success"}
    response = {"functionResponse": {"id": "c", "response": {"output": output}}}
    reply = message("g", "gemini", "", toolCalls=[{**call, "result": [response]}])
    session = log(tmp_path, header(), message("u", "user", "go"), reply)
    (result,) = [c.result for r in session.rounds for c in r.calls]
    assert result is not None
    assert (result.exit_code, result.error) == (code, error)


# ------------------------------------------------------------ made files


def header(**more: Any) -> dict[str, Any]:
    started = {"startTime": "2026-03-01T10:00:00.000Z", "kind": "main"}
    return {"sessionId": "s-1", "projectHash": "h", **started, **more}


def message(id: str, type: str, content: Any, **more: Any) -> dict[str, Any]:
    stamp = "2026-03-01T10:00:01.000Z"
    return {"id": id, "timestamp": stamp, "type": type, "content": content, **more}


def log(folder: Path, *records: dict[str, Any]) -> Session:
    path = folder / "session-2026-03-01T10-00-s-1.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return read_session(open_transcript(Library([path]).transcripts[0]))


def test_calls_are_taken_from_whatever_version_has_them(tmp_path: Path) -> None:
    """AGT-04: a message is written as its calls are made, one more each time."""
    result = [{"functionResponse": {"id": "a", "response": {"output": "x"}}}]
    one, two = {"id": "a", "name": "read_file"}, {"id": "b", "name": "glob"}
    done = {**one, "status": "success", "result": result}
    versions: list[list[dict[str, Any]]] = [[one], [done], [done, two], []]
    replies = [message("g", "gemini", "I look", toolCalls=calls) for calls in versions]
    session = log(tmp_path, header(), message("u", "user", "go"), *replies)
    (reply,) = session.rounds[0].replies
    assert reply.text == "I look"
    assert [(c.id, c.result is not None) for c in session.rounds[0].calls] == [
        ("a", True),
        ("b", False),
    ]


def test_a_loaded_session_is_taken_from_its_list(tmp_path: Path) -> None:
    """AGT-04: ids that no line of the file has."""
    call = {"functionCall": {"id": "c", "name": "glob", "args": {"pattern": "*"}}}
    answer = {"functionResponse": {"id": "c", "name": "glob", "response": {"output": "a.py"}}}
    thought = {"text": "**Plan** look", "thought": True}
    listed = [
        message("u", "user", [{"text": "earlier"}]),
        message("g", "gemini", [thought, {"text": "I look"}, call]),
        message("g_response", "user", [answer]),
    ]
    session = log(tmp_path, header(), {"$set": {"messages": listed}}, message("v", "user", "on"))
    (first, second) = session.rounds
    assert (first.prompt, second.prompt) != (None, None)
    (done,) = first.calls
    assert done.result is not None
    assert (done.input, done.result.text) == ({"pattern": "*"}, "a.py")
    assert [b.text for b in blocks(session, Thinking)] == ["**Plan** look"]


def test_a_loaded_session_may_repeat_itself(tmp_path: Path) -> None:
    """AGT-04: the same words twice in a list are not a copy."""
    listed = [message(id, "user", [{"text": "go on"}]) for id in ("u", "v")]
    session = log(tmp_path, header(), {"$set": {"messages": listed}}, message("w", "user", "on"))
    assert session.info.prompt_ids == ("u", "v", "w")


def test_a_rewind_keeps_what_was_said(tmp_path: Path) -> None:
    """AGT-04: ``$rewindTo`` takes nothing away here."""
    session = log(
        tmp_path,
        header(),
        message("u", "user", "one"),
        message("g", "gemini", "first"),
        {"$rewindTo": "u"},
        message("v", "user", "two"),
    )
    assert [r.prompt.said for r in session.rounds if r.prompt] == ["one", "two"]
    assert [b.data for b in blocks(session, Attachment)] == [{"to": "u"}]


def test_unknown_records_are_kept_and_counted(tmp_path: Path) -> None:
    """FMT-23: a message of another type, a line that is none of those we know."""
    odd = message("x", "voice", "hm", volume=7)
    path = tmp_path / "session-2026-03-01T10-00-s-1.jsonl"
    session = log(tmp_path, header(), message("u", "user", "go"), odd, {"strange": 1})
    kept = [block.data for block in blocks(session, Unknown)]
    assert kept == [odd, {"strange": 1}]
    reading = Gemini().read(Library([path]).transcripts[0], "full")
    read_session(reading)
    assert sum(reading.report.unknown.values()) == 2


@pytest.mark.parametrize(
    ("summary", "title"), [("Fix the login", "Fix the login"), ("{}", "go"), ("", "go")]
)
def test_a_summary_is_the_title_unless_it_is_garbage(
    tmp_path: Path, summary: str, title: str
) -> None:
    """ING-03: the hidden request that makes it may fail."""
    session = log(tmp_path, header(), message("u", "user", "go"), {"$set": {"summary": summary}})
    assert session.info.title == title


# ------------------------------------------------------------ files that are rewritten


@needs_corpus
def test_a_session_that_moves_to_lines_stays_the_same(tmp_path: Path) -> None:
    """INS-18, AGT-04: a later version goes on in another file; nothing published changes."""
    root = tmp_path / ".gemini"
    shutil.copytree(OLD, root)
    archive = Archive(tmp_path / "archive", (root,))
    inscribe(archive, ended=True)
    before = published(archive)
    (old,) = root.glob(f"tmp/*/chats/session-*-{OLD_TALK[:8]}.json")
    whole = json.loads(old.read_text(encoding="utf-8"))
    messages = whole.pop("messages")
    lines = [whole, *messages, message("new", "user", [{"text": "One more thing"}])]
    moved = old.with_suffix(".jsonl")
    moved.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    archive.look_again()
    assert [t.path for t in archive.library.transcripts if t.session_id == OLD_TALK] == [moved]
    report = inscribe(archive, ended=True)
    assert {one.transcript.path: one.outcome for one in report.sessions}[moved] == "grown"
    after = published(archive)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 1


def published(archive: Archive) -> dict[str, bytes]:
    files = archive.root.glob("sessions/*/*/rounds/*.json")
    return {str(path.relative_to(archive.root)): path.read_bytes() for path in files}


@needs_corpus
def test_a_rewritten_file_adds_its_new_rounds(tmp_path: Path) -> None:
    """INS-18: three copies of one session, as it was at three times."""
    (folder,) = (AGENTS / "gemini" / "public-entireio-cli").glob("home/.gemini/tmp/7e*")
    copies = [next(folder.glob(f"{name}/*-f7633853.json")) for name in ("chats-45f262", "chats")]
    copies.append(next(folder.glob("chats-2b9748/*-f7633853.json")))
    path = tmp_path / ".gemini" / "tmp" / "p" / "chats" / copies[0].name
    path.parent.mkdir(parents=True)
    archive = Archive(tmp_path / "archive", (tmp_path / ".gemini",))
    before: dict[str, bytes] = {}
    for copy in sorted(copies, key=lambda one: one.stat().st_size):
        path.write_bytes(copy.read_bytes())
        archive.look_again()
        inscribe(archive, ended=True)
        after = published(archive)
        assert {name: after[name] for name in before} == before
        before = after
    (session,) = archive.library.transcripts
    texts = [m.text for r in archive.open(session.session_id).rounds() for m in r.replies if m.text]
    said = [m["content"] for m in raw(copies[2]) if m["type"] == "gemini" and m["content"]]
    assert texts == said


@needs_corpus
def test_half_a_file_changes_nothing(tmp_path: Path) -> None:
    """FMT-03, INS-18: it is a trouble of that run; the next one finds it whole."""
    root = tmp_path / ".gemini"
    shutil.copytree(OLD, root)
    archive = Archive(tmp_path / "archive", (root,))
    inscribe(archive, ended=True)
    before = published(archive)
    (path,) = root.glob(f"tmp/*/chats/session-*-{OLD_TALK[:8]}.json")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    archive.look_again()
    (torn,) = [t for t in archive.library.transcripts if t.path == path]
    assert "half-written" in (overview(torn).problem or "")
    inscribe(archive, ended=True)
    assert published(archive) == before
    path.write_bytes(b"")
    archive.look_again()
    assert [trouble.path for trouble in archive.library.troubles] == [path]
    path.write_bytes(content)
    archive.look_again()
    inscribe(archive, ended=True)
    assert published(archive) == before


# ------------------------------------------------------------ its folder


def project(root: Path, name: str) -> Path:
    chats = root / "tmp" / name / "chats"
    chats.mkdir(parents=True)
    log(chats, header(), message("u", "user", "go"))
    return chats.parent


def cwd(root: Path) -> str | None:
    (one,) = Gemini().discover([root])[0]
    return read(one).info.cwd


def test_the_folder_is_found_beside_the_session(tmp_path: Path) -> None:
    """ING-03: in ``.project_root``, in ``projects.json``, by the hash of one that is known; a file
    that comes later is noticed."""
    home = tmp_path / "a"
    folder = project(home, "demo")
    (one,) = Gemini().discover([home])[0]
    before = Gemini().beside(one)
    assert cwd(home) is None
    (home / "projects.json").write_text('{"projects": {"/w/demo": "demo"}}', encoding="utf-8")
    assert cwd(home) == "/w/demo"
    (folder / ".project_root").write_text("/w/other\n", encoding="utf-8")
    assert cwd(home) == "/w/other"
    assert Gemini().beside(one) != before
    hashed = tmp_path / "b"
    project(hashed, hashlib.sha256(b"/w/hashed").hexdigest())
    trusted = json.dumps({"/w/x": "TRUST_FOLDER", "/w/hashed": "TRUST_FOLDER"})
    (hashed / "trustedFolders.json").write_text(trusted, encoding="utf-8")
    assert cwd(hashed) == "/w/hashed"


def test_the_injected_context_names_the_folder_where_nothing_else_does(tmp_path: Path) -> None:
    """ING-03: a file that was taken out of its folder."""
    text = "<session_context>\n- **Workspace Directories:**\n  - /w/alone\n</session_context>"
    listed = {"$set": {"messages": [message("c", "user", [{"text": text}])]}}
    session = log(tmp_path, header(), listed, message("u", "user", "go"))
    assert session.info.cwd == "/w/alone"


@needs_corpus
def test_checkpoints_and_logs_are_not_sessions() -> None:
    """AGT-02: they stand one folder up, and have prompts in them."""
    for root in (NEW, OLD):
        (folder,) = root.glob("tmp/demo")
        assert not [name for name in folder.glob("*.json") if Gemini().claims(name)]
        assert len(Gemini().discover([folder])[0]) == 2


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (None, 30),
        ({"general": {"sessionRetention": {"enabled": False}}}, None),
        ({"general": {"sessionRetention": {"enabled": True, "maxAge": "2w"}}}, 14),
        ({"general": {"sessionRetention": {"maxAge": "soon"}}}, 30),
        ({"general": 7}, 30),
    ],
)
def test_it_deletes_what_is_old(tmp_path: Path, settings: Any, days: int | None) -> None:
    """AGT-04: 30 days, unless its settings say otherwise."""
    if settings is not None:
        (tmp_path / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    assert Gemini().retention_days(tmp_path) == days
