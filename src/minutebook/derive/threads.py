"""Threads: engagements of several sessions that are one piece of work (FUT-06).

Links between engagements are found by inverted indexes (branch, number, file), each with what
one can look up; a person's word wins over them. Precision first: a file that everybody changes,
a branch everybody works on, a number everybody names tie nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import Literal

import msgspec

Key = tuple[str, str]
"""Session and engagement."""
Kind = Literal["recorded", "lineage", "branch", "number", "files"]

_TRUNKS = frozenset(
    "main master develop development dev trunk default head staging production release next "
    "gh-pages".split()
)
_COMMON_FILES = re.compile(
    r"(?:^|/)(?:readme|changelog|license|contributing|todo)(?:\.\w+)?$"
    r"|(?:^|/)(?-i:[A-Z_]{3,})\.md$"
    r"|(?:^|/)(?:package(?:-lock)?\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|uv\.lock"
    r"|poetry\.lock|pyproject\.toml|setup\.(?:py|cfg)|requirements[\w-]*\.txt|cargo\.(?:toml|lock)"
    r"|go\.(?:mod|sum)|gemfile(?:\.lock)?|composer\.(?:json|lock)|makefile|dockerfile|tsconfig\.json"
    r"|\.gitignore|\.env(?:\.\w+)?|__init__\.py|index\.\w+|mod\.rs|settings(?:\.local)?\.json)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{3,}")


def is_trunk(branch: str) -> bool:
    """Whether everybody works on a branch: that two sessions are on it says nothing."""
    return branch.lower() in _TRUNKS


def is_common(file: str) -> bool:
    """Whether everybody changes a file, whatever they work on."""
    return _COMMON_FILES.search(file) is not None


_IDLE = frozenset(
    "the and for with from into that this add fix make use update create implement change build "
    "write remove new all not are was its how why what when can you our your should bei und der "
    "die das les des une para los las".split()
)
_MOST_SHARING = 15
"""A branch or number of more engagements than this says nothing about any of them."""
_RARE = 6
"""A file that more engagements changed than this is not rare."""
_BACK = 3
"""Each engagement is compared with so many that changed the same file before."""
_FILES_DAYS, _REFS_DAYS = 14, 60
_DAY = 86_400.0
_LIKE, _MOSTLY = 0.3, 0.5


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """An engagement, reduced to what may tie it to others."""

    key: Key
    topic: str
    project: str
    started: float
    """Seconds since the epoch; 0 where nobody knows."""
    ended: float = 0.0
    first: int = 1
    """Its first round."""
    branches: tuple[str, ...] = ()
    """In the order it was on them."""
    numbers: tuple[str, ...] = ()
    """Issues and pull requests it is about: ``#41``, ``owner/repo#41``."""
    needs: tuple[str, ...] = ()
    """Numbers and branches it says it needs first."""
    files: tuple[str, ...] = ()


class Origin(msgspec.Struct, frozen=True):
    """A session that another one goes on with."""

    session_id: str
    kind: Kind = "recorded"
    evidence: str = ""
    confidence: float = 0.9


class Tie(msgspec.Struct, frozen=True):
    """Why two engagements are one piece of work."""

    earlier: Key
    later: Key
    kind: Kind
    evidence: str
    """What one can look up: a branch, a number, files, a session."""
    confidence: float


class Dependency(msgspec.Struct, frozen=True):
    """A thread that another one needs, and what says so."""

    thread: str
    evidence: str
    by: Key


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of work, its engagements oldest first."""

    id: str
    named: bool = False
    """Whether a person gave it its name."""
    topic: str
    project: str
    members: tuple[Key, ...]
    ties: tuple[Tie, ...] = ()
    depends_on: tuple[Dependency, ...] = ()

    def continues(self, key: Key) -> Key | None:
        """The engagement before one, in the same thread."""
        at = self.members.index(key) if key in self.members else 0
        return self.members[at - 1] if at > 0 else None


def thread_id(earliest: Key) -> str:
    """A thread's id, by its earliest engagement: it stays when the thread grows."""
    session, engagement = earliest
    # Only a random UUID begins with what is its own: others begin with their time, which sessions
    # of one minute have in common.
    return f"{engagement}-{session[:8] if session[14:15] == '4' else session[-8:]}"


def is_one_name(one: str | None, other: str) -> bool:
    """Whether two names are one thread's: they may differ in capitals."""
    return one is not None and one.casefold() == other.casefold()


def threads_of(
    parts: Iterable[Part],
    origins: Mapping[str, Iterable[Origin]],
    said: Mapping[Key, str | None],
    note: Callable[[int], None] = lambda _: None,
) -> list[Thread]:
    """Threads, the one with the newest work first.

    `origins` has the sessions that a session continues; `said` a person's word on engagements:
    the thread's name, or None where it belongs to none. `note` is told how much was compared.
    """
    known = sorted(parts, key=lambda part: (part.started, part.key[0], part.first))
    free = [part for part in known if said.get(part.key, "") is not None]
    found = [*_continued(free, origins, note), *_shared(free, note), *_by_files(free, note)]
    groups = _Groups(free, {key: name for key, name in said.items() if name})
    used = [tie for tie in sorted(found, key=_surest) if groups.join(tie.earlier, tie.later)]
    note(len(found))
    return _told(groups, free, used)


# -- ties


def _continued(
    parts: Sequence[Part], origins: Mapping[str, Iterable[Origin]], note: Callable[[int], None]
) -> Iterable[Tie]:
    """A session that continues another: its first engagement goes on with that one's last."""
    sessions: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        sessions[part.key[0]].append(part)
    for session_id, own in sessions.items():
        for origin in origins.get(session_id, ()):
            note(1)
            parent = origin.session_id
            before = [p for p in sessions.get(parent, ()) if p.started <= own[0].started]
            if before and parent != session_id:
                told = origin.evidence or f"continues {parent}"
                yield Tie(before[-1].key, own[0].key, origin.kind, told, origin.confidence)


def _shared(parts: Sequence[Part], note: Callable[[int], None]) -> Iterable[Tie]:
    """One branch, or one number, of one project."""
    holders: dict[tuple[Kind, str, str], list[Part]] = defaultdict(list)
    for part in parts:
        for branch in _own_branch(part):
            holders["branch", part.project, branch].append(part)
        for number in part.numbers:
            holders["number", part.project, number].append(part)
    for (kind, _, name), found in holders.items():
        note(len(found))
        if len(found) > _MOST_SHARING:
            continue
        for earlier, later in pairwise(found):
            if later.started - max(earlier.started, earlier.ended) <= _REFS_DAYS * _DAY:
                yield Tie(earlier.key, later.key, kind, name, 0.85 if kind == "branch" else 0.8)


def _own_branch(part: Part) -> list[str]:
    """The branch its work is on: it may begin on another, and end on the trunk."""
    return [branch for branch in part.branches if not is_trunk(branch)][-1:]


def _by_files(parts: Sequence[Part], note: Callable[[int], None]) -> Iterable[Tie]:
    """The same rare files, changed within days, for topics that are alike."""
    projects: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        projects[part.project].append(part)
    for found in projects.values():
        yield from _in_project(found, note)


def _in_project(parts: Sequence[Part], note: Callable[[int], None]) -> Iterable[Tie]:
    holders: dict[str, list[int]] = defaultdict(list)
    for at, part in enumerate(parts):
        for file in dict.fromkeys(part.files):
            if not is_common(file):
                holders[file].append(at)
    rare = {file: places for file, places in holders.items() if 1 < len(places) <= _RARE}
    shared: dict[tuple[int, int], list[str]] = defaultdict(list)
    for file, places in rare.items():
        for index, at in enumerate(places):
            for before in places[max(0, index - _BACK) : index]:
                note(1)
                if parts[before].key[0] != parts[at].key[0]:
                    shared[before, at].append(file)
    weigh = {file: log(1 + len(parts) / len(places)) for file, places in holders.items()}
    words = _Words(parts)
    for (before, at), files in shared.items():
        earlier, later = parts[before], parts[at]
        if later.started - max(earlier.started, earlier.ended) > _FILES_DAYS * _DAY:
            continue
        part_of = sum(weigh[file] for file in files) / min(
            sum(weigh.get(file, 0.0) for file in dict.fromkeys(part.files)) or 1.0
            for part in (earlier, later)
        )
        likeness = words.likeness(before, at)
        alike = likeness >= _LIKE or (len(files) > 1 and part_of >= _MOSTLY and likeness > 0.1)
        if alike:
            told = ", ".join(sorted(files)[:3])
            sure = round(min(0.79, 0.4 + 0.25 * min(1.0, part_of) + 0.25 * likeness), 2)
            yield Tie(earlier.key, later.key, "files", told, sure)


class _Words:
    """How alike the topics of a project's engagements are; words everybody uses count little."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._words = [frozenset(_WORD.findall(part.topic.lower())) - _IDLE for part in parts]
        self._count = len(parts)
        self._held = Counter(word for words in self._words for word in words)

    def likeness(self, one: int, other: int) -> float:
        both = self._words[one] & self._words[other]
        if not both:
            return 0.0
        return self._weight(both) / self._weight(self._words[one] | self._words[other])

    def _weight(self, words: Iterable[str]) -> float:
        return sum(log(1 + self._count / self._held[word]) for word in words)


# -- threads


class _Groups:
    """Which engagements are together; two that a person named differently never are."""

    def __init__(self, parts: Sequence[Part], names: Mapping[Key, str]) -> None:
        self._above: dict[Key, Key] = {part.key: part.key for part in parts}
        self.names: dict[Key, str] = {}
        # A name may be the id of a thread that was found; however it is written, it is one name.
        first = {thread_id(part.key): part.key for part in parts}
        spelled = {id.casefold(): id for id in first}
        for part in parts:
            if (name := names.get(part.key)) is not None:
                name = spelled.setdefault(name.casefold(), name)
                self.names[part.key] = name
                self.join(first.setdefault(name, part.key), part.key)

    def root(self, key: Key) -> Key:
        while self._above[key] != key:
            self._above[key] = self._above[self._above[key]]
            key = self._above[key]
        return key

    def join(self, one: Key, other: Key) -> bool:
        """Put two together; False where a person keeps them apart."""
        one, other = self.root(one), self.root(other)
        if one == other:
            return True
        first, second = self.names.get(one), self.names.get(other)
        if first is not None and second is not None and first != second:
            return False
        self._above[other] = one
        if (name := first or second) is not None:
            self.names[one] = name
        return True


def _told(groups: _Groups, parts: Sequence[Part], ties: Sequence[Tie]) -> list[Thread]:
    members: dict[Key, list[Part]] = defaultdict(list)
    for part in parts:
        members[groups.root(part.key)].append(part)
    evidence: dict[Key, list[Tie]] = defaultdict(list)
    for tie in ties:
        evidence[groups.root(tie.later)].append(tie)
    found: list[tuple[float, Thread]] = []
    owners: dict[tuple[str, str], str] = {}
    waiting: dict[str, list[Part]] = {}
    for root, own in members.items():
        name = groups.names.get(root)
        if name is None and len({part.key[0] for part in own}) < 2:
            continue
        thread = Thread(
            id=name or thread_id(own[0].key),
            named=name is not None,
            topic=own[0].topic,
            project=own[0].project,
            members=tuple(part.key for part in own),
            ties=tuple(evidence[root]),
        )
        found.append((max(max(part.started, part.ended) for part in own), thread))
        waiting[thread.id] = [part for part in own if part.needs]
        for part in own:
            for what in (*part.numbers, *_own_branch(part)):
                owners.setdefault((part.project, what), thread.id)
    found.sort(key=lambda item: (item[0], item[1].id), reverse=True)
    return [_with_needs(thread, waiting[thread.id], owners) for _, thread in found]


def _with_needs(
    thread: Thread, parts: Sequence[Part], owners: Mapping[tuple[str, str], str]
) -> Thread:
    needs: dict[str, Dependency] = {}
    for part in parts:
        for what in part.needs:
            other = owners.get((part.project, what))
            if other is not None and other != thread.id:
                needs.setdefault(other, Dependency(other, what, part.key))
    return msgspec.structs.replace(thread, depends_on=tuple(needs.values())) if needs else thread


def _surest(tie: Tie) -> tuple[float, Key, Key]:
    return -tie.confidence, tie.earlier, tie.later
