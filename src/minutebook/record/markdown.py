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

from minutebook.model import Billing, Compaction, Message, Reply, Role, Round, Usage
from minutebook.record.blocks import read_blocks, write_blocks
from minutebook.record.notation import HEADING, carrier, parse_carrier
from minutebook.record.patches import Malformed

UNDATED = "undated"
_STAMP = re.compile(r"[0-9][0-9A-Za-z:.+\-]*")
SEPARATOR = "---\n\n"
_BESIDE = frozenset({"clock", "progress", "compactions"})  # not worth a word where empty


class RoundFacts(msgspec.Struct):
    """What the first message of a round carries of it."""

    number: int
    cwd: str | None = None
    branch: str | None = None
    duration_ms: int | None = None
    tool_count: int = 0
    clock: str = ""
    progress: tuple[Reply, ...] = ()
    compactions: tuple[Compaction, ...] = ()

    def round(self, messages: list[Message]) -> Round:
        return Round(
            self.number,
            tuple(messages),
            self.cwd,
            self.branch,
            self.duration_ms,
            self.tool_count,
            self.clock,
            self.progress,
            self.compactions,
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
    billing: Billing | None = None


def write_round(round: Round, folder: str) -> str:
    """A round's messages, each with its separator in front.

    `folder` is the way from the document to the session's folder.
    """
    first = {name: getattr(round, name) for name in RoundFacts.__struct_fields__}
    return "".join(
        write_message(message, folder, first if index == 0 else None)
        for index, message in enumerate(round.messages)
    )


def write_message(message: Message, folder: str, first: dict[str, Any] | None) -> str:
    """A separator, a heading, an invisible line with ids and counts, and the blocks."""
    carried: dict[str, Any] = {}
    if first is not None:
        carried["round"] = {
            name: msgspec.to_builtins(value)
            for name, value in first.items()
            if value is not None and (value or name not in _BESIDE)
        }
    for name in ("id", "reply_id", "model", "usage", "stop", "queued", "billing"):
        value = getattr(message, name)
        if value not in (None, False):
            carried[name] = msgspec.to_builtins(value)
    at = message.at
    if at is None or not _STAMP.fullmatch(at):
        if at is not None:
            carried["at"] = at  # text that would break the heading
        at = UNDATED
    lines = [f"### {at} · {message.role}", "", carrier("message", carried), ""]
    lines += write_blocks(message.blocks, folder)
    return "\n" + SEPARATOR + "\n".join(lines)


def read_rounds(messages: Iterable[list[str]]) -> Iterator[Round]:
    """The rounds of a document, from the lines of its messages."""
    pending: RoundFacts | None = None
    known: list[Message] = []
    for lines in messages:
        message, first = read_message(lines)
        if first is not None:
            if pending is not None:
                yield pending.round(known)
            pending, known = first, []
        known.append(message)
    if pending is not None:
        yield pending.round(known)
    elif known:
        raise Malformed("the first message belongs to no round")


def split_messages(lines: Iterable[str]) -> Iterator[list[str]]:
    """The lines of each message, from its heading on; only one message is held at a time."""
    message: list[str] = []
    begun = False
    for line in lines:
        if line.startswith("### ") and message[-2:] == ["---", ""] and HEADING.fullmatch(line):
            if begun:
                yield message[:-2]
            message, begun = [line], True
            continue
        message.append(line)
        if not begun:
            message = message[-2:]
    if begun:
        yield message


def read_message(lines: list[str]) -> tuple[Message, RoundFacts | None]:
    """A message; with the first of each round, what is carried of the round."""
    heading = HEADING.fullmatch(lines[0])
    found = parse_carrier(lines[2]) if len(lines) > 2 else None
    if heading is None or found is None or found[0] != "message":
        raise Malformed(f"the metadata comment under '{lines[0]}' is missing or damaged")
    try:
        facts = msgspec.convert(found[1], _MessageFacts)
        blocks = read_blocks(lines[4:])
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
        facts.billing,
    )
    return message, facts.round
