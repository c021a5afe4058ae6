"""Reasons, in words a person understands."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One piece of evidence, and how much it counts."""

    what: str
    weight: float


Why = Callable[[], tuple[Reason, ...]]
"""What decided something: worked out only where somebody asks."""


# Features whose name alone says too little.
_PHRASES = {
    "alike, near": "words like those of the round before",
    "alike, wide": "words like those of the rounds before",
    "new words": "words that are new",
    "names in common": "names and files in common with the rounds before",
    "files in common": "changed files in common with the rounds before",
    "words of the prompt before": "words of the prompt before it",
    "words of the answer before": "words of the answer before it",
    "tool mix alike": "tools used as before",
    "closing share": "rounds of this session that commit or push",
    "closed before": "a commit, push or pull request just before",
    "closed two before": "a commit, push or pull request two rounds before",
    "closed now": "a commit, push or pull request in this round",
    "committed before": "a commit just before",
    "pushed before": "a push just before",
    "opened before": "a pull request just opened",
    "merged before": "a merge or rebase just before",
    "only committed before": "the round before only committed",
    "interrupted before": "the round before was interrupted",
    "question before": "the agent asked something just before",
    "plan before": "a plan was just handed over",
    "queued": "typed while the work before was going on",
    "branch": "another branch",
    "folder": "another folder",
    "long gap": "a pause of 20 minutes or more",
    "gap over usual": "a longer pause than usual",
    "reply": "an answer rather than a request",
    "question": "asks a question",
    "trouble": "failing output is pasted",
    "findings": "a reviewer's findings",
    "command": "a slash command",
    "first edits": "the first edits after talk",
    "talk": "rounds of talk alone",
    "second": "it is the second round",
    "last": "it is the last round",
    "place": "how far into the session it is",
    "asks nothing": "asks for nothing in particular",
    "alike, far": "words like those of all the work before",
    "halves alike": "what follows has words like those of all the work before",
    "new files": "files not looked at before",
    "new files ahead": "files not looked at before, in the next rounds",
    "only new files": "no file that was looked at before",
    "words of a first prompt": "worded like the first prompt of a session",
    "files come back": "files of the work before come back",
}
# Features that are logarithms, of counts and of minutes.
_COUNTS = (
    "edits", "reads", "lookups", "shells", "agents", "tests", "failures", "deploys", "committing",
    "pushes", "merges", "plans", "files", "rounds", "calls", "names", "prompt length",
    "answer length", "opening length", "many names in common", "names of the round before",
)  # fmt: skip
_UNITS = {"shells": "shell commands", "agents": "subagents", "committing": "commits"}


def worded(name: str, value: float) -> str:
    """A feature of this value, for a person to read."""
    if name == "gap":
        return f"a pause of {math.expm1(value):.0f} min"
    counted, _, when = name.partition(" ")
    if name in _COUNTS or (counted in _COUNTS and when in ("now", "before")):
        return f"{_unit(name)}: {math.expm1(value):.0f}"
    phrase = _phrase(name)
    if value == 0:
        return f"no sign of: {phrase}"
    return phrase if value == 1 else f"{phrase}: {value:.2g}"


def _unit(name: str) -> str:
    if name.endswith("length"):
        return f"characters of the {name.removesuffix(' length')}"
    counted, _, when = name.partition(" ")
    return f"{_UNITS.get(counted, counted)} {when}".strip()


def _phrase(name: str) -> str:
    if name in _PHRASES:
        return _PHRASES[name]
    kind, _, rest = name.partition(" ")
    if name.startswith(("answer: ", "answer before: ")):
        whose, _, how = name.partition(": ")
        return f"the {whose} it: {how}" if whose.endswith("before") else f"the {whose}: {how}"
    if kind in ("relation", "content"):
        return f"the prompt {rest}"
    if kind == "asks":
        return f"the prompt asks for {rest}".replace("for something", "something")
    if name.startswith("opening asks"):
        return f"the opening request asks for {rest.removeprefix('asks ')}"
    if kind == "later":
        return f"later requests ask for {rest.removeprefix('asks ')}"
    if kind == "commits":
        return f"commit subjects of {rest}"
    if kind == "command":
        return f"a command for {rest}"
    if kind == "answers" or name.startswith("last answer"):
        return f"closing words of {name.rsplit(' ', 1)[-1]}"
    return name
