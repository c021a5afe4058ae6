"""By which of the eleven methods a range of rounds was worked on, and why.

Words of the requests count, those of the opening request most; then what came of it:
commits that say `fix:` or `refactor:`, closing words, and what the tools did. A range in
which nothing was changed is no build, whatever was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from minutebook.derive.activity import Activity
from minutebook.extract.offline.boundaries import Reason
from minutebook.extract.offline.requests import opening_of, without_code
from minutebook.model.engagement import METHODS, Method

_LATER = 1.4  # all later requests together, against 1 for the opening one
_HEAD, _TAIL = 400, 200
_CLOSING = 800

# Words of requests. One hit a method and request: ten times "fix" is one wish.
_REQUESTS: tuple[tuple[Method, float, str], ...] = (
    ("review", 2.2, r"\breview(?:ing|ed)?\b(?! (?:comment|thread|finding|feedback))|\baudit\b"),
    ("review", 1.0, r"\bdouble[- ]check|\bvalidate\b|\bverify\b|\bsanity check"),
    ("triage", 2.2, r"\btriage\b|\bbacklog\b|\bprioriti[sz]e\b"),
    ("triage", 2.0, r"\breview (?:comment|thread|finding|feedback)|\bpr comments?\b|\bfindings\b"),
    (
        "triage",
        1.8,
        r"\b(?:high|medium|low)(?: severity\b|:|\]|\*\*)|\baddress (?:the |these )?\w* ?comments",
    ),
    (
        "debug",
        2.0,
        r"^(?:can you |could you |please |let'?s )?fix\b|\b(?:bugs?|debug|broken|crash(?:es"
        r"|ed|ing)?"
        r"|fail(?:s|ed|ing|ure|ures)?|hangs?|hanging|regression|traceback|exception|panic"
        r"|root cause|flaky|errors?)\b",
    ),
    (
        "debug",
        1.4,
        r"\b(?:doesn'?t|does not|isn'?t|not|no longer|never) (?:work|seem|show|appl|load|see"
        r"|appear)"
        r"|\bmissing\b|\bstill (?:see|get|fail|broken|happen|there|have)|\b(?:wrong|incorrect)\b"
        r"|\bfix(?:es|ed)?\b|\bissues?\b|\bwhy (?:is|are|does|do|did|am)\b|\bi (?:don'?t"
        r"|can'?t) see\b",
    ),
    (
        "reorg",
        2.0,
        r"\b(?:refactor\w*|rename\w*|reorgani[sz]\w*|restructur\w*|clean(?:ing)? ?up|tidy"
        r"|simplif\w+"
        r"|migrat\w+|extract (?:into|out)|consolidate|de-?dup\w*|duplicat\w+|squash\w*|rework\w*"
        r"|rewrite|strip|deprecate\w*|upgrade|bump|restyle|convert)\b",
    ),
    (
        "reorg",
        1.6,
        r"\b(?:remove|delete|drop|replace|get rid of|inline|move|hide|switch (?:to|from)|obsolete"
        r"|not that nested)\b",
    ),
    (
        "design",
        2.2,
        r"\b(?:brainstorm\w*|architect\w*|proposal|rfc|pros and cons|trade-?offs?|approach(?:es)?"
        r"|how (?:should|would|could|do) (?:we|i|you) (?:do|go|handle|solve|approach"
        r"|structure|model)"
        r"|what if we|i'?d suggest)\b|\bdesign(?:ing)? (?:a|an|the|how|of|for)\b|\bspecs?\b",
    ),
    (
        "plan",
        2.0,
        r"\b(?:make|write|create|draft) (?:me )?a plan\b|\broadmap\b|\bplan (?:for|out|how)\b",
    ),
    (
        "write",
        2.4,
        r"\b(?:write|draft|update|improve|add|give me|create)\b.{0,40}\b(?:docs?"
        r"|documentation|readme"
        r"|blog|post|article|changelog|description|release notes|guide|tutorial|announcement"
        r"|email)\b|\bproofread\b|\breword\b|\brephrase\b",
    ),
    (
        "deploy",
        2.2,
        r"\b(?:deploy\w*|release|publish|roll ?out|merge conflicts?|merge issues|cherry[- ]pick"
        r"|provision|get it merged|ready to merge|merge (?:it|the|this|pr|#?\d+|main))\b",
    ),
    (
        "research",
        2.0,
        r"\b(?:research|investigate|explore|compare|look into|find out|evaluate|survey"
        r"|figure out|understand (?:how|why)|what are (?:the|our|my) options)\b",
    ),
    (
        "discuss",
        1.4,
        r"^(?:what|why|how|is|are|does|did|do (?:we|i|you|they|the)|can you (?:explain|tell)"
        r"|explain"
        r"|tell me|where|which)\b",
    ),
    (
        "build",
        1.2,
        r"\b(?:add|create|implement|build|introduce|support|generate|integrate|scaffold|set up"
        r"|wire|extend|enable|start (?:the )?work|keep going|continue with|feature)\b",
    ),
    ("build", 0.8, r"\b(?:make|change|adjust|tests?|show|use)\b"),
)
# What commits and closing words say was done.
_SUBJECTS: tuple[tuple[Method, float, str], ...] = (
    ("build", 0.8, r"^feat\b|^add\b|^implement"),
    ("debug", 0.8, r"^fix\b|^bugfix|^hotfix"),
    ("reorg", 0.8, r"^refactor|^chore|^style|^rename|^remove|^simplif|^move|^clean"),
    ("write", 0.8, r"^docs?\b"),
)
_CLOSINGS: tuple[tuple[Method, float, str], ...] = (
    (
        "debug",
        1.0,
        r"\broot cause\b|\bthe (?:bug|problem|issue|culprit) (?:is|was)\b|\bwhat broke\b",
    ),
    ("debug", 0.5, r"\bfixed\b|\bthe (?:fix|bug)\b"),
    (
        "reorg",
        0.5,
        r"\b(?:renamed|removed|deleted|replaced|migrated|refactored|consolidated|squashed)\b",
    ),
    ("review", 0.9, r"\bverdict\b|\breview report\b|\bfindings\b"),
    ("build", 0.4, r"\b(?:added|implemented|created|built)\b"),
    ("deploy", 0.7, r"\bmerged\b|\bdeployed\b|\breleased\b|\bci is green\b"),
)
_COMMANDS: tuple[tuple[Method, str], ...] = (
    ("triage", r"pr-review|pr-comments|address"),
    ("review", r"review"),
    ("reorg", r"simplify|refactor|cleanup"),
    ("design", r"brainstorm|design"),
    ("plan", r"plan"),
    ("debug", r"debug|fix"),
    ("research", r"research|explore"),
    ("deploy", r"deploy|release|ship"),
)
_PASTED_TROUBLE = re.compile(
    r"\b(?:ERROR|FATAL|WARN|Traceback|panic:|npm ERR!|exit (?:code|status) [1-9]|level=)"
    r"|^\s+at \S+ \(|error(?:\[\w+\])?:|\|DEBU\||undefined:",
    re.MULTILINE,
)


def _compiled(
    table: tuple[tuple[Method, float, str], ...],
) -> tuple[tuple[Method, float, re.Pattern[str]], ...]:
    return tuple((method, weight, re.compile(words)) for method, weight, words in table)


_REQUEST_CUES, _SUBJECT_CUES, _CLOSING_CUES = (
    _compiled(_REQUESTS),
    _compiled(_SUBJECTS),
    _compiled(_CLOSINGS),
)


@dataclass
class _Ballot:
    """Votes for methods, each with its reason."""

    reasons: dict[Method, list[Reason]] = field(default_factory=lambda: {m: [] for m in METHODS})

    def vote(self, method: Method, weight: float, why: str) -> None:
        self.reasons[method].append(Reason(why, weight))

    def winner(self) -> Method:
        return max(METHODS, key=lambda method: sum(r.weight for r in self.reasons[method]))


def method_of(rounds: Sequence[Activity]) -> tuple[Method, list[Reason]]:
    """The method of a range, with what spoke for it."""
    ballot = _Ballot()
    ballot.vote("build", 0.5, "most work is building")
    opening = opening_of(rounds)
    for index, round in enumerate(rounds):
        share = 1.0 if index == opening else min(0.5, _LATER / (len(rounds) - 1))
        _hear(ballot, round, share)
        _look_back(ballot, round, 1 / len(rounds))
    _watch(ballot, rounds)
    best = ballot.winner()
    return best, sorted(ballot.reasons[best], key=lambda reason: -abs(reason.weight))


def _hear(ballot: _Ballot, round: Activity, share: float) -> None:
    """What the request says."""
    typed = without_code(round.prompt)
    request = (
        typed if len(typed) <= _HEAD + _TAIL else f"{typed[:_HEAD]}\n{typed[-_TAIL:]}"
    ).lower()
    request = request.strip()
    heard: set[Method] = set()
    if round.command:
        for method, names in _COMMANDS:
            if re.search(names, round.command.lower()):
                ballot.vote(method, 2.5 * share, f"{round.command} in round {round.number}")
                heard.add(method)
                break
    for method, weight, cue in _REQUEST_CUES:
        if method not in heard and (match := cue.search(request)):
            heard.add(method)
            ballot.vote(method, weight * share, f"'{match[0]}' asked in round {round.number}")
    if _PASTED_TROUBLE.search(round.prompt):
        ballot.vote("debug", 1.2 * share, f"trouble pasted in round {round.number}")


def _look_back(ballot: _Ballot, round: Activity, share: float) -> None:
    """What commits and closing words say."""
    for commit in round.commits[:5]:
        subject = commit.subject.lower()
        for method, weight, cue in _SUBJECT_CUES:
            if cue.search(subject):
                ballot.vote(method, weight * share, f"commit '{commit.subject}'")
                break
    closing = round.answer[:_CLOSING].lower()
    for method, weight, cue in _CLOSING_CUES:
        if match := cue.search(closing):
            ballot.vote(method, weight * share, f"'{match[0]}' answered in round {round.number}")


def _watch(ballot: _Ballot, rounds: Sequence[Activity]) -> None:
    """What the tools did."""
    edits = sum(round.edits for round in rounds)
    shells = sum(round.shells for round in rounds)
    looked = sum(round.reads + round.lookups for round in rounds)
    talk = sum(not (r.edits or r.shells or r.reads or r.agents) for r in rounds) / len(rounds)
    if edits:
        for method in ("discuss", "research", "review", "design"):
            ballot.vote(method, -min(1.2, edits / 8), f"{edits} edits")
    else:
        ballot.vote("build", -1.2, "nothing was edited")
        if not shells:
            ballot.vote("reorg", -1.0, "nothing was edited")
        if looked + shells:
            ballot.vote("research", 0.4, "only read and looked up")
    if talk > 0.6 and edits < 5:
        ballot.vote("design" if len(rounds) > 4 else "discuss", 1.4, "mostly talk")
    lookups = sum(round.lookups for round in rounds)
    if lookups > 2 and not edits:
        ballot.vote("research", 0.5, f"{lookups} lookups")
    files = [file.lower() for round in rounds for file in round.files]
    if files and all(file.endswith((".md", ".mdx", ".rst", ".txt")) for file in files):
        ballot.vote("write", 0.6, "only prose was changed")
    deploys = sum(round.deploys for round in rounds)
    if deploys:
        ballot.vote("deploy", min(2.0, 0.7 * deploys), f"{deploys} deploy commands")
    merges = sum(round.merges for round in rounds)
    if merges and edits <= 2:
        ballot.vote("deploy", 0.8, f"{merges} merges or rebases")
    if any(round.plans for round in rounds) and not edits:
        ballot.vote("plan", 1.5, "ended in a plan")
