"""By which of the eleven methods a range of rounds was worked on, and why."""

from __future__ import annotations

from typing import cast

from minutebook.extract.offline.features import Session
from minutebook.extract.offline.model import Models
from minutebook.extract.offline.reasons import Reason
from minutebook.extract.offline.segments import of_range, texts_of_range
from minutebook.model.engagement import Method

_WHERE = {
    "request": "in the opening request",
    "opening": "in the agent's first words",
    "answers": "in the answers",
    "commits": "in a commit or a plan",
}


def method_of(
    session: Session, start: int, end: int, models: Models
) -> tuple[Method, tuple[Reason, ...]]:
    """The method of rounds `start` up to (not with) `end`, with what spoke for it."""
    rounds, heard = session.rounds[start:end], session.heard[start:end]
    row = of_range(rounds, heard)
    scores = models.method.scores([row])[0]
    read = models.wording.lexicon.read
    said = {kind: read(texts) for kind, texts in texts_of_range(rounds, heard).items()}
    for kind, words in said.items():
        scores += models.wording.scores(kind, words)
    best = int(scores.argmax())
    method = cast("Method", models.method.classes[best])
    told = [
        (f"the word '{word}' {_WHERE[kind]}", weight)
        for kind, words in said.items()
        for word, weight in models.wording.reasons(kind, words, best)
    ]
    return method, models.method.reasons(row, best, told)
