"""What tools answered, as people read it: files as code, terminals in colour, links."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache

from markupsafe import Markup

from minutebook.derive.calls import path_of
from minutebook.derive.changes import GUTTER
from minutebook.derive.plain import clean
from minutebook.html.harness import answer_in_words
from minutebook.html.prose import Masked, code, linked
from minutebook.model import ToolCall, ToolResult

_MOST_SPANS = 600
# Colours and weights; every other sequence is taken out with what a terminal would obey.
_STYLE = re.compile(r"\x1b\[([0-9;:]{0,40})m")
_BASIC = {"1": "bold", "2": "dim", "3": "italic", "4": "underline", "7": "reverse", "9": "strike"}
_ENDS = {"22": ("bold", "dim"), "23": ("italic",), "24": ("underline",), "27": ("reverse",)}


def answer_html(
    call: ToolCall | None, result: ToolResult, most: int, kept: str | None = None
) -> Markup:
    """An answer for a ``<pre>``: a file that was read as code, everything else as terminals show
    it.

    The archive hands out text without escape sequences, secrets masked. `kept` is the answer as
    it was recorded: its colours are shown where the two say the same, so nothing was masked.
    """
    text = result.text
    if kept is not None and clean(kept) == text:
        text = kept
    text = answer_in_words(text)
    if call is not None and call.kind == "read" and not result.error:
        numbered = without_gutter(text[:most])
        if numbered is not None:
            read, rest = numbered
            shown = code(read, language_of(path_of(call) or ""))
            return shown + Markup("\n\n") + terminal(rest, most) if rest.strip() else shown
        if (language := language_of(path_of(call) or "")) and len(text) <= most:
            return code(text, language)
    return terminal(text, most)


def without_gutter(text: str) -> tuple[str, str] | None:
    """A numbered file without its numbers, and what follows it; None where it is not numbered."""
    kept: list[str] = []
    last: int | None = None
    lines = text.split("\n")
    for at, line in enumerate(lines):
        found = GUTTER.fullmatch(line)
        if found is None or (last is not None and int(found[1]) != last + 1):
            return ("\n".join(kept), "\n".join(lines[at:])) if len(kept) > 1 else None
        last = int(found[1])
        kept.append(found[2])
    return ("\n".join(kept), "") if kept else None


@cache
def language_of(path: str) -> str:
    """The language of a file by its name, as lexers are called; empty where nobody knows."""
    from pygments.lexers import find_lexer_class_for_filename

    name = path.replace("\\", "/").rsplit("/", 1)[-1][:200]
    found = find_lexer_class_for_filename(name) if name else None
    return found.aliases[0] if found is not None and found.aliases else ""


def terminal(text: str, most: int) -> Markup:
    """Text with the colours a terminal would give it, and links."""
    text = _overwritten(text[: most * 2])
    if "\x1b[" not in text:
        return _piece(text, most)
    pieces = list(_styled(text))
    if len(pieces) > _MOST_SPANS:
        return _piece(text, most)
    shown: list[Markup] = []
    left = most
    for classes, words in pieces:
        if left <= 0:
            break
        safe = _piece(words, left)
        left -= len(words)
        shown.append(
            Markup('<span class="{}">{}</span>').format(classes, safe) if classes else safe
        )
    return Markup("").join(shown)


def _piece(text: str, most: int) -> Markup:
    masked = Masked(text, most)
    # Quotation marks stay: here is no attribute, they end an address, and logs have many.
    return masked.put_back(linked(html.escape(masked.text, quote=False)))


def _overwritten(text: str) -> str:
    """Lines that were written over, as a progress bar does, as they were left."""
    if "\r" not in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in lines)


def _styled(text: str) -> Iterator[tuple[str, str]]:
    """Pieces of a text, each with the classes of its style."""
    style: dict[str, str] = {}
    at = 0
    for found in _STYLE.finditer(text):
        if found.start() > at:
            yield " ".join(style.values()), text[at : found.start()]
        at = found.end()
        _apply(style, found[1].replace(":", ";").split(";"))
    if at < len(text):
        yield " ".join(style.values()), text[at:]


def _apply(style: dict[str, str], codes: list[str]) -> None:
    """One sequence: the classes come from a fixed list, whatever it says."""
    rest = iter(codes)
    for one in rest:
        number = one.lstrip("0")
        if number == "":
            style.clear()
        elif number in _BASIC:
            style[_BASIC[number]] = f"a-{_BASIC[number]}"
        elif number in _ENDS:
            for name in _ENDS[number]:
                style.pop(name, None)
        elif number in ("38", "48"):
            side = "fg" if number == "38" else "bg"
            if next(rest, "") == "5":
                _set(style, side, next(rest, ""))
            else:  # a colour of its own: those of the page are readable in both themes
                for _ in range(3):
                    next(rest, "")
        elif number in ("39", "49"):
            style.pop("fg" if number == "39" else "bg", None)
        elif len(number) == 2 and number[0] in "349" and number[1] in "01234567":
            _set(style, "bg" if number[0] == "4" else "fg", number[1])
        elif len(number) == 3 and number[:2] == "10" and number[2] in "01234567":
            _set(style, "bg", number[2])


def _set(style: dict[str, str], side: str, colour: str) -> None:
    if colour.isascii() and colour.isdigit() and int(colour[:3]) < 16:
        style[side] = f"a-{side}{int(colour[:3]) % 8}"
    else:
        style.pop(side, None)
