"""What a range of rounds was about, in a heading a person can read.

A heading is always somebody's own words, cleaned: of a request, a plan, a commit, a pull
request, a list of tasks, an answer, or the session's title. A model learned from labelled
sessions chooses among them (`topic_model`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.offline.candidates import (
    Heading,
    given_title,
    headings,
    is_asked,
    subject_of,
)
from minutebook.extract.offline.headings import (
    MOST_WORDS,
    is_long_enough,
    length_of,
    title_heading,
)
from minutebook.extract.offline.places import mainly, project_of, touched
from minutebook.extract.offline.topic_model import (
    Model,
    Range,
    described,
    model,
    says,
    stems,
    worth,
)
from minutebook.extract.validation import LONGEST_TOPIC, one_line

_SAME = 0.8  # of the words of a topic
_SHORT_TITLE = 4  # words of a title that is good enough


def topic_of(
    rounds: Sequence[Activity],
    start: int,
    end: int,
    title: str | None,
    learned: Model | None = None,
    taken: Collection[str] = (),
) -> str:
    """A heading of 5 to 15 words for rounds `start` up to (not with) `end`.

    `taken` are topics of the session's other engagements.
    """
    part = rounds[start:end]
    given = given_title(rounds, title)
    if given is not None and len(part) == len(rounds):
        text = title_heading(subject_of(given))
        if text is not None and is_long_enough(text):
            return one_line(text, LONGEST_TOPIC)  # a title of everything: no need to look on
    named = headings(part, given) if any(map(is_asked, part)) or not _known(part) else ()
    if not named:
        return one_line(_without_words(part), LONGEST_TOPIC)
    best = chosen(named, Range(rounds, start, end, given, taken), learned or model())
    return one_line(_placed(best, part), LONGEST_TOPIC)


def _placed(best: Heading, part: Sequence[Activity]) -> str:
    """A heading by which nothing can be found, with the files that were worked on most."""
    thin = best.kind != "title" and best.completed != "files" and not says(best)
    where = mainly(part) if thin and not best.text.endswith("?") else ""
    if not where or " in " in best.bare or length_of(best.bare) + 2 > MOST_WORDS - 2:
        return best.text
    return f"{best.bare} in {where}"


def chosen(named: Sequence[Heading], given: Range, learned: Model) -> Heading:
    """The heading of a range: a title given to all of it, else the best by what was learned."""
    if given.whole:
        named = _titled(named)
    named = [heading for heading in named if is_long_enough(heading.text)] or named
    taken = [frozenset(stems(topic)) for topic in given.taken]
    named = [heading for heading in named if not _is_taken(heading, taken)] or named
    worths = [worth(of, learned) for of in described(named, given, learned)]
    return named[max(range(len(named)), key=worths.__getitem__)]


def _is_taken(heading: Heading, taken: Sequence[frozenset[str]]) -> bool:
    """Whether another engagement is called so already, in these words or nearly."""
    if not taken:
        return False
    words = frozenset(stems(heading.bare))
    return any(len(words & topic) > _SAME * len(words) for topic in taken)


def _titled(named: Sequence[Heading]) -> Sequence[Heading]:
    """The headings that say what the session's title says; all, where it has no good one."""
    titles = [heading for heading in named if heading.kind == "title"]
    if good := [heading for heading in titles if is_long_enough(heading.text)]:
        return [heading for heading in good if is_long_enough(heading.bare)][:1] or good
    short = next((h for h in titles if length_of(h.text) >= _SHORT_TITLE), None)
    if short is None:
        return named
    said = set(stems(short.text))
    longer = [h for h in named if 4 * len(said & set(stems(h.text))) >= 3 * len(said)]
    return [h for h in longer if is_long_enough(h.text)] or [short]


_COMMANDS = {
    "init": "Write the instructions for agents in",
    "review": "Review the changes in",
    "code-review": "Review the code changes in",
    "security-review": "Review the security of",
    "simplify": "Simplify the code just changed in",
    "commit": "Commit the latest changes in",
}


def _known(part: Sequence[Activity]) -> str:
    """What the command of a range does, where it is one that everybody has."""
    commands = (round.command.strip("/") for round in part if round.command)
    return next((_COMMANDS[name] for name in commands if name in _COMMANDS), "")


def _without_words(part: Sequence[Activity]) -> str:
    """What can be said of a range in which nothing was said."""
    where = project_of(part) or "an unnamed folder"
    command = next((round.command for round in part if round.command), "").strip("/")
    if known := _known(part):
        return f"{known} {where}"
    files = touched(part)
    if files:
        return f"Work on {files} in {where}"
    if command:
        words = command.rpartition(":")[2].replace("-", " ").replace("_", " ")
        return f"Run the {words} command in {where}"
    return f"Work without a stated request in {where}"
