"""Sentences of an agent that report a result: whole, plain, and worth more than others (UND-04).

A question, an offer, an announcement, a bare "Done.", a state that passes or a detail from
deep in a list is no result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from minutebook.derive.activity import Activity
from minutebook.derive.markup import without_marks
from minutebook.extract.offline.headings import is_wide, length_of, names, uncapital
from minutebook.extract.offline.texts import sentences_of
from minutebook.extract.offline.topic_model import is_same, stems
from minutebook.extract.offline.verbs import is_imperative, is_report

MOST_WORDS = 40
_LONG = 28
_FEWEST = 5
_FEWEST_NAMES = 2
_ANSWERS = 12  # closing answers that are looked at, the last first
_AGES = 0.1  # what a sentence is worth less for each answer after its own
_MOST_VALUE = 2.4  # of a sentence that is the first of the last answer
_MOST_TOLD = 0.8  # what it adds to report what was done
_SENTENCES = 14
_IDLE = 0.3  # what it is worth less where nothing was changed in its round, as in others
_NAMED_ONLY = 0.5  # and what it is worth less that names a thing, rather than tells what was done
_LISTED = 0.35  # what an item of a list is worth less: one of several
_TOUCH = 0.75 * _IDLE  # of a round that did a quarter of what another did: less is a late touch
_BESIDE = 0.45  # what another report may be worth less, to be told beside the best
_JOINED, _LONGEST = 3, 180  # reports that are told together, and their characters
_TOPICAL = 0.8  # what it adds to speak of the whole topic

_RESULT = re.compile(
    r"\b(?:no longer|rolled back|pull request is (?:now )?(?:open|up)"
    r"|(?:is|are|was|were|has been|have been)(?: now| all| fully| \w+ly){0,2} "
    r"(?:fixed|done|complete|completed|implemented|live|in place|resolved|added|removed|updated"
    r"|renamed|moved|replaced|created|merged|opened|deleted|pushed|committed|addressed|reverted|applied"
    r"|released|deployed|rewritten|split|closed|wired|documented|covered|supported)"
    r"|now (?!i\b|we\b|you\b|let)[a-z]+(?:s|ed)?)\b",
    re.IGNORECASE,
)
_DONE = re.compile(r"\b(?:has|have) (?:now |all |just )*been (?!asked|\w+ to\b)\w{3,}ed\b")
_FOUND = re.compile(
    r"\b(?:root cause|the (?:key |main |real )?(?:fix|issue|problem|bug|reason|cause) (?:is|was)"
    r"|because|turns out|verdict"
    r"|found (?:that|the|it)|confirmed|the answer|in short|bottom line|there (?:is|are) no\b)",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"^(?:let me|let['’]s|i['’]ll|i will|i am going|i['’]m going|now (?:let|i)|next|first|want me"
    r"|would you|do you|shall|should i|say the word|tell me|if you|feel free|happy to|i can\b"
    r"|you can"
    r"|you could|you \w+|suggested|recommended"
    r"|ready to|to (?:use|run|test|try)|run |try |here['’]s|here is|here are"
    r"|the following"
    r"|note|what|why|how|one (?:thing|caveat|note)|good (?:question|catch|point)|great|sure|got it"
    r"|thanks|sorry|you['’]re|i see|understood|not stuck|waiting|still|checking|looking|i need"
    r"|(?:creat|start|runn|fetch|read|us|work|launch|spawn|delegat|proceed)ing\b|now you"
    r"|the remaining|remaining"
    r"|fetch|get |check |grab |pull |search|analysis phase|already \w+(?:ed|one)\b"
    r"|correct\b|i was|please|before |once |when |as (?:you|i)|api error|no response"
    r"|this session|continue|stop|only\b|ci should|captures\b|also\b|additionally"
    r"|yes\b|no,|no (?:\w+ )?(?:code|changes?|need|work)\b.{0,30}$|nothing|nope|for example"
    r"|(?:\w+ )?(?:title|target|reporter|environment|version|author|date|scope)s? ?:"
    r"|e\.g\.|ja,|nein,|oui,|non,|sí,|[\"“”]|\S+ should )",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\b(?:i['’]ll|i will|want me to|would you like|let me know|shall i|should i"
    r"|if you(?:['’]d)? (?:want|like|prefer)"
    r"|please run /login|usage limit|api error|here(?:['’]s| is| are)|well,)\b",
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
    r"|(?:the )?(?:working tree|branch|worktree|repo|tree) (?:is|now has) (?:now )?(?:\d+ )?"
    r"(?:clean|up to date|ahead|no )"
    r"|(?:\w+ed and (?:pushed|committed)|posted)\b.{0,50}$"
    r"|pr (?:created|opened|updated|is up)\b.{0,80}$|created (?:a |the )?(?:new )?branch\b)",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\W*+(?:ok(?:ay)?|yes|now|then|please|can you|could you|great|perfect|let['’]?s|and|no|just"
    r"|[, ])*+(?:git )?(?:commit|push|merge|rebase|open a pr|create a pr|make a pr)\b.{0,40}$",
    re.IGNORECASE | re.DOTALL,
)
_AT_END = re.compile(
    r"(?: (?:at|in|to|with|by|for|both|as follows|the following(?: \w+)?|these|covering|including"
    r"|explaining|documenting)|,? (?:that|which) \w+)*\s*:$"
)
_TORN = re.compile(r"[:…]$|\.\.\.$|^[a-z(,;/…]|^\w+ \(|[{}<>|]|→|/ /|\b(?:above|below)\.?$")
_UNCLEAR = re.compile(
    r"^(?:it|its|it['’]s|this|that|that['’]s|these|those|they|so|but|and|also|which|same|both"
    r"|one)\b",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(r"\b(?:i['’]d|you should|should|would|could|might)\b", re.IGNORECASE)
_OBJECT = re.compile(  # a verb without what it was done to
    r"^\w+ (?:(?:it|them|this|that|these|those|to|from|by|down|in)\b|\()", re.IGNORECASE
)
_PASSIVE = re.compile(r"(?:\S+ ){1,3}(?:is|are|was|were|has|have)\b")  # "Deleted items are logged"
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
_ASIDE = re.compile(r"\s*\([^()]*(?:\b(?:you|see|above|below)\b|→)[^()]*\)")
_LINE = re.compile(r"(?<=\.[a-z]{2})((?:[a-z]{0,3})):\d+(?:[-–]\d+)?")
_FAULT = re.compile(
    r"^(?:bug|problem|issue|cause|root cause|error|before|after|why)\b[^.]{0,20}[:—–]",
    re.IGNORECASE,
)
_LABELS = (" — ", " – ", ": ", " - ")
_ITEM = re.compile(r"\s*(?:[-*•▸]|\(?\d{1,3}[.)])\s")
_ANSWERED = re.compile(  # before a sentence that stands without it
    r"^(?:yes|yep|yeah|no|nope|ja|nein|oui|non|sí|si|はい|いいえ|是的?|不是?)"
    r"\b\s*+[,.!—–:、，。-][\s,.!—–:、，。-]*+(?=(?:the|an?|all|each|every|der|die|das|ein|le|la|les|el|los"
    r"|un|une?)\b|[A-Z\"]|\w+[._(/]\w|(?-i:[\u3040-\u30ff\u3400-\u9fff]))",
    re.IGNORECASE,
)
_INTERIM = re.compile(  # a state that passes
    r"\b(?:still (?:fail|show|wait|run|open|need|miss|go|pend|nothing|broken)\w*|dispatched"
    r"|kicked off|lying around"
    r"|(?:have|has)(?:n['’]t| not) been|not yet|nothing has been|in progress"
    r"|(?:is|are) (?:starting|running)"
    r"|waiting (?:for|on)|so far|will be|in the background|(?:is|are) ongoing|not done"
    r"|läuft noch|noch nicht|en cours|todavía|aún no|pas encore)\b|まだ|進行中|正在|尚未",
    re.IGNORECASE,
)
_RESULTS = re.compile(  # as other languages report one
    r"\b(?:behoben|hinzugefügt|entfernt|ersetzt|umgesetzt|umbenannt|korrigiert|angelegt|erstellt"
    r"|ajoutée?s?|corrigée?s?|supprimée?s?|remplacée?s?|créée?s?|añadid[oa]s?|agregad[oa]s?"
    r"|corregid[oa]s?|eliminad[oa]s?|reemplazad[oa]s?|cread[oa]s?)\b"
    r"|(?:し|され)ました|已经?(?:修复|添加|删除|更新|替换|完成|创建|实现)"
)
_BEFORE = re.compile(
    r"\b(?:previously|used to|that meant|before this|up to now|until now)\b", re.IGNORECASE
)
_MINOR = frozenset("verified tested updated created confirmed checked reviewed set split".split())
_DOUBTS = ((_FAULT, 0.5), (_HYPOTHETICAL, 0.4), (_UNCLEAR, 0.5), (_BEFORE, 0.5))
"""What makes a sentence less of a result, and by how much."""


class About(NamedTuple):
    """Words of which a result speaks."""

    asked: frozenset[str]
    topic: frozenset[str]


def best_report(rounds: Sequence[Activity], of: About, worked: bool) -> tuple[str, float]:
    """The sentence of the closing answers that reports a result best, and what it is worth; where
    something was changed, with others that report nearly as well what else was done."""
    answered = [r for r in reversed(rounds) if r.answer.strip()]
    # What is said of a commit or a push is the state of the branch, not of the work.
    work = [r for r in answered if not _CLOSING.match(r.prompt)] or answered
    found: list[tuple[float, str, bool]] = []
    enough = 0.0
    """What a sentence has to be worth to be looked at."""
    most = max((r.edits for r in work), default=0)
    for age, round in enumerate(work[:_ANSWERS]):
        idle = _IDLE * (1 - round.edits / most) if most else 0.0
        for place, said in enumerate(sentences_of(round.answer)[:_SENTENCES]):
            rank = _AGES * age + 0.05 * place + idle
            if enough >= _MOST_VALUE - rank:
                break  # nothing that follows in this answer can be worth more
            listed = _ITEM.match(said) is not None
            sentence = _plain(without_marks(said))
            if not _is_fit(sentence) or (said.startswith("#") and not _tells(sentence)):
                continue
            rank += _LISTED if listed else 0.0
            if enough >= _MOST_VALUE - rank:
                continue
            speaks = _speaks(sentence, of)
            if enough >= speaks + _MOST_TOLD - rank:
                continue  # nor if it told what was done
            value = _value(speaks, sentence, worked) - rank
            if listed and not _tells(sentence):
                value -= _NAMED_ONLY
            if value > enough and _stands(sentence):
                found.append((value, _subjectless(sentence), idle <= _TOUCH))
                enough = max(enough, value - _BESIDE if worked else value)
    found.sort(key=itemgetter(0), reverse=True)
    reports = [said for place, (_, said, beside) in enumerate(found) if beside or not place]
    return (_together(reports), found[0][0]) if found else ("", 0.0)


def _together(reports: Sequence[str]) -> str:
    """The first of some reports, and those beside it that say what else was done: "Added a lock;
    removed the cache"."""
    best = reports[0].rstrip(".")
    kept = [frozenset(stems(best))]
    for report in reports[1:] if is_report(best) else ():
        more = report.rstrip(".")
        words = frozenset(stems(more))
        fits = len(kept) < _JOINED and len(best) + len(more) <= _LONGEST and ";" not in more
        tells = is_report(more) and not (_OBJECT.match(more) or _PASSIVE.match(more))
        if fits and tells and not any(is_same(words, known) for known in kept):
            best = f"{best}; {uncapital(more)}"
            kept.append(words)
    return best if len(kept) > 1 else reports[0]


def _plain(sentence: str) -> str:
    """A sentence without the "Done.", "Yes," or "Fixed:" it begins with, asides, line numbers."""
    lead = _LEAD.match(sentence)
    text = sentence[lead.end() :] if lead else sentence
    text = _ASIDE.sub("", text) if "(" in text else text
    text = _LINE.sub(r"\1", text) if ":" in text else text
    answer = _ANSWERED.match(text)
    text = text[answer.end() :] if answer else text
    _, _, rest = text.partition(next((mark for mark in _LABELS if mark in text[:60]), "\0"))
    text = rest if is_report(_SELF.sub("", rest)) else text
    if text.endswith(":") and (_DONE.search(text) or is_report(_SELF.sub("", text))):
        return _AT_END.sub("", text)  # it goes on in a list
    return text[:1].upper() + text[1:] if answer else text


def _tells(sentence: str) -> bool:
    """Whether a headline reports a result, rather than naming what follows."""
    return is_report(_SELF.sub("", sentence)) or _RESULT.search(sentence) is not None


def _is_fit(sentence: str) -> bool:
    """Whether a sentence has the length of one, and asks nothing."""
    return _FEWEST <= length_of(sentence) <= MOST_WORDS and not sentence.endswith(("?", "？"))


def _stands(sentence: str) -> bool:
    """Whether a sentence is whole, plain, and says something."""
    refused = (_REFUSED.match(sentence), _OFFER.search(sentence), _STATUS.match(sentence))
    if any(refused) or _TORN.search(sentence) or _BACK.search(sentence):
        return False
    if _INTERIM.search(sentence):
        return False
    if not is_wide(sentence) and names(sentence) < _FEWEST_NAMES:
        return False
    if sentence.count('"') % 2 or sentence.count("(") != sentence.count(")"):
        return False
    letters = sum(c.isalpha() or c.isspace() for c in sentence)
    return letters >= (0.65 if is_report(sentence) else 0.75) * len(sentence)


def _speaks(sentence: str, of: About) -> float:
    """What a sentence is worth for what it speaks of."""
    words = set(stems(sentence))
    value = 0.5 + 0.05 * min(len(words & of.asked), 6)
    return value + _TOPICAL * len(words & of.topic) / max(1, len(of.topic))


def _value(value: float, sentence: str, worked: bool) -> float:
    """What it is worth in all, by how it tells that."""
    told = _SELF.sub("", sentence)
    if is_imperative(told) and not is_report(told):
        value -= 0.5  # advice
    if is_report(told):
        value += 0.4 if told.split(maxsplit=1)[0].lower() in _MINOR else _MOST_TOLD
    elif _RESULT.search(sentence) or _DONE.search(sentence) or _RESULTS.search(sentence):
        value += 0.5
    elif _FOUND.search(sentence):
        value += 0.2 if worked else 0.5
    elif worked:
        value -= 0.25  # a remark
    for doubt, loss in _DOUBTS:
        if doubt.search(sentence):
            value -= loss
    if _OBJECT.match(told):
        value -= 0.5
    length = length_of(sentence)
    return value - (0.2 if length < 7 or length > _LONG else 0.0)


def _subjectless(sentence: str) -> str:
    """Minutes say "Added a flag", not "I've added a flag"."""
    told = _SELF.sub("", sentence)
    return told[:1].upper() + told[1:] if is_report(told) else sentence
