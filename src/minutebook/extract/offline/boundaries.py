"""Where one engagement ends and the next begins, and why.

Two learned models decide: one gives every round the odds that something new begins there, the
other tells from the session as a whole how many cuts to expect. Those cuts are chosen that can
expect the best agreement with a careful reader, who may place a cut one round earlier or later.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from minutebook.extract.offline.features import (
    Features,
    Session,
    logistic,
    of_cut,
    of_session,
)
from minutebook.extract.offline.model import Linear, Models
from minutebook.extract.offline.reasons import Why
from minutebook.extract.offline.wording import OPENS

OPENER = "words of a first prompt"
"""How much a prompt is worded like the first one of a session."""
_PER_CUT = 12
"""Rounds for each cut of a session that has more cuts than were ever counted in training."""
_MORE = 4  # candidates beyond the likeliest number
_LEAST = 0.005  # numbers of cuts less likely than that are not weighed
_EXACT = 0.8  # of the cuts that are near enough, those that are at their very place


@dataclass(frozen=True)
class Cut:
    """The position of a round that opens an engagement, and what speaks for it."""

    position: int
    why: Why


def find_cuts(session: Session, models: Models) -> list[Cut]:
    """The cuts of a session, in order."""
    if len(session.rounds) < 2:
        return []
    rows = cut_rows(session, models)
    odds = [models.cut.scores(row)[0] for row in rows]
    counts = expected_counts(models.count, of_session(len(session.rounds), odds))
    chosen = choose(odds, counts)
    return [Cut(index + 1, partial(models.cut.reasons, rows[index])) for index in chosen]


def cut_rows(session: Session, models: Models) -> list[Features]:
    """What is known of every place a cut could be at."""
    rows = []
    for position in range(1, len(session.rounds)):
        row = of_cut(session, position)
        words = models.wording.lexicon.read([session.heard[position].text])
        row[OPENER] = models.wording.scores(OPENS, words)[0]
        rows.append(row)
    return rows


def expected_counts(model: Linear, row: Mapping[str, float]) -> list[float]:
    """How likely it is that a session has no cut, one, two …; the last is for more."""
    scores = model.scores(row)
    highest = max(scores)
    weights = [math.exp(score - highest) for score in scores]
    return [weight / sum(weights) for weight in weights]


def choose(odds: Sequence[float], counts: Sequence[float]) -> list[int]:
    """Which rounds to cut at (0 is the second round): the best of the likeliest one, two, three …

    `odds` are log-odds for each round after the first. No two cuts are next to each other, and
    one that is likelier than not is made, however few are expected.
    """
    most = {number: number for number in range(len(counts))}
    most[len(counts) - 1] = max(len(counts) - 1, (len(odds) + 1) // _PER_CUT)
    likely = [
        (most[number], chance)
        for number, chance in enumerate(counts)
        if number <= len(odds) and (chance >= _LEAST or number == 0)
    ]
    near = {number: _near(odds, number) for number, _ in likely if number}
    limit = max(number for number, _ in likely) + _MORE
    chosen: list[int] = []
    best, best_worth = 0, _worth(chosen, likely, dict.fromkeys(near, 0.0))
    hits = dict.fromkeys(near, 0.0)
    taken: set[int] = set()
    for index in sorted(range(len(odds)), key=lambda index: (-odds[index], index)):
        if len(chosen) >= limit:
            break
        if not taken & {index - 1, index + 1}:
            chosen.append(index)
            taken.add(index)
            for number, chances in near.items():
                hits[number] += chances[index]
            if (worth := _worth(chosen, likely, hits)) > best_worth:
                best, best_worth = len(chosen), worth
    certain = sum(odds[index] > 0 for index in chosen)
    return sorted(chosen[: max(best, certain)])


def _worth(
    chosen: Sequence[int], likely: Sequence[tuple[int, float]], hits: Mapping[int, float]
) -> float:
    """The agreement to expect: of places (F1), of windows and of the number of cuts."""
    worth, made = 0.0, len(chosen)
    for number, chance in likely:
        hit = min(hits[number], number) if number else 0.0
        places = 2 * hit / (number + made) if number or made else 1.0
        # A window is half an engagement wide: a cut that is missed, needless or beside its place
        # spoils as many windows as are half an engagement.
        windows = 1 - (number + made - 2 * _EXACT * hit) / (2 * (number + 1))
        worth += chance * (places + max(0.0, windows) + 1 / (1 + abs(number - made)))
    return worth


def _near(odds: Sequence[float], number: int) -> list[float]:
    """For each round, the chance that one of so many cuts is there or next to it."""
    low, high = -12.0, 12.0
    wanted = min(number, len(odds) - 0.01)
    for _ in range(16):  # shift all odds until they promise as many cuts
        shift = (low + high) / 2
        if sum([logistic(odd + shift) for odd in odds]) > wanted:
            high = shift
        else:
            low = shift
    chances = [0.0, *(logistic(odd + low) for odd in odds), 0.0]
    return [min(1.0, sum(chances[index : index + 3])) for index in range(len(odds))]
