"""Fitting the models of the offline extractor; the only place that needs scikit-learn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from minutebook.extract.offline.features import Features, of_cut, of_session
from minutebook.extract.offline.model import FURTHEST, Linear, Models, from_dict
from minutebook.extract.offline.segments import of_ending, of_range, opening_words
from minutebook.model.engagement import METHODS
from training.offline.sessions import Labelled

SEED = 14
STRENGTH = {"cut": 0.01, "count": 0.01, "method": 0.03, "ending": 0.02}
"""How far a fit may follow the labels (scikit-learn's C), for features of unit variance."""
MOST_CUTS = 3
"""Sessions with more cuts are counted with these."""
_DIGITS = 4
_LEAST_SCALE = 0.01
_WORD_SESSIONS, _WORD_REPOSITORIES = 3, 3


def fit(sessions: Sequence[Labelled], about: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the model file holds, learned from these sessions."""
    rows = {s.id: _cut_rows(s) for s in sessions}
    cut = _fit_cut(sessions, rows)
    # How sure a model is of sessions it was fitted to says little: the count learns from others.
    count = _fit_count(sessions, rows, _unseen(sessions, rows))
    return {
        "about": dict(about or {}),
        "models": {
            "cut": cut,
            "count": count,
            "method": _fit_method(sessions),
            "ending": _fit_ending(sessions),
        },
    }


def models_without(sessions: Sequence[Labelled], fold: str) -> Models:
    """Models that have not seen a fold."""
    return from_dict(fit([session for session in sessions if session.fold != fold]))


def _cut_rows(labelled: Labelled) -> list[Features]:
    return [of_cut(labelled.session, position) for position in range(1, len(labelled.rounds))]


def _fit_cut(sessions: Sequence[Labelled], rows: Mapping[str, list[Features]]) -> dict[str, Any]:
    features = [row for s in sessions for row in rows[s.id]]
    classes = [int(p in s.cuts) for s in sessions for p in range(1, len(s.rounds))]
    return _linear(features, classes, ("cut",), STRENGTH["cut"])


def _unseen(
    sessions: Sequence[Labelled], rows: Mapping[str, list[Features]]
) -> dict[str, list[float]]:
    """Log-odds of every cut, by a model that has not seen the session's repository."""
    found: dict[str, list[float]] = {}
    for fold in sorted({s.fold for s in sessions}):
        model = _as_linear(_fit_cut([s for s in sessions if s.fold != fold], rows))
        for s in sessions:
            if s.fold == fold:
                own = rows[s.id]
                found[s.id] = [float(row[0]) for row in model.scores(own)] if own else []
    return found


def _fit_count(
    sessions: Sequence[Labelled],
    rows: Mapping[str, list[Features]],
    unseen: Mapping[str, list[float]],
) -> dict[str, Any]:
    features = [_count_row(s, rows[s.id], unseen[s.id]) for s in sessions]
    classes = [min(MOST_CUTS, len(s.cuts)) for s in sessions]
    names = tuple(str(number) for number in range(MOST_CUTS + 1))
    return _linear(features, classes, names, STRENGTH["count"])


def _count_row(labelled: Labelled, rows: list[Features], odds: list[float]) -> Features:
    return of_session(labelled.session, rows, [1 / (1 + math.exp(-odd)) for odd in odds])


def _fit_method(sessions: Sequence[Labelled]) -> dict[str, Any]:
    ranges = [(s, part) for s in sessions for part in s.parts]
    features, words = [], []
    for s, (start, end, _) in ranges:
        rounds, heard = s.rounds[start:end], s.session.heard[start:end]
        features.append(of_range(rounds, heard))
        words.append(set(opening_words(rounds, heard)))
    known = _common(words, [s.repository for s, _ in ranges])
    classes = [METHODS.index(method) for _, (_, _, method) in ranges]
    return _linear(features, classes, METHODS, STRENGTH["method"], words, known)


def _common(words: Sequence[set[str]], repositories: Sequence[str]) -> list[str]:
    """Words that people of several repositories use."""
    often: Counter[str] = Counter()
    where: dict[str, set[str]] = {}
    for said, repository in zip(words, repositories, strict=True):
        often.update(said)
        for word in said:
            where.setdefault(word, set()).add(repository)
    return sorted(
        word
        for word, times in often.items()
        if times >= _WORD_SESSIONS and len(where[word]) >= _WORD_REPOSITORIES
    )


def _fit_ending(sessions: Sequence[Labelled]) -> dict[str, Any]:
    features, classes = [], []
    for s in sessions:
        start = s.parts[-1][0]
        features.append(of_ending(s.rounds[start:], s.session.heard[start:]))
        classes.append(int(s.phase != "completed"))
    return _linear(features, classes, ("open",), STRENGTH["ending"])


def _linear(
    features: Sequence[Features],
    classes: Sequence[int],
    names: Sequence[str],
    strength: float,
    words: Sequence[set[str]] = (),
    known: Sequence[str] = (),
) -> dict[str, Any]:
    """A logistic regression, as the model file keeps it."""
    columns = list(features[0])
    values = np.array([[row[name] for name in columns] for row in features])
    mean, scale = values.mean(0), values.std(0) + _LEAST_SCALE
    mean, scale = _rounded(mean), np.maximum(_rounded(scale), _LEAST_SCALE)
    scaled = np.clip((values - mean) / scale, -FURTHEST, FURTHEST)
    bags = np.array([[float(word in said) for word in known] for said in words])
    if known:
        scaled = np.hstack([scaled, bags])
    model = LogisticRegression(C=strength, max_iter=5_000, tol=1e-6, random_state=SEED)
    model.fit(scaled, classes)
    slopes = np.zeros((len(names), scaled.shape[1]))
    bias = np.full(len(names), -10.0)
    rows = [0] if len(names) == 1 else [int(c) for c in model.classes_]
    slopes[rows], bias[rows] = model.coef_, model.intercept_
    table = _rounded(slopes).T.tolist()
    return {
        "classes": list(names),
        "bias": _rounded(bias).tolist(),
        "features": {
            name: [float(mean[i]), float(scale[i]), *table[i]] for i, name in enumerate(columns)
        },
        "words": {word: table[len(columns) + i] for i, word in enumerate(known)},
    }


def _rounded(values: Any) -> Any:
    return np.round(values, _DIGITS)


def _as_linear(part: Mapping[str, Any]) -> Linear:
    return Linear(tuple(part["classes"]), tuple(part["bias"]), part["features"], part["words"])
