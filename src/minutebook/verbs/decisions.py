"""Every key decision, newest first: the minute book proper."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from minutebook.index.entry import seconds
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.session import project_of

if TYPE_CHECKING:
    from minutebook.index.embedders import Embedder

_MOST_ALIKE = 20

Pair = tuple[SessionRecord, Engagement]


class Decision(msgspec.Struct, frozen=True):
    """One decision, and the engagement it was made in."""

    text: str
    record: SessionRecord
    engagement: Engagement

    @property
    def at(self) -> str | None:
        return self.engagement.ended or self.engagement.started or self.record.started


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

    With words: those that have all of them somewhere about them, then, where an embedder can
    tell, those that mean something like it, the most alike first.
    """
    wanted = words.casefold().split()
    found: list[Decision] = []
    others: list[Decision] = []
    for record, engagement in newest_first(pair for pair in pairs if pair[1].key_decisions):
        project = project_of(engagement.project or record.cwd or "")
        around = f"{engagement.topic} {record.agent_name or ''} {project}"
        for text in engagement.key_decisions:
            where = f"{text} {around}".casefold()
            has_all = all(word in where for word in wanted)
            (found if has_all else others).append(Decision(text, record, engagement))
    if embedder is not None and others:
        found += _alike(others, words, embedder())
    return found


def _alike(known: list[Decision], words: str, embedder: Embedder) -> list[Decision]:
    """Decisions that mean something like some words, the most alike first."""
    wanted = embedder.embed_query(words)
    vectors = embedder.embed([f"{item.text}\n{item.engagement.topic}" for item in known])
    near = [(float(vector @ wanted), item) for vector, item in zip(vectors, known, strict=True)]
    near = [(cosine, item) for cosine, item in near if cosine >= embedder.related]
    return [item for _, item in sorted(near, key=lambda pair: -pair[0])[:_MOST_ALIKE]]
