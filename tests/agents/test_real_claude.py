"""The real CLI calls our MCP server, and fires our hook (`make resume`)."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from minutebook.archive import Archive
from minutebook.record.engagements import read_records
from minutebook.record.layout import Layout
from minutebook.verbs.engagement import listed
from minutebook.verbs.install_agents import ClaudeHome
from tests.conftest import needs_corpus
from tests.test_resume import BIN, home_of, tools

__all__ = ["tools"]  # a fixture

pytestmark = [
    needs_corpus,  # the stub is beside it
    pytest.mark.claude,
    pytest.mark.skipif(not BIN, reason="needs the real CLI: set CLAUDE_BIN, or `make resume`"),
]


def be_patient(home: Path) -> None:
    """Have the CLI wait for our server, which takes seconds to start on a busy machine."""
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    waits = {"MCP_CONNECTION_NONBLOCKING": "false", "MCP_CONNECT_TIMEOUT_MS": "60000"}
    settings.write_text(json.dumps({"env": waits}))


def test_the_real_cli_calls_the_mcp_server(
    archive: Archive, examples: Path, tmp_path: Path, tools: ModuleType
) -> None:
    """FUT-05: `claude` starts the server, lists its tools, calls one, and gives the answer on."""
    home, cwd = home_of(tmp_path)
    be_patient(home)
    server = {
        "command": sys.executable,
        "args": [
            *("-m", "minutebook", "mcp", "--root", str(examples)),
            *("--archive", str(archive.root)),
        ],
        "env": {"PYTHONPATH": os.pathsep.join(sys.path)},
    }
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"minutebook": server}}))
    call = {"tool": "mcp__minutebook__search", "input": {"query": "passkey login"}}
    script = f"SCRIPT<<{json.dumps([call, 'THANKS'])}>>"
    with tools.Stub() as stub:
        ran = tools.claude(
            str(home), str(cwd), stub.port, "-p", "--mcp-config", str(config),
            "--strict-mcp-config", "--allowedTools", "mcp__minutebook__search", "--", script,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert "THANKS" in ran.stdout
        last = stub.last()
    sent = json.dumps(last["messages"], ensure_ascii=False)
    assert "found, best first" in sent
    assert "untrusted-" in sent
    assert "Add passkey login" in sent


def test_the_real_cli_keeps_an_engagement(
    archive: Archive, examples: Path, tmp_path: Path, tools: ModuleType
) -> None:
    """FUT-01: `claude` starts, advances and closes an engagement through MCP."""
    home, cwd = home_of(tmp_path)
    be_patient(home)
    server = {
        "command": sys.executable,
        "args": [
            *("-m", "minutebook", "mcp", "--root", str(examples)),
            *("--archive", str(archive.root)),
        ],
        "env": {"PYTHONPATH": os.pathsep.join(sys.path)},
    }
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"minutebook": server}}))
    project = {"project": str(cwd)}
    calls = {
        "start": {**project, "topic": "Prune the apple tree", "method": "debug"},
        "advance": {**project, "step": "fix"},  # refused: the graph has no such step
        "note": {**project, "text": "Two branches", "obligation": "Ask Mara", "due": "2026-01-01"},
        "status": project,
        "close": {**project, "outcome": "Pruned.", "force": True},
    }
    steps = ["start", "advance", "diagnose", "note", "status", "close"]
    script = [
        {
            "tool": f"mcp__minutebook__engagement_{'advance' if step == 'diagnose' else step}",
            "input": {**project, "step": "diagnose"} if step == "diagnose" else calls[step],
        }
        for step in steps
    ]
    allowed = ",".join(f"mcp__minutebook__engagement_{step}" for step in calls)
    with tools.Stub() as stub:
        ran = tools.claude(
            str(home), str(cwd), stub.port, "-p", "--mcp-config", str(config),
            "--strict-mcp-config", "--allowedTools", allowed, "--",
            f"SCRIPT<<{json.dumps([*script, 'THANKS'])}>>",
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert "THANKS" in ran.stdout
        sent = json.dumps(stub.last()["messages"], ensure_ascii=False)
    assert "No such tool available" not in sent, "the server was not ready"
    assert f"Wrote {cwd / 'engagement.md'}" in sent
    assert "'fix' does not follow 'started' in debug: choose one of reproduce, diagnose" in sent
    assert "overdue 1: Ask Mara" in sent
    (closed,) = listed(cwd)
    assert closed.place == "archived" and closed.phase == "completed"
    assert [passed.phase for passed in closed.phases_completed] == ["started", "diagnose"]
    assert [(v.before, v.after) for v in closed.violations] == [("diagnose", "completed")]
    assert sorted(path.name for path in cwd.iterdir()) == ["engagements"]


def test_the_real_cli_fires_the_hook(tmp_path: Path, tools: ModuleType) -> None:
    """FUT-05: a session ends → its record is there; Claude does not wait, nothing recurses, and
    uninstalling gives the settings back byte for byte."""
    home, cwd = home_of(tmp_path)
    archive = tmp_path / "archive"
    root = home / ".claude"
    root.mkdir()
    before = b'{\n   "model": "sonnet"\n}'
    (root / "settings.json").write_bytes(before)
    path = os.pathsep.join(sys.path)
    command = [
        *("env", f"MINUTEBOOK_ARCHIVE={archive}", f"PYTHONPATH={path}"),
        *(sys.executable, "-m", "minutebook"),
    ]
    installed = ClaudeHome(root, command)
    installed.install()
    with tools.Stub() as stub:
        ran = tools.claude(str(home), str(cwd), stub.port, "-p", "Prune the apple tree.")
        assert ran.returncode == 0, ran.stderr
    layout = Layout(archive)
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline and not layout.hook_log.exists():
        time.sleep(0.1)
    assert "ngagements" in layout.hook_log.read_text()
    (record,) = read_records(layout).values
    assert record.user_messages == 1
    time.sleep(2)
    assert len(layout.hook_log.read_text().splitlines()) == 1, "fired once"
    assert len(list((root / "projects").rglob("*.jsonl"))) == 1, "no session of our own"
    installed.uninstall()
    assert (root / "settings.json").read_bytes() == before
