"""Words of rounds, and how much two stretches of a session have in common."""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

from minutebook.derive.activity import Activity
from minutebook.derive.patterns import WIDE_RUN, pairs_of

_WORD = re.compile(r"[^\W\d_][\w]{2,39}")
_ASCII_WORD = re.compile(r"[a-z][a-z0-9_]{2,39}")  # a set of signs is faster than kinds of them
ENDING = re.compile(r"(?:ing|ed|es|s)$")
"""What a word is compared without."""
_ENDINGS = re.compile(r"[\u3040-\u309f]{2}")  # of Japanese words
_ANSWER_CHARS = 1_200
_KEPT = 8_000  # characters
_MOST_WORDS = 50  # a round: the rest repeats or decorates
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

REACH = 24
"""Rounds within which stretches are compared."""


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that say something, in lower case."""
    # A pasted file is not kept in memory for what it may save.
    return _content_words(text) if len(text) <= _KEPT else _content_words.__wrapped__(text)


@lru_cache(maxsize=256)  # cuts and features look at the same answers
def _content_words(text: str) -> tuple[str, ...]:
    small = text.lower()
    if text.isascii():
        return tuple([word for word in _ASCII_WORD.findall(small) if word not in STOP_WORDS])
    runs = WIDE_RUN.findall(small)
    spaced = WIDE_RUN.sub(" ", small) if runs else small
    pairs = [pair for run in runs for pair in pairs_of(run) if not _ENDINGS.fullmatch(pair)]
    return (*[word for word in _WORD.findall(spaced) if word not in STOP_WORDS], *pairs)


def _most_common(bag: Bag, most: int) -> list[tuple[str, int]]:
    """What `Counter.most_common` finds, which takes three times as long."""
    return sorted(bag.items(), key=itemgetter(1), reverse=True)[:most]


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
        weighed = (
            {
                word: (1 + math.log(count)) * rarity[word]
                for word, count in _most_common(bag, _MOST_WORDS)
            }
            for bag in self._bags
        )
        self._products = _products(weighed, spread)
        self._squares: dict[tuple[int, int], float] = {}

    def seen(self, first: int, last: int) -> set[str]:
        """Words of rounds `first` up to (not with) `last`, by position."""
        return {word for bag in self._bags[max(0, first) : last] for word in bag}

    def cohesion(self, left: tuple[int, int], right: tuple[int, int]) -> float:
        """How alike two stretches are, 0 to 1: one before the other, at most `REACH` in all."""
        (first, last), (start, end) = self._bounded(*left), self._bounded(*right)
        norm = math.sqrt(self._square(first, last) * self._square(start, end))
        if not norm:
            return 0.0
        rows = enumerate(self._products[first:last], first)
        return sum(sum(row[start - at : end - at]) for at, row in rows) / norm

    def _bounded(self, first: int, last: int) -> tuple[int, int]:
        return max(0, first), min(last, len(self._bags))

    def _square(self, first: int, last: int) -> float:
        """A stretch by itself; each is asked for several times."""
        if (known := self._squares.get((first, last))) is None:
            rows = enumerate(self._products[first:last], first)
            known = sum(row[0] + 2 * sum(row[1 : last - at]) for at, row in rows)
            self._squares[first, last] = known
        return known


def _products(
    weighed: Iterable[Mapping[str, float]], spread: Mapping[str, int]
) -> list[list[float]]:
    """For every round what its words have in common with those of itself and of the rounds after
    it. How alike stretches of rounds are is the sum of that: no stretch is added up word by word.
    """
    rows: list[list[float]] = []
    said: dict[str, deque[tuple[int, float]]] = {}
    for here, weights in enumerate(weighed):
        rows.append([0.0] * REACH)
        for word, weight in weights.items():
            if spread[word] == 1:
                rows[here][0] += weight * weight
                continue
            if (known := said.get(word)) is None:
                known = said[word] = deque(maxlen=REACH)
            known.append((here, weight))
            for before, other in known:
                if here - before < REACH:
                    rows[before][here - before] += weight * other
    return rows
