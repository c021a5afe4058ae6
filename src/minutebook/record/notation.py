"""The notation of inscriptions: what makes structure recognisable, and content safe inside it.

Structure is recognised only where it cannot be content. A content line that would be taken
for structure gets a backslash in front, which Markdown renders away; control characters,
which a terminal might obey, are written as numeric entities. Both are undone exactly.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

HEADING = re.compile(r"### (\S+) · (user|assistant)")
_CARRIER = re.compile(r"<!-- ([a-z]+)(?: (\{.*\}))? -->")

# Lines that would be read as structure, with any number of backslashes already in front.
_LOOKS_STRUCTURAL = re.compile(
    r"(\\*)(?:### \S+ · (?:user|assistant)$|<details><summary>"
    r"|<!-- [a-z]+ (?:\{|-->)|!\[[a-z]+\]\()"
)
# Inside a fence only a heading could end the message too early.
_HEADING_LIKE = re.compile(r"\\*### \S+ · (?:user|assistant)$")
_OPENS_HTML = re.compile(
    r"^ {0,3}<(?:!--|\?|![A-Z\[]|/?(?:script|pre|style|textarea|details|summary)\b)",
    re.MULTILINE | re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ENTITY_LIKE = re.compile(r"&((?:amp;)*#\d+;)")
_ENTITY = re.compile(r"&#(\d+);|&amp;((?:amp;)*#\d+;)")


def escape(text: str) -> list[str]:
    """Content as lines that cannot be mistaken for structure."""
    return _guarded(encode(text).split("\n"), _LOOKS_STRUCTURAL)


def unescape(lines: list[str]) -> str:
    """The content that `escape` was given."""
    return decode("\n".join(_bared(lines, _LOOKS_STRUCTURAL)))


def _guarded(lines: list[str], structure: re.Pattern[str]) -> list[str]:
    return ["\\" + line if _may_be(line) and structure.match(line) else line for line in lines]


def _bared(lines: list[str], structure: re.Pattern[str]) -> list[str]:
    return [line[1:] if line[:1] == "\\" and structure.match(line) else line for line in lines]


def _may_be(line: str) -> bool:
    """A cheap test that spares almost every line the expression."""
    return line[:1] in "\\#<!" and line != ""


def swallows(text: str) -> bool:
    """Whether a viewer would take what follows this text for a part of it.

    An open comment, HTML block or code fence does that; such a text is shown in a fence.
    """
    if "<" not in text and "```" not in text and "~~~" not in text:
        return False
    fences = sum(line.lstrip().startswith(("```", "~~~")) for line in text.split("\n"))
    return fences % 2 == 1 or _OPENS_HTML.search(text) is not None


def is_structural(line: str) -> bool:
    """Whether a line of a document is structure (unescaped)."""
    match = _LOOKS_STRUCTURAL.match(line)
    return match is not None and not match[1]


def encode(text: str) -> str:
    """Control characters (but tab, newline, return) as ``&#27;``; literal ones protected."""
    if "&" in text:
        text = _ENTITY_LIKE.sub(r"&amp;\1", text)
    return _CONTROL.sub(lambda match: f"&#{ord(match[0])};", text)


def decode(text: str) -> str:
    """The inverse of `encode`."""
    if "&" not in text:
        return text
    return _ENTITY.sub(lambda match: f"&{match[2]}" if match[2] else chr(int(match[1])), text)


# ------------------------------------------------------------ carriers


def carrier(word: str, data: Any = None) -> str:
    """An invisible line: one HTML comment with what a faithful return journey needs."""
    if not data:
        return f"<!-- {word} -->"
    # A comment must not contain "-->": in JSON the ">" can be written as an escape.
    text = encode(msgspec.json.encode(data).decode()).replace(">", "\\u003e")
    return f"<!-- {word} {text} -->"


def parse_carrier(line: str) -> tuple[str, dict[str, Any]] | None:
    """Word and data of a carrier line."""
    match = _CARRIER.fullmatch(line)
    if match is None:
        return None
    try:
        data = msgspec.json.decode(decode(match[2])) if match[2] else {}
    except (msgspec.DecodeError, RecursionError):
        return None
    return match[1], data


# ------------------------------------------------------------ fences

_TICKS = re.compile("`{3,}")


def fence(text: str, info: str = "") -> list[str]:
    """Text between fences longer than any fence inside it."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=2)
    ticks = "`" * (longest + 1)
    return [ticks + info, *_guarded(encode(text).split("\n"), _HEADING_LIKE), ticks]


def read_fence(lines: list[str], at: int) -> tuple[str, int]:
    """The text of the fence that opens at a line, and the line behind it."""
    ticks = lines[at].rstrip("abcdefghijklmnopqrstuvwxyz")
    end = lines.index(ticks, at + 1)
    return decode("\n".join(_bared(lines[at + 1 : end], _HEADING_LIKE))), end + 1
