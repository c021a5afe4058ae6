"""By which of the eleven methods a range of rounds was worked on, and why."""

from __future__ import annotations

from operator import add
from typing import cast

from minutebook.extract.offline.features import Session
from minutebook.extract.offline.model import Models
from minutebook.extract.offline.reasons import Reason, Why
from minutebook.extract.offline.segments import of_range, texts_of_range
from minutebook.model.engagement import Method

_WHERE = {
    "request": "in the opening request",
    "opening": "in the agent's first words",
    "answers": "in the answers",
    "commits": "in a commit or a plan",
}


def method_of(session: Session, start: int, end: int, models: Models) -> tuple[Method, Why]:
    """The method of rounds `start` up to (not with) `end`, with what spoke for it."""
    rounds, heard = session.rounds[start:end], session.heard[start:end]
    row = of_range(rounds, heard)
    scores = models.method.scores(row)
    said = texts_of_range(rounds, heard)
    for kind, texts in said.items():
        more = models.wording.scores(kind, models.wording.lexicon.read(texts))
        scores = list(map(add, scores, more))
    best = scores.index(max(scores))

    def why() -> tuple[Reason, ...]:
        told = [
            (f"the word '{word}' {_WHERE[kind]}", weight)
            for kind, texts in said.items()
            for word, weight in models.wording.reasons(kind, texts, best)
        ]
        return models.method.reasons(row, best, told)

    return cast("Method", models.method.classes[best]), why
