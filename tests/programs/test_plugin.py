"""Another package can bring an adapter: a folder and an entry point, no line of ours (AGT-02)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from minutebook.sources.base import ServerAware
from minutebook.sources.claude_code import ClaudeCode
from minutebook.sources.installed import guarded
from minutebook.sources.pi import Pi
from tests.conftest import as_line, user

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"


def told(language: str) -> str:
    """What the page that tells how says to write."""
    return PAGE.read_text("utf-8").partition(f"```{language}\n")[2].partition("```")[0]


def install(site: Path, name: str, module: str, code: str, target: str) -> None:
    """A package as pip leaves it."""
    (site / module).mkdir(parents=True)
    (site / module / "__init__.py").write_text(code, encoding="utf-8")
    info = site / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    entry = f"[minutebook.sources]\n{module} = {target}\n"
    (info / "entry_points.txt").write_text(entry)


def minutebook(tmp_path: Path, *args: str, rc: int = 0) -> str:
    """What it prints; with another status, what it complains of."""
    site = tmp_path / "site"
    env = {
        **os.environ,
        "HOME": str(tmp_path / "home"),
        "MINUTEBOOK_ARCHIVE": str(tmp_path / "archive"),
        "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]),
    }
    env.pop("CLAUDE_CONFIG_DIR", None)
    run = subprocess.run(
        [sys.executable, "-m", "minutebook", *args], env=env, capture_output=True, text=True
    )
    assert run.returncode == rc, run.stderr
    return run.stderr if rc else run.stdout


def test_a_toy_agent_takes_a_folder_and_an_entry_point(tmp_path: Path) -> None:
    """AGT-02: found in its place, listed, archived under its own name, searched; it is the one that
    the documentation shows."""
    entry = tomllib.loads(told("toml"))["project"]["entry-points"]["minutebook.sources"]
    ((module, target),) = entry.items()
    install(tmp_path / "site", "toy-adapter", module, told("python"), target)
    home = tmp_path / "home" / ".toy"
    home.mkdir(parents=True)
    lines = [
        {"toy": "ask", "text": "Paint the shed blue", "at": "2026-03-01T10:00:00.000Z"},
        {"toy": "say", "text": "It is blue now. " * 120, "at": "2026-03-01T10:01:00.000Z"},
    ]
    path = home / "shed.toy"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    os.utime(path, (1, 1))
    minutebook(tmp_path, "inscribe", "--all")
    assert (tmp_path / "archive" / "sessions" / "toy" / "shed.md").exists()
    listed = json.loads(minutebook(tmp_path, "agents", "--json"))["agents"]
    assert [a["archived"] for a in listed if a["program"] == "toy"] == [1]
    hits = json.loads(minutebook(tmp_path, "search", "shed blue", "--json"))["hits"]
    assert hits[0]["session_id"] == "shed"


@pytest.mark.parametrize(
    ("method", "where"),
    [
        ("default_root", "agents"),
        ("discover", "agents"),
        ("claims", None),
        ("reading", "inscribe"),
        ("take", "inscribe"),
        ("matters", None),
    ],
)
def test_a_mistake_of_an_adapter_costs_only_its_sessions(
    tmp_path: Path, method: str, where: str | None
) -> None:
    """AGT-02: wherever it is met, the sessions of all others are listed and archived, and it is
    told what went wrong."""
    code, count = re.subn(rf"( +)(def {method}\(.*\):\n)", r"\1\2\1    1 / 0\n", told("python"))
    assert count == 1
    install(tmp_path / "site", "toy-adapter", "toy_adapter", code, "toy_adapter:Toy")
    home = tmp_path / "home"
    for path in (home / ".toy" / "shed.toy", home / ".claude" / "projects" / "-w" / "a.jsonl"):
        path.parent.mkdir(parents=True)
        path.write_bytes(as_line(user("Paint the shed")) + b"\n")
        os.utime(path, (1, 1))
    (tmp_path / "archive").mkdir()
    listed = json.loads(minutebook(tmp_path, "agents", "--json"))
    assert (where == "agents") == ("ZeroDivisionError" in str(listed["problems"]))
    minutebook(tmp_path, "sessions", "--root", str(home / ".claude"))
    made = minutebook(tmp_path, "inscribe", "--all", "--ended", rc=2 if where == "inscribe" else 0)
    assert (where == "inscribe") == ("its adapter failed: zerodivisionerror" in made)
    assert (tmp_path / "archive" / "sessions" / "claude" / "a.md").exists()
    assert "Paint the shed" in minutebook(tmp_path, "show", "a")


def test_what_an_adapter_can_do_is_seen_through_its_guard(tmp_path: Path) -> None:
    """AGT-02: one that knows of MCP servers does so still, and another does not."""
    told: list[str] = []
    aware = guarded(ClaudeCode(), told.append)
    assert isinstance(aware, ServerAware)
    assert aware.mcp_servers(tmp_path) == frozenset()
    assert not isinstance(guarded(Pi(), told.append), ServerAware)
    assert (aware.name, aware.program, told) == ("claude-code", "claude", [])


def test_a_broken_adapter_is_named_and_the_rest_works(tmp_path: Path) -> None:
    """AGT-02: what a stranger's package raises is told by `agents`, and costs only itself."""
    install(tmp_path / "site", "bad-adapter", "bad_adapter", "1 / 0", "bad_adapter:Bad")
    (tmp_path / "archive").mkdir()
    told = json.loads(minutebook(tmp_path, "agents", "--json"))
    assert "ZeroDivisionError" in told["problems"]["bad_adapter"]
    assert told["agents"][0]["program"] == next(a["program"] for a in told["agents"])
