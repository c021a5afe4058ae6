"""What a range of rounds could be called: headings people and tools wrote, cleaned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from minutebook.derive.activity import Activity
from minutebook.extract.offline.diagnoses import causes
from minutebook.extract.offline.headings import (
    FEWEST_WORDS,
    MOST_WORDS,
    heading_of,
    is_long_enough,
    is_question,
    is_vague,
    is_wide,
    length_of,
    loose_heading,
    shortened,
    telling,
    title_heading,
    uncapital,
)
from minutebook.extract.offline.places import project_of, touched
from minutebook.extract.offline.requests import printed
from minutebook.extract.offline.texts import (
    REQUESTS,
    SENTENCES,
    SMALL,
    TOLD,
    answers_of,
    is_asked,
    pieces_of,
    sentences_of,
    subject_of,
    typed_of,
)
from minutebook.extract.offline.verbs import is_imperative

_SAID = 40  # sentences
_QUOTE = re.compile(
    r"(?<!\S)[\"“„«][^\"“”„«»\n]{40,400}[\"“”»]\S?|「[^「」\n]{20,200}」"
)  # others' words
_MOST = 80
_ASKED = ("title", "plan", "request", "later", "commit", "pull")
_AROUND = re.compile(  # looked at before every piece of work
    r"(?:explor|investigat|examin|understand|analy[sz]|stud|look|research|read|survey|scan|review)\w*"
    r" (?:(?:at|into|through) )?(?:the |this |your )?(?:(?:current|existing|whole|overall|relevant"
    r"|project) )*(?:code ?base|code|project|repo(?:sitory)?|context)\b(?! (?:paths?|reviews?)\b)",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"^(?!(?:are|is|do|does|did|can|should|was|were|\w+ing|fix|add|remove|make|use|update"
    r"|debug|find|investigate|review|avoid|stop|handle)\b).*"
    r"\b(?:doesn['’]t|isn['’]t|aren['’]t|can['’]t|cannot|fails?|failed|errors?|crash(?:es)?|broken"
    r"|wrong(?:ly)?|missing|bugs?|stale|lost|incorrect(?:ly)?|(?:does|do|is|are|was|were|did) not"
    r"|(?:did|was|were|has|have|won)n['’]t|no longer|barf(?:s|ed)|bl(?:ew|ows|owing) up|hangs"
    r"|hanging|freezes|stuck|delays?|panics|panicked|leaks|timed out|times out|timing out"
    r"|unable to|refuses|rejects|rejected|nicht|keine?|fehlte?|falsch|pas|manqu\w+|absente?"
    r"|no se|falt(?:a|aba)|incorrect[oa])\b|.*(?:ない|ません|なかった|不足|缺少|没有|错误|失败)",
    re.IGNORECASE,
)
_TO_YOU = re.compile(r"\byour?\b", re.IGNORECASE)  # "Address your question" is said, not done
_PERSON = re.compile(r"(?:i|we|you|it|this|that|they|he|she)\b", re.IGNORECASE)
_TROUBLES = re.compile(
    r"(?:the|an?|our|this|that) (?:[\w-]+ ){0,2}(?:errors?|bugs?|failures?|crash(?:es)?|delays?"
    r"|leaks?)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|was|were|exists?|becomes?|has|have|says?|means?)\b", re.IGNORECASE
)
_ANYWHERE = re.compile(
    r"\b(?:across|throughout|everywhere|anywhere|partout|überall)\b", re.IGNORECASE
)
_PULL = re.compile(r"\b(?:PRs?|MR|pull request)\b", re.IGNORECASE)
_LAST_WORD = re.compile(r"(\w+)\W*$")
_CONTINUES = re.compile(r"[\"'`*]* \w")
_TROUBLE = re.compile(
    r"(?:\b(?:[A-Z]\w*)?[Ee]rror|\bERROR|\bfatal|\bpanic|\bException)\]?\s*: +"
    r"(?:\[?(?:error|ERROR|Error)\]?:? +)?([^\n\"]{15,110})"
)
_PASTED = 3_000  # characters of a prompt in which an error is looked for


@dataclass(frozen=True, slots=True)
class Heading:
    """Something a range could be called, and where it was found."""

    text: str
    kind: str
    place: int = 0
    """How many of its kind came before it."""
    sentence: int = 0
    completed: str = ""
    """What was added to it: files or project worked in, the request opened, "Fix", "plan"."""
    cut: bool = False
    """Whether its sentence goes on."""
    said: str = ""
    """The text without that; empty where nothing was added."""
    reads: float = 0.0
    """How badly it reads: 0 or less."""

    @property
    def bare(self) -> str:
        return self.said or self.text


def headings(part: Sequence[Activity], title: str | None) -> list[Heading]:
    """Every heading that a range could have, each text once, the earliest found first.

    One that is too short is among them only where there is no other.
    """
    found: dict[str, Heading] = {}
    brief: dict[str, Heading] = {}
    seen: set[str] = set()
    work = Work(part)
    for raw, kind, place, sentence in pieces_of(part, title):
        if raw in seen:
            continue
        seen.add(raw)
        text = title_heading(subject_of(raw)) if kind == "title" else heading_of(raw)
        if text is None or (kind in TOLD and not _is_step(text)):
            continue
        for candidate in _completed(
            Heading(text, kind, place, sentence, cut=_goes_on(raw, text)), work
        ):
            short = kind == "title" and 3 <= length_of(candidate.text) < FEWEST_WORDS
            if short or is_long_enough(candidate.text):
                found.setdefault(candidate.text.lower(), candidate)
            elif kind in _ASKED and length_of(candidate.text) >= 2:
                brief.setdefault(candidate.text.lower(), candidate)
        if len(found) >= _MOST:
            break
    named = list((found or brief).values())
    if not any(is_wide(heading.text) or telling(heading.bare) > 1 for heading in named):
        # What was pasted says more than "there is an error", a commit more than "push it".
        vague = any(is_vague(heading.bare) for heading in named)
        named = troubles(part) or _addressed(part) or (vague and _loose(part)) or named
    return named or _loose(part)


def _is_step(text: str) -> bool:
    """Whether a sentence of the agent says what it does, more than that it looks around."""
    return is_imperative(text) and not (_TO_YOU.search(text) or _AROUND.match(text))


def troubles(part: Sequence[Activity]) -> list[Heading]:
    """The error somebody pasted, as what is to be fixed."""
    for round in part[:REQUESTS]:
        trouble = _TROUBLE.search(round.prompt[:_PASTED])
        said = trouble[1] if trouble else printed(round.prompt[:_PASTED])
        text = loose_heading(f"Fix error: {said.split('. ')[0]}") if said else None
        if text is not None:
            return [Heading(text, "request")]
    return []


def _addressed(part: Sequence[Activity]) -> list[Heading]:
    """What commits say of the findings they address, where nothing says more."""
    subjects = (subject_of(c.subject) for round in part for c in round.commits)
    texts = filter(None, (heading_of(s) for s in subjects if not SMALL.search(s)))
    return [Heading(t, "commit") for t in texts if telling(t) > 1 and is_long_enough(t)]


def _loose(part: Sequence[Activity]) -> list[Heading]:
    """Where nothing makes a good heading, what was said: better than nothing."""
    where = touched(part) or project_of(part)
    typed = (_QUOTE.sub("", typed_of(round)) for round in part if is_asked(round))
    asked = (sentence for text in typed for sentence in sentences_of(text)[:SENTENCES])
    loose = [text for s in islice(asked, _SAID) if (text := loose_heading(s, where)) is not None]
    if loose:
        telling_ones = (text for text in loose if is_wide(text) or telling(text) > 1)
        plain = (text for text in loose if not is_vague(text))
        best = next(chain(telling_ones, plain, loose))
        return [_quoted(best, part) if _is_told(best) else Heading(best, "request")]
    found = []
    for sentence, kind, place, order in answers_of(part):
        text = heading_of(sentence)
        if text is not None and is_long_enough(text) and not is_question(text):
            found.append(Heading(text, kind, place, order))
    return found


def _is_told(said: str) -> bool:
    """Whether somebody told how things are: "we are now using different ways"."""
    asks = is_imperative(said) or is_question(said)
    return not asks and (_PERSON.match(said) or _STATES.search(said)) is not None


def _quoted(said: str, part: Sequence[Activity]) -> Heading:
    """What somebody told, rather than asked for, as what was worked on or talked about."""
    text = None if is_wide(said) else shortened(said, MOST_WORDS - 2)
    if text is None:
        return Heading(said, "request")
    verb = "Work on" if any(round.edits for round in part) else "Discuss"
    return Heading(f"{verb} “{uncapital(text)}”", "request", completed="quote", said=said)


def _goes_on(raw: str, text: str) -> bool:
    """Whether a heading breaks off within a clause of its sentence."""
    last = _LAST_WORD.search(text)
    if last is None or text.endswith(")"):
        return False  # what stands in brackets was added, or ends the sentence
    rest = raw[raw.rfind(last[1]) + len(last[1]) :] if last[1] in raw else ""
    return _CONTINUES.match(rest) is not None


def faults(part: Sequence[Activity]) -> list[Heading]:
    """What was wrong, as what was to be fixed: where something was changed."""
    work = Work(part)
    early = part[: len(part) // 2 + 1]  # what is found later is a detail
    said = (
        (heading_of(s) for c in causes(early) for s in sentences_of(c)[:1]) if work.edited else ()
    )
    found = (h for text in said if text for h in _completed(Heading(text, "cause"), work))
    return [h for h in found if h.completed == "fix" and is_long_enough(h.text)]


class Work:
    """What is known of the work of a range, looked up once for all headings."""

    def __init__(self, part: Sequence[Activity]) -> None:
        self.edited = any(round.edits for round in part)
        self.opened = any(round.pull_requests for round in part)
        self.places = (("files", touched(part)), ("project", project_of(part)))


def _completed(heading: Heading, work: Work) -> Iterator[Heading]:
    """The heading, and with what is known of the work where it leaves room for that."""
    yield heading
    length = length_of(heading.text)
    if heading.kind == "plan" and 1 < length < FEWEST_WORDS - 1 and not is_wide(heading.text):
        text = "plan to " + uncapital(heading.text) if is_imperative(heading.text) else ""
        text = f"Implement the {text or heading.text + ' plan'}"
        yield replace(heading, text=text, completed="plan", said=heading.text)
    if heading.text.endswith("?") or length < 2 or is_wide(heading.text):
        return
    complains = heading.kind != "plan" and not is_imperative(heading.text)
    trouble = complains and _COMPLAINT.match(heading.text)
    if trouble and length <= MOST_WORDS - 1 and work.edited:
        fix = "Fix" if _is_named_trouble(heading.text) else "Fix:"
        yield replace(
            heading, text=f"{fix} {uncapital(heading.text)}", completed="fix", said=heading.text
        )
    opened = work.opened and not _PULL.search(heading.text)
    if opened and length <= MOST_WORDS - 4:
        yield replace(
            heading, text=f"{heading.text} and open a PR", completed="pull", said=heading.text
        )
    if _STATES.search(heading.text) or _ANYWHERE.search(heading.text):
        return
    if length <= FEWEST_WORDS + 1 and " in " not in f"{heading.text.lower()} "[-30:]:
        for what, where in work.places:
            if where and where.lower() not in heading.text.lower():
                yield replace(
                    heading, text=f"{heading.text} in {where}", completed=what, said=heading.text
                )


def _is_named_trouble(text: str) -> bool:
    """Whether a complaint is a name, "the error the shop gets", and no sentence."""
    named = _TROUBLES.match(text)
    if named is None or _STATES.search(text):
        return False
    return _COMPLAINT.match(f"X {text[named.end() :]}") is None
