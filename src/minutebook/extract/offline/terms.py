"""What a topic does not name but the work was about, added in brackets.

A heading is one sentence of somebody's; the word by which one looks for the work weeks later often
stands in the next one, in a commit, or in the name of a file. The model that weighs words for
headings (`topic_model`) says which words of the range would be missed.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from minutebook.extract.offline.heading_words import GENERIC, ROUTINE
from minutebook.extract.offline.headings import MOST_WORDS, is_wide, length_of, telling
from minutebook.extract.offline.topic_model import Model, Range, chances, stems
from minutebook.extract.offline.verbs import is_imperative

_LIKELY, _SURE = 0.35, 0.5
"""How probable a word must be in a person's heading: where the topic names little, and else."""
_NAMES_ENOUGH = 5  # names in a topic
_MOST_TERMS = 3
_ROOM = MOST_WORDS - 2  # words of a heading with its terms
_CANDIDATES = 24
_WEIGHTS = {
    **dict.fromkeys(("title", "plan", "pulls"), 3.0),
    **dict.fromkeys(("first", "commits", "branch"), 2.0),
    **dict.fromkeys(("request", "tasks", "closing", "opening", "files"), 1.0),
    "later": 0.5,
}
"""Where words are looked for, and how much a word there counts before it is weighed."""
_NOT_TERMS = frozenset(
    stem
    for word in GENERIC
    | ROUTINE
    | frozenset(
        "http https www com org net html local localhost user users true false none null new"
        " default value values type types json yaml yml toml src lib app pkg cmd api url urls"
        " miss missing not non get got etc via per help like make lets ask asked want info".split()
    )
    for stem in stems(word)
)
_SPELT = re.compile(r"[^\W_](?:[\w-]*[^\W_])?")
_LONGEST = 28  # characters of a name that is shown as it is
_NO_NOUN = re.compile(r"[a-z]{3,}(?:ing|ed|able|ible|ly|ous|ful|ive)$")


def with_terms(topic: str, given: Range, learned: Model) -> str:
    """A topic with up to three names it lacks; as it is where it has them, or no room."""
    room = _ROOM - length_of(topic)
    if room < 1 or topic.endswith((")", "?")) or is_wide(topic):
        return topic
    chance = chances(given, learned, _candidates(given, frozenset(stems(topic))))
    least = _LIKELY if telling(topic) < _NAMES_ENOUGH else _SURE
    likely = [word for word, value in chance.items() if value > least]
    likely.sort(key=lambda word: (-chance[word], word))
    terms = _spelt(likely, given, min(room, _MOST_TERMS))
    return f"{topic} ({', '.join(terms)})" if terms else topic


def _candidates(given: Range, said: frozenset[str]) -> list[str]:
    """Words of the range that could be missed, those first that stand where it says what it is."""
    found: Counter[str] = Counter()
    for source, weight in _WEIGHTS.items():
        for word, count in given.counts[source].items():
            found[word] += weight * (1 + math.log(count))  # type: ignore[assignment]
    known = said | given.counts["project"].keys() | _NOT_TERMS
    named = (
        word
        for word, _ in sorted(found.items(), key=lambda item: (-item[1], item[0]))
        if word not in known and len(word) > 2 and word.isalpha()
    )
    return [word for _, word in zip(range(_CANDIDATES), named, strict=False)]


def _spelt(likely: list[str], given: Range, most: int) -> list[str]:
    """Words as they were written, or the names that they are part of."""
    text = " ".join(
        [round.prompt for round in given.part]
        + [commit.subject for round in given.part for commit in round.commits]
        + [title for round in given.part for title in round.pull_titles]
        + [round.opening for round in given.part]
        + [round.answer for round in given.part]
    )
    forms: dict[str, Counter[str]] = {word: Counter() for word in likely}
    for form in _SPELT.findall(text[:20_000]):
        for stem in stems(form):
            if stem in forms:
                forms[stem][form] += 1
    terms: list[str] = []
    said: set[str] = set()
    for word in likely:
        if word in said or not forms[word] or len(terms) == most:
            continue
        form = max(forms[word], key=lambda name: (forms[word][name], name))
        if len(form) > _LONGEST or is_imperative(form) or _NO_NOUN.match(form):
            continue
        terms.append(
            form if not form[:1].isupper() or form[1:].lower() != form[1:] else form.lower()
        )
        said |= set(stems(form))
    return terms
