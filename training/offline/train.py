"""Fits the offline extractor's models and writes them into the package.

    make train        (python -m training.offline.train [--shared DIR])

Reads the labelled sessions of ``../shared``; the same labels give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy
import sklearn

from minutebook.extract.offline import VERSION
from minutebook.extract.offline.model import FILE
from minutebook.extract.offline.wording import FILE as WORDS
from training.offline.fit import LEAN, SEED, STRENGTH, fit, known
from training.offline.packing import packed
from training.offline.sessions import Labelled, load
from training.topics.labels import SHARED


def about(sessions: list[Labelled]) -> dict[str, Any]:
    """What the models were made from, for whoever opens the file."""
    return {
        "what": "models of minutebook's offline extractor, written by `make train`",
        "extractor": VERSION,
        "sessions": len(sessions),
        "labels": dict(Counter(session.set for session in sessions)),
        "repositories": dict(sorted(Counter(s.repository for s in sessions).items())),
        "rounds": sum(len(session.rounds) for session in sessions),
        "engagements": sum(len(session.parts) for session in sessions),
        "newest": max(str(s.rounds[0].started)[:10] for s in sessions),
        "seed": SEED,
        "strength": STRENGTH,
        "lean": LEAN,
        "made with": {
            "python": platform.python_version(),
            "numpy": numpy.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    sessions = load(options.shared)
    learned = fit(known(sessions), about(sessions))
    # One line for each feature: a difference between two models can be read.
    lines = json.dumps(learned.content, indent=1, ensure_ascii=False)
    options.out.write_text(_folded(lines) + "\n", encoding="utf-8")
    words = options.out.with_name(WORDS.name)
    what = "weights of words (CRC-32) for model.json; written by `make train`, no text is kept"
    words.write_bytes(packed(learned.lexicon, learned.words, {"what": what}))
    for file in (options.out, words):
        print(f"{file}: {file.stat().st_size:,} bytes from {len(sessions)} sessions")


def _folded(text: str) -> str:
    """Lists of numbers on one line."""
    return re.sub(
        r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + re.sub(r"\s*\n\s*", " ", m[1]) + "]", text
    )


if __name__ == "__main__":
    main()
