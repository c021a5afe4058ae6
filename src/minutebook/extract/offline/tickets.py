"""Issues and pull requests by their number, and what they are called where that was said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from minutebook.derive.activity import Activity
from minutebook.derive.secrets import mask
from minutebook.extract.offline.headings import FEWEST_WORDS, capital, length_of, title_heading

_TICKET = re.compile(
    r"\b(?!(?:utf|sha|iso|rfc|gpt|cve|md|http|ipv|aes|rsa|es|vs|v|step|phase|part|page|day|p)-)"
    r"(?=\D*-)[A-Za-z]{2,6}-\d{1,5}\b(?![-.\w])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<!\w)#(\d{1,6})\b")
_READ = 3_000  # characters of an answer or prompt in which a title is looked for
_POINTS = re.compile(r"\b(?:PR|MR|issue|pull request)\s*$", re.IGNORECASE)
_TITLED = re.compile(  # what follows a number: a link's words, or a title after a colon
    r"(?:/(?P<slug>[a-z0-9]+(?:-[a-z0-9]+){2,})"
    r"|[*`\]]*+(?:\([^)\s]{1,200}\))?[*`]*+ *+[:–—-]++ *+[*`\"“]*+(?P<said>[^\n*`”|]{10,90}))"
)
_TITLE = re.compile(
    r"\n[\s>*_-]{0,8}(?:title|titel|titre|título)[*_]{0,2} ?:[*_]{0,2} *([^\n]{10,90})",
    re.IGNORECASE,
)
_NEAR = 120  # characters after a number in which a line with "Title:" says what it is called


def ticket_of(text: str) -> str:
    """The one ticket of an issue tracker a text names ("ENT-95"); empty where there is none."""
    found = {match.upper() for match in _TICKET.findall(text)}
    return found.pop() if len(found) == 1 else ""


def called(text: str, rounds: Sequence[Activity]) -> str:
    """What the ticket, issue or pull request that a text names is called, if it was said."""
    ticket = ticket_of(text)
    numbers = set(_NUMBER.findall(text))
    if not ticket and len(numbers) != 1:
        return ""
    name = ticket.lower() or f"#{numbers.pop()}"
    for said in _said(rounds):
        for place in _places(name, said.lower()):
            if not ticket and not _POINTS.search(said[max(0, place - 14) : place]):
                continue
            heading = title_heading(mask(_called_at(said, place + len(name))))
            if heading is not None and length_of(heading) >= FEWEST_WORDS - 2:
                return capital(heading)
    return ""


def _called_at(text: str, end: int) -> str:
    """What a number that ends here is called."""
    if match := _TITLED.match(text, end):
        return match["said"] or match["slug"].replace("-", " ")
    titled = _TITLE.search(text, end, end + _NEAR)
    return titled[1] if titled else ""


def _places(name: str, text: str) -> Iterator[int]:
    place = text.find(name)
    while place >= 0:
        yield place
        place = text.find(name, place + 1)


def _said(rounds: Sequence[Activity]) -> Iterator[str]:
    for round in rounds:
        for text in (round.prompt, round.opening, round.answer):
            if text:
                yield text[:_READ]
