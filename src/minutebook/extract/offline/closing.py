"""How a range of rounds ended: phase, decisions, outcome, from its last words and deeds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.offline.boundaries import Reason
from minutebook.extract.offline.requests import sentences
from minutebook.model.engagement import MOST_DECISIONS, Phase

_OUTCOME_WORDS = 40
_DECISION_WORDS = 30
_DECISION_CHARS = 2_000  # of an answer: what was settled is said early
_MARKUP = re.compile(
    r"\*\*|__|^#{1,6}[ \t]+|^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+|^[ \t]*\|.*\|[ \t]*$|^-{3,}$",
    re.MULTILINE,
)

_UNFINISHED = re.compile(r"(?::|…|\blet me [^.?!]{0,200}[.:]?)$", re.IGNORECASE)
_BLOCKED = re.compile(
    r"\b(?:blocked (?:on|by)|waiting (?:for|on) (?:you|your|the user|access|approval)"
    r"|can(?:'|no)t (?:proceed|continue) (?:until|without)|need(?:s)? your (?:input|approval"
    r"|access|password)"
    r"|hit (?:your|the) (?:usage|rate) limit)\b",
    re.IGNORECASE,
)
_HANDED = re.compile(r"\bhand(?:ed)?[- ]?(?:off|over)\b", re.IGNORECASE)
_DROPPED = re.compile(
    r"\b(?:revert(?: the| all| your| those| these)?|undo|roll back|throw (?:it|that) away"
    r"|scrap|forget (?:it|that|about)"
    r"|never ?mind|abandon)\b",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(r"\bAPI Error\b|Please run /login|usage limit reached")
_ASKED_FOR = re.compile(
    r"\blet'?s (?:use|go with|keep|make|drop|not)\b|\bgo with\b|\buse \S+ instead\b"
    r"|\bi(?:'d| would)? (?:want|prefer|rather)\b|\b(?:we|i|you) (?:do not|don'?t) (?:want|need)\b"
    r"|\bno need (?:for|to)\b"
    r"|\binstead of\b|\brather than\b|\b(?:must|should) (?:not|never|always)\b",
    re.IGNORECASE,
)
_STATED = re.compile(r"\b(?:decision|decided)[*_]{0,2}:[*_]{0,2}\s+", re.IGNORECASE)
_DECIDED = re.compile(
    r"\b(?:we|i|you) (?:\w+ )?(?:decided|chose|agreed|settled|opted|went with|kept)\b"
    r"|\bdecided to\b"
    r"|\bsettled on\b|\bagreed (?:on|to|that)\b|\bopted for\b|\bdeliberately\b|\bon purpose\b"
    r"|\binstead of\b|\brather than\b",
    re.IGNORECASE,
)


def phase_of(
    rounds: Sequence[Activity], following: Activity | None, *, last: bool
) -> tuple[Phase, Reason]:
    """In which phase a range ended; `following` is the round after it."""
    final = rounds[-1]
    answer = final.answer.strip()
    if following is not None and _DROPPED.search(following.prompt[:200]):
        return "abandoned", Reason("what follows takes it back", 1.0)
    if not last:
        return "completed", Reason("other work follows", 1.0)
    if _HANDED.search(final.command or "") or _HANDED.search(final.prompt[:80]):
        return "handed-off", Reason("it ends with a hand-over", 1.0)
    if _BLOCKED.search(answer[-600:]):
        return "blocked", Reason("the last words wait for something", 1.0)
    if final.interrupted and not final.closes:
        return "in-progress", Reason("the last round was interrupted", 1.0)
    if not answer:
        phase: Phase = "started" if len(rounds) == 1 else "in-progress"
        return phase, Reason("the last request has no answer", 1.0)
    if _UNFINISHED.search(answer):
        return "in-progress", Reason("the last words announce more", 1.0)
    if answer.endswith("?") and not final.closes:
        return "in-progress", Reason("it ends with an open question", 1.0)
    return "completed", Reason("the last words report a result", 1.0)


def outcome_of(rounds: Sequence[Activity]) -> str:
    """One sentence on what came of a range: the opening of its last substantial answer."""
    for round in reversed(rounds):
        for sentence in sentences(plain(round.answer)):
            if len(sentence.split()) >= 4 and not _COMPLAINT.search(sentence):
                return _sentence(sentence, _OUTCOME_WORDS)
    return ""


def decisions_of(rounds: Sequence[Activity]) -> tuple[str, ...]:
    """Up to three sentences in which something was settled, the person's own words first."""
    found = dict.fromkeys(_stated(rounds))
    said = [(round.prompt, _ASKED_FOR) for round in rounds]
    said += [(plain(round.answer[:_DECISION_CHARS]), _DECIDED) for round in reversed(rounds)]
    for text, cue in said:
        for sentence in sentences(text)[:30]:
            length = len(sentence.split())
            statement = 5 <= length <= 2 * _DECISION_WORDS and not sentence.endswith("?")
            if statement and cue.search(sentence):
                found[_sentence(sentence, _DECISION_WORDS)] = None
                break  # one a message: the next sentence mostly explains the first
        if len(found) >= MOST_DECISIONS:
            break
    return tuple(found)[:MOST_DECISIONS]


def _stated(rounds: Sequence[Activity]) -> Iterator[str]:
    """What somebody called a decision, newest first."""
    for round in reversed(rounds):
        for text in (round.answer[:_DECISION_CHARS], round.prompt[:_DECISION_CHARS]):
            for sentence in sentences(plain(text)):
                mark = _STATED.search(sentence)
                rest = sentence[mark.end() :] if mark is not None else ""
                if len(rest.split()) >= 3 and not rest.endswith("?"):
                    yield _sentence(rest, _DECISION_WORDS)


def plain(text: str) -> str:
    """Markdown's marks taken off."""
    return _MARKUP.sub("", text)


def _sentence(text: str, words: int) -> str:
    kept = text.split()
    short = " ".join(kept[:words]).strip(" ,;:-*")
    short = short + "…" if len(kept) > words else short.rstrip(".") + "."
    return short[:1].upper() + short[1:]
