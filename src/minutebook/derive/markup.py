"""Markdown as plain words on one line."""

from __future__ import annotations

import re
from functools import lru_cache

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_WRAPPED = re.compile(r"<([a-z]+[-_][\w-]{1,40})\b[^<>]{0,200}>[^<]{0,4000}</\1>")  # injected
_MARKS = re.compile(r"\*\*|__|~~|`+|(?<!\w)[*_](?=\w)|(?<=\w)\*(?!\w)|^#{1,6}\s+|^>\s+")
_MARK = re.compile(r"[*_~`#>]")  # one of them is in whatever `_MARKS` finds
_BULLET = re.compile(
    r"^(?:[-*•▸–—]+|\(?\d{1,3}[.)](?!\d)|[a-h][.)]|[✅✓✔☑❌⏺→]+|step \d+\s?[:.)-])\s+",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(?<![\w.])@?(?:~|\.{1,2}|[A-Za-z]:)?[/\\]?"
    r"(?:[\w.@+-]+[/\\]){2,}(?P<name>[\w.@+-]+)"
)
_SURELY = re.compile(
    r"[@~./\\]|[A-Za-z]:|.*\w\.[A-Za-z]\w{0,7}$"
    r"|(?:apps?|assets|backend|client|components|docs|frontend|internal|libs?|node_modules|origin"
    r"|packages|pkg|refs|scripts|server|src|static|tests?)[/\\]",
    re.IGNORECASE,
)
"""A root, an ending or a usual folder: without one of them "read/write/stat" is a list."""
_HOSTED = re.compile(r"\b[\w-]+\.(?:com|org|io|net|dev)/(?=[\w.-]+/[\w.-]+(?![\w/.-]))")
_CODE = re.compile(r"`([^`\n]{1,300})`")
_AT = re.compile(r"(?<!\S)@(?=[\w./~-])")
_LINK = re.compile(r"!?\[([^\]\[]{1,200})\]\([^)]{1,500}\)")
_URL = re.compile(r"(?:https?://|www\.)[^\s)\"'<>]{1,2000}")
_NUMBERED = re.compile(r"/(pull|issues|merge_requests)/(\d{1,9})\b")
_POINTS = {"pull": "PR", "issues": "issue", "merge_requests": "MR"}


_SIGN = re.compile(r"[<>*_~`#@/\\\[•▸–—✅✓✔☑❌⏺→-]")
_BEGINS = re.compile(r"\s*(?:\(?\w{1,3}[.)]|step )", re.IGNORECASE)


@lru_cache(maxsize=4_096)  # the same sentences are looked at again and again
def without_marks(text: str) -> str:
    """Plain text on one line: no Markdown, no tags, links as their text, paths as their name."""
    if not (_SIGN.search(text) or "www." in text.lower() or _BEGINS.match(text)):
        return " ".join(text.split())
    line = without_links(text)
    if "<" in line:
        line = _TAG.sub(" ", _WRAPPED.sub(" ", line))
    line = _HOSTED.sub("", line) if "/" in line else line
    line = _CODE.sub(_quoted, line) if "`" in line else line
    line = _PATH.sub(_file_of, line) if "/" in line or "\\" in line else line
    line = _AT.sub("", line) if "@" in line else line
    for _ in range(3):
        bare = line.strip()
        bare = _BULLET.sub("", _MARKS.sub("", bare) if _MARK.search(bare) else bare)
        if bare == line:
            break
        line = bare
    return " ".join(line.split())


def without_links(text: str) -> str:
    """Links as their text, addresses as what they point at (``PR #12``) or gone."""
    text = _LINK.sub(r"\1", text) if "](" in text else text
    return _URL.sub(_pointed_at, text) if "://" in text or "www." in text else text


def _quoted(code: re.Match[str]) -> str:
    return f'"{code[1]}"' if " " in code[1].strip() and '"' not in code[1] else code[1]


def _file_of(path: re.Match[str]) -> str:
    return path["name"] if _SURELY.match(path[0]) else path[0]


def _pointed_at(url: re.Match[str]) -> str:
    match = _NUMBERED.search(url[0])
    return f"{_POINTS[match[1]]} #{match[2]}" if match else ""
