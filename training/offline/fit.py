"""Fitting the models of the offline extractor; the only place that needs scikit-learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from minutebook.extract.offline.boundaries import OPENER, choose, expected_counts
from minutebook.extract.offline.features import Features, of_cut, of_session
from minutebook.extract.offline.model import FURTHEST, Linear, Models, from_dict
from minutebook.extract.offline.requests import opening_of
from minutebook.extract.offline.segments import ONCE, WORDED, of_ending, of_range
from minutebook.extract.offline.wording import OPENS, Lexicon, unpacked
from minutebook.model.engagement import METHODS
from training.offline.meanings import Vectors, common, meanings, spoken, table, together
from training.offline.packing import packed
from training.offline.sessions import Labelled
from training.offline.solve import leaning, shared

SEED = 14
STRENGTH = {"cut": 0.005, "opens": 0.1, "count": 0.1, "method": 0.01, "ending": 0.02}
"""How far a fit may follow the labels (scikit-learn's C), for features of unit variance."""
LEAN = {"cut": 0.07, "correlated": 0.03, "method": 0.15}
"""What a feature counts that is left to itself: of cuts in the direction, and from the strength, of
its correlation with them; of methods for the method whose cue it is."""
_CUES = (
    *("opening asks", "opening asks mostly", "later asks", "command", "commits", "answers"),
    "last answer",
)
MOST_CUTS = 3
"""Sessions with more cuts are counted with these."""
_DIGITS = 4
_LEAST_SCALE = 0.01


@dataclass(frozen=True)
class Learned:
    """What the model files hold."""

    content: dict[str, Any]
    lexicon: Lexicon
    words: dict[str, Any]
    """Group → a weight for each word and class."""

    def models(self) -> Models:
        """The models as they will be read from the files."""
        return from_dict(self.content, unpacked(packed(self.lexicon, self.words, {})))


@dataclass(frozen=True)
class Known:
    """A labelled session with what is computed once for all fits."""

    labelled: Labelled
    rows: list[Features]
    """Of every place a cut could be at, without `OPENER`."""
    vectors: Vectors
    words: frozenset[int]
    """Rows of the words that are in it."""

    @property
    def fold(self) -> str:
        return self.labelled.fold


def known(sessions: Sequence[Labelled]) -> list[Known]:
    return [Known(s, _cut_rows(s), meanings(s.session), spoken(s.session)) for s in sessions]


def _cut_rows(labelled: Labelled) -> list[Features]:
    return [of_cut(labelled.session, position) for position in range(1, len(labelled.rounds))]


def fit(sessions: Sequence[Known], about: Mapping[str, Any] | None = None) -> Learned:
    """What the model files hold, learned from these sessions."""
    cut, opens = _fit_cut(sessions)
    # How sure a model is of sessions it was fitted to says little: the count learns from others.
    unseen = _unseen(sessions)
    count = _fit_count(sessions, unseen)
    lexicon, vectors = table()
    method, words = _fit_method(sessions, _cut_by(sessions, unseen, count))
    models = {"cut": cut, "count": count, "method": method, "ending": _fit_ending(sessions)}
    rows = common(s.words for s in sessions)
    groups = {OPENS: vectors[rows] @ opens[:, None]}
    groups |= {kind: vectors[rows] @ weights for kind, weights in words.items()}
    kept = Lexicon([lexicon.keys[row] for row in rows])
    return Learned({"about": dict(about or {}), "models": models}, kept, groups)


def models_without(sessions: Sequence[Known], fold: str) -> Models:
    """Models that have not seen a fold."""
    return fit([session for session in sessions if session.fold != fold]).models()


def _folds(sessions: Sequence[Known]) -> Iterator[tuple[list[Known], list[Known]]]:
    """Every fold, and all sessions but those of the fold."""
    for fold in sorted({s.fold for s in sessions}):
        yield [s for s in sessions if s.fold == fold], [s for s in sessions if s.fold != fold]


def _fit_opener(sessions: Sequence[Known]) -> Any:
    """What the words of prompts mean that begin a session; those at a cut are in between."""
    vectors, first = [], []
    for s in sessions:
        for position, vector in enumerate(s.vectors["request"]):
            if position not in s.labelled.cuts:
                vectors.append(vector)
                first.append(position == 0)
    model = LogisticRegression(
        C=STRENGTH["opens"], max_iter=1_000, class_weight="balanced", random_state=SEED
    )
    return model.fit(np.array(vectors), first).coef_[0]


def _with_opener(session: Known, opens: Any) -> list[Features]:
    scores = session.vectors["request"][1:] @ opens
    return [{**row, OPENER: float(score)} for row, score in zip(session.rows, scores, strict=True)]


def _fit_cut(sessions: Sequence[Known]) -> tuple[dict[str, Any], Any]:
    """The model of cuts, and that of first prompts which it makes use of."""
    rows: dict[str, list[Features]] = {}
    for own, others in _folds(sessions):
        opens = _fit_opener(others or own)
        rows |= {s.labelled.id: _with_opener(s, opens) for s in own}
    features = [row for s in sessions for row in rows[s.labelled.id]]
    places = ((s, p) for s in sessions for p in range(1, len(s.labelled.rounds)))
    yes = np.array([float(p in s.labelled.cuts) for s, p in places])
    columns, mean, scale, scaled = _scaled(features)
    weights, bias = leaning(scaled, yes, STRENGTH["cut"], LEAN["cut"], LEAN["correlated"])
    part = _part(("cut",), columns, mean, scale, weights[:, None], np.array([bias]))
    return part, _fit_opener(sessions)


def _unseen(sessions: Sequence[Known]) -> dict[str, list[float]]:
    """Log-odds of every cut, by a model that has not seen the session's repository."""
    found: dict[str, list[float]] = {}
    for own, others in _folds(sessions):
        part, opens = _fit_cut(others)
        model = _as_linear(part)
        for s in own:
            rows = _with_opener(s, opens)
            found[s.labelled.id] = [model.scores(row)[0] for row in rows]
    return found


def _cut_by(
    sessions: Sequence[Known], unseen: Mapping[str, list[float]], count: Mapping[str, Any]
) -> dict[str, list[int]]:
    """Where each session would be cut."""
    model, found = _as_linear(count), {}
    for s in sessions:
        odds = unseen[s.labelled.id]
        row = of_session(len(s.labelled.rounds), odds)
        found[s.labelled.id] = [1 + i for i in choose(odds, expected_counts(model, row))]
    return found


def _fit_count(sessions: Sequence[Known], unseen: Mapping[str, list[float]]) -> dict[str, Any]:
    features = [of_session(len(s.labelled.rounds), unseen[s.labelled.id]) for s in sessions]
    classes = [min(MOST_CUTS, len(s.labelled.cuts)) for s in sessions]
    names = tuple(str(number) for number in range(MOST_CUTS + 1))
    return _linear(features, classes, names, STRENGTH["count"])


def _fit_method(
    sessions: Sequence[Known], cuts: Mapping[str, list[int]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Learned on the readers' ranges, and on those that will be found: they differ."""
    features, meant, shares = [], [], []
    for s in sessions:
        said = [method for start, end, method in s.labelled.parts for _ in range(start, end)]
        starts = [0, *cuts[s.labelled.id]]
        ranges = [(start, end) for start, end, _ in s.labelled.parts]
        ranges += zip(starts, [*starts[1:], len(said)], strict=True)
        for start, end in ranges:
            rounds, heard = s.labelled.rounds[start:end], s.labelled.session.heard[start:end]
            features.append(of_range(rounds, heard))
            meant.append(_meant(s, start, end, start + opening_of(rounds)))
            times = Counter(said[start:end])
            shares.append([times[method] / (end - start) for method in METHODS])
    columns, mean, scale, scaled = _scaled(features)
    values = np.hstack([scaled, np.array(meant)])
    goal = np.zeros((values.shape[1], len(METHODS)))
    for row, name in enumerate(columns):
        cue, _, method = name.rpartition(" ")
        if cue in _CUES and method in METHODS:
            goal[row, METHODS.index(method)] = LEAN["method"]
    weights, bias = shared(values, np.array(shares), STRENGTH["method"], goal)
    size = len(columns)
    vectors = np.split(weights[size:], len(WORDED))
    part = _part(METHODS, columns, mean, scale, weights[:size], bias)
    return part, dict(zip(WORDED, vectors, strict=True))


def _meant(session: Known, start: int, end: int, opening: int) -> Any:
    """What is said in a range means, kind by kind."""
    return np.concatenate(
        [
            session.vectors[kind][opening]
            if kind in ONCE
            else together(session.vectors[kind][start:end])
            for kind in WORDED
        ]
    )


def _fit_ending(sessions: Sequence[Known]) -> dict[str, Any]:
    features, classes = [], []
    for s in sessions:
        start = s.labelled.parts[-1][0]
        features.append(of_ending(s.labelled.rounds[start:], s.labelled.session.heard[start:]))
        classes.append(int(s.labelled.phase != "completed"))
    return _linear(features, classes, ("open",), STRENGTH["ending"])


def _scaled(features: Sequence[Features]) -> tuple[list[str], Any, Any, Any]:
    """Names, means and scales of features, and their values as a model sees them."""
    columns = list(features[0])
    values = np.array([[row[name] for name in columns] for row in features])
    mean, scale = values.mean(0), values.std(0) + _LEAST_SCALE
    mean, scale = _rounded(mean), np.maximum(_rounded(scale), _LEAST_SCALE)
    return columns, mean, scale, np.clip((values - mean) / scale, -FURTHEST, FURTHEST)


def _linear(
    features: Sequence[Features], classes: Sequence[int], names: Sequence[str], strength: float
) -> dict[str, Any]:
    """A logistic regression, as the model file keeps it."""
    columns, mean, scale, scaled = _scaled(features)
    model = LogisticRegression(C=strength, max_iter=5_000, tol=1e-6, random_state=SEED)
    model.fit(scaled, classes)
    slopes = np.zeros((scaled.shape[1], len(names)))
    bias = np.full(len(names), -10.0)
    rows = [0] if len(names) == 1 else [int(c) for c in model.classes_]
    slopes[:, rows], bias[rows] = model.coef_.T, model.intercept_
    return _part(names, columns, mean, scale, slopes, bias)


def _part(
    names: Sequence[str], columns: Sequence[str], mean: Any, scale: Any, slopes: Any, bias: Any
) -> dict[str, Any]:
    """A model as the file keeps it."""
    table = _rounded(slopes).tolist()
    return {
        "classes": list(names),
        "bias": _rounded(bias).tolist(),
        "features": {
            name: [float(mean[i]), float(scale[i]), *table[i]] for i, name in enumerate(columns)
        },
    }


def _rounded(values: Any) -> Any:
    return np.round(values, _DIGITS)


def _as_linear(part: Mapping[str, Any]) -> Linear:
    return Linear(tuple(part["classes"]), tuple(part["bias"]), part["features"])
