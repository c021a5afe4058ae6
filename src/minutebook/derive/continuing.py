"""Which session goes on with the work of an earlier one, in a conversation of its own (FUT-02).

Nothing records it, so each sign is weighed and named: a plan that was handed over, a session that
the first prompt names, the same branch, issue or rare files, words that say so. Each session has at
most one that it continues. Precision first: one weak sign alone says nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import log

import msgspec

from minutebook.derive.threads import is_common, is_trunk
from minutebook.derive.traces import Trace
from minutebook.model.lineage import Edge, Evidence

LEAST = 0.7
"""Below this confidence nothing is said."""
_DAY = 86_400.0
_BACK = 12
"""So many earlier sessions of the project are looked at."""
_LONGEST_GAP = 30 * _DAY
_OVERLAP = 120.0
_RARE = 4
"""Sessions that may have a file or a number before it says nothing."""
_COMMON = 0.1
"""A word that a larger part of all sessions has says nothing."""
_HANDED = 3
"""Lines of a plan or note that must be the same."""
_QUOTED = 160

_GOES_ON = re.compile(
    r"\b(?:pick(?:ing)? (?:this |it |things )?(?:back )?up|left off|(?:last|previous) session"
    r"|(?:previous|last|earlier) conversation|let'?s (?:continue|resume|keep going|finish)"
    r"|(?:continue|resume|finish) (?:with |the |this |that |our |on |work|where|implement|from)"
    r"|continuing|carry on|as (?:we )?discussed|we (?:just|last|recently|previously) \w+"
    r"|follow(?:ing)?[ -]up|still (?:fail|broken|not|see|get|have|the same|an? )"
    r"|(?:yesterday|earlier|before) (?:we|you|i)\b|we used yesterday"
    r"|remaining (?:work|items|tasks|issues|steps)|next (?:step|phase|part|task))",
    re.IGNORECASE,
)
_TAKES_UP = re.compile(
    r"^(?:ok(?:ay)?\b|alright|great\b|and\b|now\b|so\b|also\b|again\b|last change|one more"
    r"|another |while we wait|next\b|then\b|push\b|commit\b|please push|merge\b"
    r"|the (?:last|same|new|previous)|it (?:still|works|looks)|that|this|can you also"
    r"|there (?:are|is) (?:still|more|a batch))",
    re.IGNORECASE,
)


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session, as far as it may continue another."""

    id: str
    trace: Trace
    project: str
    started: float
    ended: float
    slug: str | None = None
    begins_elsewhere: bool = False
    """Whether its beginning is another's: it does not begin with words of its own."""


class Sign(msgspec.Struct, frozen=True):
    """A sign that one session continues another, and how much it says."""

    weight: float
    evidence: Evidence


def continuing(sessions: Iterable[Session]) -> Iterator[Edge]:
    """For each session the one whose work it goes on with, where enough says so."""
    known = sorted(sessions, key=lambda session: (session.started, session.id))
    projects: dict[str, list[Session]] = defaultdict(list)
    names = {session.id: session for session in known}
    rare = _Rarity(known)
    for session in known:
        before = projects[session.project]
        if session.trace.first and not session.begins_elsewhere:
            earlier = {other.id: other for other in before[-_BACK:]}
            earlier |= {id: names[id] for id in session.trace.named if id in names}
            earlier |= _on_branch(before, session)
            earlier.pop(session.id, None)
            edge = _best(session, list(earlier.values()), rare)
            if edge is not None:
                yield edge
        before.append(session)


def _on_branch(before: Sequence[Session], session: Session) -> dict[str, Session]:
    """The last session before it that ended on its branch."""
    branch = _branch(session, 0)
    for other in reversed(before) if branch else ():
        if _branch(other, -1) == branch:
            return {other.id: other}
    return {}


def _best(session: Session, earlier: Sequence[Session], rare: _Rarity) -> Edge | None:
    found: list[tuple[float, float, Session, list[Sign]]] = []
    last = max(
        (other for other in earlier if other.ended <= session.started + _OVERLAP),
        key=lambda other: other.ended,
        default=None,
    )
    for other in earlier:
        signs = list(_signs(other, session, rare, is_last=other is last))
        sure = 1.0
        for sign in signs:
            sure *= 1 - sign.weight
        found.append((round(1 - sure, 2), other.ended, other, signs))
    if not found:
        return None
    confidence, _, other, signs = max(found, key=lambda item: (item[0], item[1], item[2].id))
    if confidence < LEAST:
        return None
    signs.sort(key=lambda sign: -sign.weight)
    return Edge(
        older=other.id,
        newer=session.id,
        kind="continues",
        recorded=False,
        confidence=min(confidence, 0.97),
        evidence=tuple(sign.evidence for sign in signs),
    )


# -- signs


def _signs(older: Session, newer: Session, rare: _Rarity, *, is_last: bool) -> Iterator[Sign]:
    """What says that one goes on with the other; nothing where it began earlier."""
    if not older.started < newer.started:
        return
    gap = newer.started - older.ended
    handed = [*_named(older, newer), *_handed(older, newer)]
    yield from handed
    if handed and gap < -_OVERLAP:
        return
    if not -_OVERLAP <= gap <= _LONGEST_GAP or older.project != newer.project:
        return
    own = [*_branch_sign(older, newer, gap), *_files(older, newer, rare)]
    if not _of_one_template(older, newer):
        own += [*_number(older, newer, rare), *_likeness(older, newer, rare)]
    yield from own
    if is_last and gap < _DAY:
        yield from _words(newer)
    if is_last and gap < _DAY / 12 and own:
        told = f"{max(0, round(gap / 60))} min later"
        yield Sign(0.25 if gap < 1_800 else 0.15, Evidence(what="time", text=told))


def _named(older: Session, newer: Session) -> Iterator[Sign]:
    if older.id in newer.trace.named:
        yield Sign(
            0.95, Evidence(what="named", text=older.id, count=1, newer=newer.trace.first_round)
        )


def _handed(older: Session, newer: Session) -> Iterator[Sign]:
    """A plan, or a note, that one wrote and the other begins with."""
    asked = newer.trace.asked_lines
    same = [line for line in asked if line in older.trace.lines]
    if len(same) >= _HANDED:
        whole = len(same) >= 0.5 * len(asked)
        where = max(older.trace.lines[line] for line in same)
        yield Sign(
            0.95 if whole else 0.7,
            Evidence(what="plan", count=len(same), older=where, newer=newer.trace.first_round),
        )
    gap = newer.started - older.ended
    if newer.slug and newer.slug == older.slug and -_OVERLAP <= gap < _DAY:
        yield Sign(0.95, Evidence(what="slug", text=newer.slug))


def _of_one_template(older: Session, newer: Session) -> bool:
    """Whether both begin with the same lines, which say nothing about either."""
    asked = set(newer.trace.asked_lines)
    return len(asked & set(older.trace.asked_lines)) > 0.3 * len(asked)


def _branch(session: Session, at: int) -> str:
    branches = session.trace.branches
    branch = branches[at] if branches else ""
    return "" if is_trunk(branch) else branch


def _branch_sign(older: Session, newer: Session, gap: float) -> Iterator[Sign]:
    branch = _branch(newer, 0)
    if branch and branch == _branch(older, -1):
        weight = 0.65 if gap < _DAY else 0.5 if gap < 7 * _DAY else 0.3
        yield Sign(weight, Evidence(what="branch", text=branch))


def _number(older: Session, newer: Session, rare: _Rarity) -> Iterator[Sign]:
    for number in newer.trace.numbers_first:
        where = older.trace.numbers.get(number)
        # `#1` of a template, or of a list, is everybody's.
        if where is not None and rare.numbers[number] <= _RARE and len(number) > 2:
            yield Sign(
                0.62 if number in older.trace.numbers_first else 0.55,
                Evidence(what="number", text=number, older=where, newer=newer.trace.first_round),
            )
            return


def _files(older: Session, newer: Session, rare: _Rarity) -> Iterator[Sign]:
    changed = set(older.trace.files)
    same = [
        file
        for file in newer.trace.touched
        if file in changed and not is_common(file) and rare.files[file] <= _RARE
    ]
    if same:
        told = ", ".join(same[:3])
        yield Sign(
            min(0.45, 0.25 + 0.1 * len(same)), Evidence(what="files", text=told, count=len(same))
        )


def _likeness(older: Session, newer: Session, rare: _Rarity) -> Iterator[Sign]:
    """Rare words of the beginning that the earlier session has, too."""
    mine = {word: rare.word(newer.project, word) for word in newer.trace.begins}
    total = sum(mine.values())
    same = sorted(
        (word for word in mine if word in older.trace.holds), key=lambda word: -mine[word]
    )
    part = sum(mine[word] for word in same) / total if total else 0.0
    if part >= 0.15:
        told = ", ".join(same[:5])
        yield Sign(
            min(0.45, 1.2 * part), Evidence(what="words", text=told, count=round(100 * part))
        )


def _words(newer: Session) -> Iterator[Sign]:
    """Words that only make sense after something."""
    first = newer.trace.first[:600]
    if match := _GOES_ON.search(first):
        start = max(0, match.start() - 40)
        yield Sign(0.45, _quote(first[start:], newer))
    elif len(first) < 400 and _TAKES_UP.match(first):
        yield Sign(0.3, _quote(first, newer))


def _quote(text: str, newer: Session) -> Evidence:
    line = " ".join(text[: 2 * _QUOTED].split())[:_QUOTED]
    return Evidence(what="says", text=line, newer=newer.trace.first_round)


class _Rarity:
    """How many sessions have a file, a number, a word: what many have says nothing."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        self.files: Counter[str] = Counter()
        self.numbers: Counter[str] = Counter()
        self._count: Counter[str] = Counter()
        self._words: dict[str, Counter[str]] = defaultdict(Counter)
        self._everywhere: Counter[str] = Counter()
        self._all = len(sessions)
        for session in sessions:
            trace = session.trace
            self.files.update(set(trace.files))
            self.numbers.update(set(trace.numbers) | set(trace.numbers_first))
            self._count[session.project] += 1
            words = trace.holds.keys() | trace.begins.keys()
            self._words[session.project].update(words)
            self._everywhere.update(words)

    def word(self, project: str, word: str) -> float:
        if self._everywhere[word] > max(5, _COMMON * self._all):
            return 0.0
        here = log((1 + self._count[project]) / (1 + self._words[project][word]))
        everywhere = log((1 + self._all) / (1 + self._everywhere[word]))
        return max(0.0, min(here, everywhere))
