"""How an answer reads: what an agent says at length, under headings and in tables, ends something
larger than what it says in a line."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.offline import cues, phase_cues

Manner = dict[str, float]

_BEGINNING, _ENDING = 800, 500
_WEIGHED = 2_000
_LONG = 800  # characters
_SEVERAL = 3  # calls: something was looked into
_ITEM = re.compile(r"^(?:- |\* |1[.)] )", re.MULTILINE)
_HEADING = re.compile(r"^#", re.MULTILINE)
_OPTIONS = cues.holds(
    r"option [a-d1-4]|recommend\w*|empfehl\w*|empfiehlt|recommand\w*|recomiend\w*|recomend\w*",
    r"おすすめ|推奨|选项|推荐|建议",
)


def manner_of(answer: str) -> Manner:
    """Form and kind of an answer."""
    answer = answer.strip()
    beginning, ending = cues.small(answer[:_BEGINNING]), cues.small(answer[-_ENDING:])
    reports = phase_cues.REPORTS.search(beginning) is not None
    asks = answer.endswith(cues.QUESTION_MARKS)
    found = {
        "length": math.log1p(len(answer)),
        "reports": reports,
        "reports at the end": phase_cues.REPORTS.search(ending) is not None,
        "reports, asks nothing": reports and not asks,
        "offers more": phase_cues.OFFERS.search(ending) is not None,
        "speaks of failure": phase_cues.FAILS.search(beginning) is not None,
        "announces more": phase_cues.announces(ending),
        "weighs options": _OPTIONS.search(cues.small(answer[:_WEIGHED])) is not None,
        "asks": asks,
        "question marks": math.log1p(answer.count("?") + answer.count("？")),
        "headings": _HEADING.search(answer) is not None,
        "a table": "\n|" in answer,
        "a list": len(_ITEM.findall(answer)) > 1,
        "much in bold": answer.count("**") > 5,
        "code": "```" in answer,
    }
    return {name: float(value) for name, value in found.items()}


def looked_into(round: Activity) -> bool:
    """Whether a round looked into something at length and changed nothing."""
    calls = round.reads + round.shells + round.agents
    return not round.edits and calls > _SEVERAL and len(round.answer.strip()) > _LONG


def of_answers(
    rounds: Sequence[Activity], manners: Sequence[Manner], position: int
) -> dict[str, float]:
    """What the answers before and after a cut tell of it."""
    here, before = rounds[position], rounds[position - 1]
    found = {f"answer before: {name}": value for name, value in manners[position - 1].items()}
    found |= {f"answer: {name}": value for name, value in manners[position].items()}
    looked = looked_into(before)
    found["looked into it before"] = float(looked)
    found["looked into it before, edits now"] = float(looked and here.edits > 2)
    return found
