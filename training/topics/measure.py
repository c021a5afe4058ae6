"""How well topics agree with readers', leaving repositories out, beside the first release's.

    python -m training.topics.measure [--first CHECKOUT]

The readers' ranges are given; only the topic is scored (``topic`` of ``labels/score.py``).
`CHECKOUT` is a working tree of the first release (``git worktree add DIR 16f5363``).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from minutebook.extract.offline.topic_model import stems
from minutebook.extract.offline.topics import ranked
from training.topics.labels import LONG, SHARED, SHORT, Labelled, labelled
from training.topics.learn import agreement, examples, learn

DRAWS = 2_000


def learned_scores(sessions: Sequence[Labelled]) -> dict[str, float]:
    """Each session's score by a model that saw nothing of its repository."""
    known = {session.id: examples([session]) for session in sessions}
    found: dict[str, float] = {}
    for repository in sorted({session.repository for session in sessions}):
        others = [e for s in sessions if s.repository != repository for e in known[s.id]]
        model = learn(others, f"all but {repository}")
        for session in sessions:
            if session.repository == repository:
                found[session.id] = mean(
                    agreement(ranked(e.headings, e.given, model)[0].text, e.gold)
                    if e.headings
                    else 0.0
                    for e in known[session.id]
                )
    return found


def first_scores(sessions: Sequence[Labelled], checkout: Path) -> dict[str, float]:
    """Each session's score by the topics of another working tree, on the same ranges."""
    asked = {s.id: [list(part[:2]) for part in s.ranges] for s in sessions}
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    script = Path(__file__).parent / "first_release.py"
    done = subprocess.run(
        [sys.executable, str(script), str(SHARED)],
        input=json.dumps(asked),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    topics = json.loads(done.stdout)
    return {
        s.id: mean(
            agreement(topic, frozenset(stems(part[2])))
            for topic, part in zip(topics[s.id], s.ranges, strict=True)
        )
        for s in sessions
    }


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """95 % of the means of sessions drawn with replacement."""
    draw = random.Random(0)
    means = sorted(mean(draw.choices(differences, k=len(differences))) for _ in range(DRAWS))
    return means[DRAWS // 40], means[-DRAWS // 40]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--first", type=Path)
    options = parser.parse_args()
    long, short = labelled(*LONG), labelled(*SHORT)
    now = learned_scores([*long, *short])
    before = first_scores([*long, *short], options.first) if options.first else None
    repositories = sorted({s.repository for s in long})
    groups = [(f"{len(long)} sessions", long), (f"{len(short)} short ones", short)]
    groups += [(name, [s for s in long if s.repository == name]) for name in repositories]
    for name, group in groups:
        line = f"{name:32} {len(group):4}  learned {mean(now[s.id] for s in group):.3f}"
        if before is not None:
            low, high = interval([now[s.id] - before[s.id] for s in group])
            line += f"  first release {mean(before[s.id] for s in group):.3f}"
            line += f"  difference [{low:+.3f}, {high:+.3f}]"
        print(line)


if __name__ == "__main__":
    main()
