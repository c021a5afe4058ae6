"""What a source has that its inscription has not (OPS-04, RND-06)."""

from __future__ import annotations

import msgspec

from minutebook.archive.blocks import Malformed
from minutebook.archive.markdown import read_messages, write_round
from minutebook.archive.media import MediaStore
from minutebook.model import Message, Round


class Merged(msgspec.Struct, frozen=True):
    added: list[Round]
    text: str
    """What goes behind the document's body."""
    published: int
    """Rounds the document had before."""
    late: int = 0
    changed: int = 0
    strange: bool = False
    """Whether the source does not simply continue the document."""


def merge(body: str, pieces: list[str], rounds: list[Round], media: MediaStore) -> Merged:
    """Compare a document's body with the rounds of its source (`pieces`: each one written)."""
    length = 0
    for index, piece in enumerate([*pieces, ""]):
        if length == len(body):
            if body == "".join(pieces[:index]):
                return Merged(rounds[index:], "".join(pieces[index:]), index)
            break
        length += len(piece)
    return _by_message(body, rounds, media)


def _by_message(body: str, rounds: list[Round], media: MediaStore) -> Merged:
    """The slow way: the document was edited, or the source rewritten, or a round went on
    after it was closed. New messages are those the document does not hold, if they are
    not older than its last; they open rounds of their own."""
    try:
        known = list(read_messages(body, media))
    except (Malformed, KeyError, OSError) as error:
        raise Malformed(f"the document cannot be read any more: {error}") from None
    by_key = {_key(message): message for message, _ in known}
    last = max((message.at for message, _ in known if message.at), default="")
    number = sum(first is not None for _, first in known)
    published = number
    added: list[Round] = []
    late = changed = 0
    for round in rounds:
        fresh: list[Message] = []
        for message in round.messages:
            before = by_key.get(_key(message))
            if before is not None:
                changed += before != message
            elif message.at is not None and message.at < last:
                late += 1
            else:
                fresh.append(message)
        if fresh:
            number += 1
            added.append(Round(number, tuple(fresh), round.cwd, round.branch, None, _calls(fresh)))
    text = "".join(write_round(round, media) for round in added)
    return Merged(added, text, published, late, changed, strange=True)


def _key(message: Message) -> tuple[str | None, ...]:
    if message.id is not None:
        return (message.id,)
    return (message.role, message.at, message.text)


def _calls(messages: list[Message]) -> int:
    return sum(1 for _ in Round(0, tuple(messages)).calls)
