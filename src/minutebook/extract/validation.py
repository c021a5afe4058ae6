"""From what a model answered to a reply that can be trusted in shape (ING-19).

Models are asked nicely, held to a schema, and checked all the same: a transcript may
contain instructions, and a reply may be anything.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import msgspec

from minutebook.derive.plain import without_sequences
from minutebook.extract.reply import Reply, ReplyEngagement
from minutebook.extract.spelling import spelled
from minutebook.model.engagement import MOST_DECISIONS

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
LONGEST_TOPIC = 200
LONGEST_TEXT = 2_000


class BadReply(Exception):
    """Why a reply cannot be used, in words a model can act on."""


def parse_reply(answer: str | bytes | dict[str, Any], rounds: int) -> Reply:
    """A reply whose ranges lie within `rounds`, in order, without overlaps."""
    try:
        said = answer if isinstance(answer, dict) else _decoded(answer)
        reply = msgspec.convert(spelled(_without_course(said)), Reply)
    except msgspec.ValidationError as error:
        raise BadReply(f"it does not fit the schema: {error}") from None
    except (msgspec.DecodeError, RecursionError):
        raise BadReply("it is not JSON") from None
    if not reply.engagements:
        raise BadReply("it has no engagements; every session has at least one")
    engagements = sorted(
        (_checked(engagement, rounds) for engagement in reply.engagements),
        key=lambda engagement: engagement.turn_range,
    )
    for before, after in pairwise(engagements):
        if after.turn_range[0] <= before.turn_range[1]:
            raise BadReply(f"the ranges {before.turn_range} and {after.turn_range} overlap")
    return Reply(
        one_line(reply.session_summary),
        _optional(reply.agent_name),
        _optional(reply.agent_role),
        engagements,
    )


def _without_course(said: Any) -> Any:
    """An answer without what only helped to make it: whatever shape that has, the rest is paid."""
    return {k: v for k, v in said.items() if k != "course"} if isinstance(said, dict) else said


def _decoded(answer: str | bytes) -> Any:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    fenced = _FENCE.match(text)
    return msgspec.json.decode(fenced[1] if fenced else text)


def _checked(engagement: ReplyEngagement, rounds: int) -> ReplyEngagement:
    topic = one_line(engagement.topic, LONGEST_TOPIC)
    if not topic:
        raise BadReply("an engagement has no topic")
    return ReplyEngagement(
        topic=topic,
        project=one_line(engagement.project, LONGEST_TOPIC),
        method=engagement.method,
        phase=engagement.phase,
        key_decisions=[
            text
            for decision in engagement.key_decisions[:MOST_DECISIONS]
            if (text := one_line(decision))
        ],
        outcome=one_line(engagement.outcome),
        turn_range=_range(engagement.turn_range, rounds),
    )


def _range(given: list[int], rounds: int) -> list[int]:
    if len(given) not in (1, 2):
        raise BadReply(f"turn_range {given} is not [first, last]")
    first, last = given[0], given[-1]  # [7] can only mean round 7
    if first > last:
        raise BadReply(f"turn_range {given} ends before it begins")
    if first < 1 or last > rounds:
        raise BadReply(f"turn_range {given} is outside the rounds 1 to {rounds}")
    return [first, last]


def one_line(text: str, limit: int = LONGEST_TEXT) -> str:
    """One clean line: what a terminal or a page would obey is gone."""
    line = " ".join(_CONTROL.sub(" ", without_sequences(text)).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _optional(text: str | None) -> str | None:
    return (one_line(text, LONGEST_TOPIC) or None) if text else None
