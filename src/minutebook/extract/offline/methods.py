"""By which of the eleven methods a range of rounds was worked on, and why."""

from __future__ import annotations

from typing import cast

from minutebook.extract.offline.features import Session
from minutebook.extract.offline.model import Models
from minutebook.extract.offline.reasons import Reason
from minutebook.extract.offline.segments import of_range, opening_words
from minutebook.model.engagement import Method


def method_of(
    session: Session, start: int, end: int, models: Models
) -> tuple[Method, tuple[Reason, ...]]:
    """The method of rounds `start` up to (not with) `end`, with what spoke for it."""
    rounds, heard = session.rounds[start:end], session.heard[start:end]
    row, words = of_range(rounds, heard), opening_words(rounds, heard)
    scores = models.method.scores([row], [words])[0]
    best = int(scores.argmax())
    method = cast("Method", models.method.classes[best])
    return method, models.method.reasons(row, best, words)
