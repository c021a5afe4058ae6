"""No regular expression runs away: what it looks at was written by anybody."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import resource
from collections.abc import Iterator

import pytest

import minutebook
from minutebook.derive import patterns

_REPEATS = 28
"""Enough for a pattern whose time doubles with every repetition to take minutes."""
_SECONDS = 20


def compiled(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    """The patterns that a module holds, in lists and tables too."""
    if isinstance(value, patterns._Later):
        yield re.compile(*value._given)
    elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, tuple | list) and depth < 3:
        for one in value:
            yield from compiled(one, depth + 1)
    elif isinstance(value, dict) and depth < 2:
        for one in value.values():
            yield from compiled(one, depth + 1)


def every_pattern() -> dict[tuple[str, int], str]:
    found: dict[tuple[str, int], str] = {}
    for module in pkgutil.walk_packages(minutebook.__path__, "minutebook."):
        if module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:
            continue  # of an extra that is not installed
        for name, value in list(vars(loaded).items()):
            for one in compiled(value):
                found.setdefault((one.pattern, one.flags), f"{module.name}.{name}")
    return found


def attacks(source: str) -> Iterator[str]:
    """What a pattern is made of, again and again, and then something it does not expect."""
    plain = re.sub(r"\\[a-zA-Z]|\?[:=!<P>i-]+", " ", source)
    words = list(dict.fromkeys(re.findall(r"[^\W\d_]{1,12}", plain)))[:60]
    signs = list(dict.fromkeys(re.findall(r"[,.!:;/#*_`'\"()\[\]<>=@~-]", source)))[:12]
    for word in (*words, *signs, "a", "1", " ", "\n", "-", ".", "\\", "é"):
        for between in ("", " ", ", ", ". ", "\n", "-"):
            for end in ("\x01", "5 Xx"):
                yield (word + between) * _REPEATS + end


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that can be stopped")
def test_no_pattern_runs_away() -> None:
    """NFR-01, FMT-04: no pattern takes exponential time over text made of its own pieces."""
    known = every_pattern()
    assert len(known) > 300
    stuck = []
    for (source, flags), name in known.items():
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
            tried = re.compile(source, flags)
            for text in attacks(source):
                tried.search(text)
                tried.match(text)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            stuck.append(name)
    assert stuck == []
