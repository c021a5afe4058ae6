"""What inscribing costs, beside a compiled peer on the same folder in the same run.

    python benchmarks/archive.py [FOLDER] [--peer PATH/agentsview]

The peer is agentsview (`pip install agentsview` into a scratch environment; `make bench-archive`
does). Every run starts from an empty home in a fresh process; figures are medians, taken in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 5
TARGETS = {"cold": 0.5, "nothing changed": 1.1, "one round appended": 1.2}


def timed(command: list[str], env: dict[str, str]) -> float:
    """Seconds a command takes."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    _, err = process.communicate()
    taken = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed: {err}")
    return taken


def peak_memory(archive: Path, root: Path) -> float:
    """Megabytes: the sum over the run's processes of what each peaked at."""
    code = (
        "import sys, resource\n"
        "from minutebook.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "print(own, child, file=sys.stderr)\n"
    )
    args = ["inscribe", "--all", "--ended", "--archive", str(archive), "--root", str(root)]
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=True
    )
    own, child = map(int, done.stderr.split()[-2:])
    return (own + 2 * child) / 1024


def size_of(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


class Bench:
    def __init__(self, folder: Path, scratch: Path, peer: str | None) -> None:
        self.scratch = scratch
        self.peer = peer
        self.root = scratch / "claude"
        shutil.copytree(folder, self.root)
        self.archive = scratch / "archive"
        self.home = scratch / "home"

    def ours(self) -> float:
        command = [sys.executable, "-m", "minutebook", "inscribe", "--all", "--ended"]
        command += ["--archive", str(self.archive), "--root", str(self.root)]
        # as installed: pip compiles what it installs, and a user keeps what was compiled
        return timed(command, {**os.environ, "PYTHONDONTWRITEBYTECODE": ""})

    def theirs(self) -> float:
        assert self.peer is not None
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "AGENTSVIEW_TELEMETRY_ENABLED": "0",
            "AGENTSVIEW_NO_DAEMON": "1",
        }
        return timed([self.peer, "sync"], env)

    def fresh(self) -> None:
        shutil.rmtree(self.archive, ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        (self.home / ".claude").symlink_to(self.root)

    def grow(self, number: int) -> None:
        """One round more for a session of middling size."""
        files = sorted(self.root.glob("projects/*/*.jsonl"), key=lambda path: path.stat().st_size)
        path = files[len(files) // 2]
        at = f"2026-11-15T10:{number:02}:00.000Z"
        base = {"sessionId": path.stem, "isSidechain": False, "cwd": "/w", "timestamp": at}
        user = {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": "on"}}
        text = [{"type": "text", "text": "done"}]
        said = {"id": f"msg_{number}", "role": "assistant", "model": "m", "content": text}
        reply = {"type": "assistant", "uuid": f"a{number}", "message": said}
        with path.open("a", encoding="utf-8") as file:
            for record in (user, reply):
                file.write(json.dumps({**base, **record}, separators=(",", ":")) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    corpus = os.environ.get("MINUTEBOOK_CORPUS") or "../shared/corpus"
    parser.add_argument("folder", nargs="?", default=f"{corpus}/claude", type=Path)
    parser.add_argument("--peer", default=shutil.which("agentsview"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="minutebook-bench-") as scratch:
        bench = Bench(options.folder.resolve(), Path(scratch), options.peer)
        taken: dict[str, dict[str, list[float]]] = {
            case: {"ours": [], "theirs": []} for case in TARGETS
        }
        for run in range(RUNS):
            bench.fresh()
            for case in TARGETS:
                if case == "one round appended":
                    bench.grow(run)
                taken[case]["ours"].append(bench.ours())
                if options.peer:
                    taken[case]["theirs"].append(bench.theirs())
        source = size_of(bench.root)
        print(f"{options.folder}: {source:.1f} MB; median of {RUNS}, in turn\n")
        print(f"{'':22}{'ours':>9}{'agentsview':>12}{'ratio':>8}   target")
        nothing = statistics.median(taken["nothing changed"]["theirs"] or [0])
        for case, target in TARGETS.items():
            ours = statistics.median(taken[case]["ours"])
            line = f"{case:22}{ours * 1e3:7.0f}ms"
            if options.peer:
                theirs = statistics.median(taken[case]["theirs"])
                against = nothing if case == "one round appended" else theirs
                line += f"{theirs * 1e3:10.0f}ms{ours / against:8.2f}   ≤ {target}"
            print(line)
        print(f"\narchive {size_of(bench.archive):.1f} MB for {source:.1f} MB of source")
        bench.fresh()
        print(
            f"peak memory, all processes: {peak_memory(bench.archive, bench.root):.0f} MB (≤ 200)"
        )


if __name__ == "__main__":
    main()
