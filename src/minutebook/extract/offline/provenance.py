"""Where a topic, an outcome and decisions were taken from, and why this heading: for
``ingest --explain``, worked out anew."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.offline.candidates import Heading, headings
from minutebook.extract.offline.reasons import Reason
from minutebook.extract.offline.texts import given_title, subject_of, titles_of
from minutebook.extract.offline.topic_model import Model, Range, contributions, described, model
from minutebook.extract.validation import LONGEST_TOPIC, one_line

_TENFOLD = 10  # headings differ by hundredths
_QUOTED = 40  # characters of a decision that are looked for
_KINDS = {
    "title": "the session's title",
    "plan": "the heading of a plan",
    "head": "a heading in the request",
    "request": "the first request",
    "later": "a later request",
    "pull": "a pull request",
    "commit": "a commit",
    "task": "a task of the agent",
    "opening": "the agent's first words",
    "closing": "the agent's report",
    "report": "a heading of the agent's report",
    "cause": "the cause that was found",
}
_SIGNS = (  # the first that fits the name of a feature
    (r"agreement|best$|shared$", "its words are those the work is about"),
    (r"kind |whole title", "what kind of text it is"),
    (r"place$|sentence$|first sentence|late$|listed$", "where it stands"),
    (r"completed ", "what was added to it"),
    (r"length", "its length"),
    (r"imperative", "it says what to do"),
    (r"deictic|of what", "it points at something unseen"),
    (r"question", "it asks"),
    (r"statement|background", "it tells how things are"),
    (r"thin", "it names next to nothing"),
    (r"cut$|torn", "it breaks off"),
    (r"article|spoken of", 'it speaks of "the …"'),
    (r"one of many|explores|side step|revised|little work", "it is a step on the way"),
    (r"", "how it reads"),
)
_OUTCOMES = (
    ("Opened a pull request: ", "the pull request that was opened"),
    ("Committed: ", "the commits, the one closest to the topic first"),
    ("Planned: ", "the plan that was handed over"),
    ("Changed ", "the files that were changed: no answer says better what came of it"),
)


def why_topic(
    rounds: Sequence[Activity],
    start: int,
    end: int,
    title: str | None,
    learned: Model | None,
    taken: Collection[str],
    topic: str,
) -> tuple[Reason, ...]:
    """What decided a topic, the strongest first; the first reason says where it is from."""
    given = given_title(rounds, title)
    named = headings(rounds[start:end], given)
    best = next((h for h in named if one_line(h.text, LONGEST_TOPIC) == topic), None)
    if best is None:
        return (Reason(f"taken from {_composed(topic, named, rounds[start:end])}", 0.0),)
    learned = learned or model()
    rows = described(named, Range(rounds, start, end, given, taken), learned)
    found: dict[str, float] = {}
    for name, weight in contributions(rows[named.index(best)], learned):
        sign = next(words for pattern, words in _SIGNS if re.match(pattern, name))
        found[sign] = found.get(sign, 0.0) + _TENFOLD * weight
    signs = sorted(found.items(), key=lambda one: (-abs(one[1]), one[0]))
    return (
        Reason(f"taken from {_KINDS[best.kind]}", 0.0),
        *(Reason(words, weight) for words, weight in signs if weight),
    )


def _composed(topic: str, named: Sequence[Heading], part: Sequence[Activity]) -> str:
    """What a topic that is no heading by itself is made of."""
    subjects = [subject_of(c.subject).lower() for round in part for c in round.commits]
    if "; " in topic and len(subjects) > 1:
        return "several commits, named together"
    whole = next((h for h in named if topic.startswith(h.bare)), None)
    if whole is not None:
        return f"{_KINDS[whole.kind]}, completed by what is known of the work"
    return "what is known of the work: nothing that was said names it better"


def why_outcome(outcome: str) -> str:
    """What an outcome was taken from."""
    if not outcome:
        return "nothing that was said, committed or changed tells what came of it"
    told = (words for begins, words in _OUTCOMES if outcome.startswith(begins))
    return next(told, "what the answers report as a result")


def why_decided(decision: str, part: Sequence[Activity]) -> str:
    """Whose words a decision is."""
    if decision.startswith("“"):
        return "your answer when the agent asked"
    begin = decision[:_QUOTED].rstrip(".").lower()
    if any(begin in subject_of(title).lower() for title in titles_of(part)):
        return "a commit or pull request"
    typed = " ".join(" ".join(round.prompt.split()) for round in part).lower()
    return "your words" if begin in typed else "the agent's words"
