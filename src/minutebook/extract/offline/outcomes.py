"""What came of a range of rounds, in one whole sentence (UND-04).

The sentence of the closing answers that reports a result; else what was committed or opened;
else what was changed. A question, an offer, a bare "Done." or a tool's status is no outcome.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from minutebook.derive.activity import Activity
from minutebook.derive.markup import without_marks
from minutebook.derive.wording import plural
from minutebook.extract.offline.candidates import sentences_of, subject_of, touched
from minutebook.extract.offline.headings import capital, is_wide, length_of, names
from minutebook.extract.offline.requests import is_reply
from minutebook.extract.offline.topic_model import stems
from minutebook.extract.offline.verbs import is_imperative, is_report

MOST_WORDS = 40
_FEWEST = 5
_FEWEST_NAMES = 2
_ANSWERS = 5  # closing answers that are looked at, the last first
_AGES = 0.25  # what a sentence is worth less for each answer after its own
_MOST_VALUE = 1.8  # of a sentence that is the first of the last answer
_SENTENCES = 14
_GOOD = 1.0  # a sentence that reports a result is worth this much
_FAIR = 0.6
_POOR = 0.35

_RESULT = re.compile(
    r"\b(?:no longer|(?:is|are|was|were|has been|have been)(?: now| all| fully| \w+ly){0,2} "
    r"(?:fixed|done|complete|completed|implemented|live|in place|resolved|added|removed|updated"
    r"|renamed|moved|replaced|created|merged|opened|deleted|pushed|committed|addressed|reverted|applied"
    r"|released|deployed|rewritten|split|closed|wired|documented|covered|supported)"
    r"|now (?!i\b|we\b|you\b|let)[a-z]+(?:s|ed)?)\b",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"\b(?:root cause|the (?:issue|problem|bug|reason|cause) (?:is|was)|because|turns out|verdict"
    r"|found (?:that|the|it)|confirmed|the answer|in short|bottom line|yes\b|no\b)",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"^(?:let me|let['’]s|i['’]ll|i will|i am going|i['’]m going|now (?:let|i)|next|first|want me"
    r"|would you|do you|shall|should i|say the word|tell me|if you|feel free|happy to|i can\b"
    r"|you can"
    r"|you could|ready to|to (?:use|run|test|try)|run |try |here['’]s|here is|here are"
    r"|the following"
    r"|note|what|why|how|one (?:thing|caveat|note)|good (?:question|catch|point)|great|sure|got it"
    r"|thanks|sorry|you['’]re|i see|understood|not stuck|waiting|still|checking|looking|i need"
    r"|(?:creat|start|runn|fetch|read|us|work|launch|spawn|delegat|proceed)ing\b|now you"
    r"|the remaining|remaining"
    r"|fetch|get |check |grab |pull |search|analysis phase|already (?:handled|done)"
    r"|correct\b|i was|please|before |once |when |as (?:you|i)|api error|no response"
    r"|this session|continue|stop|only\b|ci should|captures\b|[\"“”]|\S+ should )",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\b(?:i['’]ll|i will|want me to|would you like|let me know|shall i|should i"
    r"|if you(?:['’]d)? (?:want|like|prefer)"
    r"|please run /login|usage limit|api error)\b",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"^(?:(?:all |everything |both )?(?:done|fixed|committed|pushed|merged|complete[d]?|ready"
    r"|updated"
    r"|clean|green|good|passing|perfect|amended|applied|saved)(?: and \w+)?\b.{0,12}$"
    r"|(?:successfully |all |fixed and )?(?:committed|pushed|amended|rebased|merged)\b.{0,60}$"
    r"|commit\b.{0,40}$"
    r"|(?:all |the )?(?:\d[\d,]* )?(?:unit |e2e |integration )?(?:tests?|checks?|lint(?:ing)?"
    r"|build|ci|typecheck)\b"
    r".{0,50}\b(?:pass\w*|clean|green|succe\w+|done)\b.{0,30}$"
    r"|(?:the )?(?:working tree|branch|worktree|repo|tree) is (?:now )?(?:\d+ )?(?:clean"
    r"|up to date|ahead)"
    r"|pr (?:created|opened|updated|is up)\b.{0,80}$|created (?:a |the )?(?:new )?branch\b)",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\W*(?:ok(?:ay)?|yes|now|then|please|can you|could you|great|perfect|let['’]?s|and|no,?|just"
    r"|[, ])*(?:git )?(?:commit|push|merge|rebase|open a pr|create a pr|make a pr)\b.{0,40}$",
    re.IGNORECASE | re.DOTALL,
)
_AT_END = re.compile(r"(?: (?:at|in|to|with|by|for|both|as follows|the following|these))*\s*:$")
_TORN = re.compile(r"[:…]$|\.\.\.$|^[a-z(,;]|[{}<>|]|→|\b(?:above|below)\.?$")
_UNCLEAR = re.compile(
    r"^(?:it|its|it['’]s|this|that|that['’]s|these|those|they|so|but|and|also|which|same|both"
    r"|one)\b",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(r"\b(?:i['’]d|you should|should|would|could|might)\b", re.IGNORECASE)
_OBJECT = re.compile(r"^\w+ (?:it|them|this|that|these|those)\b", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:(?:hm+|ok(?:ay)?|great|perfect|alright|excellent|so|and|good)[,.! ]+"
    r"|(?:done|fix(?:ed)?|summary|results?|outcome|verdict|complete|committed|pushed|updated"
    r"|tl;dr)\b"
    r"[^.!:—–-]{0,40}[.!:—–-]+\s+)+(?=\S+ \S+ \S+)",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"^(?:i|we)(?:['’]ve| have)? (?:now |also |just |\w+ly |already )*(?=[a-z])",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:earlier|flagged|mentioned|as (?:you|i) (?:said|asked)|you can see|system reminder)\b"
)
_ASIDE = re.compile(r"\s*\([^()]*\b(?:you|see|above|below)\b[^()]*\)")
_LINE = re.compile(r"(?<=\.[a-z]{2})((?:[a-z]{0,3})):\d+(?:[-–]\d+)?")
_FAULT = re.compile(
    r"^(?:bug|problem|issue|cause|root cause|error|before|after|why)\b[^.]{0,20}[:—–]",
    re.IGNORECASE,
)
_LABELS = (" — ", " – ", ": ", " - ")
_MINOR = frozenset("verified tested updated created confirmed checked reviewed set split".split())
_CHORE = re.compile(
    r"^(?:start work|update (?:state|changelog|readme|status)|wip\b|bump|merge\b|fixup|format"
    r"|init(?:ial commit)?$|gofmt|lint)",
    re.IGNORECASE,
)


def outcome_of(rounds: Sequence[Activity]) -> str:
    """One sentence on what came of a range; empty where nothing did."""
    opened = [title for round in rounds for title in round.pull_titles]
    if opened:
        return as_sentence(f"Opened a pull request: {_subject(opened[-1])}")
    worked = any(r.edits or r.committing or r.pull_requests for r in rounds)
    about = _asked(rounds)
    best, worth = _best(rounds, about, worked)
    told = as_sentence(_subjectless(best))
    if worth >= _GOOD and (is_report(told) or _RESULT.search(told)):
        return told
    settled = _settled(rounds, about)
    if settled or worth < (_FAIR if worked else _POOR):
        return settled or _changed(rounds)
    return told


def _best(rounds: Sequence[Activity], about: frozenset[str], worked: bool) -> tuple[str, float]:
    """The sentence of the closing answers that reports a result best, and what it is worth."""
    answered = [r for r in reversed(rounds) if r.answer.strip()]
    # What is said of a commit or a push is the state of the branch, not of the work.
    work = [r for r in answered if not _CLOSING.match(r.prompt)] or answered
    best, worth = "", 0.0
    for age, round in enumerate(work[:_ANSWERS]):
        for place, said in enumerate(sentences_of(round.answer)[:_SENTENCES]):
            rank = _AGES * age + 0.05 * place
            if worth >= _MOST_VALUE - rank:
                break  # nothing that follows in this answer can be worth more
            sentence = _plain(without_marks(said))
            value = _value(sentence, rank, about, worked) if _is_fit(sentence) else 0.0
            if value > worth and _stands(sentence):
                best, worth = sentence, value
    return best, worth


def _asked(rounds: Sequence[Activity]) -> frozenset[str]:
    """Words of what was asked for and committed: a result speaks of it."""
    asked = [r.prompt[:600] for r in rounds if not is_reply(r.prompt)][:4]
    subjects = [commit.subject for r in rounds for commit in r.commits[:4]]
    return frozenset(stems(" ".join([*asked, *subjects])))


def _plain(sentence: str) -> str:
    """A sentence without the "Done." or "Fixed:" it begins with, asides and line numbers."""
    text = _LINE.sub(r"\1", _ASIDE.sub("", _LEAD.sub("", sentence)))
    _, _, rest = text.partition(next((mark for mark in _LABELS if mark in text[:60]), "\0"))
    text = rest if is_report(_SELF.sub("", rest)) else text
    if text.endswith(":") and is_report(_SELF.sub("", text)):
        return _AT_END.sub("", text)  # it goes on in a list
    return text


def _is_fit(sentence: str) -> bool:
    """Whether a sentence has the length of one, and asks nothing."""
    return _FEWEST <= length_of(sentence) <= MOST_WORDS and not sentence.endswith(("?", "？"))


def _stands(sentence: str) -> bool:
    """Whether a sentence is whole, plain, and says something."""
    refused = (_REFUSED.match(sentence), _OFFER.search(sentence), _STATUS.match(sentence))
    if any(refused) or _TORN.search(sentence) or _BACK.search(sentence):
        return False
    if not is_wide(sentence) and names(sentence) < _FEWEST_NAMES:
        return False
    if sentence.count('"') % 2 or sentence.count("(") != sentence.count(")"):
        return False
    letters = sum(c.isalpha() or c.isspace() for c in sentence)
    return letters >= 0.75 * len(sentence)


def _value(sentence: str, rank: float, about: frozenset[str], worked: bool) -> float:
    words = set(stems(sentence))
    value = 0.5 - rank + 0.08 * min(len(words & about), 6)
    told = _SELF.sub("", sentence)
    if is_imperative(told) and not is_report(told):
        value -= 0.5  # advice
    if is_report(told):
        value += 0.4 if told.split(maxsplit=1)[0].lower() in _MINOR else 0.8
    elif _RESULT.search(sentence):
        value += 0.5
    elif _FOUND.search(sentence):
        value += 0.2 if worked else 0.5
    if _FAULT.match(sentence):
        value -= 0.5
    if _HYPOTHETICAL.search(sentence):
        value -= 0.4
    if _UNCLEAR.match(sentence) or _OBJECT.match(told):
        value -= 0.5
    if length_of(sentence) < 7:
        value -= 0.2
    return value


def _subjectless(sentence: str) -> str:
    """Minutes say "Added a flag", not "I've added a flag"."""
    told = _SELF.sub("", sentence)
    return told[:1].upper() + told[1:] if is_report(told) else sentence


def _settled(rounds: Sequence[Activity], about: frozenset[str]) -> str:
    """What was committed, as a sentence."""
    subjects = list(dict.fromkeys(c.subject for r in rounds for c in r.commits))
    if subjects:
        told = [_subject(subject) for subject in subjects]
        telling = [text for text in told if not _CHORE.match(text)]
        if not telling:
            return ""
        best = max(telling, key=lambda text: len(about & set(stems(text))))
        more = f" (and {len(subjects) - 1} more)" if len(subjects) > 1 else ""
        return as_sentence(f"Committed: {best}{more}")
    return ""


def _changed(rounds: Sequence[Activity]) -> str:
    if files := touched(rounds):
        return f"Changed {files}."
    count = len({file for r in rounds for file in r.files})
    return f"Changed {plural(count, 'file')}." if count else ""


def _subject(text: str) -> str:
    return capital(without_marks(subject_of(text)))


def as_sentence(text: str) -> str:
    """Text as a sentence: a capital, a full stop."""
    short = text.strip(" ,;:-–—*")
    if short.endswith(("!", "?", "。", "！", "？", ".")):
        short = short.rstrip("!") + ("." if short.endswith("!") else "")
    else:
        short += "." if short else ""
    name = re.match(r"\S*[._(/]\w", short)  # a file's or a function's: spelt as it is
    return short if name else short[:1].upper() + short[1:]
