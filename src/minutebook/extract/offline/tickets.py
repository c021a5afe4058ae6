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
_LONGEST = 90


def ticket_of(text: str) -> str:
    """The one ticket of an issue tracker a text names ("ENT-95"); empty where there is none."""
    found = {match.upper() for match in _TICKET.findall(text)}
    return found.pop() if len(found) == 1 else ""


def called(text: str, rounds: Sequence[Activity]) -> str:
    """What the ticket, issue or pull request that a text names is called, if it was said."""
    if ticket := ticket_of(text):
        name = re.escape(ticket)
    elif len(numbers := set(_NUMBER.findall(text))) == 1:
        name = rf"(?:PR|MR|[Ii]ssue|[Pp]ull [Rr]equest)\s*#{numbers.pop()}"
    else:
        return ""
    titled = re.compile(
        rf"\b{name}(?:/(?P<slug>[a-z0-9]+(?:-[a-z0-9]+){{2,}})"
        r"|[*`\]]*(?:\([^)\s]{1,200}\))?[*`]* *[:–—-]+ *[*`\"“]*"
        rf"(?P<said>[^\n*`”|]{{10,{_LONGEST}}}))",
        re.IGNORECASE if ticket else 0,
    )
    for said in _said(rounds):
        if match := titled.search(said):
            raw = match["slug"].replace("-", " ") if match["slug"] else match["said"]
            heading = title_heading(mask(raw))
            if heading is not None and length_of(heading) >= FEWEST_WORDS - 2:
                return capital(heading)
    return ""


def _said(rounds: Sequence[Activity]) -> Iterator[str]:
    for round in rounds:
        for text in (round.prompt, round.opening, round.answer):
            if text:
                yield text[:_READ]
