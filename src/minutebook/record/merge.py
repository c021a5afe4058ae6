"""What a source has that its inscription has not (OPS-04, RND-06)."""

from __future__ import annotations

import msgspec

from minutebook.record.blocks import Malformed
from minutebook.record.markdown import read_messages, write_round
from minutebook.record.media import MediaStore
from minutebook.model import Message, Round, StrayResult, ToolCall

_Key = tuple[str | None, ...]
_GAIN = "later-"  # begins the id of what a written message got afterwards


class Merged(msgspec.Struct, frozen=True):
    added: list[Round]
    text: str
    """What goes behind the document's body."""
    published: int
    """Rounds the document had before."""
    late: int = 0
    changed: int = 0
    gone: int = 0
    """Messages of the document that the source does not have any more."""
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
    ordered = [message for round in rounds for message in round.messages]
    here = {_key(message) for message in ordered}
    queued = {
        message.text.strip(): key
        for key, message in by_key.items()
        if message.queued and key not in here
    }
    # Times go astray in transcripts; what stands behind everything known is new all the same.
    # A prompt from the queue says nothing here: where it stands depends on when it was read.
    settled = {key for key, message in by_key.items() if not message.queued}
    last = max((m.at for key, m in by_key.items() if m.at and key in settled), default="")
    final = max((n for n, m in enumerate(ordered) if _key(m) in settled), default=-1)
    number = published = sum(first is not None for _, first in known)
    added: list[Round] = []
    late = changed = position = 0
    for round in rounds:
        fresh: list[Message] = []
        for message in round.messages:
            position += 1
            if _key(message) in by_key:
                news = _news(message, by_key)
                changed += news is None
                fresh += news or ()
            elif message.role == "user" and message.text.strip() in queued:
                here.add(queued.pop(message.text.strip()))  # it was typed ahead, and is written
            elif position <= final and message.at is not None and message.at < last:
                late += 1
            else:
                fresh.append(message)
        if fresh:
            number += 1
            added.append(Round(number, tuple(fresh), round.cwd, round.branch, None, _calls(fresh)))
    text = "".join(write_round(round, media) for round in added)
    gone = len({key for key in by_key if not str(key[0]).startswith(_GAIN)} - here)
    return Merged(added, text, published, late, changed, gone, strange=True)


def _news(message: Message, by_key: dict[_Key, Message]) -> list[Message] | None:
    """What is not written yet of a message; None where what is written is not a part of it."""
    before = by_key.get(_key(message))
    if before is None:
        return [message]
    if before == message:
        return []
    gained = _gained(before, message)
    if gained is None:
        return None
    news: list[Message] = []
    for part in gained:
        rest = _news(part, by_key)
        if rest is None:
            return None
        news += rest
    return news


def _gained(before: Message, now: Message) -> list[Message] | None:
    """What a message has more than when it was written: results of its calls, further blocks.

    None where it is another message altogether: somebody edited one of them.
    """
    if len(now.blocks) < len(before.blocks):
        return None
    gained: list[Message] = []
    for old, new in zip(before.blocks, now.blocks, strict=False):
        if old == new:
            continue
        if not (isinstance(old, ToolCall) and isinstance(new, ToolCall) and new.result):
            return None
        if old.result is not None or msgspec.structs.replace(new, result=None, agent=None) != (
            msgspec.structs.replace(old, agent=None)
        ):
            return None
        stray = StrayResult(new.id, new.result)
        gained.append(Message("user", (stray,), f"{_GAIN}{new.id}", new.result.at))
    rest = now.blocks[len(before.blocks) :]
    if rest:
        id = f"{_GAIN}{now.id}-{len(before.blocks)}"
        gained.append(Message(now.role, rest, id, now.at, now.reply_id, now.model, stop=now.stop))
    return gained


def _key(message: Message) -> _Key:
    if message.id is not None:
        return (message.id,)
    return (message.role, message.at, message.text)


def _calls(messages: list[Message]) -> int:
    return sum(1 for _ in Round(0, tuple(messages)).calls)
