"""Where a value without quotes ends: soon in code and queries, late where it stands alone.

An assignment of a shell, of a file of settings or of YAML takes a value up to the next blank, and
people have passwords with any sign in them. Nothing of such a value may be left, so in doubt too
much is masked.
"""

from __future__ import annotations

import re

from minutebook.derive.patterns import pattern

_RUN = r"""[^\s\x00-\x1f\x7f"'`\\<>•“”]"""
FIRST = 200
"""So many signs are looked at before it is clear that a value is a secret."""
_BARE, _REST = pattern(f"{_RUN}{{1,{FIRST}}}"), pattern(f"{_RUN}{{0,2000}}")
# Also a quote, a backslash or an angle in the middle of a word; not the end of a string, an escape
# like \n, a tag.
_AMID = (
    rf"""(?:{_RUN}|["'](?=[A-Za-z0-9])|`(?=[A-Za-z0-9]{{2}})|\\(?=[1-9A-Za-z])(?![nrtbfuvx])"""
    r"""|<(?=[A-Za-z0-9])(?![A-Za-z]\w*[ >])|>(?=[A-Za-z0-9]))"""
)
_LATE = pattern(f"{_AMID}{{1,{FIRST}}}")
_LATE_REST = pattern(f"{_AMID}{{0,2000}}")
_STOPS, _STOPS_SOONER = pattern(r"[;&|\][(){}]"), pattern(r"[,;&|\][(){}]")
_SEPARATES, _SEPARATES_SOONER = pattern(r"[;&|]"), pattern(r"[,;&|]")
# Ends even a value that stands alone: the next pair, a command after it, what closes around it.
_PARTS = pattern(
    r"(?P<pair>[;&])(?=[\w.%-]{1,60}=[^=])|&&|\|\||;;|&amp;"
    r"|[;&|,](?=$|[\s;&|,)\]}])|[)\]}](?=$|[^A-Za-z0-9])"
)
_OPENS = pattern(r"[(\[{]")


def soon(text: str, start: int, whole: bool) -> str:
    """A value that code, a query or a sentence can follow; `whole` where no list can."""
    bare = _BARE.match(text, start)
    if bare is None:
        return ""
    value = bare[0]
    stop = (_STOPS if whole else _STOPS_SOONER).search(value)
    if stop and stop[0] in "([{":
        stop = (_SEPARATES if whole else _SEPARATES_SOONER).search(value)
    return (value[: stop.start()] if stop else value).rstrip(".,:")


def late(text: str, start: int, form: bool) -> str:
    """A value where nothing but a value stands; `form` where the next field of one can follow."""
    bare = _LATE.match(text, start)
    if bare is None:
        return ""
    value, opened = bare[0], False
    for stop in _PARTS.finditer(value):
        opened = opened or _OPENS.search(value, 0, stop.start()) is not None
        if stop["pair"] == "&" and not form:
            continue
        if stop[0] not in ")]}" or not opened:
            value = value[: stop.start()]
            break
    return value.rstrip(".,:")


def rest(text: str, end: int, amid: bool) -> int:
    """Where a long value really ends."""
    found = (_LATE_REST if amid else _REST).match(text, end)
    return found.end() if found else end


def without_calls(value: str) -> str:
    """A value whose opening brackets do not make it a call."""
    return re.sub(r"[(\[{<]", "-", value)
