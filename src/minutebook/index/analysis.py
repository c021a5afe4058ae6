"""How text becomes words that can be found.

The engine splits at everything that is no letter or digit, so `parse_jsonl`, `src/foo-bar.py`
and `setup.cfg` are found by their parts and, in order, as a whole. Two things it cannot do
are done here: `parseJsonl` gets its parts behind it, and runs of Chinese, Japanese and
Korean, which have no spaces, get their pairs of characters.
"""

from __future__ import annotations

import re

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINT = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_WORD = re.compile(r"[A-Za-z0-9]{2,60}")
_LONGEST_HALF = 40
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_MOST_COMPOUNDS = 500  # a text; generated code repeats itself

STOP_WORDS = frozenset(
    """
    a an and are as at be but by can could did do does for from had has have how i if in into is
    it its me my not of on or our should so that the their them then there these they this to was
    we were what when where which who why will with would you your
    """.split()
)


def parts_of(text: str) -> str:
    """The parts of a text's compound words, for the index to hold beside the text."""
    compounds: dict[str, None] = {}
    position = 0
    # Joints are rare and quickly found; a pattern for whole words would look at every letter.
    while (joint := _JOINT.search(text, position)) is not None:
        start = end = joint.end() - 1
        lowest = max(position, start - _LONGEST_HALF)
        while start > lowest and text[start - 1].isalnum():
            start -= 1
        word = _WORD.match(text, start)
        end = word.end() if word is not None else joint.end()
        compounds[text[start:end]] = None
        position = max(end, joint.end())
        if len(compounds) >= _MOST_COMPOUNDS:
            break
    return " . ".join(_HUMP.sub(" ", word) for word in compounds)


def parted(word: str) -> str:
    """A word of a query with its humps apart: ``parseJsonl`` → ``parse Jsonl``."""
    return _HUMP.sub(" ", word)


def variants(token: str) -> list[str]:
    """Other forms of an English word, for a query to ask for as well.

    Asking for forms costs a little at query time; indexing stems beside words would double
    the index. A form nobody uses is simply not there.
    """
    if len(token) < 4 or not (token.isascii() and token.isalpha()):
        return []
    base = _base(token)
    short = base.removesuffix("e")
    forms = {base, base + "s", short + "ed", short + "ing", base + "e"}
    if base.endswith("y"):
        forms |= {base[:-1] + "ies", base[:-1] + "ied"}
    elif base.endswith(("s", "x", "z", "ch", "sh")):
        forms.add(base + "es")
    return sorted(forms - {token})


def _base(token: str) -> str:
    """A word without its ending, by the rules most words keep."""
    if token.endswith("ss"):
        return token
    for ending, instead in (("ies", "y"), ("ied", "y")):
        if token.endswith(ending) and len(token) > 4:
            return token[: -len(ending)] + instead
    for ending in ("ing", "ed"):
        base = token.removesuffix(ending)
        if base != token and len(base) > 2 and any(vowel in base for vowel in "aeiouy"):
            doubled = base[-1] == base[-2] and base[-1] not in "dflsz"
            return base[:-1] if doubled else base
    if token.endswith(("xes", "ches", "shes", "sses", "zes")):
        return token[:-2]
    return token.removesuffix("s")


def has_cjk(text: str) -> bool:
    return _CJK.search(text) is not None


def pairs(text: str) -> list[str]:
    """Pairs of neighbouring characters in runs without spaces; a lone character stands alone."""
    found: list[str] = []
    for run in _CJK.findall(text):
        found += [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]
    return found
