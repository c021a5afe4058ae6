"""Every key decision, newest first: the minute book proper."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from minutebook.index.entry import seconds
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.session import project_of

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


def decisions(pairs: Iterable[Pair], words: str = "") -> list[Decision]:
    """The decisions of some engagements that have all these words somewhere about them."""
    wanted = words.casefold().split()
    found = []
    for record, engagement in newest_first(pair for pair in pairs if pair[1].key_decisions):
        if not wanted:
            found += [Decision(text, record, engagement) for text in engagement.key_decisions]
            continue
        project = project_of(engagement.project or record.cwd or "")
        around = f"{engagement.topic} {record.agent_name or ''} {project}"
        for text in engagement.key_decisions:
            where = f"{text} {around}".casefold()
            if all(word in where for word in wanted):
                found.append(Decision(text, record, engagement))
    return found
