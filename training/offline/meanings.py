"""What the words of labelled sessions mean, as vectors: of the embedder in the box, words alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import minutebook.index.static as static
from minutebook.extract.offline.features import Session
from minutebook.extract.offline.segments import WORDED, texts_of
from minutebook.extract.offline.wording import Lexicon, word_key

FREQUENT = 12_000
"""Rows of the embedder, the most frequent first, that are looked at."""
WEIGHT = 6.0
"""How much a meaning counts beside a feature of unit variance."""
_WORD = re.compile(r"[^\W\d_]{2,30}")

Vectors = dict[str, Any]
"""Kind of text → a vector for each round of a session (all 0: nothing known was said)."""
SPOKEN = 5
"""Labelled sessions a word has to be in: of a language that none of them has, nothing is known."""


@cache
def table() -> tuple[Lexicon, Any]:
    """Known words, and a vector for each."""
    _, arrays = static.load(Path(static.__file__).with_name("embedder.bin"))
    words = arrays["words"].tobytes().decode().split("\n")[:FREQUENT]
    rows = [row for row, word in enumerate(words) if _WORD.fullmatch(word)]
    vectors = arrays["vectors"][rows].astype(float) * arrays["scales"][rows, None].astype(float)
    return Lexicon([word_key(words[row]) for row in rows]), WEIGHT * vectors


def meanings(session: Session) -> Vectors:
    """What the words of each round mean, by where they stand."""
    each = [
        texts_of(round, heard) for round, heard in zip(session.rounds, session.heard, strict=True)
    ]
    return {kind: np.array([_meaning(texts[kind]) for texts in each]) for kind in WORDED}


def spoken(session: Session) -> frozenset[int]:
    """Rows of the words of a session."""
    lexicon, _ = table()
    every = (
        text
        for one in zip(session.rounds, session.heard, strict=True)
        for text in texts_of(*one).values()
    )
    return frozenset(lexicon.read(every).shares)


def common(sessions: Iterable[frozenset[int]]) -> list[int]:
    """Rows of the words that are kept."""
    times = Counter(row for rows in sessions for row in rows)
    return sorted(row for row, count in times.items() if count >= SPOKEN)


def _meaning(text: str) -> Any:
    lexicon, vectors = table()
    shares = lexicon.read([text]).shares
    return np.array(list(shares.values())) @ vectors[list(shares)] if shares else 0 * vectors[0]


def together(vectors: Any) -> Any:
    """What several texts mean; those that say nothing do not count (`Lexicon.read`)."""
    return vectors.sum(0) / max(1, int(np.abs(vectors).any(axis=1).sum())) ** 0.5
