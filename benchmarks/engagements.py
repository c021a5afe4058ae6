"""How well engagements are found offline, and what ingesting costs beside inscribing.

    make bench-engagements        (needs scikit-learn: python benchmarks/engagements.py [--runs N])

Quality: every labelled session is labelled by models that were trained without its repository
(training/offline, training/topics), and by the first release's rules; both are scored by
``labels/score.py``. The difference has a 95 % interval by a paired bootstrap over sessions. The
rules' score is no feature of the models. Cost: ``ingest --extractor offline`` of the whole corpus
from scratch, beside ``inscribe --all`` of the same, in turn and in fresh processes; then both again
with nothing changed.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from training.offline.fit import known, models_without
from training.offline.sessions import SHORT, TUNED, Labelled, load
from training.topics.labels import LONG as LONG_ONES
from training.topics.labels import SHARED, labelled
from training.topics.labels import SHORT as SHORT_ONES
from training.topics.learn import examples, learn

from benchmarks.frozen_rules import extract_by_rules
from minutebook.extract.offline.extractor import extract_offline

PARTS = ("boundary_f1", "window", "method", "phase", "topic", "count")
LONG = 8
"""Rounds from which a session is a long one."""
MANY = 10
"""Sessions from which a repository must not be worse than by the rules."""
SAMPLES = 2_000

Scores = dict[str, dict[str, float]]


def timed(*args: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "minutebook", *args], check=True, capture_output=True)
    return time.perf_counter() - start


def answer(labelled: Labelled, extract: Callable[..., tuple[Any, Any]], *more: Any) -> Any:
    """What `score.py` wants to see of an extractor's answer."""
    reply, _ = extract(labelled.rounds, labelled.title, labelled.project, *more)
    started = {round.number: round.started for round in labelled.rounds}
    return {
        "engagements": [
            {
                "method": part.method,
                "phase": part.phase,
                "topic": part.topic,
                "turn_range": list(part.turn_range),
                "started": started[part.turn_range[0]],
            }
            for part in reply.engagements
        ]
    }


def judged(sessions: Sequence[Labelled], answers: dict[str, Any], shared: Path) -> Scores:
    """The six parts of every session's score, by `labels/score.py`."""
    spec = importlib.util.spec_from_file_location("score", shared / "labels" / "score.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"there is no score.py under {shared}")
    judge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    return {s.id: judge.score({s.id: s.label}, {s.id: answers[s.id]}) for s in sessions}


def learned_answers(sessions: Sequence[Labelled]) -> dict[str, Any]:
    """Each repository by models that have not seen it; the small ones are left out together."""
    found = {}
    headings = {
        one.id: (one.repository, examples([one])) for one in labelled(*LONG_ONES, *SHORT_ONES)
    }
    read = known(sessions)
    for fold in sorted({s.fold for s in sessions}):
        models = models_without(read, fold)
        unseen = {s.repository for s in sessions if s.fold == fold}
        others = [
            e for repository, own in headings.values() if repository not in unseen for e in own
        ]
        headed = learn(others, f"all but {fold}")
        for s in sessions:
            if s.fold == fold:
                found[s.id] = answer(s, extract_offline, models, headed)
    return found


def mean(scores: Scores, sessions: Sequence[Labelled], part: str | None = None) -> float:
    return statistics.fmean(of(scores, s.id, part) for s in sessions)


def of(scores: Scores, id: str, part: str | None) -> float:
    return scores[id][part] if part else statistics.fmean(scores[id][name] for name in PARTS)


def interval(
    learned: Scores, rules: Scores, sessions: Sequence[Labelled], part: str | None = None
) -> tuple[float, float, float]:
    """The difference to the rules, and its 95 % interval: sessions drawn anew, in pairs."""
    gains = [of(learned, s.id, part) - of(rules, s.id, part) for s in sessions]
    dice = random.Random(14)
    drawn = sorted(statistics.fmean(dice.choices(gains, k=len(gains))) for _ in range(SAMPLES))
    low, high = drawn[int(0.025 * SAMPLES)], drawn[int(0.975 * SAMPLES) - 1]
    return statistics.fmean(gains), low, high


def row(
    name: str,
    learned: Scores,
    rules: Scores,
    sessions: Sequence[Labelled],
    part: str | None = None,
) -> float:
    """Prints a line of the table; gives the upper end of the interval."""
    gain, low, high = interval(learned, rules, sessions, part)
    both = f"{mean(learned, sessions, part):.3f}  {mean(rules, sessions, part):.3f}"
    print(f"  {name:38} {len(sessions):4}  {both}  {gain:+.3f} [{low:+.3f}, {high:+.3f}]")
    return high


def quality(shared: Path, scratch: Path) -> None:
    everything = load(shared)
    extract = extract_by_rules(scratch)
    learned = judged(everything, learned_answers(everything), shared)
    rules = judged(everything, {s.id: answer(s, extract) for s in everything}, shared)
    main = [s for s in everything if s.set != SHORT]
    short = [s for s in everything if s.set == SHORT]
    print("Offline, repositories left out; 1.0 is the labels themselves:")
    print(f"  {'':38} {'n':>4}  model  rules  difference [95 %]")
    row("mean of six parts", learned, rules, main)
    for part in PARTS:
        row(f"  {part}", learned, rules, main, part)
    long = [s for s in main if len(s.rounds) >= LONG]
    row(f"sessions of {LONG} rounds and more", learned, rules, long)
    for part in PARTS:
        row(f"  {part}", learned, rules, long, part)
    for part in ("method", "topic", "phase"):
        row(f"one or two prompts: {part}", learned, rules, short, part)
    names = sorted({s.repository for s in main})
    by_name = {name: [s for s in main if s.repository == name] for name in names}
    for name, scores in (("models", learned), ("rules", rules)):
        value = statistics.fmean(mean(scores, by_name[n]) for n in names)
        print(f"  mean over {len(names)} repositories, {name}: {value:.3f}")
    worse = []
    for name in names:
        row(name, learned, rules, by_name[name])
        others = [s for s in by_name[name] if s.set != TUNED]
        if len(others) >= MANY and interval(learned, rules, others)[2] < 0:
            worse.append(name)
    print(f"  repositories surely worse than by the rules: {', '.join(worse) or 'none'}")


def speed(shared: Path) -> None:
    sessions = load(shared)
    rounds = sum(len(s.rounds) for s in sessions)
    extract_offline(sessions[0].rounds, None, "system")
    start = time.perf_counter()
    for s in sessions:
        extract_offline(s.rounds, s.title, s.project)
    print(f"{1000 * (time.perf_counter() - start) / rounds:.2f} ms a round")


def cost(corpus: Path, scratch: Path, runs: int) -> None:
    places = ("--root", str(corpus / "claude"), "--archive")
    verbs = {"inscribe": ("inscribe", "--all"), "ingest": ("ingest", "--extractor", "offline")}
    cold: dict[str, list[float]] = {name: [] for name in verbs}
    warm: dict[str, list[float]] = {name: [] for name in verbs}
    for run in range(runs):
        for name, verb in verbs.items():
            archive = str(scratch / f"{name}-{run}")
            cold[name].append(timed(*verb, *places, archive))
            warm[name].append(timed(*verb, *places, archive))
            shutil.rmtree(archive)
    start = statistics.median(timed("--help") for _ in range(runs))
    for what, times in (("from scratch", cold), ("nothing changed", warm)):
        one, two = (statistics.median(times[name]) for name in ("inscribe", "ingest"))
        print(f"{what}: inscribe {one:.2f} s, ingest {two:.2f} s = {two / one:.2f}x")
    beyond = statistics.median(warm["ingest"]) - start
    print(f"nothing changed, beyond start-up ({start:.2f} s): {beyond:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--runs", type=int, default=5, help="of the cost part; 0 leaves it out")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="minutebook-bench-"))
    try:
        quality(options.shared, scratch)
        speed(options.shared)
        if options.runs:
            cost(options.shared / "corpus", scratch, options.runs)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
