"""What a query costs in a corpus that has not changed, the check for changes included.

    python benchmarks/corpus.py [--pairs 100000]

Transcripts are generated (benchmarks/generated.py), the same every time: first searched as they
are, then inscribed. Queries are timed warm, in one process, each over many queries. The injected
fetcher gives as many pairs; with ``refresh=False`` it is not called.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.generated import generate
from benchmarks.search import COMMON
from minutebook import open_archive
from minutebook.corpus import CorpusSource, search
from minutebook.derive.turn_pairs import TurnPair
from minutebook.index.engine import Mode
from minutebook.verbs.inscribe import inscribe

LIMIT = 0.1
"""Seconds a query may take."""
MODES: tuple[Mode, ...] = ("lexical", "semantic", "hybrid")


def queries(count: int = 30) -> list[str]:
    dice = random.Random(7)
    rare = [f"ticket{dice.randrange(50_000)}" for _ in range(count // 3)]
    return [*(" ".join(dice.sample(COMMON, 3)) for _ in range(count - len(rare))), *rare]


def latency(name: str, corpus: CorpusSource, mode: Mode, *, refresh: bool) -> None:
    for query in queries()[:3]:
        search(corpus, query, mode=mode, refresh=refresh)
    times = []
    for query in queries():
        start = time.perf_counter()
        search(corpus, query, mode=mode, refresh=refresh)
        times.append(time.perf_counter() - start)
    times.sort()
    middle, high = statistics.median(times), times[int(0.95 * len(times)) - 1]
    verdict = "ok" if high <= LIMIT else "TOO SLOW"
    print(
        f"  {name:34} {mode:9} p50 {middle * 1000:6.1f} ms   p95 {high * 1000:6.1f} ms  {verdict}"
    )


def built(name: str, corpus: CorpusSource) -> None:
    start = time.perf_counter()
    done = corpus.refresh()
    words = time.perf_counter() - start
    again = corpus.refresh(embed=True)
    both = time.perf_counter() - start
    print(
        f"{name}: {done.added:,} turns of {done.sessions:,} sessions indexed in {words:.1f} s, "
        f"{again.embedded:,} texts embedded in {both - words:.1f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=100_000)
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="minutebook-bench-"))
    try:
        root, place = scratch / "claude", scratch / "archive"
        generate(root, options.pairs)
        place.mkdir()
        sources = {"since": None, "archive": place, "roots": [root]}
        corpus = CorpusSource.from_claude_sessions(**sources)  # type: ignore[arg-type]
        built("transcripts", corpus)
        for mode in MODES:
            latency("checked against transcripts", corpus, mode, refresh=True)

        pairs = list(corpus)
        calls = []

        def fetch() -> Iterator[TurnPair]:
            calls.append(1)
            return iter(pairs)

        fetched = CorpusSource.from_claude_sessions(fetcher=fetch)
        built("fetcher", fetched)
        before = len(calls)
        for mode in MODES:
            latency("fetcher, refresh=False", fetched, mode, refresh=False)
        print(f"  the fetcher was called {len(calls) - before} times by these searches")

        inscribe(open_archive(place, [root]), ended=True)
        corpus = CorpusSource.from_claude_sessions(**sources)  # type: ignore[arg-type]
        built("archive", corpus)
        for mode in MODES:
            latency("checked against the archive", corpus, mode, refresh=True)
        grown = next((root / "projects").rglob("*.jsonl"))
        grown.write_bytes(grown.read_bytes() + _one_more(grown))
        done = corpus.refresh(embed=True)
        print(
            f"a session that grew by one round: {done.added} turn indexed, {done.embedded} embedded"
        )
    finally:
        shutil.rmtree(scratch)


def _one_more(path: Path) -> bytes:
    """The last round of a transcript once more, under other ids."""
    lines = path.read_bytes().splitlines(keepends=True)[-2:]
    return b"".join(
        line.replace(b"-4000-8000-00000000000", b"-4000-9000-00000000000") for line in lines
    )


if __name__ == "__main__":
    main()
