"""The inscription of a session ↔ its rounds: one pure, exactly reversible transform.

A document is a header and messages. Messages are separated by ``---``; a separator counts
as one only before a message heading, and a heading inside content is escaped, so no content
can break a document (INS-15). Same rounds, same bytes (INS-18).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from minutebook.record.blocks import Malformed, read_blocks, write_blocks
from minutebook.record.media import MediaStore
from minutebook.record.notation import HEADING, carrier, parse_carrier
from minutebook.model import Message, Role, Round, Usage

UNDATED = "undated"
_STAMP = re.compile(r"[0-9][0-9A-Za-z:.+\-]*")
SEPARATOR = "---\n\n"


class RoundFacts(msgspec.Struct):
    """What the first message of a round carries of it."""

    number: int
    cwd: str | None = None
    branch: str | None = None
    duration_ms: int | None = None
    tool_count: int = 0

    def round(self, messages: list[Message]) -> Round:
        return Round(
            self.number,
            tuple(messages),
            self.cwd,
            self.branch,
            self.duration_ms,
            self.tool_count,
        )


class _MessageFacts(msgspec.Struct):
    """What a message's invisible line carries."""

    round: RoundFacts | None = None
    id: str | None = None
    at: str | None = None
    reply_id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    stop: str | None = None
    queued: bool = False


def write_round(round: Round, media: MediaStore) -> str:
    """A round's messages, each with its separator in front."""
    first = {name: getattr(round, name) for name in RoundFacts.__struct_fields__}
    return "".join(
        write_message(message, media, first if index == 0 else None)
        for index, message in enumerate(round.messages)
    )


def write_message(message: Message, media: MediaStore, first: dict[str, Any] | None) -> str:
    """A separator, a heading, an invisible line with ids and counts, and the blocks."""
    carried: dict[str, Any] = {}
    if first is not None:
        carried["round"] = {name: value for name, value in first.items() if value is not None}
    for name in ("id", "reply_id", "model", "usage", "stop", "queued"):
        value = getattr(message, name)
        if value not in (None, False):
            carried[name] = msgspec.to_builtins(value)
    at = message.at
    if at is None or not _STAMP.fullmatch(at):
        if at is not None:
            carried["at"] = at  # text that would break the heading
        at = UNDATED
    lines = [f"### {at} · {message.role}", "", carrier("message", carried), ""]
    lines += write_blocks(message.blocks, media)
    return "\n" + SEPARATOR + "\n".join(lines)


def read_rounds(body: str, media: MediaStore) -> Iterator[Round]:
    """The rounds of a document's body."""
    pending: RoundFacts | None = None
    messages: list[Message] = []
    for message, first in read_messages(body, media):
        if first is not None:
            if pending is not None:
                yield pending.round(messages)
            pending, messages = first, []
        messages.append(message)
    if pending is not None:
        yield pending.round(messages)
    elif messages:
        raise Malformed("the first message belongs to no round")


def read_messages(body: str, media: MediaStore) -> Iterator[tuple[Message, RoundFacts | None]]:
    """Messages in order; with the first of each round, what is carried of the round."""
    for lines in split_messages(body):
        yield _read_message(lines, media)


def split_messages(body: str) -> Iterator[list[str]]:
    """The lines of each message, from its heading on."""
    lines = body.split("\n")
    starts = [
        at + 2
        for at, line in enumerate(lines)
        if line == "---"
        and at + 2 < len(lines)
        and not lines[at + 1]
        and HEADING.fullmatch(lines[at + 2])
    ]
    # Each message ends with a blank line; between that and the next heading is the separator.
    ends = [start - 2 for start in starts[1:]] + [len(lines)]
    for start, end in zip(starts, ends, strict=False):
        yield lines[start:end]


def _read_message(lines: list[str], media: MediaStore) -> tuple[Message, RoundFacts | None]:
    heading = HEADING.fullmatch(lines[0])
    found = parse_carrier(lines[2]) if len(lines) > 2 else None
    if heading is None or found is None or found[0] != "message":
        raise Malformed(f"the message under '{lines[0]}' has lost its invisible line")
    try:
        facts = msgspec.convert(found[1], _MessageFacts)
        blocks = read_blocks(lines[4:], media)
    except Malformed:
        raise
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise Malformed(f"the message under '{lines[0]}' cannot be read: {error}") from None
    role: Role = "user" if heading[2] == "user" else "assistant"
    message = Message(
        role,
        blocks,
        facts.id,
        heading[1] if heading[1] != UNDATED else facts.at,
        facts.reply_id,
        facts.model,
        facts.usage,
        facts.stop,
        facts.queued,
    )
    return message, facts.round


def write_body(rounds: Iterable[Round], media: MediaStore) -> str:
    """All rounds."""
    return "".join(write_round(round, media) for round in rounds)
