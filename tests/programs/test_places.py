"""Agents' places as people have them: mixed, moved, with things in them that are no sessions."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from minutebook.sources.base import Transcript
from minutebook.sources.library import Library, overview
from minutebook.sources.opencode.locate import matters
from minutebook.sources.registry import SOURCES
from minutebook.verbs.watch import watched
from tests.conftest import as_line, corpus_files, needs_corpus, user
from tests.programs.opencode_store import Store
from tests.programs.samples import MOVED, all_samples

# Where each agent would look for a session, below a home.
PLACES = {
    "claude-code": ".claude/projects/-w/{}.jsonl",
    "codex": ".codex/sessions/2026/11/16/rollout-2026-11-16T10-00-00-{}.jsonl",
    "opencode": ".local/share/opencode/storage/session/p/{}.json",
    "gemini": ".gemini/tmp/demo/chats/session-2026-11-16T10-00-{}.jsonl",
    "copilot": ".copilot/session-state/{}/events.jsonl",
    "pi": ".pi/agent/sessions/--w--/2026-11-16T10-00-00-000Z_{}.jsonl",
    "qwen": ".qwen/projects/-w/chats/{}.jsonl",
    "cursor": ".cursor/projects/w/agent-transcripts/{0}/{0}.jsonl",
}
RUBBISH = {
    "empty": b"",
    "zeros": b"\0" * 1000,
    "list": b"[]\n",
    "number": b"1e999\n",
    "half": b'{"type":',
    "deep": b"[" * 100_000,
    "bytes": b"\xff\xfe{}\n",
    "surrogate": b'{"id":"\\ud800","type":"\\ud800","message":{"role":"\\ud800"}}\n',
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of one's own, with no agent in it."""
    for name in MOVED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@needs_corpus
def test_files_of_several_agents_in_one_folder(tmp_path: Path) -> None:
    """AGT-02: each is listed once, as its own agent's, whoever else looks into that folder."""
    own: dict[str, str] = {}
    for number, transcript in enumerate([*all_samples(), *of_claude()]):
        if transcript.key or transcript.path.suffix != ".jsonl":
            continue
        name = f"{number}-{transcript.path.parent.name}-{transcript.path.name}"
        shutil.copy(transcript.path, tmp_path / name)
        own[name] = transcript.source
    assert len(set(own.values())) == len(SOURCES) - 1  # one keeps no files of lines
    listed = [(t.path.name, t.source) for t in Library([tmp_path]).transcripts]
    assert sorted(listed) == sorted(own.items())


def of_claude() -> list[Transcript]:
    real = [path for path in corpus_files("claude/projects/*/*.jsonl") if path.stat().st_size]
    own = [path for path in real[:40] if SOURCES["claude-code"].claims(path)]
    return [Transcript(path, "claude-code", path.stem, 1, 0.0) for path in own]


def test_two_agents_share_a_folder_of_projects(home: Path) -> None:
    """AGT-02: where their folders were moved to one, both are found in it by name, too."""
    claude, qwen = home / "both/projects/-w/a.jsonl", home / "both/projects/-w/chats/b.jsonl"
    qwen.parent.mkdir(parents=True)
    claude.write_bytes(as_line(user("Mend the gate")) + b"\n")
    parts = {"role": "user", "parts": [{"text": "Paint it"}]}
    line = {"uuid": "u", "sessionId": "b", "type": "user", "message": parts}
    qwen.write_bytes(as_line(line) + b"\n")
    found = {(t.path, t.source) for t in Library([home / "both"]).transcripts}
    assert found == {(claude, "claude-code"), (qwen, "qwen")}


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_no_session_is_told_and_nothing_waits(source: str, home: Path) -> None:
    """FMT-03: rubbish, links that lead nowhere or in circles, folders, pipes: all of it is
    listed or named as trouble, and what is listed can be read."""
    made: set[Path] = set()
    for name, content in RUBBISH.items():
        made.add(place(home, source, name))
        place(home, source, name).write_bytes(content)
    odd = {name: place(home, source, name) for name in ("nowhere", "circle", "folder", "pipe")}
    odd["nowhere"].symlink_to(home / "not-there")
    odd["circle"].symlink_to(odd["circle"])
    odd["folder"].mkdir()
    os.mkfifo(odd["pipe"])
    (home / ".local/share/opencode/storage/message").mkdir(parents=True, exist_ok=True)
    library = Library(())
    told = {trouble.path for trouble in library.troubles}
    listed = {transcript.path for transcript in library.transcripts}
    assert made | {odd["folder"], odd["pipe"]} <= told | listed
    for transcript in library.transcripts:
        overview(transcript)  # says what is wrong; nothing is raised


def place(home: Path, source: str, name: str) -> Path:
    path = home / PLACES[source].format(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.mark.parametrize("source", sorted(set(SOURCES) - {"claude-code"}))
def test_a_folder_that_is_closed_to_us_is_told(
    source: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FMT-03: `glob` passes over it without a word, and what is in it would be lost unseen."""
    for each in PLACES:
        place(home, each, "one").write_bytes(b"{}\n")
    (home / ".local/share/opencode/storage/message").mkdir(parents=True)
    closed = place(home, source, "one").parent
    real = os.scandir

    def scandir(path: Any = ".") -> Any:
        if not isinstance(path, int) and Path(path) == closed:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    told = {trouble.path: trouble.reason for trouble in Library(()).troubles}
    assert told[closed] == "permission denied"


def test_an_agent_that_is_closed_to_us_costs_only_itself(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AGT-02: the others' sessions are found, and it is told."""
    header = {"type": "session", "version": 3, "id": "s1", "cwd": "/w"}
    place(home, "pi", "s1").write_bytes(as_line(header) + b"\n")
    (home / ".cursor").mkdir()

    def refuse(_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(home / ".cursor/projects"))

    monkeypatch.setattr(SOURCES["cursor"], "discover", refuse)
    library = Library(())
    assert [t.session_id for t in library.transcripts] == ["s1"]
    assert [(t.path, t.reason) for t in library.troubles] == [
        (home / ".cursor", "permission denied")
    ]


def test_an_oddly_typed_field_costs_no_session(home: Path) -> None:
    """FMT-04: in a session's file of OpenCode's tree."""
    path = place(home, "opencode", "ses_1")
    path.write_text('{"id": "ses_1", "title": 7, "directory": [], "time": {"created": "x"}}')
    (home / ".local/share/opencode/storage/message").mkdir(parents=True)
    assert [t.session_id for t in Library(()).transcripts] == ["ses_1"]


def test_a_row_without_an_id_is_no_session(home: Path) -> None:
    """FMT-04: a run would find it failing each time."""
    store = Store(home / ".local/share/opencode")
    store.session("ses_1")
    store.connection.execute(
        "INSERT INTO session SELECT NULL, project_id, parent_id, slug, directory, title, version,"
        " agent, time_created, time_updated FROM session"
    )
    store.close()
    assert [t.session_id for t in Library(()).transcripts] == ["ses_1"]


def test_where_pi_was_told_to_keep_sessions(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AGT-01: they are found and watched, with pi's own folder or without."""
    moved = home / "moved"
    moved.mkdir()
    header = {"type": "session", "version": 3, "id": "s1", "cwd": "/w"}
    (moved / "2026-11-16T10-00-00-000Z_s1.jsonl").write_bytes(as_line(header) + b"\n")
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(moved))
    for _ in range(2):
        assert [t.session_id for t in Library(()).transcripts] == ["s1"]
        assert moved in watched(())
        (home / ".pi" / "agent").mkdir(parents=True, exist_ok=True)


def test_where_opencode_was_told_to_keep_its_database(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AGT-01: it is found and watched; not the folder around it, which may be a home."""
    store = Store(home / "elsewhere")
    store.session("ses_1")
    store.round("ses_1", 1)
    store.close()
    path = home / "elsewhere" / "mine.db"
    store.path.rename(path)
    (home / ".local/share/opencode").mkdir(parents=True)
    monkeypatch.setenv("OPENCODE_DB", str(path))
    assert [t.location for t in Library(()).transcripts] == [f"{path}#ses_1"]
    assert path in watched(())
    assert path.parent not in watched(())
    assert matters(path) and matters(path.with_name("mine.db-wal"))
    assert not matters(path.with_name("other.db"))
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        assert connection.execute("SELECT count(*) FROM session").fetchone() == (1,)
