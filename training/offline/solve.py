"""Two fits that scikit-learn does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

_STEPS = {"maxiter": 400, "ftol": 1e-9}


def leaning(values: Any, yes: Any, strength: float, lean: float, least: float) -> tuple[Any, float]:
    """A logistic regression that trusts what each feature says by itself.

    Two hundred cuts do not tell apart 180 features that go together. So a weight never has another
    sign than its feature's correlation with the labels, and is drawn towards `lean` in that
    direction (towards 0 where the correlation is below `least`) rather than towards 0.
    """
    spread = values.std(0) + 1e-9
    alone = ((values - values.mean(0)) * (yes - yes.mean())[:, None]).mean(0) / (spread * yes.std())
    goal = np.where(np.abs(alone) > least, lean * np.sign(alone), 0.0)

    def loss(guess: Any) -> tuple[float, Any]:
        weights, bias = guess[:-1], guess[-1]
        odds = values @ weights + bias
        miss = 1 / (1 + np.exp(-odds)) - yes
        away = (weights - goal) / strength
        total = np.logaddexp(0, np.where(yes > 0, -odds, odds)).sum() + away @ (weights - goal) / 2
        return float(total), np.append(values.T @ miss + away, miss.sum())

    bounds = [(0.0, None) if one > 0 else (None, 0.0) for one in alone] + [(None, None)]
    start = np.append(goal / 2, -2.0)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=_STEPS).x
    return found[:-1], float(found[-1])


def shared(values: Any, shares: Any, strength: float, goal: Any) -> tuple[Any, Any]:
    """A logistic regression for several classes, of which a row may be several in part, whose
    weights are drawn towards `goal`."""
    columns = values.shape[1]
    classes = shares.shape[1]
    size = columns * classes

    def loss(guess: Any) -> tuple[float, Any]:
        weights, bias = guess[:size].reshape(columns, classes), guess[size:]
        likely = log_softmax(values @ weights + bias, axis=1)
        miss = np.exp(likely) - shares
        away = weights - goal
        total = (away**2).sum() / (2 * strength) - (shares * likely).sum()
        return float(total), np.append(values.T @ miss + away / strength, miss.sum(0))

    start = np.append(goal, np.zeros(classes))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=_STEPS).x
    return found[:size].reshape(columns, classes), found[size:]
