"""Passages: texts cut into pieces of a length that is about one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from minutebook.index.analysis import has_cjk
from minutebook.index.entry import Entry

LENGTH = 900
"""Characters a passage has, about."""
MOST = 32
"""Passages of one side of an entry; what follows is found by its words only."""
_FEWEST_WORDS = 3  # "ok" and "b" are like everything
_BREAK = re.compile(r"\n\s*\n|\n(?=[-*#\d])")


def passages(text: str) -> Iterator[str]:
    """A text in pieces, cut between paragraphs where it can be."""
    current = ""
    for paragraph in _BREAK.split(text[: LENGTH * MOST]):
        paragraph = paragraph.strip()
        while len(paragraph) > LENGTH * 3 // 2:
            yield from (current, paragraph[:LENGTH]) if current else (paragraph[:LENGTH],)
            current, paragraph = "", paragraph[LENGTH:]
        if current and len(current) + len(paragraph) > LENGTH:
            yield current
            current = ""
        current = f"{current}\n{paragraph}" if current else paragraph
    if current:
        yield current


def passages_of(entry: Entry) -> list[tuple[int, str]]:
    """An entry's passages under their numbers: 1, 2 … of what was asked, -1, -2 … of the answer.

    Texts too short to be about anything have none.
    """
    return [
        (sign * number, text)
        for sign, side in ((1, entry.asked), (-1, entry.full))
        for number, text in enumerate(passages(side), 1)
        if len(text.split()) >= _FEWEST_WORDS or has_cjk(text)
    ]
