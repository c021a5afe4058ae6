"""The real Codex CLI resumes what we export, and migrates files whose rounds stay (OPS-13).

Needs ``CODEX_BIN`` (``make resume-codex`` installs the CLI into a scratch folder) and the corpus.
The CLI talks to a loopback stub; nothing leaves the machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from minutebook.model import Session, Text
from minutebook.record.engagements import read_records
from minutebook.record.layout import Layout
from minutebook.sources.assembly.ids import as_uuid
from minutebook.sources.base import ExportHeader, Transcript
from minutebook.sources.codex.export import CodexExporter
from minutebook.sources.library import Library
from minutebook.verbs.install_agents import CodexHome
from tests.conftest import CORPUS, needs_corpus
from tests.programs.samples import AGENTS, read

BIN = os.environ.get("CODEX_BIN", "")
pytestmark = [
    needs_corpus,
    pytest.mark.codex,
    pytest.mark.skipif(not BIN, reason="needs the real CLI: set CODEX_BIN, or `make resume-codex`"),
]
EXPORTER = CodexExporter()
VERSIONS = ("0.20.0", "0.87.0", "0.144.1", "0.166.0")


class Stub(ThreadingHTTPServer):
    """Answers every request with the same words, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Stub

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer("application/json", b'{"models": []}')

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self.server.asked.append(json.loads(self.rfile.read(length)))
        said = {"type": "output_text", "text": "STUB REPLY", "annotations": []}
        item = {"type": "message", "id": "m", "role": "assistant", "content": [said]}
        usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r", "usage": usage}},
        ]
        told = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._answer("text/event-stream", "".join(told).encode())

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def configure(home: Path, port: int) -> bytes:
    """Have Codex ask the stub."""
    text = (
        'model = "gpt-5.5"\nmodel_provider = "stub"\n[model_providers.stub]\nname = "stub"\n'
        f'base_url = "http://127.0.0.1:{port}/v1"\nwire_api = "responses"\n'
    )
    (home / "config.toml").write_text(text)
    return text.encode()


def codex(home: Path, *words: str, port: int | None = 9) -> None:
    """Run Codex; without a port it is configured already."""
    if port is not None:
        configure(home, port)
    env = {"HOME": str(home.parent), "CODEX_HOME": str(home), "PATH": os.environ["PATH"]}
    subprocess.run(
        [BIN, *words],
        cwd=home.parent,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=True,
    )


def write(session: Session, home: Path) -> Path:
    info = session.info
    path = EXPORTER.place_for(home, "/", info.id)
    path.parent.mkdir(parents=True)
    header = ExportHeader(title=info.title, cwd=str(home.parent), branch=info.branch)
    path.write_bytes(b"".join(EXPORTER.emit(info.id, header, session.rounds)))
    for file, pieces in EXPORTER.emit_agents(path, info.id, session.subagents):
        file.write_bytes(b"".join(pieces))
    return path


def samples() -> list[Transcript]:
    if not CORPUS.is_dir():
        return []
    own = [t for v in VERSIONS for t in Library([AGENTS / "codex" / v / "home/.codex"]).transcripts]
    return [*own, *Library([CORPUS / "claude"]).transcripts[:8]]


@pytest.mark.parametrize("transcript", samples(), ids=lambda t: f"{t.source}-{t.session_id[-8:]}")
def test_an_export_resumes_whole(transcript: Transcript, tmp_path: Path, stub: Stub) -> None:
    """OPS-13, AGT-06: what Codex sends first has every prompt, text, call and result since the
    last compaction; and the file reads as it did, with the new round after it."""
    session = read(transcript)
    home = tmp_path / ".codex"
    write(session, home)
    options = ("--skip-git-repo-check", "-s", "read-only")
    port = stub.server_address[1]
    codex(home, "exec", *options, "resume", as_uuid(session.info.id), "More", port=port)
    sent = json.dumps(stub.asked[0]["input"], ensure_ascii=False)
    last = max([r.number for r in session.rounds if r.compactions], default=0)
    for round in session.rounds:
        if round.number <= last:
            continue
        said = [message for message in (round.prompt, *round.replies) if message is not None]
        texts = [b.text for message in said for b in message.blocks if isinstance(b, Text)]
        lost = [text for text in texts if json.dumps(text, ensure_ascii=False)[1:-1] not in sent]
        assert lost == []
        assert all(json.dumps(call.id)[1:-1] in sent for call in round.calls)
    (again,) = Library([home]).transcripts
    rounds = read(again).rounds
    if len(stub.asked) == 1:  # else it was too long, and the CLI compacted it at once
        assert rounds[:-1] == session.rounds
    else:
        assert rounds[:-2] == session.rounds[:-1]
        assert [c.trigger for c in rounds[-2].compactions][-1:] == ["auto"]
    assert rounds[-1].prompt is not None
    assert (rounds[-1].prompt.text, [m.text for m in rounds[-1].replies]) == (
        "More",
        ["STUB REPLY"],
    )


def test_a_migration_changes_no_round(tmp_path: Path) -> None:
    """AGT-04: real files of 0.87 to 0.144, rewritten by the CLI; but for a line of two objects,
    which it drops."""
    home = tmp_path / ".codex"
    for place in ("0.87.0", "0.144.1", "public-git-sync"):
        shutil.copytree(AGENTS / "codex" / place / "home/.codex", home, dirs_exist_ok=True)
    broken = next(home.rglob("*019d6d29*.jsonl"))
    broken.unlink()
    before = {t.session_id: read(t) for t in Library([home]).transcripts}
    sizes = {path: path.stat().st_size for path in home.rglob("rollout-*.jsonl")}
    codex(home, "migrate-rollouts", "--apply")
    assert all(path.stat().st_size != size for path, size in sizes.items())
    after = {t.session_id: read(t) for t in Library([home]).transcripts}
    for id, session in before.items():
        assert after[id].rounds == session.rounds
        assert after[id].subagents == session.subagents


def test_it_calls_us_after_a_turn(tmp_path: Path, stub: Stub) -> None:
    """FUT-05, AGT-01: a turn ends → its session is in the archive; uninstalling gives
    ``config.toml`` back byte for byte."""
    home, archive = tmp_path / ".codex", tmp_path / "archive"
    home.mkdir()
    before = configure(home, stub.server_address[1])
    command = [
        *("env", f"MINUTEBOOK_ARCHIVE={archive}", f"PYTHONPATH={os.pathsep.join(sys.path)}"),
        *(sys.executable, "-m", "minutebook"),
    ]
    installed = CodexHome(home, command)
    installed.install()
    codex(home, "exec", "--skip-git-repo-check", "Prune the apple tree.", port=None)
    log = Layout(archive).hook_log
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline and not (log.exists() and log.read_text()):
        time.sleep(0.1)
    (record,) = read_records(Layout(archive)).values
    assert (record.source, record.user_messages) == ("codex", 1)
    installed.uninstall()
    kept = (home / "config.toml").read_bytes()
    assert kept == before or kept.startswith(before)  # Codex itself may add what it trusts
