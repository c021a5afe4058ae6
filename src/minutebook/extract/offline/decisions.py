"""Choices made in a range of rounds (UND-03); better none than a wrong one.

In this order: what the person chose when they were asked, what they told the agent to do
rather than something else, what somebody called a decision, and commits and reports that
name what was done instead of what.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from minutebook.derive.activity import Activity
from minutebook.derive.calls import Choice
from minutebook.derive.markup import without_marks
from minutebook.extract.offline.courtesies import without_courtesies
from minutebook.extract.offline.headings import first_of, is_question, is_wide, length_of, names
from minutebook.extract.offline.outcomes import as_sentence
from minutebook.extract.offline.picks import picked
from minutebook.extract.offline.texts import sentences_of, subject_of
from minutebook.extract.offline.topic_model import stems
from minutebook.extract.offline.verbs import is_imperative
from minutebook.model.engagement import MOST_DECISIONS

_MOST_WORDS = 32
_FEWEST = 5
_TYPED = 1_200  # characters of a prompt: what is longer was pasted
_ANSWER = 2_500
_NAMED_BY = 60  # characters: "Decision:" stands at the beginning
_OVERS = (
    *("instead of", "rather than", "in favor of", "in favour of", "in place of", "as opposed to"),
    *("anstatt", "statt", "au lieu de", "plutôt que", "en lugar de", "en vez de"),
    *("ではなく", "代わりに", "而不是"),
)
_OVER = f"(?:{'|'.join(_OVERS)})"
_INSTEAD = re.compile(rf"\b{_OVER}|ではなく|代わりに|而不是", re.IGNORECASE)
_CHOSEN = re.compile(
    r"^(?:(?:let['’]?s|let us|we(?:['’]ll| will| should)|i(?:['’]d| would| will|['’]ll)"
    r"|you should"
    r"|please|ok(?:ay)?|yes|no|then|so|and|just|i think we should|i['’]d suggest we)[\s,]++)*+"
    r"(?:go with|use|keep|drop|stick (?:with|to)|prefer|choose|pick(?! up)|switch to"
    r"|stay with|leave out"
    r"|(?:do not|don['’]t|never|always|only) (?:use|add|include|touch|change"
    r"|commit|push"
    r"|rely|create|support|keep|remove|show|allow|store|call)"
    r"|nimm|verwende|behalte|utilise|garde|usa|mantén|utiliza)\b",
    re.IGNORECASE,
)
_CHOOSES = re.compile(  # what `_CHOSEN` and `_INSTEAD` look for, anywhere: most sentences have none
    r"\b(?:go with|use|keep|drop|stick|prefer|choose|pick|switch|stay|leave out|do not|don['’]t"
    r"|never|always|only|nimm|verwende|behalte|utilise|garde|usa|mantén|utiliza)\b|" + _OVER,
    re.IGNORECASE,
)
_CHOICES = (  # one of them is in whatever `_CHOOSES` finds: looking is cheaper
    *("go with", "use", "keep", "drop", "stick", "prefer", "choose", "pick", "switch", "stay"),
    *("leave out", "do not", "don", "never", "always", "only", "nimm", "verwende", "behalte"),
    *("utilise", "garde", "usa", "mantén", "utiliza", *_OVERS),
)
_MEANS = re.compile(  # how to work, not what to choose
    r"\b(?:skills?|sub-?agents?|commands?|reference|examples?|mcp|worktrees?|prs?|commits?"
    r"|branch(?:es)?|tool|playwright|gh cli"
    r"|following|context|attached|screenshot)\b|^use (?:the |an? )?(?:\S+ ){1,3}to ",
    re.IGNORECASE,
)
_MADE = re.compile(  # verbs with which an agent reports what it chose
    r"^(?:i(?:['’]ve| have)? |we(?:['’]ve| have)? )?(?:chose|used|kept|switched|replaced"
    r"|deleted|dropped"
    r"|removed|left|moved|made|wrote|put|stored|renamed)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(?:decision|decided|entscheidung|décision|decisión)\s*:\s+", re.IGNORECASE)
_UNDECIDED = re.compile(  # "parked on a decision: …"
    r"\b(?:parked|pending|needs?|awaits?|awaiting|open|waits?|waiting|blocked|requires?|your)\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"^(?:so )?(?:we|i|you)(?:['’]ve| have)? (?:\w+ )?(?:decided|chose|agreed|settled|opted"
    r"|went with)\b",
    re.IGNORECASE,
)
_MAYBE = ("deci", "décision", "entscheid", "chose", "agreed", "settled", "opted", "went with")
_SWITCHED = re.compile(
    rf"\b{_OVER}|^(?:replace \S.* (?:with|by) |switch (?:from .* )?to |drop (?:support|the)\b"
    r"|use \S.* for |prefer |default to |make \S.* (?:the default|opt-in|opt-out|optional"
    r"|required))",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:would|could|might|may|maybe|perhaps|should|if|whether|option|alternatively|recommend"
    r"|suggest|consider|propose|either|want me|let me know|can you explain|i think|not sure"
    r"|wonder|something|somehow)\b",
    re.IGNORECASE,
)
_ERROR = re.compile(r"\b(?:error|failed|exception|expected|got|warning|traceback)\b", re.IGNORECASE)
_PROCEDURE = re.compile(
    r"\b(?:would you like (?:me )?to do|like to proceed|want to do|work on (?:next|now)|do next"
    r"|ready to|shall i|should i (?:proceed|continue|commit|push|start|go)|proceed\?|continue\?"
    r"|more questions|next area|move on|discuss|deliver|wait for|create it|commit|push"
    r"|which (?:\w+ )?(?:issue|todo|task|pr|phase|area|one)"
    r"|look(?:s)? (?:good|right|correct)|approve)\b",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"(?:when you|were you|did you|have you|are you|do you have|i (?:don['’]t|do not|can['’]t))\b",
    re.IGNORECASE,
)
_UNSAID = re.compile(
    r"^(?:yes|no|ok|continue|proceed|skip|work on it now|start|done|other|none"
    r"|you decide|next\b|move on)\b",
    re.IGNORECASE,
)
_SPEECH = re.compile(  # of what only the two who talk know
    r"\b(?:i['’]ll|i|i['’]m|i['’]ve|my|me|we (?:made|did|had|have)|you(?:r|['’]ve)?|the (?:others?"
    r"|rest|same|first|second|last|latter|former)|then for now|it|this|those|these|them|they|here"
    r"|there|again|each other|ich|mein\w*|du|dies\w*|andere[nr]?|je|tu|autres?|yo|eso|otros)\b",
    re.IGNORECASE,
)
_POINTED = re.compile(r"\bth(?:is|ese|ose)(?= \w)", re.IGNORECASE)
_WISH = re.compile(
    r"^i(?:['’]d| would)(?: rather| just)? (?=(?:go with|use|keep|prefer|pick|choose|drop)\b)",
    re.IGNORECASE,
)
_PICKS = re.compile(r"\b(?:version|option|variante?|approach|opción) [A-H\d]\b", re.IGNORECASE)
_FEW_NAMES = 2
_MANY_NAMES = 4
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_SELF = re.compile(r"^(?:i|we)(?:['’]ve| have)? ", re.IGNORECASE)
_POINTS = re.compile(r"^(?:\S+ ){0,2}(?:it|this|that|these|those|them)$", re.IGNORECASE)


def decisions_of(rounds: Sequence[Activity], earlier: Sequence[str] = ()) -> tuple[str, ...]:
    """Up to three choices that were made, the surest first.

    `earlier` are those of the session's earlier engagements: a choice is made once.
    """
    found: list[str] = []
    said = [set(stems(text)) for text in earlier]
    for text in _all(rounds):
        words = set(stems(text))
        if any(len(words & other) > 0.6 * min(len(words), len(other)) for other in said):
            continue  # the same, said twice
        found.append(as_sentence(text))
        said.append(words)
        if len(found) == MOST_DECISIONS:
            break
    return tuple(found)


def _all(rounds: Sequence[Activity]) -> Iterator[str]:
    for round in rounds:
        yield from filter(None, map(_answered, round.choices))
    for before, round in pairwise(rounds):
        if option := picked(before.answer, round.prompt):
            yield option
    for round in rounds:
        yield from _told(round.prompt)
    for round in reversed(rounds):
        yield from _called(round.answer)
    for round in rounds:
        yield from _committed(round)
    for round in reversed(rounds):
        yield from _reported(round.answer)


def _answered(choice: Choice) -> str | None:
    """A question put to the person, and what they chose over what."""
    if _PROCEDURE.search(choice.question) or _FACT.match(choice.question):
        return None
    if _UNSAID.match(choice.answer) or "?" in choice.answer:
        return None
    chosen = without_marks(choice.answer.replace("(Recommended)", ""))
    others = [without_marks(text.replace("(Recommended)", "")) for text in choice.others[:2]]
    question = without_marks(choice.question)
    if not chosen or length_of(chosen) > 20 or length_of(question) > _MOST_WORDS:
        return None
    # What was chosen comes first: it is what somebody looks for, and what may not be cut off.
    over = f", not {' or '.join(f'“{other}”' for other in others)}" if others else ""
    return f"“{chosen}”{over} ({question.rstrip('.: ')})"


def _told(prompt: str) -> Iterator[str]:
    """What the person told the agent to choose, in their own words."""
    if len(prompt) > 2 * _TYPED or not _chooses(prompt[:_TYPED]):
        return  # a plan or a report that was pasted, or nothing is chosen
    for sentence in sentences_of(prompt[:_TYPED])[:20]:
        if not _chooses(sentence):
            continue
        line = without_marks(sentence)
        plain = _WISH.sub("", first_of(without_courtesies(line)))
        if not _whole(plain) or is_question(plain) or _ERROR.search(plain):
            continue
        chosen = (_CHOSEN.match(line) or _CHOSEN.match(plain)) and not _MEANS.search(plain)
        ordered = _INSTEAD.search(plain) and is_imperative(plain)
        if (ordered or chosen) and not _OPEN.search(plain) and _is_clear(plain):
            yield plain


def _chooses(text: str) -> bool:
    small = text.lower()
    return any(word in small for word in _CHOICES) and _CHOOSES.search(text) is not None


def _is_clear(speech: str) -> bool:
    """Whether what somebody said is understood by those who did not hear the rest."""
    weighed = _INSTEAD.search(speech) is not None
    named = names(speech)
    if weighed and named >= _MANY_NAMES:  # "these tests of the cache" are named
        speech = _POINTED.sub("", speech)
    if _SPEECH.search(speech) or (_PICKS.search(speech) and not weighed):
        return False
    return is_wide(speech) or named >= _FEW_NAMES


def _called(answer: str) -> Iterator[str]:
    """What somebody called a decision."""
    for sentence in _having(_MAYBE, answer[:_ANSWER]):
        line = without_marks(sentence)
        mark = _NAMED.search(line[:_NAMED_BY])
        if mark and _UNDECIDED.search(line[: mark.start()]):
            continue
        rest = line[mark.end() :] if mark else line
        if (mark or _DECIDED.match(line)) and _whole(rest) and not rest.endswith(("?", ":")):
            yield rest


def _committed(round: Activity) -> Iterator[str]:
    for commit in round.commits:
        subject = without_marks(subject_of(commit.subject))
        if _whole(subject) and _SWITCHED.search(subject):
            yield subject


def _reported(answer: str) -> Iterator[str]:
    """Reports of the agent that say what it did instead of what."""
    for sentence in _having(_OVERS, answer[:_ANSWER]):
        line = _BRACKETS.sub("", without_marks(sentence))
        chosen = _MADE.match(line) and _INSTEAD.search(line)
        if chosen and _whole(line) and length_of(line) <= 26 and not _OPEN.search(line):
            yield _SELF.sub("", line)


def _having(words: Sequence[str], text: str) -> Iterator[str]:
    """Sentences with one of these words: looking is cheaper than taking them apart."""
    small = text.lower()
    found = [word for word in words if word in small]
    for sentence in sentences_of(text) if found else ():
        small = sentence.lower()
        if any(word in small for word in found):
            yield sentence


def _whole(sentence: str) -> bool:
    """Whether a sentence can be shown as it is."""
    torn = sentence.endswith((":", "…", ",")) or re.search(r"[{}<>|]|\S{60,}|, or ", sentence)
    if torn or _POINTS.match(sentence):
        return False
    return _FEWEST <= length_of(sentence) <= _MOST_WORDS
