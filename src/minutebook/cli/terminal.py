"""Everything that reaches the terminal: cleaned, measured, cut to width.

Transcripts are other people's words. `clean` takes out whatever a terminal would obey
(escape sequences, control characters, text-direction overrides); every piece of
transcript text goes through it before it is styled.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
import unicodedata
from collections.abc import Sequence

import click

from minutebook.derive.plain import clean as clean
from minutebook.derive.plain import one_line as one_line
from minutebook.derive.plain import one_line_kept as one_line_kept
from minutebook.derive.wording import plural as plural
from minutebook.derive.wording import size as size

_NOT_A_COLOR = re.compile(
    r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LEAD = re.compile(r" {0,3}(?:(?:[-*+]|\d{1,3}[.)]) +)?")
_READABLE = 100  # columns; longer lines of prose tire the eye


def columns() -> int:
    """The terminal's width; what is piped gets a width that keeps lines whole enough to grep."""
    try:
        given = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        given = 0
    if given <= 0:
        try:
            given = os.get_terminal_size().columns
        except OSError:
            given = 100
    return max(40, given)


def width(text: str) -> int:
    """Cells a text takes: wide East Asian characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_cell(char) for char in text)


def _cell(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def fit(text: str, cells: int) -> str:
    """Text cut to so many cells, with an ellipsis where something is missing."""
    if width(text) <= cells:
        return text
    kept, used = [], 1  # one cell for the ellipsis
    for char in text:
        used += _cell(char)
        if used > cells:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"


def pad(text: str, cells: int) -> str:
    """Text cut or filled to exactly so many cells."""
    fitted = fit(text, cells)
    return fitted + " " * (cells - width(fitted))


def prose(text: str) -> str:
    """Text wrapped at words where a person reads it; code blocks and pipes keep their lines."""
    if not is_terminal():
        return text
    room = min(columns(), _READABLE)
    fenced = False
    lines: list[str] = []
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        if fenced or width(line) <= room or line.startswith(("    ", "\t", "|")):
            lines.append(line)
        else:
            lead = _LEAD.match(line)  # what goes on begins below the first word
            lines += _wrapped(line, room, len(lead[0]) if lead else 0)
    return "\n".join(lines)


def hanging(text: str, indent: int) -> str:
    """A line wrapped to the terminal's width; what goes on begins after so many blanks."""
    if width(text) <= columns():
        return text
    return "\n".join(_wrapped(text, columns(), min(indent, columns() // 2)))


def _wrapped(line: str, room: int, indent: int) -> list[str]:
    return textwrap.wrap(
        line,
        room,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def first_that_fit(facts: Sequence[tuple[int, str]], cells: int) -> str:
    """Facts on one line, each with its rank: while there is no room, the highest rank goes."""
    kept = list(facts)
    while len(kept) > 1 and width(" · ".join(fact for _, fact in kept)) > cells:
        kept.remove(max(kept, key=lambda fact: fact[0]))
    return fit(" · ".join(fact for _, fact in kept), cells)


def quiet(text: str) -> str:
    """For what matters less."""
    return click.style(text, dim=True)


def say(text: str = "") -> None:
    """A line for the person; colours go where they are welcome and nowhere else.

    The last guard: whatever a caller forgot to clean, only colours pass.
    """
    click.echo(_NOT_A_COLOR.sub("", text), color=None if wants_color() else False)


def note(text: str) -> None:
    """A remark beside the result, on standard error."""
    click.echo(_NOT_A_COLOR.sub("", text), err=True)


def is_terminal() -> bool:
    """Whether a person reads the output as it is."""
    return sys.stdout.isatty()


def wants_color() -> bool:
    """On a terminal, unless ``NO_COLOR`` says otherwise."""
    return is_terminal() and not os.environ.get("NO_COLOR")


_MARKS = {
    "review": "blue",
    "build": "green",
    "design": "magenta",
    "debug": "red",
    "reorg": "cyan",
    "write": "yellow",
    "deploy": "bright_green",
    "plan": "bright_magenta",
    "research": "bright_blue",
    "triage": "bright_yellow",
    "discuss": "white",
}


def method_mark(text: str, method: str) -> str:
    """A text in the colour of a method."""
    return click.style(text, fg=_MARKS.get(method))
