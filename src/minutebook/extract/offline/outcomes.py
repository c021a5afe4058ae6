"""What came of a range of rounds, in one whole sentence (UND-04).

The pull request that was opened; else what was committed, where no earlier engagement
committed it; else the sentence of the closing answers that reports a result; else the files
that were changed, and of what kind they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from minutebook.derive.activity import Activity
from minutebook.derive.markup import without_marks
from minutebook.derive.wording import plural
from minutebook.extract.offline.headings import (
    capital,
    is_wide,
    telling,
    uncapital,
    unlabelled,
)
from minutebook.extract.offline.places import changed_files, is_test
from minutebook.extract.offline.reports import About, best_report
from minutebook.extract.offline.requests import is_reply
from minutebook.extract.offline.texts import subject_of
from minutebook.extract.offline.together import MainCommit, main_commits
from minutebook.extract.offline.topic_model import is_same, stems
from minutebook.extract.offline.verbs import is_imperative

_WORKED = 0.35  # worth of a sentence from which it is shown, where something was changed
_ASKED = 0.2  # and where it was not
_NAMED = 3  # files, or commits
_LONGEST = 160  # characters that name commits
_SMALL = re.compile(  # commits that say nothing of the work
    r"^(?:start work|update (?:state|changelog|status)|wip\b|bump|merge\b|fixup|squash|format"
    r"|init(?:ial commit)?$|gofmt|lint|amend|tmp\b|temp\b|save\b|checkpoint$|cleanup$|typos?\b)",
    re.IGNORECASE,
)
_UNSAID = re.compile(
    r"^(?:start work|wip|merge|fixup|squash|tmp|temp|save|amend|init)\b", re.IGNORECASE
)
_LOOKS = re.compile(  # what was asked for before anything was changed
    r"(?:review|analy[sz]e|investigate|check|explore|research|look|explain|verify|validate"
    r"|understand|compare|diagnose|read|find|trace|double)\b",
    re.IGNORECASE,
)
_SIDE = re.compile(r"^(?:docs?|tests?|chore|ci|style|build)\b[^:]{0,60}:", re.IGNORECASE)
_DOCUMENT = re.compile(r"\.(?:md|mdx|rst|txt|adoc)$", re.IGNORECASE)
_SETTING = re.compile(r"\.(?:json|ya?ml|toml|ini|cfg|env|lock)$|^\.\w+$", re.IGNORECASE)


def outcome_of(rounds: Sequence[Activity], topic: str = "", used: Collection[str] = ()) -> str:
    """One sentence on what came of a range; empty where nothing did.

    `used` are titles of commits and pull requests of the session's earlier engagements: a
    commit that is amended belongs to where it was made.
    """
    opened = [title for r in rounds for title in r.pull_titles if title not in used]
    if opened:
        return as_sentence(f"Opened a pull request: {_subject(opened[-1])}")
    subjects = dict.fromkeys(c.subject for r in rounds for c in r.commits if c.subject not in used)
    small = [subject for subject in subjects if _names_nothing(_subject(subject))]
    own = [subject for subject in subjects if subject not in small]
    topical = frozenset(stems(topic))
    if own:
        return _committed(own, topical or _asked(rounds), main_commits(rounds, used))
    worked = any(r.edits or r.committing or r.pull_requests for r in rounds)
    best, worth = best_report(rounds, About(_asked(rounds), topical), worked)
    if worth >= (_WORKED if worked else _ASKED):
        return as_sentence(best)
    brief = [subject for subject in small if not _UNSAID.match(_subject(subject))]
    return _committed(brief, topical) if brief else _changed(rounds, topic)


def _names_nothing(subject: str) -> bool:
    """Whether a commit says nothing of the work: "wip", "Simplify after review"."""
    return bool(_SMALL.match(subject)) or (not is_wide(subject) and telling(subject) < 1)


def _asked(rounds: Sequence[Activity]) -> frozenset[str]:
    """Words of what was asked for: a result speaks of it."""
    asked = [r.prompt[:600] for r in rounds if not is_reply(r.prompt)][:4]
    return frozenset(stems(" ".join(asked)))


def _committed(
    subjects: Sequence[str], topical: frozenset[str], main: Sequence[MainCommit] = ()
) -> str:
    """The commit that is closest to the topic, else the last feature or fix; with other main ones
    where there is room."""

    def closeness(place: int) -> tuple[float, int]:
        words = set(stems(_subject(subjects[place])))
        shared = len(words & topical) / max(1, len(words))
        return (shared - (0.3 if _SIDE.match(subjects[place]) else 0.0), place)

    said = [_subject(subjects[max(range(len(subjects)), key=closeness)])]
    known = [frozenset(stems(said[0]))]
    for commit in main:
        subject = _subject(commit.subject)
        fits = len(said) < _NAMED and len("; ".join((*said, subject))) <= _LONGEST
        new = not any(is_same(commit.words, words) for words in known)
        if fits and new and commit.subject in subjects:
            said.append(uncapital(subject))
            known.append(commit.words)
    others = len(subjects) - len(said)
    more = f" (and {plural(others, 'more commit')})" if others else ""
    return as_sentence(f"Committed: {'; '.join(said)}{more}")


def _changed(rounds: Sequence[Activity], topic: str) -> str:
    """The files that were changed, by their kind, and for what; notes and scratch are none."""
    files = changed_files(rounds)
    tests = [name for name in files if is_test(name)]
    others = [name for name in files if name not in tests]
    if not files:
        plan = next((r.plan for r in reversed(rounds) if r.plan), "")
        return as_sentence(f"Planned: {capital(unlabelled(_subject(plan)))}") if plan else ""
    if not others:
        return f"Changed tests in {_listed(tests)}{_purpose(topic, files)}."
    written = [name for name in others if _DOCUMENT.search(name)]
    settings = [name for name in others if _SETTING.search(name)]
    if len(written) + len(settings) < len(others):
        kind = "code"
    else:
        kind = " and ".join(["documentation"] * bool(written) + ["settings"] * bool(settings))
    several = len(others) > 1
    also = f" and {'their' if several else 'its'} tests" if tests and kind == "code" else ""
    return f"Changed {kind} in {_listed(others)}{also}{_purpose(topic, files)}."


def _purpose(topic: str, files: Sequence[str]) -> str:
    """What files were changed for, as the topic says it; it may name them, too."""
    head, _, place = topic.rpartition(" in ")
    said = head if place.split(" and ")[0] in files else topic
    named = any(name in said for name in files)
    if not said or named or said.endswith("?") or _LOOKS.match(said):
        return ""
    return f" to {uncapital(said)}" if is_imperative(said) else f" for “{said}”"


def _listed(names: Sequence[str]) -> str:
    """The first names, and how many there are beside them."""
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {plural(len(names) - _NAMED, 'more file')}"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


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
