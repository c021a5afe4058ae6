"""Every key decision, newest first: the minute book proper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from minutebook.index.analysis import STOP_WORDS, variants
from minutebook.index.entry import seconds
from minutebook.model import Text, ToolCall
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.session import project_of

if TYPE_CHECKING:
    from minutebook.archive.session import OpenSession
    from minutebook.index.embedders import Embedder

_MOST_ALIKE = 20
_WORD = re.compile(r"\w{3,}")
_ENOUGH = 0.6
"""The share of a decision's words that the passage has in which it was made."""
_MOST_ROUNDS = 300
_LONGEST = 50_000

Pair = tuple[SessionRecord, Engagement]


class Decision(msgspec.Struct, frozen=True):
    """One decision, and the engagement it was made in."""

    text: str
    record: SessionRecord
    engagement: Engagement

    @property
    def at(self) -> str | None:
        return self.engagement.ended or self.engagement.started or self.record.started


class Place(msgspec.Struct, frozen=True):
    """Where something was said: a round, and the block in it (from 1) where that is known."""

    round: int
    block: int | None = None


def place_of(session: OpenSession, engagement: Engagement, text: str) -> Place:
    """Where a decision was made: the passage of its engagement that has most of its words, if it
    has most of them at all; else where the engagement begins."""
    wanted = set(_words(text))
    best, place = _ENOUGH * len(wanted), Place(engagement.turn_range[0])
    there = ((max(first, 1), min(last, session.count)) for first, last in engagement.ranges)
    numbers = (n for first, last in there for n in range(first, last + 1))
    for round in session.rounds(list(islice(numbers, _MOST_ROUNDS))):
        for at, block in enumerate(round.blocks, 1):
            if not isinstance(block, Text | ToolCall):
                continue
            score = len(wanted & set(_words(_text_of(block))))
            if score and score >= best:
                best, place = score + 0.5, Place(round.number, at)  # the first that is as good
    return place


def _text_of(block: Text | ToolCall) -> str:
    if isinstance(block, Text):
        return block.text
    told = msgspec.json.encode(block.input).decode("utf-8", "replace")
    return f"{told} {block.result.text if block.result is not None else ''}"


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:_LONGEST].casefold())


def newest_first(pairs: Iterable[Pair]) -> list[Pair]:
    """Engagements as every list has them."""
    return sorted(pairs, key=_newest, reverse=True)


def _newest(pair: Pair) -> tuple[float, str, int]:
    record, engagement = pair
    at = seconds(engagement.started or record.started)
    return at, record.session_id, engagement.turn_range[0]


def decisions(
    pairs: Iterable[Pair], words: str = "", embedder: Callable[[], Embedder] | None = None
) -> list[Decision]:
    """The decisions of some engagements, newest first.

    With words: those that have all of them somewhere about them, then those that have most of
    what the words say, then, where an embedder can tell, those that mean something like it, the
    most alike first.
    """
    wanted = words.casefold().split()
    telling = [(word, *variants(word)) for word in _telling(words)]
    found: list[Decision] = []
    partly: list[tuple[int, Decision]] = []
    others: list[Decision] = []
    for record, engagement in newest_first(pair for pair in pairs if pair[1].key_decisions):
        project = project_of(engagement.project or record.cwd or "")
        around = f"{engagement.topic} {record.agent_name or ''} {project}"
        for text in engagement.key_decisions:
            where = f"{text} {around}".casefold()
            decision = Decision(text, record, engagement)
            count = sum(any(form in where for form in forms) for forms in telling)
            if all(word in where for word in wanted):
                found.append(decision)
            elif count and 2 * count >= len(telling):
                partly.append((count, decision))
            else:
                others.append(decision)
    found += [decision for _, decision in sorted(partly, key=lambda pair: -pair[0])]
    if embedder is not None and others:
        found += _alike(others, words, embedder())
    return found


def _telling(words: str) -> list[str]:
    """The words of a query that say what it is about."""
    return [word for word in _words(words) if word not in STOP_WORDS]


def _alike(known: list[Decision], words: str, embedder: Embedder) -> list[Decision]:
    """Decisions that mean something like some words, the most alike first."""
    wanted = embedder.embed_query(words)
    vectors = embedder.embed([f"{item.text}\n{item.engagement.topic}" for item in known])
    near = [(float(vector @ wanted), item) for vector, item in zip(vectors, known, strict=True)]
    near = [(cosine, item) for cosine, item in near if cosine >= embedder.related]
    return [item for _, item in sorted(near, key=lambda pair: -pair[0])[:_MOST_ALIKE]]
