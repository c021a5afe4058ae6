"""Which words belong into a heading, and which heading holds them: learned from labels.

A word of a range is weighed by where it stands (request, title, commits, answers, files …);
a heading by the words it holds, its kind and its form. Both weights are in ``topics.json``,
which ``training/topics/train.py`` writes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

import msgspec

from minutebook.derive.activity import Activity
from minutebook.derive.patterns import WIDE_SIGN, pairs_of
from minutebook.extract.offline import cues
from minutebook.extract.offline.candidates import Heading
from minutebook.extract.offline.heading_words import SAYING
from minutebook.extract.offline.headings import (
    deictics,
    is_question,
    is_wide,
    length_of,
    telling,
)
from minutebook.extract.offline.places import is_test
from minutebook.extract.offline.requests import without_command
from minutebook.extract.offline.texts import is_asked, requests_of, sentences_of
from minutebook.extract.offline.verbs import is_imperative
from minutebook.extract.offline.words import ENDING

MODEL = Path(__file__).parent / "topics.json"
SOURCES = (
    *("title", "plan", "first", "request", "later", "commits", "pulls", "tasks", "opening"),
    *("closing", "answer", "answers", "files", "branch", "project"),
)
_COUNTED = ("request", "later", "answers")
"""Sources in which it matters how often a word is there."""
FEATURES = (
    "bias",
    *SOURCES,
    *("requests", "said", "spread", "sources", "digits", "short", "long", "rare", "whole title"),
)
_TOKEN = re.compile(r"[^\W_]+")
_ASCII_TOKEN = re.compile(r"[a-z0-9]+")  # a set of signs is faster than kinds of them
_STOP = frozenset(
    "a an and are as at be by for from in into is it its of on or s that the this to with via"
    " using new".split()
)
_ARTICLE = re.compile(
    r"(?:the|an?|our|my|some|der|die|das|ein|eine|le|la|les|un|une|el|los|las)\b", re.IGNORECASE
)
_FINITE = re.compile(
    r"\b(?:mentions|requires|contains|means|works|fails|uses|reads|assumes|supports|happens"
    r"|already|seems|keeps|needs|says|shows|looks?|lacks?|appears|causes|returns|exists|shall|let['’]s"
    r"|stopped|is|are|was|were|has|have|had|does|do|did|will|would|should|can|could|we|you|i|he|they"
    r"|\w+n['’]t|ist|sind|hat|wird|est|sont|es|son|está)\b",
    re.IGNORECASE,
)
_NOTED = re.compile(r" (?:that|which|where|when|if|so|because|as|but|until|after|before)\b")
_WRITTEN = ("title", "plan", "pull", "commit")  # as headings
_OF_WHAT = re.compile(
    r"[a-z]+ (?:(?:it|them)\b|(?:these|those|this|that)(?: (?:to|in|into|from|on|for|with)\b|$)"
    r"|(?:(?:with|number|option|point|item|only) )?#?\d{1,2}"
    r"(?=$|[,;]| (?:first|only|and|instead|then|too)\b)"
    r"|the (?:first|second|third|last|other) (?:one|option|point|item)s?\b)",
    re.IGNORECASE,
)
_CHECKS = re.compile(
    r"(?:check|verify|see|find out|investigate) (?:if|whether|why|how)\b", re.IGNORECASE
)
_TROUBLE = re.compile(r"(?:problems?|troubles?|issues?) (?:if|when|while|with)\b", re.IGNORECASE)
READS = {
    "deictic": -0.12,
    "question": -0.1,
    "statement": -0.12,
    "thin": -0.15,
    "cut": -0.08,
    "torn": -0.12,
    "of what": -0.15,
    "spoken of": -0.05,
    "kind report": -0.03,
    "background": -0.2,
    "one of many": -0.04,
    "revised": -0.12,
    "explores": -0.15,
    "side step": -0.15,
    "listed": -0.1,
    "late": -0.1,
    "little work": -0.08,
    "completed plan": -0.09,
    "kind plan": 0.06,
    "kind pull": 0.06,
    "kind commit": 0.03,
}
"""Readable beats a point of agreement: what points at something unseen, asks, tells, names next
to nothing, breaks off, does something to "them", speaks of "the …" as one does to somebody who
knows it, leads up to a request, is one piece of several or heads a part of an answer is passed
over; so is a step on the way, where something was changed (looking around, tests, lint), and a
request that little work was done for; what was written as a heading is preferred."""
_LOOKS = re.compile(
    r"(?:find|research|explore|look|check|investigate|analy[sz]e|read|trace|understand|see|verify"
    r"|search|examine|inspect|map|identify|locate|gather|study|audit|assess|survey|scan)\b",
    re.IGNORECASE,
)
_AGENTS = ("task", "opening", "closing", "report")  # headings of the agent, or of its helpers
_ASIDE = re.compile(
    r"(?:(?:add|write|create|update|fix|run|extend|improve|include|implement|remove|modify|consolidate)\w*:?"
    r" (?:\S+ ){0,4}?(?:(?:unit|integration|e2e|regression|test|focused)[ -])*"
    r"(?:(?:\w+_)?tests?|lint\w*|coverage|typos?|(?-i:Test[A-Z]\w+))\b|tests? "
    r"|(?:fix|repair|resolve)\w* (?:\S+ ){0,3}?merge conflicts?\b)",
    re.IGNORECASE,
)
_TESTS = re.compile(r"\b(?:tests?|testing|lint\w*|coverage|typos?|ci)\b", re.IGNORECASE)
_LISTED = re.compile(r"[A-Z][a-z]+ing \S")  # "Skipping checks for …": one of several things
_SINGLE = ("task",)  # kinds of headings that may be one piece of the work
_MANY = 3
_ALIKE = 0.6
_TYPED = ("request", "later")
_FEW_NAMES = 2
_BEGINS = 40  # characters of a request that say what it is about
_MOST = 0.99  # of what was done for any request
_TEXT = 1_500  # characters of a prompt or an answer whose words are counted


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
    tokens = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text.lower())
    if text.isascii() or not WIDE_SIGN.search(text):
        return [_stem(token) for token in tokens if token not in _STOP]
    found: list[str] = []
    for token in tokens:
        if not token.isascii() and WIDE_SIGN.search(token):
            found += pairs_of(token)
        elif token not in _STOP:
            found.append(_stem(token))
    return found


@lru_cache(maxsize=50_000)
def _stem(token: str) -> str:
    return ENDING.sub("", token) or token


@lru_cache(maxsize=512)  # what is outside of one range is inside of another
def words_of(text: str) -> frozenset[str]:
    """The words of a text without their endings, each once."""
    return frozenset(_stems(text))


@lru_cache(maxsize=512)  # a prompt is a request, one of several, and one beside others
def _stems(text: str) -> tuple[str, ...]:
    return tuple(stems(text))


def is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts of these words say the same: one is the other, said again."""
    return len(one & other) >= _ALIKE * min(len(one), len(other))


class Range:
    """The words of a range, by where they stand."""

    def __init__(
        self,
        rounds: Sequence[Activity],
        start: int,
        end: int,
        title: str | None,
        taken: Collection[str] = (),
    ) -> None:
        part = rounds[start:end]
        self.part = part
        self.taken = taken
        """What other ranges are called already."""
        asked = list(filter(is_asked, part)) or list(part[:1])
        first = without_command(asked[0].prompt) if asked else ""
        told = [round.answer for round in part if round.answer]
        last = told[-1] if told else ""
        texts: dict[str, Iterable[str]] = {
            "title": (title or "",),
            "plan": (round.plan for round in part),
            "first": sentences_of(first)[:1],
            "request": (first[:_TEXT],),
            "later": (round.prompt[:_TEXT] for round in asked[1:8]),
            "commits": (c.subject for round in part for c in round.commits[:8]),
            "pulls": (title for round in part for title in round.pull_titles[:4]),
            "tasks": (task for round in part for task in round.tasks[:8]),
            "opening": (part[0].opening if part else "",),
            "closing": sentences_of(last)[:2],
            "answer": (last[:_TEXT],),
            "answers": (answer[:_TEXT] for answer in told[:12]),
            "files": (file for round in part for file in round.files[:8]),
            "branch": (next((round.branch for round in part if round.branch), None) or "",),
            "project": (next((round.cwd for round in part if round.cwd), None) or "",),
        }
        words = {name: chain.from_iterable(map(_stems, of)) for name, of in texts.items()}
        self._counts = {name: Counter(words[name]) for name in _COUNTED}
        self._places = [self._counts.get(name) or frozenset(words[name]) for name in SOURCES]
        self.pieces = {
            "commit": len({c.subject for round in part for c in round.commits}),
            "task": len({task for round in part for task in round.tasks}),
        }
        self.whole = title is not None and len(part) == len(rounds)
        self._prompts = [words_of(round.prompt[:_TEXT]) for round in asked[:12]]
        self.worked = any(
            not is_test(re.split(r"[/\\]", file)[-1]) for round in part for file in round.files
        )
        """Whether something other than tests was changed."""
        worked = requests_of(part)
        self.revised = max(
            (
                place
                for place, (round, _) in enumerate(worked)
                if cues.REVISES.match(cues.small(round.prompt))
            ),
            default=0,
        )
        """How many requests were taken back by a later one."""
        self._shares = [share for _, share in worked]
        self.tests = _TESTS.search(title or "") is not None or any(
            share >= _MOST and _TESTS.search(without_command(round.prompt)[:_BEGINS])
            for round, share in worked
        )
        """Whether tests and the like are what was asked for, and most was done for."""
        outside = [*rounds[:start], *rounds[end:]]
        self._outside = [words_of(round.prompt[:500]) for round in outside[:40]]

    def idle(self, heading: Heading) -> float:
        """How little was done for a later request, beside that for which most was done."""
        return 1.0 - self._shares[heading.place] if heading.place < len(self._shares) else 0.0

    def features(self, word: str) -> list[float]:
        """What is known of a word, in the order of `FEATURES`."""
        places = [1.0 if word in words else 0.0 for words in self._places]
        asked = self._counts["request"][word] + self._counts["later"][word]
        elsewhere = sum(1 for words in self._outside if word in words)
        return [
            1.0,
            *places,
            math.log1p(asked),
            math.log1p(self._counts["answers"][word]),
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
        values = zip(learned.words, given.features(word), strict=True)
        total = learned.known.get(word, 0.0) + sum([w * v for w, v in values if v])
        found[word] = 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
    return found


def expected(words: frozenset[str], chance: Mapping[str, float], length: float) -> float:
    """How well a heading would agree with a person's, as F1 of their words."""
    return 2 * sum(chance[word] for word in words) / (len(words) + length)


def described(named: Sequence[Heading], given: Range, learned: Model) -> list[dict[str, float]]:
    """What is known of each heading: how its words agree with a person's, its kind, its form."""
    words = [frozenset(stems(heading.text)) for heading in named]
    chance = chances(given, learned, sorted(frozenset().union(*words)))
    agreement = [expected(of, chance, learned.length) for of in words]
    kinds: dict[str, set[str]] = {}
    for heading, of in zip(named, words, strict=True):
        for word in of:
            kinds.setdefault(word, set()).add(heading.kind)
    best = max(agreement, default=0.0)
    asks = any(h.kind == "request" and is_imperative(h.text) and says(h) for h in named)
    found = []
    for heading, of, agrees in zip(named, words, agreement, strict=True):
        shared = sum(len(kinds[word]) - 1 for word in of) / max(1, len(of))
        found.append(
            {
                "agreement": agrees,
                "best": agrees / best if best else 0.0,
                f"agreement {heading.kind}": agrees,
                "shared": shared / 3,
                **_form(heading, given),
            }
        )
        told = found[-1]["statement"] and not found[-1]["imperative"]
        if asks and told and heading.kind in _TYPED:
            found[-1]["background"] = 1.0
    return found


def _form(heading: Heading, given: Range) -> dict[str, float]:
    length = length_of(heading.text)
    found = {
        f"kind {heading.kind}": 1.0,
        "place": min(heading.place, 4) / 4,
        "sentence": min(heading.sentence, 4) / 4,
        "first sentence": 1.0 if heading.place == heading.sentence == 0 else 0.0,
        f"completed {heading.completed}": 1.0 if heading.completed else 0.0,
        "imperative": 1.0 if is_imperative(heading.text) else 0.0,
        "question": 1.0 if is_question(heading.text) else 0.0,
        "article": 1.0 if names_a_thing(heading.text) else 0.0,
        "statement": 1.0 if _states(heading) else 0.0,
        "thin": 0.0 if says(heading) else 1.0,
        "cut": 1.0 if heading.cut else 0.0,
        "deictic": float(min(deictics(heading.text), 3)),
        "length": length / 10,
        "length squared": (length / 10) ** 2,
    }
    if found["article"] and heading.kind not in _WRITTEN:
        found["spoken of"] = 1.0
    if found["cut"] and found["statement"]:
        found["torn"] = 1.0
    if found["imperative"] and _OF_WHAT.match(heading.bare):
        found["of what"] = 1.0
    if heading.kind in _SINGLE and given.pieces[heading.kind] >= _MANY:
        found["one of many"] = 1.0
    if given.worked:
        if heading.kind in _AGENTS and explores(heading.bare):
            found["explores"] = 1.0
        elif heading.kind in _TYPED and not found["statement"] and explores(heading.bare):
            found["explores"] = 0.5  # "Search misses notes" is no search
        if not given.tests and _ASIDE.match(heading.bare):
            found["side step"] = 1.0
    if heading.kind in (*_TYPED, "report") and heading.sentence > 1:
        found["late"] = 2.0 if heading.kind == "report" else 1.0
    if heading.kind in _TYPED and heading.place < given.revised:
        found["revised"] = 1.0
    if heading.kind in _TYPED and (heading.place or heading.sentence):
        if _LISTED.match(heading.text):
            found["listed"] = 1.0
        if heading.kind == "later":
            found["little work"] = given.idle(heading)
    if given.whole and heading.kind == "title":
        found["whole title"] = 1.0
    return found


def explores(text: str) -> bool:
    """Whether a heading only looks around, which is a step of every piece of work."""
    return _LOOKS.match(text) is not None


def names_a_thing(text: str) -> bool:
    """Whether a heading begins with an article: it names a thing, and not what to do with it."""
    return _ARTICLE.match(text) is not None


def says(heading: Heading) -> bool:
    """Whether a heading names something by which one could find it."""
    placed = heading.completed == "files"
    return is_wide(heading.bare) or telling(heading.bare) + placed >= _FEW_NAMES


def _states(heading: Heading) -> bool:
    """Whether a heading tells how things are, rather than what to do."""
    if heading.kind in _WRITTEN or _CHECKS.match(heading.text) or _TROUBLE.match(heading.text):
        return False
    if heading.completed == "fix" and SAYING.isdisjoint(heading.bare.lower().split()):
        return False
    if is_imperative(heading.bare):
        return _FINITE.search(_NOTED.split(heading.bare, maxsplit=1)[0]) is not None
    return _FINITE.search(heading.bare) is not None


def reading(of: Mapping[str, float]) -> float:
    """How badly a heading reads: 0, or less."""
    return sum([min(0.0, READS.get(name, 0.0)) * value for name, value in of.items()])


def worth(of: Mapping[str, float], learned: Model) -> float:
    """How good a heading is for a range; only to be compared with others of the range."""
    reads = sum([READS[name] * value for name, value in of.items() if name in READS])
    return reads + sum([learned.forms.get(name, 0.0) * value for name, value in of.items()])


def contributions(of: Mapping[str, float], learned: Model) -> list[tuple[str, float]]:
    """What each feature adds to that."""
    return [
        (name, (READS.get(name, 0.0) + learned.forms.get(name, 0.0)) * value)
        for name, value in of.items()
    ]
