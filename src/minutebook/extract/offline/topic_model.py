"""Which words belong into a heading, and which heading holds them: learned from labels.

A word of a range is weighed by where it stands (request, title, commits, answers, files …);
a heading by the words it holds, its kind and its form. Both weights are in ``topics.json``,
which ``training/topics/train.py`` writes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from minutebook.derive.activity import Activity
from minutebook.extract.offline.candidates import Heading
from minutebook.extract.offline.headings import deictics, is_question, length_of
from minutebook.extract.offline.requests import is_reply, sentences, without_command
from minutebook.extract.offline.verbs import is_imperative

MODEL = Path(__file__).parent / "topics.json"
SOURCES = (
    *("title", "plan", "first", "request", "later", "commits", "pulls", "tasks", "opening"),
    *("closing", "answer", "answers", "files", "branch", "project"),
)
FEATURES = (
    "bias",
    *SOURCES,
    *("requests", "said", "spread", "sources", "digits", "short", "long", "rare", "whole title"),
)
_TOKEN = re.compile(r"[^\W_]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDING = re.compile(r"(?:ing|ed|es|s)$")
_STOP = frozenset(
    "a an and are as at be by for from in into is it its of on or s that the this to with via"
    " using new".split()
)
_TEXT = 1_500  # characters of a prompt or an answer whose words are counted
_MOST_WORDS = 400


class Model(msgspec.Struct, frozen=True):
    """What was learned; `made_from` says of what."""

    made_from: str
    features: tuple[str, ...]
    words: tuple[float, ...]
    """A weight for each feature of a word."""
    known: dict[str, float]
    """What single words add: "fix" is in many headings, "please" in none."""
    length: float
    """Words of a heading, as people write them."""
    forms: dict[str, float]
    """A weight for each feature of a heading."""


@cache
def model() -> Model:
    return msgspec.json.decode(MODEL.read_bytes(), type=Model)


def stems(text: str) -> list[str]:
    """The words of a text, without their endings; pairs of characters where there are no blanks."""
    found: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        if _WIDE.search(token):
            found += [token[i : i + 2] for i in range(len(token) - 1)]
        elif token not in _STOP:
            found.append(_ENDING.sub("", token) or token)
    return found


class Range:
    """The words of a range, by where they stand."""

    def __init__(
        self, rounds: Sequence[Activity], start: int, end: int, title: str | None
    ) -> None:
        part = rounds[start:end]
        self.part = part
        asked = [r for r in part if r.prompt.strip() and not is_reply(r.prompt)] or list(part[:1])
        first = without_command(asked[0].prompt) if asked else ""
        told = [round.answer for round in part if round.answer]
        last = told[-1] if told else ""
        texts: dict[str, str] = {
            "title": title or "",
            "plan": " ".join(round.plan for round in part),
            "first": " ".join(sentences(first)[:1]),
            "request": first[:_TEXT],
            "later": " ".join(round.prompt[:_TEXT] for round in asked[1:8]),
            "commits": " ".join(c.subject for round in part for c in round.commits[:8]),
            "pulls": " ".join(title for round in part for title in round.pull_titles[:4]),
            "tasks": " ".join(task for round in part for task in round.tasks[:8]),
            "opening": part[0].opening if part else "",
            "closing": " ".join(sentences(last)[:2]),
            "answer": last[:_TEXT],
            "answers": " ".join(answer[:_TEXT] for answer in told[:12]),
            "files": " ".join(file for round in part for file in round.files[:8]),
            "branch": next((round.branch for round in part if round.branch), None) or "",
            "project": next((round.cwd for round in part if round.cwd), None) or "",
        }
        self.counts = {source: Counter(stems(text)) for source, text in texts.items()}
        self.whole = title is not None and len(part) == len(rounds)
        self._prompts = [set(stems(round.prompt[:_TEXT])) for round in asked[:12]]
        outside = [*rounds[:start], *rounds[end:]]
        self._outside = [set(stems(round.prompt[:500])) for round in outside[:40]]

    @property
    def words(self) -> list[str]:
        seen: Counter[str] = Counter()
        for source, counts in self.counts.items():
            if source not in ("files", "project", "branch"):
                seen.update(counts)
        return [word for word, _ in seen.most_common(_MOST_WORDS)]

    def features(self, word: str) -> list[float]:
        """What is known of a word, in the order of `FEATURES`."""
        places = [1.0 if word in self.counts[source] else 0.0 for source in SOURCES]
        asked = self.counts["request"][word] + self.counts["later"][word]
        elsewhere = sum(1 for words in self._outside if word in words)
        return [
            1.0,
            *places,
            math.log1p(asked),
            math.log1p(self.counts["answers"][word]),
            sum(1 for words in self._prompts if word in words) / max(1, len(self._prompts)),
            sum(places) / 4,
            1.0 if any(c.isdigit() for c in word) else 0.0,
            1.0 if len(word) <= 2 else 0.0,
            1.0 if len(word) >= 6 else 0.0,
            1 / (1 + elsewhere),
            places[0] if self.whole else 0.0,
        ]


def chances(given: Range, learned: Model, words: Sequence[str]) -> dict[str, float]:
    """How probable it is that a person would put each word into the heading."""
    found: dict[str, float] = {}
    for word in words:
        total = learned.known.get(word, 0.0)
        for weight, value in zip(learned.words, given.features(word), strict=True):
            total += weight * value
        found[word] = 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
    return found


def expected(heading: str, chance: Mapping[str, float], length: float) -> float:
    """How well a heading would agree with a person's, as F1 of their words."""
    words = set(stems(heading))
    hits = sum(chance.get(word, 0.0) for word in words)
    return 2 * hits / (len(words) + length)


def forms(heading: Heading, agreement: float, given: Range) -> dict[str, float]:
    """What is known of a heading beside its words."""
    length = length_of(heading.text)
    first = heading.place == 0
    found = {
        "agreement": agreement,
        f"kind {heading.kind}": 1.0,
        f"agreement {heading.kind}": agreement,
        "place": min(heading.place, 4) / 4,
        "sentence": min(heading.sentence, 4) / 4,
        "first sentence": 1.0 if first and heading.sentence == 0 else 0.0,
        "completed": 1.0 if heading.completed else 0.0,
        "imperative": 1.0 if is_imperative(heading.text) else 0.0,
        "question": 1.0 if is_question(heading.text) else 0.0,
        "deictic": float(min(deictics(heading.text), 3)),
        "length": length / 10,
        "length squared": (length / 10) ** 2,
    }
    if given.whole and heading.kind == "title":
        found["whole title"] = 1.0
    return found


def worth(heading: Heading, given: Range, chance: Mapping[str, float], learned: Model) -> float:
    """How good a heading is for a range; only to be compared with others of the range."""
    agreement = expected(heading.text, chance, learned.length)
    known = learned.forms
    return sum(
        known.get(name, 0.0) * value for name, value in forms(heading, agreement, given).items()
    )


