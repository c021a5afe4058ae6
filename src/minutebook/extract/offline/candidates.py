"""What a range of rounds could be called: headings people and tools wrote, cleaned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice

from minutebook.derive.activity import Activity
from minutebook.derive.markup import without_marks
from minutebook.derive.titles import is_opening
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
    names,
    shortened,
    telling,
    title_heading,
    uncapital,
)
from minutebook.extract.offline.places import project_of, touched
from minutebook.extract.offline.requests import (
    clauses,
    headlines,
    is_reply,
    printed,
    sentences,
    takes,
    without_command,
    without_output,
)
from minutebook.extract.offline.verbs import is_imperative, is_report, tells_change

_NOT_TYPED = ("!", "Operation stopped by hook:")
_KEPT = 20_000  # characters
_REQUESTS = 3  # of a range: what is asked after that belongs to what was asked before
_SENTENCES = 4
_CLAUSED = 40  # characters from which parts of a sentence are looked at
_COMMITS = 8
_FEW_NAMES = 2
_QUOTED = 30  # characters of a sentence that is not there twice by chance
_TASKS = 8
_SAID = 40  # sentences
_QUOTE = re.compile(
    r"(?<!\S)[\"“„«][^\"“”„«»\n]{40,400}[\"“”»]\S?|「[^「」\n]{20,200}」"
)  # others' words
_MOST = 80
_TOLD = ("opening", "closing")  # sentences of the agent: reports make headings, statements do not
_ASKED = ("title", "plan", "request", "later", "commit", "pull")
_CONVENTIONAL = re.compile(
    r"^(?P<kind>[a-z]+)(?:\((?P<scope>[^)]{1,60})\))?!?:\s*(?=\S)|^\[[^\]]{1,30}\]\s*"
)
_TRAILER = re.compile(r"\s+[A-Z][\w-]{2,30}-(?:[Bb]y|Checkpoint|Id|ID): \S.*$")
_DOING = {
    "fix": "Fix",
    "refactor": "Refactor",
    "docs": "Document",
    "perf": "Speed up",
    "revert": "Revert",
}
_SMALL = re.compile(
    r"^(?:wip\b|fixup!|squash!|merge (?:branch|pull|remote)|bump version|initial commit)",
    re.IGNORECASE,
)
_ADDRESSES = re.compile(  # what a review left over, not what was reviewed
    r"review (?:feedback|comments|findings|nits)|\b(?:polish|nits|findings)\b.{0,30}\breview\b"
    r"|\bround[- ]?\d+ (?:\w+ ){0,3}findings\b|\bfindings \d",
    re.IGNORECASE,
)
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
_LOOKS = re.compile(  # how the agent sets to work, which is not what the work is
    r"^(?:ok\w*[,. ]+|now[, ]+|first[, ]+)*(?:i['’]ll|i will|let me|let['’]s|i['’]m going to)?"
    r"(?: now| first| start by| also| quickly)* ?(?:fetch|get|check|look|read|start|explor"
    r"|examin|see"
    r"|search|gather|grab|tak|pull|begin|run|find|try|view|load|launch|verify|inspect)(?:e|ing)?\b",
    re.IGNORECASE,
)
_TO_YOU = re.compile(r"\byour?\b", re.IGNORECASE)  # "Address your question" is said, not done
_STEP = re.compile(  # a task of every piece of work
    r"(?:explore|verify|run|finali[sz]e|read|search|commit|push|lint|start|mark|wait)\b",
    re.IGNORECASE,
)
_BEGINS = 90  # characters in which a report has its verb
_TELLS = re.compile(
    r"\b(?:\w{3,}ed|(?:re)?wrote|(?:re)?written|built|made|set|split|I['’]ll|I will|[Ll]et me"
    r"|[Ww]e['’]ll|[Ww]e will|I['’]m going|I am going)\b"
)
_GERUND = re.compile(r"[A-Za-z]+ing\b")
_ITEM = re.compile(r"[-*•]|\d+[.)]")
_BULLET = re.compile(r"(?:^|\s)(?:\d{1,2}[.)]|[-*•])[\s*_]*$")
_LISTED = 2  # as the third sentence of a prompt, at best
_NUMBERED = re.compile(r"\W*(?:(?:step|fix|issue|option|phase|P\d) *)?#?\d+[.:) ]", re.IGNORECASE)
_PERSON = re.compile(r"(?:i|we|you|it|this|that|they|he|she)\b", re.IGNORECASE)
_TROUBLES = re.compile(
    r"(?:the|an?|our|this|that) (?:[\w-]+ ){0,2}(?:errors?|bugs?|failures?|crash(?:es)?|delays?"
    r"|leaks?)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|was|were|exists?|becomes?|has|have|says?|means?)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"#\d+")
_PULL = re.compile(r"\b(?:PRs?|MR|pull request)\b", re.IGNORECASE)
_PLAN = re.compile(r"(?:implement\b.{0,40}\bplan\b|#\s)", re.IGNORECASE)
_COMMAND_VERB = re.compile(r"/[\w.:-]*?[:-](\w+) +(?=[a-z])")
_HOUSEKEEPING = re.compile(
    r"/(?:compact|clear|model|resume|config|log(?:in|out)|cost|help|exit|quit|memory|permissions|mcp"
    r"|agents|status|doctor|fast|effort|rename|export|context|usage)\b"
)
_POINTS_AT = re.compile(
    r"\b(?:this|that|the|the following) (issue|PR|MR|pull request|ticket)\b"
    r"(?![ :]*(?:#|comment|https?:))",
    re.IGNORECASE,
)
_REVIEWED = re.compile(r"/(pull|merge_requests|issues)/\d")
_PULLS = {"pull": "PR", "merge_requests": "MR", "issues": "issue"}
_COMMENTS = re.compile(  # what a link follows
    r"\b(?:(?:this|these|that|those|the|all|two|three|following|latest|new|review|PR|open|last"
    r"|code|coderabbit|copilot|bot) )+(?:comments?|feedback|findings|suggestions?)\b[ \w]{0,12}"
    r"[.?:!]?(?:\s*https?://\S+)+",
    re.IGNORECASE,
)
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


def sentences_of(text: str) -> tuple[str, ...]:
    """A text in whole sentences."""
    # A pasted file is not kept in memory for what it may save.
    return _sentences_of(text) if len(text) <= _KEPT else tuple(sentences(text))


@lru_cache(maxsize=256)  # topics, outcomes and decisions look at the same answers
def _sentences_of(text: str) -> tuple[str, ...]:
    return tuple(sentences(text))


def given_title(rounds: Sequence[Activity], title: str | None) -> str | None:
    """The session's title, where it is more than the first line of the first prompt."""
    from minutebook.derive.secrets import mask  # its patterns take a while to compile

    first = next((round.prompt for round in rounds if round.prompt), "")
    return None if not title or is_opening(title, first) else mask(title)


def headings(part: Sequence[Activity], title: str | None) -> list[Heading]:
    """Every heading that a range could have, each text once, the earliest found first.

    One that is too short is among them only where there is no other.
    """
    found: dict[str, Heading] = {}
    brief: dict[str, Heading] = {}
    seen: set[str] = set()
    work = Work(part)
    for raw, kind, place, sentence in _texts(part, title):
        if raw in seen:
            continue
        seen.add(raw)
        text = title_heading(subject_of(raw)) if kind == "title" else heading_of(raw)
        if text is None or (kind in _TOLD and not _is_step(text)):
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
    for round in part[:_REQUESTS]:
        trouble = _TROUBLE.search(round.prompt[:_PASTED])
        said = trouble[1] if trouble else printed(round.prompt[:_PASTED])
        text = loose_heading(f"Fix error: {said.split('. ')[0]}") if said else None
        if text is not None:
            return [Heading(text, "request")]
    return []


def _addressed(part: Sequence[Activity]) -> list[Heading]:
    """What commits say of the findings they address, where nothing says more."""
    subjects = (subject_of(c.subject) for round in part for c in round.commits)
    texts = filter(None, (heading_of(s) for s in subjects if not _SMALL.search(s)))
    return [Heading(t, "commit") for t in texts if telling(t) > 1 and is_long_enough(t)]


def _loose(part: Sequence[Activity]) -> list[Heading]:
    """Where nothing makes a good heading, what was said: better than nothing."""
    where = touched(part) or project_of(part)
    typed = (_QUOTE.sub("", typed_of(round)) for round in part if is_asked(round))
    asked = (sentence for text in typed for sentence in sentences_of(text)[:_SENTENCES])
    loose = [text for s in islice(asked, _SAID) if (text := loose_heading(s, where)) is not None]
    if loose:
        telling_ones = (text for text in loose if is_wide(text) or telling(text) > 1)
        plain = (text for text in loose if not is_vague(text))
        best = next(chain(telling_ones, plain, loose))
        return [_quoted(best, part) if _is_told(best) else Heading(best, "request")]
    found = []
    for sentence, kind, place, order in _answers(part):
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
    if _STATES.search(heading.text):
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


def _texts(part: Sequence[Activity], title: str | None) -> Iterator[tuple[str, str, int, int]]:
    """Raw texts with their kind, their place among their kind, and their sentence."""
    if title:
        yield title, "title", 0, 0
    for place, plan in enumerate([round.plan for round in part if round.plan][-2:]):
        yield plan, "plan", place, 0
    for place, (round, _) in enumerate(requests_of(part)):
        typed = typed_of(round)
        planned = place == 0 and _PLAN.match(typed) is not None
        for heading in headlines(typed)[:2]:
            yield heading, "plan" if planned else "head" if place == 0 else "later", place, 0
        kind = "request" if place == 0 else "later"
        pieces = _own(sentences_of(typed), part, round)[:_SENTENCES]
        if place:  # what is listed later is a detail
            pieces = [piece for piece in pieces if not _ITEM.match(piece)] or pieces
        for order, sentence in enumerate(pieces):
            listed = order > 0 and _follows_a_number(sentence, typed)
            yield sentence, kind, place, max(order, _LISTED) if listed else order
        for order, sentence in enumerate(pieces if place == 0 else pieces[:2]):
            if len(sentence) > _CLAUSED:
                for clause in clauses(sentence)[:4]:
                    if not _is_tail(clause, sentence):
                        yield clause, kind, place, order
    titles = [title for round in part for title in round.pull_titles]
    titles = [title for title in titles if not _ADDRESSES.search(title)] or titles
    for place, text in enumerate(titles[:4]):
        yield subject_of(text), "pull", place, 0
    subjects = [commit.subject for round in part for commit in round.commits]
    for place, text in enumerate([s for s in subjects if is_telling(s)][:_COMMITS]):
        yield subject_of(text), "commit", place, 0
    tasks = [task for round in part for task in round.tasks if not _STEP.match(task)]
    tasks = [task for task in tasks if not _ADDRESSES.search(task)]
    for place, text in enumerate(tasks[:_TASKS]):
        yield text, "task", place, 0
    yield from (told for told in _answers(part) if told[1] not in _TOLD or _tells(told[0]))


def _own(pieces: Sequence[str], part: Sequence[Activity], round: Activity) -> Sequence[str]:
    """The sentences of a prompt that do not quote the answer before it."""
    before = next((r.answer for r in reversed(part) if r.number < round.number and r.answer), "")
    if not before:
        return pieces
    return [s for s in pieces if len(s) < _QUOTED or s.lstrip("-*> ") not in before] or pieces


def is_telling(subject: str) -> bool:
    """Whether a commit's subject may head the work: "Address review comments" of what?"""
    if _SMALL.search(subject):
        return False
    return (
        not _ADDRESSES.search(subject) or names(_NUMBER.sub("", subject_of(subject))) > _FEW_NAMES
    )


def _is_tail(clause: str, sentence: str) -> bool:
    """Whether a clause is the end of a question, whose subject stands before it."""
    if not clause.endswith(("?", "？")) or clause == sentence:
        return False
    heading = heading_of(clause) or ""
    return heading.endswith("?") or (heading.isascii() and not is_imperative(heading))


def titles_of(rounds: Sequence[Activity]) -> set[str]:
    """Titles of what was committed and opened in a range."""
    return {title for r in rounds for title in (*r.pull_titles, *(c.subject for c in r.commits))}


def is_asked(round: Activity) -> bool:
    """Whether a prompt asks for something, in words: not a reply, nor a mere command."""
    prompt = round.prompt.strip()
    if not prompt or prompt.startswith(_NOT_TYPED) or is_reply(prompt):
        return False
    return not prompt.startswith("/") or (" " in prompt and not _HOUSEKEEPING.match(prompt))


def requests_of(part: Sequence[Activity]) -> list[tuple[Activity, float]]:
    """The requests that are looked at, and how much was done for each, beside the one for which
    most was; what was done on a mere reply counts for the request before it."""
    asked: list[tuple[Activity, float]] = []
    for round in part:
        done = round.edits + 2 * len(round.commits) + 0.2 * round.shells
        if is_asked(round):
            asked.append((round, done))
        elif asked:
            asked[-1] = (asked[-1][0], asked[-1][1] + done)
    most = max((done for _, done in asked), default=0.0)
    return [(round, done / most if most else 1.0) for round, done in asked[:_REQUESTS]]


def _follows_a_number(sentence: str, typed: str) -> bool:
    """Whether a sentence is an item of a list in its prompt."""
    place = typed.find(sentence[:_QUOTED])
    return place > 0 and _BULLET.search(typed[max(0, place - 8) : place]) is not None


def typed_of(round: Activity) -> str:
    """A prompt without its command, whose verb stays: ``/gsd:debug the login`` asks to debug."""
    prompt = round.prompt.lstrip()
    typed = without_output(without_command(prompt))
    verb = _COMMAND_VERB.match(prompt)
    if verb and takes(verb[1], typed) and not is_imperative(typed):
        typed = f"{verb[1]} {typed}"
    if len(round.references) == 1:
        number = round.references[0].rpartition("#")[2]
        typed = _POINTS_AT.sub(lambda match: f"{match[1]} #{number}", typed, count=1)
        if pull := _REVIEWED.search(prompt):
            typed = _COMMENTS.sub(
                f"the review comments on {_PULLS[pull[1]]} #{number}", typed, count=1
            )
    return typed


def _answers(part: Sequence[Activity]) -> Iterator[tuple[str, str, int, int]]:
    for place, round in enumerate(part[:2]):
        for order, sentence in enumerate(sentences_of(round.opening)[:2]):
            looks = _LOOKS.match(sentence) or _GERUND.match(sentence)
            if not looks:
                yield sentence, "opening", place, order
    answers = [round.answer for round in reversed(part) if len(round.answer) > 60]
    for answer in answers[3:]:
        yield from ((s, "closing", 0, 0) for s in sentences_of(answer)[:3] if tells_change(s))
    for place, answer in enumerate(answers[:3]):
        heads = headlines(answer)
        listed = sum(_NUMBERED.match(head) is not None for head in heads) > 1
        for order, heading in enumerate(heads[:3]):
            item = listed and _NUMBERED.match(heading)  # one of several
            yield heading, "report", place, max(order, _LISTED) if item else order
        for order, sentence in enumerate(sentences_of(answer)[:4]):
            if not _ITEM.match(sentence) or is_report(without_marks(sentence)):
                yield sentence, "closing", place, order


def _tells(sentence: str) -> bool:
    """Whether a sentence may say what was, is or will be done: most say something else."""
    if _TELLS.search(sentence[:_BEGINS]) is not None or tells_change(sentence):
        return True
    return is_imperative(sentence.lstrip(" *-#"))


@lru_cache(maxsize=1_024)  # topics, outcomes and decisions look at the same commits
def subject_of(subject: str) -> str:
    """A commit's subject without the ``feat(scope):`` of its convention, as an imperative."""
    from minutebook.derive.secrets import mask  # subjects come as git printed them

    subject = mask(_TRAILER.sub("", subject))
    match = _CONVENTIONAL.match(subject)
    if match is None:
        return subject
    rest = subject[match.end() :]
    doing = _DOING.get(match["kind"] or "")
    first = rest.split(maxsplit=1)[0].lower() if rest else ""
    bare = doing is not None and re.match(r"[a-z]{2,}", first) and first in _NOUNS
    return f"{doing} {rest}" if bare else rest


_NOUNS = frozenset("broken missing wrong typo typos flaky failing crash lint".split())
