"""What the parts for agents cost: watching, the hook, contexts, MCP calls.

    PYTHONPATH=. python benchmarks/agents.py [--keep FOLDER]

1,400 generated sessions are ingested and watched; then one of them changes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from benchmarks.generated import generate
from minutebook.archive import Archive
from minutebook.archive.finding import search
from minutebook.archive.semantic import Meaning
from minutebook.index.query import parse_query
from minutebook.verbs.install_agents import ClaudeHome
from minutebook.verbs.materialise import materialise

_SESSIONS = 1_400
_ROUNDS = 500
_IDLE = 60.0
_BASE = [sys.executable, "-m", "minutebook"]


def turn(id: str, number: int, words: str) -> bytes:
    at = f"2026-11-{1 + number % 28:02d}T10:{number % 60:02d}:00.000Z"
    own = {"sessionId": id, "cwd": "/home/bench/project", "timestamp": at, "isSidechain": False}
    asked = {"role": "user", "content": f"Please look at {words} number {number}."}
    said = [{"type": "text", "text": f"I looked at {words}; it is fine. " * 20}]
    answer = {"id": f"m{number}", "role": "assistant", "model": "claude-sonnet-5", "content": said}
    records = (
        {"type": "user", "uuid": f"u{number}", "parentUuid": None, "message": asked, **own},
        {
            "type": "assistant",
            "uuid": f"a{number}",
            "parentUuid": f"u{number}",
            "message": answer,
            **own,
        },
    )
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def spent(pid: int) -> tuple[int, float]:
    """Bytes read, and processor time."""
    io = Path(f"/proc/{pid}/io").read_text()
    read = int(io.split("rchar: ")[1].split("\n")[0])
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return read, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watched(root: Path, archive: Path) -> None:
    process = subprocess.Popen(
        [*_BASE, "watch", "--json", "--root", str(root), "--archive", str(archive)],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        time.sleep(20)  # caught up, and watching
        path = sorted(root.rglob("*.jsonl"))[700]
        times = []
        base = int(time.time() * 10) % 10**8  # ids nobody has had in an earlier run
        for number in range(6):
            word = f"zzword{int(time.time())}x{number}"
            with path.open("ab") as file:
                for part in range(5):
                    file.write(turn(path.stem, base + number * 10 + part, word))
                    file.flush()
                    time.sleep(0.05)
            began = time.monotonic()
            query = parse_query(word)
            place = Archive(archive, (root,))
            while not search(place, query, mode="lexical", fresh=False).hits:
                time.sleep(0.02)
                if time.monotonic() - began > 30:
                    raise SystemExit("it never became searchable")
            times.append(time.monotonic() - began)
            time.sleep(3)
        # The first burst after the start also looks for what was written before.
        middle, slowest = statistics.median(times[1:]), max(times[1:])
        print(f"last write to searchable: median {middle:.2f} s, slowest {slowest:.2f} s")
        time.sleep(5)
        before = spent(process.pid)
        time.sleep(_IDLE)
        after = spent(process.pid)
        cpu = 100 * (after[1] - before[1]) / _IDLE
        print(f"idle watch over {_IDLE:.0f} s: {after[0] - before[0]} bytes read, {cpu:.3f} % CPU")
    finally:
        process.terminate()
        process.wait()


def hooked(folder: Path, archive: Path, transcript: Path) -> None:
    home = ClaudeHome(folder / "claude-home", [*_BASE])
    home.install()
    script = folder / "claude-home" / "skills" / "minutebook" / "session-end.sh"
    event = json.dumps({"session_id": transcript.stem, "transcript_path": str(transcript)}).encode()
    times = []
    for _ in range(15):
        began = time.monotonic()
        subprocess.run(
            ["sh", str(script)],
            input=event,
            check=True,
            env={**os.environ, "MINUTEBOOK_ARCHIVE": str(archive)},
        )
        times.append(1000 * (time.monotonic() - began))
    print(f"hook returns in: median {statistics.median(times):.0f} ms, slowest {max(times):.0f} ms")


def contexts(folder: Path) -> None:
    root, archive = folder / "long", folder / "long-archive"
    id = "50000000-0000-4000-8000-000000000000"
    path = root / "projects" / "-home-bench" / f"{id}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(turn(id, n, f"topic {n % 7}") for n in range(_ROUNDS)))
    places = ["--root", str(root), "--archive", str(archive)]
    subprocess.run(
        [*_BASE, "ingest", "--extractor", "offline", *places], check=True, capture_output=True
    )
    for words in ([], ["--query", "topic 3"]):
        times = []
        for _ in range(5):
            began = time.monotonic()
            command = [*_BASE, "context", id, "--budget", "20000", *words, *places]
            subprocess.run(command, check=True, capture_output=True)
            times.append(time.monotonic() - began)
        began = time.monotonic()
        place = Archive(archive, (root,))
        built = materialise(place, [id], budget=20_000, query=words[1] if words else None)
        inside = time.monotonic() - began
        what = "by query" if words else "newest first"
        print(
            f"context of {_ROUNDS} rounds in 20,000 tokens, {what}: {inside:.2f} s in a running "
            f"process, {statistics.median(times):.2f} s with start-up ({built.tokens} tokens)"
        )


def protocol(root: Path, archive: Path) -> None:
    """Calls to a warm server, beside the same search in this process."""

    async def talk() -> dict[str, list[float]]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "minutebook", "mcp", "--root", str(root), "--archive", str(archive)],
            env={**os.environ},
        )
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("search", {"query": "failing test"}),
            ("engagements", {}),
            ("decisions", {}),
            ("stats", {}),
            ("show", {"address": f"{sorted(root.rglob('*.jsonl'))[3].stem}#2"}),
        )
        times: dict[str, list[float]] = {name: [] for name, _ in calls}
        async with Client(server) as client:
            for _ in range(12):
                for name, given in calls:
                    began = time.monotonic()
                    answer = await client.call_tool(name, given)
                    assert not answer.is_error, answer.content
                    times[name].append(1000 * (time.monotonic() - began))
        return times

    place = Archive(archive, (root,))
    meaning = Meaning(place.layout)
    alone = []
    for _ in range(12):
        began = time.monotonic()
        search(
            place,
            parse_query("failing test"),
            limit=6,
            embedder=meaning.embedder,
            ready=meaning.ready,
        )
        alone.append(1000 * (time.monotonic() - began))
    told = asyncio.run(talk())
    base = statistics.median(alone[2:])
    for name, times in told.items():
        middle = statistics.median(times[2:])
        beyond = f", {middle - base:.0f} ms beyond the search itself" if name == "search" else ""
        print(f"mcp {name}: median {middle:.0f} ms{beyond}")


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--keep", type=Path, help="make the archives here, and leave them")
    given = options.parse_args()
    folder = given.keep or Path(tempfile.mkdtemp(prefix="agents-bench-"))
    root, archive = folder / "many", folder / "many-archive"
    if not root.exists():
        generate(root, _SESSIONS * 40)
    places = ["--root", str(root), "--archive", str(archive)]
    for verb in (["ingest", "--extractor", "offline"], ["search", "anything"]):
        subprocess.run([*_BASE, *verb, *places], check=True, capture_output=True)
    contexts(folder)
    hooked(folder, folder / "hook-archive", sorted(root.rglob("*.jsonl"))[5])
    protocol(root, archive)
    watched(root, archive)
    if given.keep is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
