"""Generated transcripts for benchmarks: real sentences, dealt out again, the same every time.

    python benchmarks/generated.py FOLDER PAIRS [CALLS A PAIR]

Each session has forty turns (or so many); every turn has a word of its own (`ticket123456`), so
that there is a rare term to look for.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from pathlib import Path

from minutebook import find_transcripts, skim_session, turn_pairs

SHARED = Path(__file__).resolve().parents[2] / "shared"
CORPUS = Path(os.environ.get("MINUTEBOOK_CORPUS") or SHARED / "corpus")
_TURNS = 40
_PROJECTS = 37
_SENTENCE = re.compile(r"(?<=[.!?\n])\s+")


def sentences() -> tuple[list[str], list[str]]:
    """Real sentences of prompts and of answers."""
    asked: dict[str, None] = {}
    answered: dict[str, None] = {}
    for transcript in sorted(find_transcripts(CORPUS / "claude"), key=lambda t: str(t.path)):
        session = skim_session(transcript.path)
        for pair in turn_pairs(session.info, session.rounds):
            asked.update(dict.fromkeys(_pieces(pair.user_prompt)))
            answered.update(dict.fromkeys(_pieces(pair.assistant_full)))
    return list(asked), list(answered)


def _pieces(text: str) -> list[str]:
    found = (" ".join(piece.split()) for piece in _SENTENCE.split(text[:20_000]))
    return [piece for piece in found if 15 < len(piece) < 400]


def generate(folder: Path, pairs: int, calls: int = 0, turns: int = _TURNS) -> None:
    """Write transcripts with so many turn pairs under ``folder/projects``.

    Each turn has so many tool calls, whose outputs are 0.2 to 4 KB of real sentences.
    """
    asked, answered = sentences()
    pool = "\n".join(answered)
    dice = random.Random(20261116)
    for session in range(-(-pairs // turns)):
        number = session % _PROJECTS
        project = folder / "projects" / f"-home-bench-project{number}"
        project.mkdir(parents=True, exist_ok=True)
        name = f"{session:08x}-0000-4000-8000-{session:012x}"
        day = 1 + session % 28
        month = 1 + (session // 28) % 12
        lines = []
        parent = None
        for turn in range(min(turns, pairs - session * turns)):
            mark = f"ticket{session * turns + turn}"
            prompt = " ".join([*dice.choices(asked, k=dice.randint(1, 3)), mark])
            answer = " ".join(dice.choices(answered, k=dice.randint(2, 8)))
            stamp = f"2026-{month:02}-{day:02}T{9 + turn // 6:02}:{turn % 6 * 10:02}"
            common = {
                "sessionId": name,
                "cwd": f"/home/bench/project{number}",
                "gitBranch": "main",
                "version": "2.1.210",
                "isSidechain": False,
                "userType": "external",
            }
            ids = [f"{session:08x}-{turn:04x}-4000-8000-{n:012x}" for n in (1, 2)]
            lines.append(
                {
                    **common,
                    "type": "user",
                    "uuid": ids[0],
                    "parentUuid": parent,
                    "timestamp": f"{stamp}:00.000Z",
                    "message": {"role": "user", "content": prompt},
                }
            )
            for call in range(calls):
                lines += _call(common, f"{session}-{turn}-{call}", ids[0], stamp, pool, dice)
            lines.append(
                {
                    **common,
                    "type": "assistant",
                    "uuid": ids[1],
                    "parentUuid": ids[0],
                    "timestamp": f"{stamp}:30.000Z",
                    "message": {
                        "id": f"msg_{session}_{turn}",
                        "role": "assistant",
                        "model": "claude-sonnet-5-5",
                        "stop_reason": "end_turn",
                        "content": [{"type": "text", "text": answer}],
                        "usage": {"input_tokens": 10, "output_tokens": 10},
                    },
                }
            )
            parent = ids[1]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (project / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _call(
    common: dict[str, object],
    name: str,
    parent: str,
    stamp: str,
    pool: str,
    dice: random.Random,
) -> list[dict[str, object]]:
    """A call of a shell, and what it printed."""
    start = dice.randrange(len(pool) - 4_000)
    output = pool[start : start + dice.randint(200, 4_000)]
    use = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": f"run {name}"}}
    message = {"id": f"msg_{name}", "role": "assistant", "model": "claude-sonnet-5-5"}
    result = {"type": "tool_result", "tool_use_id": name, "content": output}
    said = {**common, "parentUuid": parent, "timestamp": f"{stamp}:10.000Z"}
    return [
        {**said, "type": "assistant", "uuid": f"u{name}", "message": {**message, "content": [use]}},
        {
            **said,
            "type": "user",
            "uuid": f"r{name}",
            "message": {"role": "user", "content": [result]},
        },
    ]


if __name__ == "__main__":
    generate(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
