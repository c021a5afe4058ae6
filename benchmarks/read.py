"""What reading costs, as ratios to a raw read of the same bytes.

    python benchmarks/read.py [FOLDER]      default: $MINUTEBOOK_CORPUS/claude
    python benchmarks/read.py --agents      every agent's lines beside Claude Code's

Every figure is the median over fresh processes: a command reads once, and memory a process
has used before is faster than fresh memory. Peak memory is above an idle interpreter with the
reader imported. The 80 MB session is made by repeating real rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

RUNS = 7
BIG = 80_000_000
MADE = 12_000_000
BARE = "bare"  # Claude Code's file without what tools printed


# ------------------------------------------------------------ in the child


def _files(folder: str) -> list[Path]:
    path = Path(folder)
    return [path] if path.is_file() else sorted(path.rglob("*.jsonl"))


def _raw(folder: str) -> None:
    for path in _files(folder):
        path.read_bytes()


def _read(depth: str, jobs: int) -> Callable[[str], None]:
    from minutebook.sources import library
    from minutebook.sources.fan_out import fan_out

    def work(folder: str) -> None:
        found = library.Library([Path(folder)])
        if depth == "skim":
            for _ in fan_out(library.overview, found.transcripts, jobs):
                pass
        else:
            for _ in fan_out(library.format_report, found.transcripts, jobs):
                pass

    return work


def _loop(jobs: int) -> Callable[[str], None]:
    """Arithmetic and nothing else: what a second core is worth on this machine right now."""

    def half() -> None:
        sum(number * number for number in range(1_500_000))

    def work(_: str) -> None:
        child = os.fork() if jobs == 2 else 0
        half()
        if jobs == 1:
            half()
        elif child == 0:
            os._exit(0)
        else:
            os.waitpid(child, 0)

    return work


def _peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def child(kind: str, folder: str) -> None:
    """Do the work once and print seconds and kilobytes of peak memory above the start."""
    from minutebook.sources.registry import SOURCES

    for source in SOURCES.values():  # imported before the clock starts
        import_module(f"{type(source).__module__}.read")

    work = _raw if kind == "raw" else _read(kind[:4], 2 if kind.endswith("2") else 1)
    before = _peak()
    start, used = time.perf_counter(), time.process_time()
    work(folder)
    took, used = time.perf_counter() - start, time.process_time() - used
    print(json.dumps([took, _peak() - before, used]))


# ------------------------------------------------------------ in the parent


def measure(kind: str, folder: Path) -> tuple[float, float]:
    """Seconds, and MB of peak memory."""
    seconds, kilobytes, _ = measured(kind, folder)
    return seconds, kilobytes / 1024


def measured(kind: str, folder: Path) -> tuple[float, float, float]:
    """Seconds, KB of peak memory, and seconds of the processor: those stay the same on a machine
    that others use, too."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", kind, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, kilobytes, used = json.loads(done.stdout)
    return seconds, kilobytes, used


def scaling(one: Callable[[str], None], two: Callable[[str], None], folder: str) -> float:
    """How much faster two processes are, both ways in turn, starting the second included."""
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(RUNS):
        for jobs, work in ((1, one), (2, two)):
            start = time.perf_counter()
            work(folder)
            times[jobs].append(time.perf_counter() - start)
    return statistics.median(times[1]) / statistics.median(times[2])


def command_time(*args: str, **env: str) -> float:
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(
            args,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            env={**os.environ, **env},
        )
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def big_session(folder: Path, into: Path) -> Path:
    """A session of 80 MB: a real one over and over, with fresh ids."""
    largest = max(_files(str(folder)), key=lambda path: path.stat().st_size)
    records = [json.loads(line) for line in largest.read_text("utf-8").split("\n") if line]
    path = into / "80000000-0000-4000-8000-000000000000.jsonl"
    size = copy = 0
    with path.open("w", encoding="utf-8") as file:
        while size < BIG:
            copy += 1
            for record in records:
                if "uuid" in record:
                    record = {**record, "uuid": f"{record['uuid']}-{copy}"}
                line = json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"
                size += file.write(line)
    return path


def agents() -> None:
    """The same conversation as every agent writes it: MB per second of the processor, and how many
    times slower than Claude Code's; the best of all runs, all in turn."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from benchmarks.agent_files import PLACES, write

    with tempfile.TemporaryDirectory() as scratch:
        files = {agent: write(agent, Path(scratch), MADE) for agent in PLACES}
        files[BARE] = write("claude", Path(scratch) / "bare", MADE, results=False)
        taken: dict[tuple[str, str], list[float]] = {}
        for _ in range(RUNS):
            for agent, path in files.items():
                for depth in ("skim", "full"):
                    taken.setdefault((agent, depth), []).append(measured(depth, path)[2])
        speed = {
            (agent, depth): files[agent].stat().st_size / 1e6 / min(seconds)
            for (agent, depth), seconds in taken.items()
        }
        size = {
            agent: path.stat().st_size / path.read_bytes().count(b"\n")
            for agent, path in files.items()
        }
    print(f"{MADE / 1e6:.0f} MB for each agent; MB per second of CPU time,")
    print("and how many times slower than Claude Code (target ≤ 2). Cursor keeps no results, which")
    print("are most of the others' bytes: it is compared with Claude Code's file without them.\n")
    print(f"{'':10}{'skim':>8}{'':6}{'full':>8}{'':6}{'bytes a record':>16}")
    for agent in files:
        other = BARE if agent == "cursor" else "claude"
        told = [
            f"{speed[agent, depth]:8.0f}{speed[other, depth] / speed[agent, depth]:5.1f}×"
            for depth in ("skim", "full")
        ]
        print(f"{agent:10}{''.join(told)}{size[agent]:16,.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    corpus = os.environ.get("MINUTEBOOK_CORPUS") or "../shared/corpus"
    parser.add_argument("folder", nargs="?", default=f"{corpus}/claude", type=Path)
    parser.add_argument("--agents", action="store_true", help="compare agents, nothing else")
    given = parser.parse_args()
    if given.agents:
        agents()
        return
    folder: Path = given.folder.resolve()
    files = _files(str(folder))
    size = sum(path.stat().st_size for path in files) / 1e6
    if not size:
        sys.exit(f"There are no transcripts in {folder}: name another folder.")
    print(f"{folder}: {len(files)} files, {size:.1f} MB; median of {RUNS} fresh processes\n")

    kinds = ("raw", "skim", "full", "skim2", "full2")
    taken: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for _ in range(RUNS):  # in turn, so that a slow moment of the machine hits all alike
        for kind in kinds:
            taken[kind].append(measure(kind, folder))
    seconds = {kind: statistics.median(t for t, _ in runs) for kind, runs in taken.items()}
    memory = {kind: max(m for _, m in runs) for kind, runs in taken.items()}
    raw = seconds["raw"]
    print(f"{'':26}{'ms':>8}{'MB/s':>9}{'× raw':>8}{'peak MB':>9}   target")
    rows = (
        ("raw", "raw read", ""),
        ("skim", "skim, one process", "≤ 14"),
        ("full", "full, one process", "≤ 30"),
        ("skim2", "skim, two processes", ""),
        ("full2", "full, two processes", ""),
    )
    for kind, label, target in rows:
        t = seconds[kind]
        print(
            f"{label:26}{t * 1e3:8.0f}{size / t:9.0f}{t / raw:8.1f}{memory[kind]:9.0f}   {target}"
        )
    for depth in ("skim", "full"):
        gain = scaling(_read(depth, 1), _read(depth, 2), str(folder))
        print(f"two processes, {depth}: {gain:.2f}× one (target ≥ 1.6)")
    print(f"two processes, a bare loop: {scaling(_loop(1), _loop(2), ''):.2f}× one (the machine)")

    with tempfile.TemporaryDirectory() as scratch:
        big = big_session(folder, Path(scratch))
        for depth in ("skim", "full"):
            t, peak = measure(depth, big)
            target = "  (target ≤ 120 MB)" if depth == "skim" else ""
            print(f"one session of 80 MB, {depth}: {t * 1e3:.0f} ms, peak {peak:.0f} MB{target}")

    python = sys.executable
    floor = command_time(python, "-c", "import click")
    started = command_time(python, "-m", "minutebook", "--help")
    ratio = f"{started / floor:.2f}× python + click (target ≤ 3)"
    print(f"\nminutebook --help: {started * 1e3:.0f} ms, {ratio}")
    listed = command_time(python, "-m", "minutebook", "sessions", "--root", str(folder))
    print(f"minutebook sessions: {listed:.2f} s (target ≤ 1 s)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:4])
    else:
        main()
