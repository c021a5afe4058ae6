"""What indexing and searching cost at scale, beside cc-search.

    python benchmarks/search.py [--pairs 500000] [--calls 3] [--semantic 1000000] [--peer cc-search]

Corpora are generated (benchmarks/generated.py): real sentences, the same every time; each turn
of the lexical part has three tool calls of 0.2 to 4 KB. Index times are of fresh processes, with
what tools did and without (`config search_tools 0`); queries are timed warm, in one process, each
over many queries. The vectors of the semantic part are those of 50,000 real pairs, repeated: what
an exact scan costs does not depend on what is in it. The size of the index is that of the shared
corpus beside its bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.generated import CORPUS, generate
from minutebook.archive.settings import set_setting
from minutebook.index import database as db
from minutebook.index.engine import Engine
from minutebook.index.query import Filters, Query, parse_query
from minutebook.index.static import StaticEmbedder
from minutebook.record.layout import Layout

_PASSAGES = 3  # of a pair, on the average

COMMON = (
    "test commit branch file change code session error function add update fix run check push "
    "command the and to for with this that we can need"
).split()

_CHILD = """
import resource, sys
from minutebook.cli.main import main
try: main(sys.argv[1:])
except SystemExit: pass
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(own, child, file=sys.stderr)
"""


def index(root: Path, archive: Path, *, tools: bool = True) -> tuple[float, float]:
    """Seconds and megabytes (sum of what each process peaked at) of a first search."""
    archive.mkdir(parents=True, exist_ok=True)
    if not tools:
        set_setting(Layout(archive), "search_tools", "0")
    start = time.perf_counter()
    arguments = ["search", "--mode", "lexical", "ticket1", "--limit", "1"]
    arguments += ["--root", str(root), "--archive", str(archive)]
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, *arguments], capture_output=True, text=True, check=True
    )
    own, child = map(int, done.stderr.split()[-2:])
    return time.perf_counter() - start, (own + 2 * child) / 1024


def peer_index(peer: str, root: Path, home: Path) -> float:
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    (home / ".claude").symlink_to(root)
    start = time.perf_counter()
    subprocess.run(
        [peer, "--reindex", "--no-open"],
        env={**os.environ, "HOME": str(home)},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - start


def latency(name: str, work: Callable[[Query], object], queries: list[Query]) -> None:
    for query in queries[:3]:
        work(query)
    times = []
    for query in queries:
        start = time.perf_counter()
        work(query)
        times.append((time.perf_counter() - start) * 1000)
    times.sort()
    middle, high = statistics.median(times), times[int(0.95 * len(times)) - 1]
    print(f"  {name:44} p50 {middle:6.1f} ms   p95 {high:6.1f} ms")


def queries(count: int, words: int, filters: Filters = Filters()) -> list[Query]:  # noqa: B008
    dice = random.Random(7)
    return [parse_query(" ".join(dice.sample(COMMON, words)), filters) for _ in range(count)]


def lexical_part(layout: Layout) -> None:
    engine = Engine(layout.search_database, layout.search)
    dice = random.Random(11)

    def work(query: Query) -> object:
        return engine.search(query, mode="lexical")

    latency("common three words", work, queries(60, 3))
    latency("rare term", work, [parse_query(f"ticket{dice.randrange(50_000)}") for _ in range(60)])
    latency("three words in one project", work, queries(40, 3, Filters(project="project7")))


def semantic_part(pairs: int, root: Path, scratch: Path) -> None:
    """An exact scan of so many pairs, alone, within a project, and fused with words."""
    layout = Layout(scratch / "semantic")
    index(root, layout.root)
    engine = Engine(layout.search_database, layout.search)
    embedder = StaticEmbedder()
    engine.embed_missing(embedder, 50_000)
    vectors = engine.vectors(embedder)
    wanted = pairs * _PASSAGES
    sample = np.random.default_rng(7).standard_normal((50_000, embedder.dimensions))
    sample /= np.linalg.norm(sample, axis=1, keepdims=True)
    with db.open_search(layout.search_database, readonly=True) as connection:
        known = db.rows(connection)
    while vectors.count < wanted:
        rows = [known[(vectors.count + n) // _PASSAGES % len(known)] for n in range(50_000)]
        numbers = [-1 - n % _PASSAGES for n in range(50_000)]
        vectors.put(rows, numbers, sample.astype(np.float32))
    print(
        f"  {vectors.count:,} passages, {vectors.count * (embedder.dimensions + 10) / 1e6:.0f} MB"
    )
    latency(
        "semantic",
        lambda q: engine.search(q, mode="semantic", embedder=lambda: embedder),
        queries(40, 3),
    )
    within = queries(40, 3, Filters(project="project7"))
    latency(
        "semantic in one project",
        lambda q: engine.search(q, mode="semantic", embedder=lambda: embedder),
        within,
    )
    latency("hybrid", lambda q: engine.search(q, embedder=lambda: embedder), queries(40, 3))


def index_size() -> None:
    """Bytes of the index of the shared corpus, beside those of its transcripts."""
    scratch = Path(tempfile.mkdtemp(prefix="minutebook-bench-"))
    try:
        index(CORPUS / "claude", scratch)
        layout = Layout(scratch)
        engine = Engine(layout.search_database, layout.search)
        embedder = StaticEmbedder()
        engine.embed_missing(embedder)
        raw = size_of(CORPUS / "claude")
        vectors = sum(size_of(folder) for folder in layout.search.glob("*/vectors"))
        whole = size_of(layout.search) + layout.search_database.stat().st_size
        print(
            f"index of the shared corpus: {(whole - vectors) / raw:.2f}x its {raw / 1e6:.0f} MB, "
            f"vectors {vectors / raw:.2f}x"
        )
    finally:
        shutil.rmtree(scratch)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def process_time(root: Path, archive: Path) -> float:
    command = [sys.executable, "-m", "minutebook", "search", "commit", "--mode", "lexical"]
    command += ["--root", str(root), "--archive", str(archive)]
    times = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def growth(root: Path, archive: Path) -> str:
    """A session that grew by one round: how many turns are indexed."""
    path = next((root / "projects").rglob("*.jsonl"))
    last = [json.loads(line) for line in path.read_text().splitlines()[-2:]]
    with path.open("a") as file:
        for number, record in enumerate(last):
            record["uuid"] = f"grown-{number}"
            record["timestamp"] = "2026-12-31T00:00:00.000Z"
            file.write(json.dumps(record) + "\n")
    command = [
        sys.executable,
        "-m",
        "minutebook",
        "search",
        "commit",
        "--json",
        "--mode",
        "lexical",
    ]
    command += ["--root", str(root), "--archive", str(archive)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return f"{json.loads(done.stdout)['refreshed']['added']} turn indexed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=500_000)
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--semantic", type=int, default=1_000_000)
    parser.add_argument("--peer", help="path of cc-search (pip install claude-session-search)")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="minutebook-bench-"))
    try:
        small, large, huge = scratch / "small", scratch / "large", scratch / "huge"
        index_size()
        generate(large, options.pairs, options.calls)
        print(f"index {options.pairs:,} pairs with {options.calls} calls each")
        bare, memory = index(large, scratch / "bare-archive", tools=False)
        print(f"  what was said: {bare:.1f} s, peak {memory:.0f} MB")
        shutil.rmtree(scratch / "bare-archive")
        ours, memory = index(large, scratch / "large-archive")
        print(f"  and what tools did: {ours:.1f} s, peak {memory:.0f} MB")
        if options.peer:
            theirs = peer_index(options.peer, large, scratch / "home")
            print(
                f"  cc-search {theirs:.1f} s: ours is {bare / theirs:.2f}x without tools, "
                f"{ours / theirs:.2f}x with"
            )
        print(f"lexical, {options.pairs:,} pairs, warm")
        lexical_part(Layout(scratch / "large-archive"))
        shutil.rmtree(large)
        generate(small, 50_000)
        index(small, scratch / "small-archive")
        print(
            f"whole process, 50,000 pairs: {process_time(small, scratch / 'small-archive'):.2f} s"
        )
        print(f"a session that grew by one round: {growth(small, scratch / 'small-archive')}")
        print(f"{options.semantic:,} pairs, warm, exact")
        generate(huge, options.semantic)
        semantic_part(options.semantic, huge, scratch)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
