"""The main commits of a range, named together in one heading (UND-02).

A range that committed several things is not about the last of them: features and fixes are named
before tests, documents and tidying, what came first before what followed from it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from minutebook.derive.activity import Activity
from minutebook.extract.offline.headings import (
    MOST_WORDS,
    capital,
    heading_of,
    is_long_enough,
    is_wide,
    length_of,
    shortened,
    telling,
    uncapital,
)
from minutebook.extract.offline.texts import is_telling, subject_of
from minutebook.extract.offline.topic_model import is_same, stems

_MOST = 12  # commits that are looked at
_ACRONYM = 3  # letters: "cli", "api"
_NAMED = 3  # of them
_BRIEFLY = ((8, 4), (5, 4), (5, 3))
"""At most and at least so many words of a commit that has to leave room for another."""
_LEVELS = sorted(
    product(range(len(_BRIEFLY) + 1), repeat=2), key=lambda pair: (max(pair), sum(pair))
)
_SIDE = re.compile(
    r"^(?:(?:\w+(?:\([^)]{0,60}\))?!?: *)?(?:(?:fix|add|update|write|stub|make|improve|satisfy"
    r"|resolve|correct|clean|remove)\w* (?:\S+ ){0,4}?(?:tests?|(?-i:Test[A-Z]\w*)|lint\w*|typos?"
    r"|docs?|readme\S*|changelog|comments?|formatting|whitespace|conflicts?|golangci\S*|ci"
    r"|coverage)\b"
    r"|(?:address|apply|format|gofmt|lint|tests?|bump|typos?|document|regenerate|simplify|polish"
    r"|tidy|respond|review|clarify)\b))",
    re.IGNORECASE,
)
_MARKED = re.compile(  # by the convention for subjects
    r"^(?:docs?|tests?|chore|ci|style|build|lint|release|deps)\b[^:]{0,60}:", re.IGNORECASE
)
_REVERT = re.compile(r"^revert:?\s+[\"“]?(?P<what>.+?)[\"”]?$", re.IGNORECASE)
_SCOPE = re.compile(r"^[a-z]+\((?P<scope>[A-Za-z][\w-]{2,20})\)!?:")


@dataclass(frozen=True, slots=True)
class MainCommit:
    subject: str
    text: str
    side: bool
    marked: bool
    scope: str
    words: frozenset[str]


def main_commits(
    part: Sequence[Activity], used: Collection[str], tests: bool = False
) -> list[MainCommit]:
    """What a range committed, each thing once, and only the main ones if there are such.

    `used` was made before it; `tests` are no side matter where they were asked for. Nothing where
    what is left after a revert is aside.
    """
    subjects = [subject for subject in _kept(part) if is_telling(subject)]
    found = _read([subject for subject in subjects if subject not in used])
    main = found if tests else [commit for commit in found if not commit.side]
    if not main and found and (again := _made_anew(part, used)):
        return [commit for commit in _read(again) if not commit.side] + found
    if not main:
        return [] if any(map(_reverts, part)) else found
    alone = main != found and len(main) == 1 and found[0].side and not found[0].marked
    return [found[0], *main] if alone else main  # its tests came first: they were as much asked for


def _made_anew(part: Sequence[Activity], used: Collection[str]) -> list[str]:
    """Earlier commits that most rounds of a range went into: tests and documents belong to them."""
    made = [c.subject for round in part for c in round.commits if c.subject in used]
    return list(dict.fromkeys(made)) if len(made) > len(part) / 2 else []


def _read(subjects: Sequence[str]) -> list[MainCommit]:
    found: list[MainCommit] = []
    for subject in subjects:
        text = heading_of(subject_of(subject))
        if text is None or telling(text) < 1:
            continue
        words = frozenset(stems(text))
        scope = _SCOPE.match(subject)
        marked = _MARKED.match(subject) is not None
        side = marked or _SIDE.match(subject) is not None
        made = MainCommit(subject, text, side, marked, scope["scope"] if scope else "", words)
        if not any(is_same(words, other.words) for other in found):
            found.append(made)
        if len(found) == _MOST:
            break
    return found


def _reverts(round: Activity) -> bool:
    return any(_REVERT.match(commit.subject) for commit in round.commits)


def _kept(part: Sequence[Activity]) -> Iterator[str]:
    """Subjects of a range's commits, without what was reverted or made anew at once."""
    subjects: list[str] = []
    for commit in (commit for round in part for commit in round.commits):
        if commit.amends and subjects:
            subjects.pop()
        if reverted := _REVERT.match(subject_of(commit.subject)):
            undone = reverted["what"].lower()
            subjects = [s for s in subjects if undone not in (s.lower(), subject_of(s).lower())]
        else:
            subjects.append(commit.subject)
    return iter(dict.fromkeys(subjects))


def together(commits: Sequence[MainCommit], before: str = "") -> str | None:
    """One heading that names two or three commits; None where they do not fit into one."""
    if len(commits) < 2 or any(is_wide(commit.text) for commit in commits):
        return None
    room = MOST_WORDS - length_of(before)
    for place, (first, second) in product(range(1, len(commits)), _LEVELS):
        said = _briefly(commits[0].text, first)
        more = _briefly(commits[place].text, second)
        if said and more and length_of(said) + length_of(more) <= room:
            parts = [said, more, *_more(commits[place + 1 :], room, said, more)]
            return _joined(parts, commits, before)
    return None


def _briefly(text: str, level: int) -> str | None:
    """A commit's text in whole, or in so few words that another fits beside it."""
    return shortened(text, *_BRIEFLY[level - 1]) if level else shortened(text, MOST_WORDS)


def _more(commits: Sequence[MainCommit], room: int, *said: str) -> Iterator[str]:
    left = room - sum(map(length_of, said))
    fitting = (text for c in commits if (text := shortened(c.text, left)) is not None)
    return islice(fitting, _NAMED - len(said))


def _joined(parts: Sequence[str], commits: Sequence[MainCommit], before: str) -> str | None:
    said = "; ".join([parts[0], *map(uncapital, parts[1:])])
    scopes = {commit.scope for commit in commits}
    if before:
        said = f"{before}: {uncapital(said)}"
    elif len(scopes) == 1 and (scope := scopes.pop()) and scope.lower() not in said.lower():
        scope = scope.upper() if len(scope) <= _ACRONYM else scope[:1].upper() + scope[1:]
        placed = f"{scope}: {uncapital(said)}"
        said = placed if length_of(placed) <= MOST_WORDS else said
    return capital(said) if is_long_enough(said) else None
