"""Why sessions are dealt out by fork and a pipe, and not by the standard library's pool.

    python benchmarks/fan_out.py [ROOT]

Skims every transcript under ROOT three ways, alternating, in processes of their own: one after
the other, by `sources.fan_out`, by `concurrent.futures.ProcessPoolExecutor` (fork). Printed are
seconds of the whole process and ratios to the first; medians of five.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("MINUTEBOOK_CORPUS") or HERE / ".." / "shared" / "corpus")
WAYS = {
    "one by one": "[overview(t) for t in found]",
    "fan_out": "list(fan_out(overview, found))",
    "pool": (
        "list(__import__('concurrent.futures').futures.ProcessPoolExecutor("
        "mp_context=__import__('multiprocessing').get_context('fork')).map(overview, found))"
    ),
}
CODE = """
import sys
from pathlib import Path
from minutebook.sources.library import Library, overview
from minutebook.sources.fan_out import fan_out
found = Library([Path(sys.argv[1])]).transcripts
{}
"""


def measure(root: Path, way: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", CODE.format(WAYS[way]), str(root)], check=True)
    return time.perf_counter() - start


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS / "claude"
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(5):
        for way in WAYS:
            times[way].append(measure(root, way))
    base = statistics.median(times["one by one"])
    for way, taken in times.items():
        median = statistics.median(taken)
        print(f"{way:12}  {median:6.3f} s  {median / base:5.2f}")


if __name__ == "__main__":
    main()
