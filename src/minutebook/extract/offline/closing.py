"""What came of a range of rounds: decisions and outcome, from its words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.offline.requests import sentences
from minutebook.model.engagement import MOST_DECISIONS

_OUTCOME_WORDS = 40
_DECISION_WORDS = 30
_DECISION_CHARS = 2_000  # of an answer: what was settled is said early
_MARKUP = re.compile(
    r"\*\*|__|^#{1,6}[ \t]+|^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+|^[ \t]*\|.*\|[ \t]*$|^-{3,}$",
    re.MULTILINE,
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
