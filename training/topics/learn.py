"""Learning which words belong into a heading, and which heading is the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge

from minutebook.extract.offline.candidates import Heading, headings
from minutebook.extract.offline.texts import given_title
from minutebook.extract.offline.topic_model import (
    FEATURES,
    READS,
    Model,
    Range,
    described,
    stems,
)
from training.topics.labels import Labelled

FOLDS = 5
STRENGTH = 0.3  # of the words' regression
KNOWN_SCALE = 1.5  # how far single words are trusted beside where they stand
FEWEST = 6  # ranges a word has to be in to have a weight of its own
DAMPING = 20.0  # of the headings' regression


@dataclass(frozen=True)
class Example:
    """A range with its topic."""

    group: str
    given: Range
    words: tuple[str, ...]
    rows: np.ndarray
    gold: frozenset[str]
    headings: tuple[Heading, ...]


def examples(sessions: Sequence[Labelled]) -> list[Example]:
    found = []
    for session in sessions:
        title = given_title(session.rounds, session.title)
        for start, end, topic in session.ranges:
            given = Range(session.rounds, start, end, title if start == 0 else None)
            named = headings(given.part, title if start == 0 else None)
            words = tuple(dict.fromkeys(w for heading in named for w in stems(heading.text)))
            rows = np.array([given.features(w) for w in words]).reshape(-1, len(FEATURES))
            gold = frozenset(stems(topic))
            found.append(Example(session.repository, given, words, rows, gold, tuple(named)))
    return found


def learn(known: Sequence[Example], made_from: str) -> Model:
    """Both models; the headings' is learned on words' chances that did not see them."""
    groups = sorted({example.group for example in known})
    size = Counter(example.group for example in known)
    folds: list[set[str]] = [set() for _ in range(FOLDS)]
    for group in sorted(groups, key=lambda name: (-size[name], name)):
        min(folds, key=lambda fold: sum(size[name] for name in fold)).add(group)
    rows: list[dict[str, float]] = []
    targets: list[float] = []
    weights: list[float] = []
    length = float(np.mean([len(example.gold) for example in known]))
    for fold in folds:
        others = [example for example in known if example.group not in fold]
        words, single = _words(others or known)
        partial = Model("", FEATURES, words, single, length, {})
        for example in known:
            if example.group in fold and example.headings:
                mine, scores = _scored(example, partial)
                rows += mine
                targets += scores
                weights += [1 / len(mine)] * len(mine)
    words, single = _words(known)
    learned = _forms(rows, targets, weights)
    return Model(made_from, FEATURES, words, single, round(length, 3), learned)


def _words(known: Sequence[Example]) -> tuple[tuple[float, ...], dict[str, float]]:
    spread = Counter(word for example in known for word in set(example.words))
    vocabulary = {w: i for i, w in enumerate(sorted(w for w, n in spread.items() if n >= FEWEST))}
    dense = np.concatenate([example.rows for example in known])
    place = [vocabulary.get(word, -1) for example in known for word in example.words]
    hits = [(row, column) for row, column in enumerate(place) if column >= 0]
    single = sparse.csr_matrix(
        (np.full(len(hits), KNOWN_SCALE), tuple(zip(*hits, strict=True))),
        shape=(len(dense), len(vocabulary)),
    )
    target = np.array([word in example.gold for example in known for word in example.words])
    table = sparse.hstack([sparse.csr_matrix(dense), single], format="csr")
    fit = LogisticRegression(C=STRENGTH, fit_intercept=False, max_iter=400, tol=1e-3)
    fit.fit(table, target)
    weights = fit.coef_[0]
    alone = weights[dense.shape[1] :] * KNOWN_SCALE
    return (
        tuple(round(float(w), 4) for w in weights[: dense.shape[1]]),
        {w: round(float(alone[i]), 3) for w, i in vocabulary.items() if abs(alone[i]) >= 0.05},
    )


def _scored(example: Example, partial: Model) -> tuple[list[dict[str, float]], list[float]]:
    """Features and agreement of a range's headings, each less the range's mean."""
    rows = described(example.headings, example.given, partial)
    scores = [agreement(heading.text, example.gold) for heading in example.headings]
    names = {name for row in rows for name in row}
    mean = {name: sum(row.get(name, 0.0) for row in rows) / len(rows) for name in names}
    centred = [{name: row.get(name, 0.0) - mean[name] for name in names} for row in rows]
    middle = sum(scores) / len(scores)
    return centred, [score - middle for score in scores]


def _forms(
    rows: list[dict[str, float]], targets: list[float], weights: list[float]
) -> dict[str, float]:
    # How well a heading reads is not for agreement to decide.
    names = sorted({name for row in rows for name in row if READS.get(name, 0.0) >= 0})
    column = {name: i for i, name in enumerate(names)}
    table = np.zeros((len(rows), len(names)))
    for i, row in enumerate(rows):
        for name in row.keys() & column.keys():
            table[i, column[name]] = row[name]
    scale = np.array(weights) * len(weights) / sum(weights)
    fit = Ridge(alpha=DAMPING, fit_intercept=False, solver="cholesky")
    fit.fit(table, np.array(targets), sample_weight=scale)
    return {name: round(float(fit.coef_[i]), 5) for name, i in column.items()}


def agreement(text: str, gold: frozenset[str]) -> float:
    words = set(stems(text))
    return 2 * len(words & gold) / (len(words) + len(gold)) if words and gold else 0.0
