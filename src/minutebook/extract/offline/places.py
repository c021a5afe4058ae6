"""Where a range of rounds worked: the files it changed, and the folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.offline.headings import names as names_of

_FILES = 4
_TEST = re.compile(r"(?:[._-](?:test|spec)s?\.\w+|^test_.*|_test\.\w+)$")
_ASIDE = re.compile(  # notes and scratch, beside the work; and names that say nothing alone
    r"[/\\](?:\.(?!git)\w+|tmp|temp|scratchpad|memory)[/\\]|(?:^|[/\\])[a-z]+$",
    re.IGNORECASE,
)
_MADE = re.compile(r"\.(?:lock|sum|snap|map|min\.js)$|^(?:package-lock\.json|CHANGELOG\.md)$")


_TICKET = re.compile(r"^(?:\d{6,8}|[a-zA-Z]{2,6}-\d+|\d+)[-_]")
_ID = re.compile(r"[a-zA-Z]{2,6}-\d+")  # a ticket's number, and nothing else
_SUFFIX = re.compile(
    r"[-_](?=[\w]{5,10}$)[a-zA-Z]*\d\w*$"
)  # "-50944a", by which a tool tells branches apart
_NAMED = re.compile(r"[a-zA-Z][a-zA-Z0-9.]*(?:[-_][a-zA-Z0-9.]+)+")  # two words and more
_LONGEST = 60  # characters of a branch
_NAMEABLE = re.compile(r"(?!\d|REDACTED)[\w.@+-]{3,32}$")  # "1700000000000-Shares.ts" names nothing


def touched(part: Sequence[Activity]) -> str:
    """The one or two files a range changed, tests aside; empty where it changed more."""
    names = changed_files(part, _FILES + 1)
    if len(names) > _FILES:
        return ""
    others = [name for name in names if not is_test(name)] or names
    named = 1 <= len(others) <= 2 and all(map(_NAMEABLE.match, others))
    return " and ".join(others) if named else ""


def mainly(part: Sequence[Activity]) -> str:
    """The one or two files a range came back to most often, tests aside; empty where none."""
    known = changed_files(part)
    counts = Counter(re.split(r"[/\\]", file)[-1] for round in part for file in round.files)
    names = [name for name in known if _NAMEABLE.match(name)]
    others = [name for name in names if not is_test(name)] or names
    others.sort(key=lambda name: -counts[name])
    return " and ".join(others[:2])


def changed_files(part: Sequence[Activity], most: int | None = None) -> list[str]:
    """Names of files a range changed, at most so many; notes, scratch and made ones aside."""
    names: dict[str, None] = {}
    for file in (file for round in part for file in round.files):
        name = re.split(r"[/\\]", file)[-1]
        if not (_MADE.search(name) or _ASIDE.search(file)) and len(name) <= 40:
            names[name] = None
        if len(names) == most:
            break
    return list(names)


def branch_of(part: Sequence[Activity]) -> str:
    """What the last branch of a range is called, without the owner, kind and ticket it begins
    with; empty where that names nothing."""
    for round in reversed(part):
        name = re.split(r"[/\\]", round.branch or "")[-1]
        name = _TICKET.sub("", _SUFFIX.sub("", name))
        says = names_of(" ".join(re.split(r"[-_]", name)))
        if says and not _ID.fullmatch(name) and _NAMED.fullmatch(name) and len(name) <= _LONGEST:
            return name
    return ""


def is_test(name: str) -> bool:
    return _TEST.search(name) is not None


def project_of(part: Sequence[Activity], longest: int = 24) -> str:
    """The last part of the folder a range was worked in, else of a file it changed; empty where it
    is too long to stand in a heading."""
    folder = next((round.cwd for round in part if round.cwd), None)
    if folder is None:
        file = next((file for round in part for file in round.files), "")
        folder = re.sub(r"[/\\][^/\\]*$", "", file)
    name = re.split(r"[/\\]", folder.rstrip("/\\"))[-1]
    return name if len(name) <= longest and re.fullmatch(r"[\w.][\w.-]+", name) else ""
