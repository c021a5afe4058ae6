"""Shared fixtures: the example sessions, the corpus, and a house of one's own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from minutebook.examples import write_examples
from minutebook.model import FormatReport, Session
from minutebook.sources.base import Depth, read_session
from minutebook.sources.claude_code.read import ClaudeReading

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("MINUTEBOOK_CORPUS") or PROJECT / ".." / "shared" / "corpus").resolve()

# In CI the same examples every time; a developer's machine goes on looking for new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

_PERSONAL = (
    *("CLAUDE_CONFIG_DIR", "MINUTEBOOK_ARCHIVE", "NO_COLOR", "COLUMNS"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
    *("OPENAI_API_KEY", "OPENAI_BASE_URL"),
)
Record = dict[str, Any]
ReadRecords = Callable[..., tuple[Session, FormatReport]]


def corpus_files(pattern: str) -> list[Path]:
    """Files of the corpus; none where it is absent, and `needs_corpus` says so."""
    return sorted(path for path in CORPUS.glob(pattern) if path.is_file())


needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(),
    reason=f"needs the real transcripts: none at {CORPUS} (set MINUTEBOOK_CORPUS)",
)


def short(path: Path) -> str:
    """A test id for a file."""
    return "/".join(path.parts[-3:])[-70:] if isinstance(path, Path) else str(path)


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test sees the developer's own transcripts or archive."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("TZ", "UTC")
    for name in _PERSONAL:
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration folder with the example sessions."""
    folder = tmp_path_factory.mktemp("examples")
    write_examples(folder)
    return folder


@pytest.fixture
def read_records(tmp_path: Path) -> ReadRecords:
    """Writes records (or raw lines) to a transcript and reads it back."""

    def read(
        *records: Record | bytes,
        depth: Depth = "full",
        name: str = "11111111-2222-4333-8444-555555555555",
    ) -> tuple[Session, FormatReport]:
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"".join(as_line(record) + b"\n" for record in records))
        reading = ClaudeReading(path, depth)
        session = read_session(reading)
        return session, reading.report

    return read


def as_line(record: Record | bytes) -> bytes:
    if isinstance(record, bytes):
        return record
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()


def user(content: Any, **fields: Any) -> Record:
    """A user record with the fields a real one has."""
    return {
        "type": "user",
        "message": {"role": "user", "content": content},
        "timestamp": "2026-03-01T10:00:00.000Z",
        **fields,
    }


def assistant(*blocks: Record | str, id: str = "msg_1", **fields: Any) -> Record:
    """An assistant record; a string is a text block."""
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    message = {"id": id, "role": "assistant", "model": "claude-opus-4-6", "content": content}
    return {
        "type": "assistant",
        "message": message,
        "timestamp": "2026-03-01T10:00:05.000Z",
        **fields,
    }


def tool_use(id: str, name: str = "Bash", **input: Any) -> Record:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def tool_result(id: str, content: Any = "ok", **fields: Any) -> Record:
    return user([{"type": "tool_result", "tool_use_id": id, "content": content}], **fields)
