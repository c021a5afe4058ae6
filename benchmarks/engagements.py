"""How well engagements are found, and what ingesting costs beside inscribing.

    python benchmarks/engagements.py [--corpus DIR] [--labels DIR] [--runs N]

Quality: the offline extractor over the labelled sessions, scored by ``labels/score.py``.
Cost: ``ingest --extractor offline`` of the whole corpus from scratch, beside ``inscribe
--all`` of the same, in turn and in fresh processes; then both again with nothing changed.
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

SHARED = Path(__file__).resolve().parents[2] / "shared"


def timed(*args: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "minutebook", *args], check=True, capture_output=True)
    return time.perf_counter() - start


def score(corpus: Path, labels: Path, archive: Path) -> dict[str, float]:
    places = ["--root", str(corpus / "claude"), "--archive", str(archive)]
    timed("ingest", "--extractor", "offline", *places)
    answer = archive / "sessions" / "engagements.jsonl"
    files = (labels / "score.py", answer, labels / "engagements.jsonl")
    command = [sys.executable, *map(str, files)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    corpus = os.environ.get("MINUTEBOOK_CORPUS") or SHARED / "corpus"
    parser.add_argument("--corpus", type=Path, default=Path(corpus))
    parser.add_argument("--labels", type=Path, default=SHARED / "labels")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="minutebook-bench-"))
    try:
        print("Offline extractor against the labels (1.0 is the labels themselves):")
        for name, value in score(options.corpus, options.labels, scratch / "score").items():
            print(f"  {name:12} {value}")
        places = ("--root", str(options.corpus / "claude"), "--archive")
        verbs = {"inscribe": ("inscribe", "--all"), "ingest": ("ingest", "--extractor", "offline")}
        cold: dict[str, list[float]] = {name: [] for name in verbs}
        warm: dict[str, list[float]] = {name: [] for name in verbs}
        for run in range(options.runs):
            for name, verb in verbs.items():
                archive = str(scratch / f"{name}-{run}")
                cold[name].append(timed(*verb, *places, archive))
                warm[name].append(timed(*verb, *places, archive))
                shutil.rmtree(archive)
        start = statistics.median(timed("--help") for _ in range(options.runs))
        for what, times in (("from scratch", cold), ("nothing changed", warm)):
            one, two = (statistics.median(times[name]) for name in ("inscribe", "ingest"))
            print(f"{what}: inscribe {one:.2f} s, ingest {two:.2f} s = {two / one:.2f}x")
        beyond = statistics.median(warm["ingest"]) - start
        print(f"nothing changed, beyond start-up ({start:.2f} s): {beyond:.2f} s")
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
