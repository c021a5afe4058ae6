"""What a session is called (UND-06): the person's title, the agent's own, else the best topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from minutebook.derive.markup import without_marks
from minutebook.derive.plain import one_line
from minutebook.model import SessionInfo

_LONGEST = 120
_LOOKED_AT = 2_000  # characters
_SUMMARY_TOPICS = 4


class Topical(Protocol):
    """An engagement, as an extractor answers it or as a record has it."""

    @property
    def topic(self) -> str: ...
    @property
    def turn_range(self) -> Sequence[int]: ...


def session_title(info: SessionInfo, engagements: Sequence[Topical] = ()) -> str | None:
    """The title given to a session; where none was, the topic of its longest engagement."""
    given = plain_title(info.title or "")
    if given and not info.title_is_prompt:
        return given
    if engagements:
        longest = max(engagements, key=lambda part: part.turn_range[-1] - part.turn_range[0])
        return longest.topic
    return given or None


def topics_summary(title: str | None, topics: Sequence[str]) -> str:
    """What a session came to, where all that is known of it is its title and its topics."""
    told = list(topics[:_SUMMARY_TOPICS])
    if title and not (told and title in told[0]):
        told = [title, *told]
    more = len(topics) - _SUMMARY_TOPICS
    return ". ".join(told) + (f", and {more} more." if more > 0 else ".") if told else ""


def plain_title(text: str) -> str:
    """A title without markup, on one line, short enough for a list."""
    line = one_line(text[:_LOOKED_AT])
    plain = without_marks(line) or line
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1].rstrip() + "…"


def is_opening(title: str | None, prompt: str) -> bool:
    """Whether a title only is the beginning of the first prompt."""
    begins = " ".join((title or "").rstrip("…").split())
    return bool(begins) and " ".join(prompt[:_LOOKED_AT].split()).startswith(begins)
