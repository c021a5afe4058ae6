"""How often a context by query tells the answer that somebody looks for.

    python benchmarks/context.py [--budget 4000] [--queries FILE ...] [--archive FOLDER]

Every query of ``labels/queries.jsonl`` and ``training/queries.jsonl`` names the round that
answers it, and when it began. A context is built for the query alone, over all shared Claude
sessions, ingested offline. It tells the answer when at least 80 % of the five-word runs of that
round's last text are in it, or all of its first 1,500 characters. A round without a text has no
answer to tell: such queries are left out, and counted. ``piece`` is stricter: the words must
stand in the piece of that very round, so another copy of the conversation does not count.
The queries kept back (``labels/more-queries.jsonl``, ``training/short-queries.jsonl``) are for
the end: name them with ``--queries``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import minutebook
from minutebook.archive import Archive
from minutebook.archive.semantic import Meaning
from minutebook.errors import NotFound
from minutebook.index.entry import seconds
from minutebook.model import Round, Text
from minutebook.verbs.context_text import Context
from minutebook.verbs.materialise import materialise

SHARED = Path(__file__).resolve().parents[2] / "shared"
_RUN = 5  # words
_ENOUGH = 0.8
_BEGINNING = 1_500  # characters


class Told(NamedTuple):
    """What one context did."""

    anywhere: bool
    piece: bool
    tokens: int
    seconds: float


def labelled_round(rounds: Iterable[Round], started: str) -> Round:
    """The round that began at a time, or nearest to it: labels may count rounds differently."""
    wanted = seconds(started)
    return min(rounds, key=lambda one: abs(seconds(one.started or "") - wanted))


def answer_of(round: Round) -> str:
    texts = [b.text for m in round.replies for b in m.blocks if isinstance(b, Text)]
    return next((text for text in reversed(texts) if text.strip()), "")


def runs(text: str) -> set[str]:
    """Every run of five words; of a shorter text all of it."""
    words = text.split()
    return {" ".join(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1))}


def tells(text: str, answer: str) -> bool:
    there, whole, start = runs(text), runs(answer), runs(answer[:_BEGINNING].rsplit(" ", 1)[0])
    if len(answer) <= _BEGINNING:
        start = whole
    return len(whole & there) >= _ENOUGH * len(whole) or start <= there


def asked(archive: Archive, meaning: Meaning, question: dict[str, Any], budget: int) -> Told | None:
    """What a context tells of the labelled round; None where that round has no answer."""
    session_id = question["session_id"]
    labelled = labelled_round(archive.open(session_id).rounds(), question["round_started"])
    number, answer = labelled.number, answer_of(labelled)
    if not answer:
        return None
    began = time.monotonic()
    try:
        built = materialise(archive, [], query=question["q"], budget=budget, meaning=meaning)
    except NotFound:
        built = Context("", 0, budget, [])
    spent = time.monotonic() - began
    assert built.tokens <= budget
    own = "".join(
        piece.text
        for piece in built.pieces
        if piece.session_id == session_id and piece.first <= number <= piece.last
    )
    return Told(tells(built.text, answer), tells(own, answer), built.tokens, spent)


def report(archive: Archive, files: list[Path], budget: int, misses: bool) -> None:
    meaning = Meaning(archive.layout)
    print(f"{'':34}{'queries':>9}{'told':>7}{'piece':>7}{'tokens':>8}{'ms':>6}  left out")
    for file in files:
        questions = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        for kind in sorted({question["kind"] for question in questions}):
            every = [q for q in questions if q["kind"] == kind]
            results = [(q, asked(archive, meaning, q, budget)) for q in every]
            told = [t for _, t in results if t is not None]
            name = f"{file.parent.name}/{file.stem} {kind}"
            print(
                f"{name:34}{len(told):9}{sum(t.anywhere for t in told) / len(told):7.2f}"
                f"{sum(t.piece for t in told) / len(told):7.2f}"
                f"{statistics.mean(t.tokens for t in told):8.0f}"
                f"{1000 * statistics.median(t.seconds for t in told):6.0f}"
                f"{len(every) - len(told):10}"
            )
            if misses:
                for question, t in results:
                    if t is not None and not t.anywhere:
                        where = f"{question['session_id'][:8]}#{question['round']}"
                        print(f"    {where} {question['q']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    corpus = Path(os.environ.get("MINUTEBOOK_CORPUS") or SHARED / "corpus")
    parser.add_argument("--budget", type=int, default=4_000)
    parser.add_argument("--queries", type=Path, action="append")
    parser.add_argument("--root", type=Path, action="append")
    parser.add_argument("--archive", type=Path, help="an archive of these roots, made before")
    parser.add_argument("--misses", action="store_true", help="list the queries without an answer")
    given = parser.parse_args()
    files = given.queries or [
        SHARED / "labels" / "queries.jsonl",
        SHARED / "training" / "queries.jsonl",
    ]
    places = tuple(given.root or [corpus / "claude", SHARED / "training" / "claude"])
    folder = given.archive or Path(tempfile.mkdtemp(prefix="minutebook-bench-"))
    try:
        if given.archive is None:
            minutebook.ingest(*places, archive=folder, extractor="offline")
        report(Archive(folder, places), files, given.budget, given.misses)
    finally:
        if given.archive is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
