"""What people and tools wrote in a range of rounds, piece by piece: what headings, outcomes and
decisions are taken from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from minutebook.derive.activity import Activity
from minutebook.derive.markup import without_marks
from minutebook.derive.titles import is_opening
from minutebook.extract.offline.headings import heading_of, names
from minutebook.extract.offline.requests import (
    clauses,
    headlines,
    is_reply,
    sentences,
    takes,
    without_command,
    without_output,
)
from minutebook.extract.offline.verbs import is_imperative, is_report, tells_change

_NOT_TYPED = ("!", "Operation stopped by hook:")
_KEPT = 20_000  # characters
REQUESTS = 3  # of a range: what is asked after that belongs to what was asked before
SENTENCES = 4
_CLAUSED = 40  # characters from which parts of a sentence are looked at
_COMMITS = 8
_FEW_NAMES = 2
_QUOTED = 30  # characters of a sentence that is not there twice by chance
_TASKS = 8
TOLD = ("opening", "closing")  # sentences of the agent: reports make headings, statements do not
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
SMALL = re.compile(
    r"^(?:wip\b|fixup!|squash!|merge (?:branch|pull|remote)|bump version|initial commit)",
    re.IGNORECASE,
)
_ADDRESSES = re.compile(  # what a review left over, not what was reviewed
    r"review (?:feedback|comments|findings|nits)|\b(?:polish|nits|findings)\b.{0,30}\breview\b"
    r"|\bround[- ]?\d+ (?:\w+ ){0,3}findings\b|\bfindings \d",
    re.IGNORECASE,
)
_LOOKS = re.compile(  # how the agent sets to work, which is not what the work is
    r"^(?:ok\w*[,. ]+|now[, ]+|first[, ]+)*(?:i['’]ll|i will|let me|let['’]s|i['’]m going to)?"
    r"(?: now| first| start by| also| quickly)* ?(?:fetch|get|check|look|read|start|explor"
    r"|examin|see"
    r"|search|gather|grab|tak|pull|begin|run|find|try|view|load|launch|verify|inspect)(?:e|ing)?\b",
    re.IGNORECASE,
)
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
_NUMBER = re.compile(r"#\d+")
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


def pieces_of(part: Sequence[Activity], title: str | None) -> Iterator[tuple[str, str, int, int]]:
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
        pieces = _own(sentences_of(typed), part, round)[:SENTENCES]
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
    yield from (told for told in answers_of(part) if told[1] not in TOLD or _tells(told[0]))


def _own(pieces: Sequence[str], part: Sequence[Activity], round: Activity) -> Sequence[str]:
    """The sentences of a prompt that do not quote the answer before it."""
    before = next((r.answer for r in reversed(part) if r.number < round.number and r.answer), "")
    if not before:
        return pieces
    return [s for s in pieces if len(s) < _QUOTED or s.lstrip("-*> ") not in before] or pieces


def is_telling(subject: str) -> bool:
    """Whether a commit's subject may head the work: "Address review comments" of what?"""
    if SMALL.search(subject):
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
    return [(round, done / most if most else 1.0) for round, done in asked[:REQUESTS]]


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


def answers_of(part: Sequence[Activity]) -> Iterator[tuple[str, str, int, int]]:
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
