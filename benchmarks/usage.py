"""What `minutebook usage` costs, beside ccusage on the same transcripts.

    python benchmarks/usage.py --peer build/ccusage/node_modules/.bin/ccusage [--big MB]

Whole processes, in turn, median of several: from a warm archive, from none (the transcripts are
read), and the peer's `daily --offline`. With --big, also on so many megabytes: real sessions
again and again, each with ids of its own. Peak memory is of the largest process.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2] / "shared"
CORPUS = Path(os.environ.get("MINUTEBOOK_CORPUS") or SHARED / "corpus") / "claude"
RUNS = 7
_UUID = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
_REPLY = re.compile(rb'"id":"msg_')


def run(command: list[str], **env: str) -> tuple[float, float]:
    """Seconds and megabytes of a process and what it starts."""
    start = time.perf_counter()
    child = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **env},
    )
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {status}")
    return seconds, used.ru_maxrss / 1024


def repeated(folder: Path, megabytes: int) -> Path:
    """Real sessions again and again, each with ids of its own."""
    files = [p for p in sorted((CORPUS / "projects").rglob("*.jsonl")) if p.is_file()]
    written, copy = 0, 0
    while written < megabytes * 1_000_000:
        copy += 1
        for path in files:
            place = str(path.relative_to(CORPUS / "projects"))
            name = _copied(place.encode(), copy).decode()
            target = folder / "projects" / (name if name != place else f"c{copy}{name}")
            target.parent.mkdir(parents=True, exist_ok=True)
            content = _copied(path.read_bytes(), copy)
            target.write_bytes(content)
            written += len(content)
            if written >= megabytes * 1_000_000:
                break
    return folder


def _copied(content: bytes, copy: int) -> bytes:
    """With other ids: sessions and replies stay apart from their originals."""
    content = _UUID.sub(lambda match: _tagged(match[0], copy), content)
    return _REPLY.sub(rb'"id":"msg_%d_' % copy, content)


def _tagged(uuid: bytes, copy: int) -> bytes:
    return b"%08x" % ((int(uuid[:8], 16) + copy * 7_919) % (1 << 32)) + uuid[8:]


def measure(title: str, root: Path, peer: str | None, runs: int) -> None:
    book = str(Path(sys.executable).with_name("minutebook"))
    with tempfile.TemporaryDirectory(prefix="minutebook-") as scratch:
        archive, nowhere = f"{scratch}/archive", f"{scratch}/none"
        inscribing, _ = run([book, "inscribe", "--all", "--root", str(root), "--archive", archive])
        commands = {
            "warm archive": ([book, "usage", "--root", str(root), "--archive", archive], {}),
            "no archive": ([book, "usage", "--root", str(root)], {"XDG_DATA_HOME": nowhere}),
        }
        if peer is not None:
            there = {"CLAUDE_CONFIG_DIR": str(root)}
            commands["ccusage daily --offline"] = ([peer, "daily", "--offline"], there)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(runs + 1):  # the first warms up, and is left out
            for name, (command, env) in commands.items():
                found[name].append(run(command, **env))
        size = sum(p.stat().st_size for p in root.rglob("*.jsonl")) / 1e6
        print(f"\n{title}: {size:,.0f} MB of transcripts; inscribed in {inscribing:.2f} s")
        base = statistics.median(s for s, _ in found[list(found)[-1]][1:])
        for name, times in found.items():
            seconds = statistics.median(s for s, _ in times[1:])
            peak = max(m for _, m in times)
            told = f" {seconds / base:5.2f} of ccusage" if peer is not None else ""
            print(f"  {name:<24} {seconds:7.3f} s {peak:6.0f} MB{told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="the ccusage to compare with")
    parser.add_argument("--big", type=int, metavar="MB", help="also on so many megabytes")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    measure("the corpus", CORPUS, options.peer, options.runs)
    if options.big:
        folder = Path(tempfile.mkdtemp(prefix="minutebook-big-"))
        try:
            measure(
                "repeated", repeated(folder, options.big), options.peer, max(2, options.runs // 2)
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
