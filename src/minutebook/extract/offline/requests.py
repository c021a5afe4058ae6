"""Requests: telling one from a mere answer, and saying what it asks for in a few words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from minutebook.derive.activity import Activity

_REPLY = re.compile(
    r"^(?:y|yes|yeah|yep|ok|okay|sure|no|nah|nope|right|correct|continue|go on|go ahead|go for it"
    r"|keep going|proceed|please do|do it|try again|\W*|[a-d1-9](?:[ ,.:)].{0,60})?)[.!]?$",
    re.IGNORECASE,
)
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LINK = re.compile(r"\[([^\]]{1,200})\]\([^)]{1,500}\)")
_URL = re.compile(r"https?://[^\s)\"'<>]{1,2000}")
_PASTED = re.compile(
    r"^\s*(?:[❯➜$>|#]\s|\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d|\[?(?:ERROR|INFO|WARN|DEBUG)|time="
    r"|at \S+\()"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])|\n+")
_CLAUSE = re.compile(r"(?<=[.!?:;])\s+|\n+|\s+-\s+|\s+—\s+")
_PREAMBLE = re.compile(
    r"^(?:(?:ok(?:ay)?|so|hmm+|ah|and|but|also|now|then|well|yes|yeah|great|cool|perfect|hey"
    r"|hi|hello"
    r"|actually|thanks|sorry|erm|alright|right|first|next|please|pls|just|maybe|basically|btw"
    r"|thinking again)\b"
    r"[\s,.!:…-]*"
    r"|(?:can|could|would|will) (?:you|we) (?:please |also |maybe |just |now |quickly |first )*"
    r"|(?:i|we)(?:'d| would)? (?:want|like|need|wanted)(?: you)? to (?:also )?"
    r"|i (?:think|guess|feel like|noticed|see|believe) (?:that |we should |you should )?"
    r"|let'?s |let us |we (?:should|could|can|must|have to) |you (?:should|could|can) "
    r"|go ahead and |help me (?:to )?|is it possible to |i(?:'d| would) (?:suggest"
    r"|like) (?:that )?(?:we )?"
    r"|do we have |do you (?:think|know) (?:that |if |whether )?|(?:is"
    r"|are) there (?:an? )?(?:easy )?(?:way to )?)",
    re.IGNORECASE,
)
MOST_WORDS = 15
FEWEST_WORDS = 5


def is_reply(request: str) -> bool:
    """Whether a prompt only answers what the model asked."""
    return _REPLY.match(request.strip()) is not None


def opening_of(rounds: Sequence[Activity]) -> int:
    """Position of the round whose request says what a range is about."""
    for index, round in enumerate(rounds):
        if round.prompt.strip() and not is_reply(round.prompt):
            return index
    return 0


def without_code(text: str) -> str:
    """A text without its fenced blocks."""
    return _FENCED.sub("\n", text)


def clauses(text: str) -> list[str]:
    """What a person typed, in pieces that can stand as a heading, without what they pasted."""
    return _pieces(text, _CLAUSE)


def sentences(text: str) -> list[str]:
    """A text in whole sentences, without code and pasted lines."""
    return _pieces(text, _SENTENCE)


def _pieces(text: str, split: re.Pattern[str]) -> list[str]:
    typed = _URL.sub(_last_part, _LINK.sub(r"\1", without_code(text)))
    kept = [line for line in typed.split("\n") if not _PASTED.match(line)]
    found = (" ".join(piece.split()) for piece in split.split("\n".join(kept)))
    return [piece for piece in found if len(piece) > 7 and " " in piece]


def _last_part(url: re.Match[str]) -> str:
    return url[0].rstrip("/").rsplit("/", 1)[-1]


def plainly(sentence: str) -> str:
    """A request without its courtesies, as a heading: at most fifteen words."""
    text = sentence.strip(" \t-*#>•\"'`")
    while (shorter := _PREAMBLE.sub("", text, count=1)) != text:
        text = shorter
    words = text.split()
    if len(words) > MOST_WORDS:
        words = _cut(words)
    heading = " ".join(words).strip(" ,;:.!?…-*`\"'")
    for quote in '`"':
        if heading.count(quote) % 2:
            heading = heading.replace(quote, "")  # its partner was cut off
    return heading[:1].upper() + heading[1:]


def _cut(words: list[str]) -> list[str]:
    """The first clause, if it is long enough to stand alone; else the first words."""
    for end in range(MOST_WORDS, FEWEST_WORDS, -1):
        if words[end - 1].endswith((",", ";", ":", ".", ")")):
            return words[:end]
    for end in range(MOST_WORDS, FEWEST_WORDS + 2, -1):
        if words[end].lower() in (
            "and",
            "but",
            "so",
            "because",
            "which",
            "that",
            "when",
            "if",
            "or",
        ):
            return words[:end]
    return words[:MOST_WORDS]
