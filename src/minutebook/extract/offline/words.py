"""Words of rounds, and how much two stretches of a session have in common."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from operator import mul

from minutebook.derive.activity import Activity

_WORD = re.compile(r"[^\W\d_][\w]{2,39}")
_ASCII_WORD = re.compile(r"[a-z][a-z0-9_]{2,39}")  # a set of signs is faster than kinds of them
_ANSWER_CHARS = 1_200
_KEPT = 8_000  # characters
_MOST_WORDS = 50  # a round: the rest repeats or decorates
_NEAR = 3  # rounds of stretches that are asked for before longer ones
_PROMPT_WEIGHT = 2  # what was asked tells the subject better than how it was answered

STOP_WORDS = frozenset(
    """
    the and are for from into its that this with via using not but you your can could should
    would does did doing done have has had was were will yes okay then there here what how why
    when which just also please let lets one some all any only more now need needs want wants
    like get gets got make makes sure see they them their our out about than too very been being
    it's i'm i'd i've don't doesn't didn't can't let's that's what's there's isn't we're you're
    think know something thing things good right well still want really maybe look looks use used
    """.split()
)

Bag = Counter[str]


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that say something, in lower case."""
    # A pasted file is not kept in memory for what it may save.
    return _content_words(text) if len(text) <= _KEPT else _content_words.__wrapped__(text)


@lru_cache(maxsize=256)  # cuts and features look at the same answers
def _content_words(text: str) -> tuple[str, ...]:
    words = _ASCII_WORD if text.isascii() else _WORD
    return tuple([word for word in words.findall(text.lower()) if word not in STOP_WORDS])


class Vocabulary:
    """The words of every round, weighed by how many rounds of the session they appear in."""

    def __init__(self, rounds: Sequence[Activity]) -> None:
        self.asked = [Counter(content_words(round.prompt)) for round in rounds]
        self._bags: list[Bag] = []
        self.answered: list[frozenset[str]] = []
        """Words of each answer, each once."""
        spread: Bag = Counter()
        for round, asked in zip(rounds, self.asked, strict=True):
            bag = Counter(content_words(round.answer[:_ANSWER_CHARS]))
            self.answered.append(frozenset(bag))
            for word, count in asked.items():
                bag[word] += _PROMPT_WEIGHT * count
            self._bags.append(bag)
            spread.update(bag.keys())
        rarity = {word: math.log(1 + len(rounds) / n) for word, n in spread.items()}
        self._kept: dict[tuple[int, int], tuple[dict[str, float], float]] = {}
        self._weighed = [
            {
                word: (1 + math.log(count)) * rarity[word]
                for word, count in bag.most_common(_MOST_WORDS)
            }
            for bag in self._bags
        ]

    def seen(self, first: int, last: int) -> set[str]:
        """Words of rounds `first` up to (not with) `last`, by position."""
        return {word for bag in self._bags[max(0, first) : last] for word in bag}

    def cohesion(self, left: tuple[int, int], right: tuple[int, int]) -> float:
        """How alike two stretches are, 0 to 1."""
        (a, of_a), (b, of_b) = self._measured(*left), self._measured(*right)
        if not (norm := math.sqrt(of_a * of_b)):
            return 0.0
        both = list(filter(b.__contains__, a))
        total: float = sum(map(mul, map(a.__getitem__, both), map(b.__getitem__, both)))
        return total / norm

    def _measured(self, first: int, last: int) -> tuple[dict[str, float], float]:
        """The weights of a stretch, and the sum of their squares; each is asked for twice."""
        key = (max(0, first), min(last, len(self._bags)))
        if (known := self._kept.get(key)) is None:
            weights = self._weights(*key)
            known = (weights, sum(map(mul, weights.values(), weights.values())))
            self._kept[key] = known
        return known

    def telling(self, first: int, last: int) -> list[str]:
        """Words of a stretch, those first that stand for it rather than for the session."""
        weights = self._weights(first, last)
        return sorted(weights, key=lambda word: (-weights[word], word))

    def _weights(self, first: int, last: int) -> dict[str, float]:
        first = max(0, first)
        bags = self._weighed[first:last]
        if len(bags) <= 1:
            return bags[0] if bags else {}
        total, bags = dict(bags[0]), bags[1:]
        for end in (last - 1, first + _NEAR):  # what was added up before, of the same beginning
            if first + 1 < end < last and (known := self._kept.get((first, end))) is not None:
                total, bags = dict(known[0]), self._weighed[end:last]
                break
        get = total.get
        for bag in bags:
            for word, weight in bag.items():
                total[word] = get(word, 0.0) + weight
        return total
