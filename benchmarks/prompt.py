"""How well a model would do with our prompt, with readers standing in for the model.

    python benchmarks/prompt.py requests OUT [--ids FILE | ID …]
    python benchmarks/prompt.py second REPLIES OUT
    python benchmarks/prompt.py score REPLIES [--ids FILE | ID …]

`requests` writes one text per session: exactly what is sent (system, user message, schema).
A reader who sees nothing else answers with ``<session_id>.json``. `second` writes what a long
session's reply is then asked about; its answer replaces the reply. `score` passes the replies
through our validation and scores them with ``labels/score.py``, per part and session, with
what could not be used by name. Without ids: every labelled session of ``labels/engagements.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import runpy
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean
from typing import Any

from minutebook.derive.identity import identify
from minutebook.extract import prompt
from minutebook.extract.conversation import remarks_on
from minutebook.extract.material import Material, material_of
from minutebook.extract.second_look import second_question
from minutebook.extract.validation import BadReply, parse_reply
from minutebook.sources.library import open_file, open_transcript

SHARED = Path(__file__).resolve().parents[2] / "shared"
LABELS = ("labels/engagements.jsonl", "labels/more-engagements.jsonl", "training/engagements.jsonl")
LABELS_OF_SHORT = "training/short-engagements.jsonl"
PLACES = ("corpus/claude", "training/claude")
PARTS = ("boundary_f1", "window", "method", "phase", "topic", "count", "mean")


def paths(shared: Path) -> dict[str, Path]:
    found = (path for place in PLACES for path in (shared / place).glob("**/*.jsonl"))
    return {path.stem: path for path in found}


def labels(shared: Path, files: Iterable[str]) -> dict[str, Any]:
    known = {}
    for name in files:
        for line in (shared / name).read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            known[record["session_id"]] = record
    return known


def material(path: Path) -> Material:
    """A session as a model is told of it."""
    reading = open_transcript(open_file(path))
    rounds = list(reading.rounds())
    info = reading.info()
    return material_of(info, identify(info), rounds)


def request(known: Material) -> str:
    """What is sent, as one text."""
    schema = json.dumps(prompt.schema(), indent=1)
    return (
        f"===== system =====\n{prompt.instructions()}\n"
        f"===== the answer is one JSON object by this schema =====\n{schema}\n"
        f"===== user =====\n{prompt.document(known)}\n"
    )


def write_requests(shared: Path, ids: Iterable[str], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    found, count, chars = paths(shared), 0, 0
    for id in ids:
        text = request(material(found[id]))
        (out / f"{id}.txt").write_text(text, encoding="utf-8")
        count, chars = count + 1, chars + len(text)
    print(f"{count} requests, {chars:,} characters, prompt {prompt.version()}: {out}")


def write_seconds(shared: Path, replies: Path, out: Path) -> None:
    """What is asked about the replies of long sessions, after request and reply."""
    out.mkdir(parents=True, exist_ok=True)
    found = paths(shared)
    for path in sorted(replies.glob("*.json")):
        known, said = material(found[path.stem]), path.read_text(encoding="utf-8")
        question = second_question(known, parse_reply(said, len(known.rounds)))
        if question is not None:
            talk = (
                f"{request(known)}\n===== assistant =====\n{said}\n\n===== user =====\n{question}\n"
            )
            (out / path.name).with_suffix(".txt").write_text(talk, encoding="utf-8")
            print(f"{path.stem}: {len(known.rounds)} rounds")


def answers(shared: Path, ids: Iterable[str], replies: Path) -> Iterator[tuple[str, Any, str]]:
    """Session by session: the record to score, and what is wrong with the reply."""
    found = paths(shared)
    for id in ids:
        path = replies / f"{id}.json"
        if not path.exists():
            yield id, None, "no reply"
            continue
        known = material(found[id])
        try:
            reply = parse_reply(path.read_bytes(), len(known.rounds))
        except BadReply as error:
            yield id, None, f"cannot be used: {error}"
            continue
        started = {round.number: round.started for round in known.rounds}
        parts = [
            {
                "topic": part.topic,
                "method": part.method,
                "phase": part.phase,
                "turn_range": part.turn_range,
                "started": started[part.turn_range[0]],
            }
            for part in reply.engagements
        ]
        yield id, {"session_id": id, "engagements": parts}, "; ".join(remarks_on(reply, known))


def score(shared: Path, ids: list[str], replies: Path) -> None:
    rate = runpy.run_path(str(shared / "labels" / "score.py"))["score"]
    truth = labels(shared, (*LABELS, LABELS_OF_SHORT))
    rows, problems = [], []
    print(f"{'session':8}  rounds  " + "  ".join(f"{part:>11}" for part in PARTS))
    for id, answer, problem in answers(shared, ids, replies):
        if problem:
            problems.append(f"{id}: {problem}")
        row = rate({id: truth[id]}, {id: answer} if answer else {})
        rows.append(row)
        rounds = max(e["turn_range"][1] for e in truth[id]["engagements"])
        print(f"{id[:8]}  {rounds:6}  " + "  ".join(f"{row[part]:11.3f}" for part in PARTS))
    means = "  ".join(f"{mean(row[part] for row in rows):11.3f}" for part in PARTS)
    print(f"{len(rows):8}          {means}")
    print("\n".join(problems))


def main() -> None:
    about = __doc__.splitlines()[0] if __doc__ else None
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--shared", type=Path, default=SHARED)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("requests", "second", "score"):
        one = verbs.add_parser(verb)
        if verb != "requests":
            one.add_argument("replies", type=Path)
        if verb != "score":
            one.add_argument("out", type=Path)
        if verb != "second":
            one.add_argument("--ids", type=Path, help="a file with one session id per line")
            one.add_argument("sessions", nargs="*", metavar="ID")
    options = parser.parse_args()
    if options.verb == "second":
        write_seconds(options.shared, options.replies, options.out)
        return
    ids = [*options.sessions, *(options.ids.read_text().split() if options.ids else ())]
    ids = ids or list(labels(options.shared, LABELS[:1]))
    if options.verb == "requests":
        write_requests(options.shared, ids, options.out)
    else:
        score(options.shared, ids, options.replies)


if __name__ == "__main__":
    main()
