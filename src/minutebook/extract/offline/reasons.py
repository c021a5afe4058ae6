"""Reasons, in words a person understands.

The models weigh hundreds of signs, most of them a little. Signs of one kind that speak for the
same thing are one reason, which names the strongest: so no weight is left untold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Reason:
    """One piece of evidence, and how much it counts."""

    what: str
    weight: float


Why = Callable[[], tuple[Reason, ...]]
"""What decided something: worked out only where somebody asks."""

USUAL = "what is usual, whatever the signs"
"""The score of an average case: every sign counts by how far it is from the average."""
_NAMED = 3  # signs of a reason
_ABSENT = "not there"
_WORDS, _ASKED, _SAID = "words", "what was asked", "the answers"

# The kind of a sign, by how its name begins; the first that fits.
_KINDS = (
    (
        r"(?:last )?answer|(?:no|short) answer$|ends with|a question (?:near|,)|announces|waits",
        _SAID,
    ),
    (r"offers|reports|last words|speaks|a service", _SAID),
    (r"alike|halves|more like|like what|(?:many )?(?:new )?(?:words|names)", "words in common"),
    (r".*\b(?:files|folders)\b|changes what", "files"),
    (r"(?:gap.*|long gap|branch|folder|second|last|rounds|single round|place)$", "time and place"),
    (r"prompt|opening (?!before)|later|relation|content|asks|command|a request|few words", _ASKED),
    (r"reply|questions?$|trouble|findings|queued", _ASKED),
    (r"", "what was done"),
)

_METHODS = {
    "review": "review",
    "triage": "triage",
    "debug": "debugging",
    "reorg": "reorganising",
    "design": "design",
    "plan": "planning",
    "write": "writing",
    "deploy": "deployment",
    "research": "research",
    "discuss": "discussion",
    "build": "building",
}

# Signs whose names do not follow a rule, as nouns.
_PHRASES = {
    "alike, near": "words like those of the round before",
    "alike, wide": "words like those of the rounds before",
    "alike, far": "words like those of all the work before",
    "halves alike": "words in common between all that follows and all before",
    "more like what follows": "words more like what follows than what came before",
    "like what follows": "words like those of what follows",
    "new words": "words that are new",
    "names known": "names that the rounds before have",
    "names, none known": "names, none of them in the rounds before",
    "names, none ever said before": "names that were never said before",
    "names in common": "names and files in common with the rounds before",
    "files in common": "changed files in common with the rounds before",
    "files on both sides": "changed files before and after",
    "other files": "changed files before and after, all different",
    "words of the prompt before": "words of the prompt before it",
    "words of the answer before": "words of the answer before it",
    "words said before": "words that were said before",
    "words of a first prompt": "words like those of a session's first prompt",
    "tool mix alike": "tools used as before",
    "closing share": "rounds of this session that commit or push",
    "since closed": "rounds since the last commit, push or pull request",
    "closed before": "a commit, push or pull request just before",
    "closed two before": "a commit, push or pull request two rounds before",
    "closed now": "a commit, push or pull request in this round",
    "committed before": "a commit just before",
    "pushed before": "a push just before",
    "opened before": "a pull request opened just before",
    "merged before": "a merge or rebase just before",
    "only committed before": "a round before that only committed",
    "interrupted before": "an interruption of the round before",
    "no answer before": "a round before without an answer",
    "question before": "a question of the agent just before",
    "plan before": "a plan handed over just before",
    "plan two before": "a plan handed over two rounds before",
    "plan now": "a plan handed over in this round",
    "plan handed over": "a plan handed over",
    "plan, nothing edited": "a plan handed over, and nothing edited",
    "queued": "a prompt typed while the work before was going on",
    "compacted": "a compaction of the context",
    "branch": "another branch",
    "folder": "another folder",
    "long gap": "a pause of 20 minutes or more",
    "gap over usual": "a pause longer than usual",
    "reply": "an answer rather than a request",
    "question": "a question",
    "questions": "questions",
    "opening question": "a question in the opening request",
    "trouble": "pasted failures",
    "opening trouble": "pasted failures in the opening request",
    "prompt with trouble": "pasted failures in the last prompt",
    "findings": "a reviewer's findings",
    "opening findings": "a reviewer's findings in the opening request",
    "command": "a slash command",
    "command again": "the slash command of a round before",
    "opening command": "a slash command as the opening request",
    "a request, first edits": "a request with the first edits after talk",
    "first edits": "the first edits after talk",
    "talk": "rounds of talk alone",
    "talk turns to work": "a turn from talk to work",
    "work turns to talk": "a turn from work to talk",
    "agreed, and work begins": "an agreement with which work begins",
    "second": "a place right after the first round",
    "last": "a place at the end of the session",
    "single round": "a single round",
    "place": "a late place in the session",
    "no answer": "a missing answer",
    "short answer": "a short answer",
    "asks nothing": "a prompt that asks for nothing in particular",
    "asks something new": "words that ask for another kind of work",
    "looked into it before": "a long look without changes just before",
    "looked into it before, edits now": "edits after a long look without changes",
    "looks at files": "files looked at",
    "looks at files soon": "files looked at in the next rounds",
    "new files": "files not looked at before",
    "new files ahead": "files not looked at before, in the next rounds",
    "only new files": "none but new files",
    "files come back": "files of the work before that come back",
    "new folders ahead": "new folders in the next rounds",
    "only new folders": "none but new folders",
    "changes what was not looked at before": "changes of files not looked at before",
    "the person was asked": "a question put to the person",
    "the person was asked before": "a question put to the person just before",
    "tasks before": "tasks in the round before",
    "no calls": "rounds without tool calls",
    "share of prose files": "prose among the files",
    "share of test files": "tests among the files",
    "share of settings files": "settings among the files",
    "only prose files": "none but prose files",
    "edits per file": "edits for each file",
    "interrupted": "an interruption",
    "interrupted, nothing committed": "an interruption, and nothing committed",
    "ends with a question": "an answer that ends with a question",
    "a question, nothing committed": "a question at the end, and nothing committed",
    "last words report a result": "last words that report a result",
    "last words speak of failure": "last words that speak of failure",
    "a service complains": "a complaint of the service",
    "ends with a list": "an answer that ends with a list",
    "committed": "a commit at the end",
    "committed in the range": "a commit somewhere in it",
    "edited, not committed": "edits that were not committed",
    "nothing done": "a round in which nothing was done",
    "prompt is a question": "a last prompt that is a question",
    "prompt is a reply": "a last prompt that is an answer",
    "prompt takes back": "a last prompt that takes it back",
}
# Signs that are logarithms, of counts and of minutes, with a noun and where its plural ends.
_COUNTS = {
    "edits": "edit*",
    "reads": "read*",
    "lookups": "web lookup*",
    "shells": "shell command*",
    "agents": "subagent*",
    "tests": "test run*",
    "failures": "failure*",
    "deploys": "deployment*",
    "committing": "commit*",
    "pushes": "push*",
    "merges": "merge*",
    "plans": "plan*",
    "files": "file*",
    "rounds": "round*",
    "calls": "tool call*",
    "names": "name*",
    "words never said": "word* never said before",
    "many new files": "new file*",
    "many known files": "known file*",
    "many new files ahead": "new file* in the next rounds",
    "many new tasks": "new task*",
    "prompt length": "character* in the prompt",
    "answer length": "character* in the answer",
    "opening length": "character* in the opening request",
    "many names in common": "name* in common with the rounds before",
    "names of the round before": "name* of the round before",
    "answer: length": "character* in the answer",
    "answer before: length": "character* in the answer before",
    "answer: question marks": "question mark* in the answer",
    "answer before: question marks": "question mark* in the answer before",
}
_WHEN = {"now": " in this round", "before": " in the round before"}
_HAS = re.compile(r"(?:headings|a table|a list|much in bold|code)$")  # the rest is what it does
_HEARD = re.compile(r"(relation|content|opening) (?!asks (?:mostly )?[a-z]+$)(.+)")
_ASKS = re.compile(r"(asks|opening asks mostly|opening asks|later asks) (\w+)( anew)?$")
_SPEAKS = re.compile(r"(command|commits|answers|last answer) (\w+)$")
_FORMS = {
    "asks": "words that ask for {}",
    "opening asks": "an opening request for {}",
    "opening asks mostly": "an opening request for hardly anything but {}",
    "later asks": "later requests for {}",
    "command": "a slash command for {}",
    "commits": "commits that speak of {}",
    "answers": "answers that speak of {}",
    "last answer": "answers that speak of {}",
}
_SENTENCES = re.compile(r"announces more|waits for something|offers more|reports a result|speaks ")


def grouped(found: Iterable[tuple[str, float | None, float]]) -> tuple[Reason, ...]:
    """Reasons of signs with their values and weights, strongest first; all weight is in them.

    Signs of one kind that speak for the same thing are one reason, and so are those that are not
    there. What has a value of None is in words already.
    """
    weights: dict[str, float] = {}
    kinds: dict[str, str] = {}
    for name, value, weight in found:
        what = name if value is None else worded(name, value)
        weights[what] = weights.get(what, 0.0) + weight
        if value != 0:
            kinds[what] = _WORDS if value is None else _kind(name)
    groups: dict[tuple[str, bool], list[tuple[float, str]]] = {}
    for what, weight in weights.items():
        if weight:
            key = (kinds.get(what, _ABSENT), weight > 0)
            groups.setdefault(key, []).append((weight, what))
    reasons = (_reason(kind, group) for (kind, _), group in groups.items())
    return tuple(sorted(reasons, key=lambda reason: (-abs(reason.weight), reason.what)))


@cache
def _kind(feature: str) -> str:
    return next(kind for begins, kind in _KINDS if re.match(begins, feature))


def _reason(kind: str, group: list[tuple[float, str]]) -> Reason:
    """One reason for several signs: the strongest are named, the others counted."""
    ordered = sorted(group, key=lambda one: (-abs(one[0]), one[1]))
    named = [what for _, what in ordered[:_NAMED]]
    more = len(ordered) - len(named)
    told = "; ".join(named) + (f"; and {more} weaker" if more else "")
    lead = "" if kind == _WORDS else f"{kind}: "
    return Reason(lead + told, sum(weight for weight, _ in ordered))


def worded(name: str, value: float) -> str:
    """A sign of this value, as a noun, for a person to read."""
    if name == "gap":
        return "a pause" if value == 0 else f"a pause of {math.expm1(value):.0f} min"
    counted, _, when = name.rpartition(" ")
    if name in _COUNTS:
        return _counted(name, round(math.expm1(value)))
    if counted in _COUNTS and when in _WHEN:
        return _counted(counted, round(math.expm1(value))) + _WHEN[when]
    phrase = _phrase(name)
    if value == 0:
        return phrase.removeprefix("any ")
    # Of answers there are two signs for each method, of the last one and of all: they are one.
    return phrase if value == 1 or _SPEAKS.match(name) else f"{phrase} ({value:.2g})"


def _counted(name: str, count: int = 0) -> str:
    """``3 edits``, ``1 push``; without a number where there is none."""
    noun = _COUNTS[name]
    many = noun.replace("*", "es" if "sh*" in noun else "s")
    return many if count == 0 else f"{count:,} {noun.replace('*', '') if count == 1 else many}"


@cache
def _phrase(name: str) -> str:
    if name in _PHRASES:
        return _PHRASES[name]
    if match := _ASKS.match(name):
        form, method, anew = match.groups()
        told = _FORMS[form].format(_METHODS[method])
        return f"{told}, as none just before" if anew else told
    if match := _SPEAKS.match(name):
        return _FORMS[match[1]].format(_METHODS[match[2]])
    if name.startswith(("answer: ", "answer before: ")):
        whose, _, how = name.partition(": ")
        whose = "an answer" if whose == "answer" else "an answer just before"
        return f"{whose} with {how}" if _HAS.match(how) else f"{whose} that {how}"
    if match := _HEARD.match(name):
        return f"{'an opening request' if match[1] == 'opening' else 'a prompt'} that {match[2]}"
    if name.startswith("any "):
        return f"any {_counted(name.removeprefix('any '))}"
    if name.startswith("share of "):
        return f"{_counted(name.removeprefix('share of '))} among the tool calls"
    return f"an answer that {name}" if _SENTENCES.match(name) else name
