"""Topics of given ranges by whichever minutebook is on PYTHONPATH; a child of ``measure``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from minutebook.derive.identity import identify
from minutebook.extract.material import material_of
from minutebook.extract.offline.topics import topic_of
from minutebook.extract.offline.words import Vocabulary
from minutebook.model import Roster
from minutebook.sources.base import read_session
from minutebook.sources.claude_code.read import ClaudeReading


def main() -> None:
    shared = Path(sys.argv[1])
    files = {path.stem: path for path in shared.glob("*/claude/projects/*/*.jsonl")}
    first: Callable[..., str] = topic_of  # as the first release had it, with words
    found: dict[str, list[str]] = {}
    for id, ranges in json.load(sys.stdin).items():
        session = read_session(ClaudeReading(files[id], "full"))
        info = session.info
        rounds = material_of(info, identify(info, Roster()), session.rounds).rounds
        words = Vocabulary(rounds)
        found[id] = [
            first(rounds, words, start, end, info.title if start == 0 else None)
            for start, end in ranges
        ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
