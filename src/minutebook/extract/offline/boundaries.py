"""Where one engagement ends and the next begins, and why.

Each round after the first is weighed by evidence: the pause before it, what was closed
before it (a commit, a push, a pull request), whether its request speaks of something
new, whether other files are touched from there on. The strongest candidates become cuts,
about as many as sessions of this length have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from minutebook.derive.activity import Activity
from minutebook.derive.times import instant
from minutebook.extract.offline.requests import is_reply
from minutebook.extract.offline.words import Vocabulary, content_words

THRESHOLD = 2.0
"""What a cut must weigh at least."""
SHORT = 6
"""Sessions of fewer rounds are one engagement."""

_LONG_PAUSE = 20  # minutes
_REACH = 3  # rounds on each side that are compared
_NEXT = re.compile(
    r"\b(?:next|another|new (?:task|topic|feature|issue|thing|branch|session)|separate(?:ly)?"
    r"|different|moving on|switch(?:ing)? to|back to|now (?:let|that|we|i)|while we wait"
    r"|implement the following plan|implement(?: the| this)? plan|time to)\b"
)
_GO = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|great|perfect|cool)[,. !]*)*"
    r"(?:let'?s (?:go|do it|build|implement|start)|go(?: ahead| for it)?|do it|make it so|implement"
    r"|build it|proceed|ship it|start)\b"
)


@dataclass(frozen=True)
class Reason:
    """One piece of evidence, and how much it counts."""

    what: str
    weight: float


@dataclass(frozen=True)
class Candidate:
    """The beginning of a round, weighed as a cut."""

    position: int
    reasons: tuple[Reason, ...]

    @property
    def score(self) -> float:
        return sum(reason.weight for reason in self.reasons)


def weigh(rounds: Sequence[Activity], words: Vocabulary) -> list[Candidate]:
    """Every round but the first, with what speaks for and against a cut before it."""
    if len(rounds) < SHORT:
        return []
    return [
        Candidate(position, tuple(_evidence(rounds, words, position)))
        for position in range(1, len(rounds))
    ]


def _evidence(rounds: Sequence[Activity], words: Vocabulary, position: int) -> list[Reason]:
    here, before = rounds[position], rounds[position - 1]
    found = [
        *_of_time(here, before),
        *_of_place(here, before),
        *_of_closing(rounds, position),
        *_of_request(rounds, words, position),
    ]
    likeness = words.cohesion((position - _REACH, position), (position, position + _REACH))
    found.append(Reason(f"what follows is {likeness:.0%} like what was", 0.6 - 3.0 * likeness))
    found += _of_files(rounds, position)
    if position in (1, len(rounds) - 1):
        found.append(Reason("it would leave a single round", -0.6))
    return found


def _of_time(here: Activity, before: Activity) -> list[Reason]:
    start, end = instant(here.started), instant(before.ended)
    if start is None or end is None:
        return []
    minutes = max(0.0, (start - end).total_seconds() / 60)
    if minutes < 2:
        return []
    weight = 0.5 * min(1.0, math.log1p(minutes) / math.log(600)) + 0.8 * (minutes >= _LONG_PAUSE)
    return [Reason(f"a pause of {minutes:.0f} min", weight)]


def _of_place(here: Activity, before: Activity) -> list[Reason]:
    found = []
    if here.cwd and before.cwd and here.cwd != before.cwd:
        found.append(Reason(f"another folder: {here.cwd}", 0.8))
    if here.branch and before.branch and here.branch != before.branch:
        found.append(Reason(f"another branch: {here.branch}", 0.8))
    return found


def _of_closing(rounds: Sequence[Activity], position: int) -> list[Reason]:
    before = rounds[position - 1]
    found = []
    if before.closes:
        # Where every round ends in a commit, one more says little.
        rare = 1 - sum(round.closes for round in rounds) / len(rounds)
        found.append(Reason("a commit, push or pull request closed the round before", 1.4 * rare))
    elif position > 1 and rounds[position - 2].closes and not before.edits:
        found.append(Reason("something was committed shortly before", 0.4))
    if before.interrupted:
        found.append(Reason("the round before was interrupted", -0.7))
    if before.plans and before.edits <= 1 and rounds[position].edits:
        found.append(Reason("a plan was handed over, and work on it begins", 1.0))
    return found


def _of_request(rounds: Sequence[Activity], words: Vocabulary, position: int) -> list[Reason]:
    here = rounds[position]
    request = here.prompt.strip()
    found = []
    if here.queued:
        found.append(Reason("typed while the work before was going on", -0.9))
    if _GO.match(request.lower()) and _has_been_talk(rounds, position) and _is_work(here):
        return [Reason("talk turns into work", 2.0)]
    if is_reply(request):
        found.append(Reason("an answer rather than a request", -1.2))
        return found
    if _NEXT.search(request[:200].lower()):
        found.append(Reason("the request speaks of something next", 0.9))
    if here.command:
        found.append(Reason(f"a command: {here.command}", 0.3))
    asked = set(content_words(request))
    fresh = asked - words.seen(position - _REACH, position)
    if asked:
        share = len(fresh) / len(asked)
        amount = min(1.0, len(fresh) / 10)
        found.append(Reason(f"{len(fresh)} of {len(asked)} words are new", share + amount - 0.7))
    return found


def _is_work(round: Activity) -> bool:
    return round.edits > 4 or bool(round.agents)


def _has_been_talk(rounds: Sequence[Activity], position: int) -> bool:
    """Whether nothing was changed in the last few rounds."""
    recent = rounds[max(0, position - _REACH) : position]
    return sum(round.edits for round in recent) <= len(recent)


def _of_files(rounds: Sequence[Activity], position: int) -> list[Reason]:
    before = {file for round in rounds[max(0, position - 4) : position] for file in round.files}
    after = {file for round in rounds[position : position + _REACH] for file in round.files}
    if not before or not after:
        return []
    shared = len(before & after) / min(len(before), len(after))
    return [Reason(f"{shared:.0%} of the files are the same", 0.4 - 0.8 * shared)]


def choose(candidates: Sequence[Candidate], rounds: Sequence[Activity]) -> list[Candidate]:
    """The cuts: strongest first, never next to each other, the fewer the shorter a session."""
    length = len(rounds)
    # Where nothing is ever committed, one kind of evidence is missing altogether.
    threshold = THRESHOLD if any(round.closes for round in rounds) else THRESHOLD - 0.4
    most = max(1, round(1.1 * math.sqrt(length) - 0.9))
    chosen: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (-c.score, c.position)):
        if len(chosen) >= most or candidate.score < threshold:
            break
        if all(abs(candidate.position - c.position) > 1 for c in chosen):
            chosen.append(candidate)
    return sorted(chosen, key=lambda c: c.position)
