"""How text becomes words that can be found.

The engine splits at everything that is no letter or digit, so `parse_jsonl`, `src/foo-bar.py`
and `CLAUDE.md` are found by their parts and, in order, as a whole. Two things it cannot do
are done here: `parseJsonl` gets its parts behind it, and runs of Chinese, Japanese and
Korean, which have no spaces, get their pairs of characters.
"""

from __future__ import annotations

import re

_CAMEL = re.compile(r"\b(?=\w*[a-z0-9][A-Z]|[A-Z]+[A-Z][a-z])\w{3,60}\b")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_MOST_COMPOUNDS = 500  # a text; generated code repeats itself

STOP_WORDS = frozenset(
    """
    a an and are as at be but by can could did do does for from had has have how i if in into is
    it its me my not of on or our should so that the their them then there these they this to was
    we were what when where which who why will with would you your
    """.split()
)


def indexable(text: str) -> str:
    """A text with the parts of its compound words behind it."""
    compounds = dict.fromkeys(_CAMEL.findall(text))
    if not compounds:
        return text
    parts = (_HUMP.sub(" ", word) for word in list(compounds)[:_MOST_COMPOUNDS])
    return f"{text}\n{' . '.join(parts)}"


def parted(word: str) -> str:
    """A word of a query with its humps apart: ``parseJsonl`` → ``parse Jsonl``."""
    return _HUMP.sub(" ", word)


def has_cjk(text: str) -> bool:
    return _CJK.search(text) is not None


def pairs(text: str) -> list[str]:
    """Pairs of neighbouring characters in runs without spaces; a lone character stands alone."""
    found: list[str] = []
    for run in _CJK.findall(text):
        found += [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]
    return found
