"""What the models see of a session: named numbers for every round, and for every range of rounds.

Training and running share this module: a model file lists the names it was trained with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from minutebook.derive.activity import Activity
from minutebook.derive.times import instant
from minutebook.extract.offline import cues, method_cues
from minutebook.extract.offline.manner import manner_of, of_answers
from minutebook.extract.offline.novelty import novelties
from minutebook.extract.offline.requests import is_reply, without_code
from minutebook.extract.offline.words import Vocabulary, content_words

Features = dict[str, float]

_HEAD, _TAIL = 400, 200  # of a prompt: people say what they want first, or last
_NAMED_CHARS = 2_000
_REACH = 3  # rounds on each side that are compared
_TOOLS = ("edits", "reads", "lookups", "shells", "agents", "tests", "failures")
_NAME = re.compile(  # a plain word first: no name begins in it, and most text is such words
    r"(?:[a-z]++(?=[^\w./-]|\.\s|\Z)|\s++)++"
    r"|`([^`\n]{2,60})`"
    r"|((?=[\w-](?:[^\W_]|-){0,60}+[./_])[\w-]{1,60}(?:[./_][\w-]{1,60}){1,12}"
    r"|[a-z]{1,40}+[A-Z]\w{1,40}|#\d{1,9}|--[a-z][\w-]{1,40}"
    r"|[A-Z]{2,20}\w{0,20})"
)


def names_in(text: str) -> frozenset[str]:
    """Files, functions, flags, issue numbers: what people call by name."""
    found = (code or name for code, name in _NAME.findall(text[:_NAMED_CHARS]))
    return frozenset(name.lower().strip(".,") for name in found if name)


@dataclass(frozen=True)
class Heard:
    """A prompt, read once."""

    text: str
    """Its beginning and end in lower case, without code."""
    bare: str
    """The same without the courtesies before it."""
    reply: bool
    relations: frozenset[str]
    asks: frozenset[str]
    contents: frozenset[str]
    question: bool
    trouble: bool
    findings: bool


def hear(round: Activity) -> Heard:
    typed = cues.small(without_code(round.prompt).strip())
    text = typed if len(typed) <= _HEAD + _TAIL else f"{typed[:_HEAD]}\n{typed[-_TAIL:]}"
    courtesy = cues.COURTESY.match(text)
    bare = text[courtesy.end() :] if courtesy and courtesy.end() < len(text) else text
    asks = {method for method, cue in method_cues.REQUESTS if cue.search(text)}
    return Heard(
        text,
        bare,
        is_reply(round.prompt),
        frozenset(name for name, cue in cues.RELATIONS if cue.match(bare)),
        frozenset(asks),
        frozenset(name for name, cue in cues.CONTENTS if cue.search(text)),
        bool(cues.QUESTION.match(bare)) or bare.rstrip().endswith(cues.QUESTION_MARKS),
        cues.TROUBLE.search(round.prompt) is not None,
        cues.FINDINGS.search(round.prompt[:1_500]) is not None,
    )


class Session:
    """The rounds of a session with what is computed once for all features."""

    def __init__(self, rounds: Sequence[Activity], words: Vocabulary) -> None:
        self.rounds, self.words = rounds, words
        self.heard = [hear(round) for round in rounds]
        self.gaps = [0.0] + [_minutes(before, here) for before, here in pairwise(rounds)]
        self.usual_gap = _middle(self.gaps[1:]) if len(rounds) > 1 else 0.0
        self.closing_share = sum(round.closes for round in rounds) / max(1, len(rounds))
        self.tools = [_tools(round) for round in rounds]
        self.asked = [frozenset(content_words(heard.text)) for heard in self.heard]
        self.answered = words.answered
        self.since_close = _since(rounds)
        self.manners = [manner_of(round.answer) for round in rounds]
        self.novelties = novelties(rounds, self.asked, self.answered, words)
        self.names_asked = [names_in(round.prompt) for round in rounds]
        self.names = [
            asked
            | names_in(round.answer)
            | {file.rsplit("/", 1)[-1].lower() for file in round.files}
            for asked, round in zip(self.names_asked, rounds, strict=True)
        ]
        seen: set[str] = set()
        self.new_names = []  # of each prompt: names that were never said before
        for asked, names in zip(self.names_asked, self.names, strict=True):
            self.new_names.append(len(asked - seen))
            seen |= names


def _middle(values: Sequence[float]) -> float:
    """The median; the module that has one takes long to load."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _minutes(before: Activity, here: Activity) -> float:
    start, end = instant(here.started), instant(before.ended)
    if start is None or end is None:
        return 0.0
    return max(0.0, (start - end).total_seconds() / 60)


def _tools(round: Activity) -> tuple[float, ...]:
    return tuple(math.log1p(getattr(round, name)) for name in _TOOLS)


def _since(rounds: Sequence[Activity]) -> list[int]:
    """For every round, how many rounds ago something was committed, pushed or opened."""
    since, found = 9, []
    for round in rounds:
        found.append(min(since, 9))
        since = 1 if round.closes else since + 1
    return found


def of_cut(session: Session, position: int) -> Features:
    """What speaks for and against a cut before the round at `position` (1 and more)."""
    here, before = session.rounds[position], session.rounds[position - 1]
    heard, length = session.heard[position], len(session.rounds)
    found: Features = {
        "prompt length": math.log1p(len(here.prompt)),
        "reply": heard.reply,
        "question": heard.question,
        "trouble": heard.trouble,
        "findings": heard.findings,
        "command": here.command is not None,
        "command again": here.command is not None
        and any(r.command == here.command for r in session.rounds[max(0, position - 4) : position]),
        "queued": here.queued,
        "compacted": here.compacted or before.compacted,
        "interrupted before": before.interrupted,
        "no answer before": not before.answer.strip(),
        "question before": before.answer.rstrip().endswith(cues.QUESTION_MARKS),
        "plan before": before.plans > 0,
        "committed before": before.committing > 0,
        "pushed before": before.pushes > 0,
        "opened before": bool(before.pull_requests),
        "merged before": before.merges > 0,
        "closed before": before.closes * (1 - session.closing_share),
        "closed two before": position > 1 and session.rounds[position - 2].closes,
        "closed now": here.closes,
        "since closed": session.since_close[position],
        "closing share": session.closing_share,
        "branch": _differs(here.branch, before.branch),
        "folder": _differs(here.cwd, before.cwd),
        "gap": math.log1p(session.gaps[position]),
        "long gap": session.gaps[position] >= 20,
        "gap over usual": math.log1p(session.gaps[position]) - math.log1p(session.usual_gap),
        "second": position == 1,
        "last": position == length - 1,
        "rounds": math.log1p(length),
        "place": position / length,
    }
    for name, _ in cues.RELATIONS:
        found[f"relation {name}"] = name in heard.relations
    for name, _ in cues.CONTENTS:
        found[f"content {name}"] = name in heard.contents
    _of_activity(found, session, position)
    _of_words(found, session, position)
    _of_names(found, session, position)
    _of_methods(found, session, position)
    found |= of_answers(session.rounds, session.manners, position)
    found |= session.novelties[position]
    return {name: float(value) for name, value in found.items()}


def _differs(a: str | None, b: str | None) -> bool:
    return bool(a and b and a != b)


def _of_activity(found: Features, session: Session, position: int) -> None:
    tools = session.tools
    here, before = session.rounds[position], session.rounds[position - 1]
    for index, name in enumerate(_TOOLS):
        found[f"{name} now"] = tools[position][index]
        found[f"{name} before"] = tools[position - 1][index]
    left = _sum(tools[max(0, position - _REACH) : position])
    right = _sum(tools[position : position + _REACH])
    found["tool mix alike"] = _cosine(left, right)
    recent = session.rounds[max(0, position - _REACH) : position]
    talk = sum(round.edits for round in recent) <= len(recent)
    work = here.edits > 4 or here.agents > 0
    found["talk turns to work"] = talk and work
    found["agreed, and work begins"] = (
        talk
        and here.edits > 0
        and (
            "agrees" in session.heard[position].relations
            or "turns to work" in session.heard[position].contents
        )
    )
    found["work turns to talk"] = before.edits > 2 and not here.edits
    old = {file for r in session.rounds[max(0, position - 4) : position] for file in r.files}
    new = {file for r in session.rounds[position : position + _REACH] for file in r.files}
    both = len(old & new) / min(len(old), len(new)) if old and new else 0.0
    found["files on both sides"] = bool(old and new)
    found["files in common"] = both
    found["other files"] = bool(old and new) and not both
    heard = session.heard[position]
    asks = bool(heard.asks) and not heard.reply and len(session.asked[position]) >= 3
    bare = before.closes and not before.edits
    still = not any(round.edits for round in session.rounds[max(0, position - 2) : position])
    found["a request"] = asks
    found["a request after a commit"] = asks and before.closes
    found["a request after a bare commit"] = asks and bare
    found["only committed before"] = bare
    found["first edits"] = still and here.edits > 0
    found["a request, first edits"] = asks and still and here.edits > 0


def _of_words(found: Features, session: Session, position: int) -> None:
    words, asked = session.words, session.asked[position]
    found["alike, near"] = words.cohesion((position - 1, position), (position, position + 1))
    found["alike, wide"] = words.cohesion(
        (position - _REACH, position), (position, position + _REACH)
    )
    seen = words.seen(position - _REACH, position)
    fresh = len(asked - seen)
    found["new words"] = fresh / len(asked) if asked else 0.0
    found["many new words"] = min(1.0, fresh / 10)
    found["words of the answer before"] = _share(asked, session.answered[position - 1])
    found["words of the prompt before"] = _share(asked, session.asked[position - 1])
    found["few words"] = len(asked) < 3


def _of_names(found: Features, session: Session, position: int) -> None:
    asked, new = session.names_asked[position], session.new_names[position]
    before = frozenset[str]().union(*session.names[max(0, position - _REACH) : position])
    after = frozenset[str]().union(*session.names[position : position + 2])
    common = len(after & before)
    found["names"] = math.log1p(len(asked))
    found["names known"] = _share(asked, before)
    found["names, none known"] = bool(asked) and not asked & before
    found["names, none ever said before"] = bool(asked) and new == len(asked)
    found["new names"] = min(5, new)
    found["names in common"] = common / max(1, min(len(after), len(before)))
    found["many names in common"] = math.log1p(common)
    found["names of the round before"] = math.log1p(
        len(session.names[position] & session.names[position - 1])
    )


def _of_methods(found: Features, session: Session, position: int) -> None:
    asks = session.heard[position].asks
    recent = session.heard[max(0, position - _REACH) : position]
    known = frozenset[str]().union(*(heard.asks for heard in recent))
    for method, _ in method_cues.REQUESTS:
        found[f"asks {method}"] = method in asks
        found[f"asks {method} anew"] = method in asks and method not in known
    found["asks something new"] = bool(asks) and not (asks & known)
    found["asks nothing"] = not asks


def _share(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a) if a else 0.0


def _sum(rows: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    norm = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / norm if norm else 0.0


def of_session(rounds: int, odds: Sequence[float]) -> Features:
    """What tells how often a session is cut: its length, and the log-odds of each cut."""
    chances = sorted((logistic(odd) for odd in odds), reverse=True)
    expected = sum(chances)
    spared = -sum(math.log1p(-min(chance, 0.999)) for chance in chances)
    best = [*chances[:3], 0.0, 0.0, 0.0]
    return {
        "rounds": math.log(rounds),
        "cuts expected": expected,
        "cuts expected, log": math.log1p(expected),
        "likeliest cut": best[0],
        "second likeliest cut": best[1],
        "third likeliest cut": best[2],
        "against no cut at all": spared,
        "against no cut at all, log": math.log1p(spared),
    }


def logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-30.0 if odds > 30.0 else 30.0 if odds < -30.0 else -odds))
