"""Little is held, however long a transcript is (FMT-22)."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from minutebook.sources.assembly import seen
from minutebook.sources.assembly.seen import SeenIds
from minutebook.sources.base import read_session
from minutebook.sources.claude_code import agents
from minutebook.sources.claude_code.read import ClaudeReading
from tests.conftest import Record, as_line, assistant, tool_result, tool_use, user


def test_ids_are_known_after_they_were_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """FMT-22: UUIDs and any other ids; alike ones are not taken for each other."""
    monkeypatch.setattr(seen, "_MOST_EXACT", 10)
    ids = [str(uuid.UUID(int=n << 64)) for n in range(25)]
    ids += [f"{id}-1" for id in ids] + [f"queued-{n}" for n in range(25)] + ["", "\udcff", "é"]
    known = SeenIds()
    assert [known.add(id) for id in ids] == [True] * len(ids)
    assert [known.add(id) for id in ids] == [False] * len(ids)
    assert len(known) == len(ids)
    again = SeenIds(known.packed())
    assert all(id in again for id in ids)
    assert str(uuid.uuid4()) not in again
    assert again.add("new")
    assert "x" not in SeenIds("no base64 at all!")


def side(record: Record, id: str, parent: str | None) -> Record:
    return {**record, "isSidechain": True, "uuid": id, "parentUuid": parent}


def test_sidechains_that_fell_silent_are_kept_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FMT-15, FMT-22: set aside or not, subagents are the same."""
    records: list[Record] = [user("go")]
    for chain in range(8):
        records += [
            assistant(tool_use(f"t{chain}", "Task", prompt=f"task {chain}"), id=f"m{chain}"),
            side(user(f"task {chain}"), f"{chain}a", None),
            side(assistant(tool_use(f"s{chain}"), id=f"s{chain}"), f"{chain}b", f"{chain}a"),
            side(tool_result(f"s{chain}", "x" * 500), f"{chain}c", f"{chain}b"),
            side(assistant("done", id=f"d{chain}"), f"{chain}d", f"{chain}c"),
            tool_result(f"t{chain}"),
        ]
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(as_line(record) + b"\n" for record in records))
    expected = read_session(ClaudeReading(path))
    monkeypatch.setattr(agents, "_MOST_HELD", 2_000)
    monkeypatch.setattr(agents, "_SILENT", 3)
    assert read_session(ClaudeReading(path)) == expected
    assert [len(agent.rounds) for agent in expected.subagents] == [1] * 8


_CHILD = """
import sys
from pathlib import Path
from minutebook.sources.claude_code.read import ClaudeReading
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
before = peak()
reading = ClaudeReading(Path(sys.argv[1]))
rounds = sum(1 for _ in reading.rounds())
reading.info()
print(rounds, (peak() - before) // 1024)
"""


def test_a_long_session_takes_little_memory(tmp_path: Path) -> None:
    """FMT-22: 60 MB in small records, the worst case: ids, queue, replies and calls are bounded."""
    path = tmp_path / "s.jsonl"
    stamp = "2026-03-01T10:00:00.000Z"
    with path.open("w", encoding="utf-8") as file:
        for n in range(30_000):
            for record in (
                user(f"prompt {n}", uuid=str(uuid.uuid4()), timestamp=stamp),
                assistant(tool_use(f"t{n}"), id=f"m{n}", uuid=str(uuid.uuid4())),
                tool_result(f"t{n}", "x" * 1_000, uuid=str(uuid.uuid4()), timestamp=stamp),
            ):
                message = record["message"]
                if record["type"] == "assistant":
                    message["usage"] = {"output_tokens": n, "input_tokens": 1}
                file.write(json.dumps(record) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path)], capture_output=True, text=True, check=True
    )
    rounds, megabytes = map(int, done.stdout.split())
    assert rounds == 30_000
    assert megabytes < 40
