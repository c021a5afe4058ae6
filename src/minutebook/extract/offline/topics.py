"""What a range of rounds was about, in a heading a person can read.

A heading is always somebody's own words: of a request, of a commit, or the session's
title; the candidate that holds most of what the range talks about wins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.offline.closing import plain
from minutebook.extract.offline.requests import (
    FEWEST_WORDS,
    MOST_WORDS,
    clauses,
    is_reply,
    opening_of,
    plainly,
)
from minutebook.extract.offline.words import Vocabulary, content_words
from minutebook.extract.validation import LONGEST_TOPIC, one_line

_CONVENTIONAL = re.compile(r"^(?P<kind>[a-z]+)(?:\((?P<scope>[^)]*)\))?!?:\s*")
_TELLING = 40  # words that stand for a range
_REQUESTS = 3
_CODE = re.compile(r"\S{41,}|[\\{}<>=]{1}|\w/\w+/\w+/")  # paths, tags, log lines
_STATEMENT = re.compile(r"(?:it|is|are|this|these|that|those|there|i|you|we|the) ", re.IGNORECASE)
_NOTHING = "Work without a request"


def topic_of(
    rounds: Sequence[Activity], words: Vocabulary, start: int, end: int, title: str | None
) -> str:
    """A heading of 5 to 15 words for rounds `start` up to (not with) `end`."""
    rank = {
        word: 1 / (3 + place) for place, word in enumerate(words.telling(start, end)[:_TELLING])
    }
    worth: dict[str, float] = {}
    for text, prior in _candidates(rounds[start:end], title):
        heading = plainly(text)
        said = set(content_words(heading))
        if said and not _CODE.search(heading):
            weight = prior * sum(rank.get(word, 0.02) for word in said) ** 0.7
            if _STATEMENT.match(heading):
                weight *= 0.7
            worth[heading] = max(weight, worth.get(heading, 0.0))
    ranked = sorted(worth, key=lambda heading: -worth[heading])
    if ranked:
        return one_line(_completed(ranked), LONGEST_TOPIC)
    asked = next((round.prompt for round in rounds[start:end] if round.prompt), "")
    return one_line(plainly(asked), LONGEST_TOPIC) or _NOTHING


def _completed(ranked: list[str]) -> str:
    """The best heading, and the next best that says something else where there is room."""
    best, *others = ranked
    said = set(content_words(best))
    room = MOST_WORDS - len(best.split())
    for other in others[:8]:
        more = set(content_words(other))
        if FEWEST_WORDS - 2 <= len(other.split()) <= room and len(more & said) <= len(more) / 3:
            return (
                f"{best}; {other[:1].lower()}{other[1:]}"
                if other[1:2].islower()
                else f"{best}; {other}"
            )
    return best


def _candidates(rounds: Sequence[Activity], title: str | None) -> list[tuple[str, float]]:
    """Texts a heading can be made of, with how much they are to be trusted."""
    found: list[tuple[str, float]] = []
    if title:
        found.append((title, 1.6))
    opening = opening_of(rounds)
    asked = [r for r in rounds[opening:] if r.prompt and not is_reply(r.prompt)][:_REQUESTS]
    for order, round in enumerate(asked):
        for place, sentence in enumerate(clauses(round.prompt)[:6]):
            found.append((sentence, 1.5 / (1 + 0.35 * order) / (1 + 0.15 * place)))
    for round in reversed(rounds):
        if answered := clauses(plain(round.answer)):
            found.append((answered[0], 0.4))  # only to complete a heading that is too short
            break
    for round in rounds:
        found += [(_subject(commit.subject), 1.2) for commit in round.commits[:4]]
    return found


def _subject(subject: str) -> str:
    """A commit's subject without the `feat(scope):` of its convention."""
    match = _CONVENTIONAL.match(subject)
    return subject[match.end() :] if match else subject
