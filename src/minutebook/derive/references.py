"""Issues, pull requests and branches that a text names: they link work in several sessions.

Precision first: ``#333`` is a colour, ``#3`` the third item of a list, unless words say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_LONGEST = 8_000
_MOST = 20
_URL = re.compile(
    r"https?://[\w.-]{1,100}/(?P<repo>[\w.-]{1,100}/[\w.-]{1,100})(?:/-)?"
    r"/(?:pull|pulls|issues|merge_requests)/(?P<number>\d{1,6})\b"
)
_NAMED = re.compile(
    r"\b(?:(?:pull requests?|prs?|merge requests?|mrs?|fix(?:es|ed)?|close[sd]?|resolve[sd]?)"
    r" ?[#!](?P<marked>\d{1,6})"
    r"|(?:issues?|pull requests?|prs?|merge requests?|mrs?|tickets?) ?#?(?P<plain>\d{2,6}))"
    r"\b(?![.\w%-])",
    re.IGNORECASE,
)
_BARE = re.compile(r"(?<![\w/&#.-])#(?P<number>\d{2,5})\b(?![.\w%-])")
_BRANCH = re.compile(r"\bbranch (?P<quote>[`'\"]?)(?P<name>[\w][\w./-]{2,80})(?P=quote)")
_NEEDS = re.compile(
    r"\b(?:after|once|depends? on|depending on|blocked (?:by|on)|based on|builds? on|on top of"
    r"|waits? for|waiting for|needs?|requires?)\b[^.\n#]{0,40}$",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_BEFORE = 60  # characters in which a word says that something is only needed


def references(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a text is about, and what it says it needs first: ``#41``, ``owner/repo#41``, or the
    name of a branch."""
    return _references(text[:_LONGEST])


@lru_cache(maxsize=64)  # what is made of a round asks twice
def _references(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    about: dict[str, None] = {}
    needed: dict[str, None] = {}
    found = [] if _DIGIT.search(text) is None else _numbered(text)
    for start, name in sorted(found)[: 2 * _MOST]:
        waits = _NEEDS.search(text[max(0, start - _BEFORE) : start])
        (needed if waits else about)[name] = None
    for match in _BRANCH.finditer(text) if "branch " in text else ():
        if _NEEDS.search(text[max(0, match.start() - _BEFORE) : match.start()]):
            needed[match["name"].rstrip("./-")] = None
    return tuple(about)[:_MOST], tuple(name for name in needed if name not in about)[:_MOST]


def _numbered(text: str) -> list[tuple[int, str]]:
    """Where a text names an issue or a pull request, and which."""
    return [
        *((m.start(), f"{m['repo']}#{m['number']}") for m in _URL.finditer(text)),
        *((m.start(), f"#{int(m['marked'] or m['plain'])}") for m in _NAMED.finditer(text)),
        *(
            (m.start(), f"#{int(m['number'])}")
            for m in _BARE.finditer(text)
            if len(set(m["number"])) > 1
        ),
    ]


def pulled(urls: Iterable[str]) -> tuple[str, ...]:
    """The numbers of pull requests that were opened: of the repository itself, and in full."""
    found: dict[str, None] = {}
    for url in urls:
        if match := _URL.match(url):
            found[f"#{int(match['number'])}"] = None
            found[f"{match['repo']}#{match['number']}"] = None
    return tuple(found)
