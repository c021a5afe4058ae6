"""What a source has that its rounds lack (OPS-04, RND-06), in bounded memory.

Used where a source does not simply continue what is written: a round went on after it was
closed, or the transcript was rewritten. Only keys of messages are held; the source is read
twice, and written messages are read again where they must be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import msgspec

from minutebook.derive.clock import Moment, beyond, read_clock, write_clock
from minutebook.derive.replies import accounting, better_reply
from minutebook.model import Loose, Message, Reply, Round, StrayResult, ToolCall

_Key = tuple[str | None, ...]
_GAIN = "later-"  # begins the id of what a written message got afterwards


class Merge:
    """Compares written rounds with those of a source; `added` gives what is new.

    `written` reads the written rounds, `source` those of the source; each may be called
    more than once.
    """

    def __init__(
        self,
        written: Callable[[], Iterable[Round]],
        source: Callable[[], Iterable[Round]],
        round: Callable[[int], Round],
        loose: Loose,
    ) -> None:
        self._source, self._round = source, round
        self.late = self.changed = self.gone = 0
        self.loose = loose
        """What of the source belongs to no round, once `added` was iterated."""
        self._known: dict[_Key, int] = {}
        self._settled: set[_Key] = set()
        self._last = ""
        self._queued: dict[str, _Key] = {}
        self._moments: Counter[Moment] = Counter(read_clock(loose.clock))
        self._replies = {reply.id: reply.usage.total for reply in loose.replies}
        self._grown: list[Reply] = []
        self.published = 0
        self.place = 0
        """Number of the source's round that the round just added is of."""
        for known in written():
            self.published = max(self.published, known.number)
            self._learn(known)

    def _learn(self, round: Round) -> None:
        self._moments.update(read_clock(round.clock))
        for reply in round.progress:
            self._replies[reply.id] = max(self._replies.get(reply.id, 0), reply.usage.total)
        for message in round.messages:
            key = _key(message)
            self._known[key] = round.number
            if message.queued:
                self._queued[message.text.strip()] = key
            else:
                # A prompt from the queue says nothing of the order: where it stands depends
                # on when it was read.
                self._settled.add(key)
                self._last = max(self._last, message.at or "")

    def added(self) -> Iterator[Round]:
        """Rounds of what the source has more, numbered on from the last."""
        here, final = self._look()
        queued = {text: key for text, key in self._queued.items() if key not in here}
        number, position = self.published, -1
        moments: list[Moment] = []
        replies: list[Reply] = []
        for round in self._source():
            self.place = round.number
            fresh: list[Message] = []
            for message in round.messages:
                position += 1
                text = message.text.strip() if message.role == "user" else ""
                if _key(message) in self._known:
                    news = self._news(message)
                    self.changed += news is None
                    fresh += news or ()
                elif text and text in queued:
                    here.add(queued.pop(text))  # it was typed ahead, and is written
                elif message.at is not None and message.at < self._last:
                    # Times go astray in transcripts: what stands behind everything known is
                    # added all the same, and reported wherever it stands.
                    self.late += 1
                    if position > final:
                        fresh.append(message)
                else:
                    fresh.append(message)
            clock = beyond(round.clock, self._moments)
            news_beside = tuple(r for r in round.progress if self._is_new(r))
            if fresh:
                number += 1
                yield Round(
                    number,
                    tuple(fresh),
                    round.cwd,
                    round.branch,
                    None,
                    _calls(fresh),
                    clock,
                    news_beside,
                )
            else:
                moments += read_clock(clock)
                replies += news_beside
        self.gone = len({key for key in self._known if not str(key[0]).startswith(_GAIN)} - here)
        self.loose = joined(self.loose, moments, [*replies, *self._grown])

    def with_more(self, loose: Loose) -> Loose:
        """What belongs to no round, with what the source itself has of that kind."""
        fresh = beyond(loose.clock, Counter(self._moments))
        return joined(self.loose, read_clock(fresh), filter(self._is_new, loose.replies))

    def _look(self) -> tuple[set[_Key], int]:
        """Keys of the source's messages, and the place of the last one that is written."""
        here: set[_Key] = set()
        final, position = -1, -1
        for round in self._source():
            for message in round.messages:
                position += 1
                key = _key(message)
                here.add(key)
                if key in self._settled:
                    final = position
        return here, final

    def _is_new(self, reply: Reply) -> bool:
        return reply.usage.total > self._replies.get(reply.id, -1)

    def _news(self, message: Message) -> list[Message] | None:
        """What is not written yet of a message; None where what is written is not a part of it."""
        number = self._known.get(_key(message))
        if number is None:
            return [message]
        before = next(m for m in self._round(number).messages if _key(m) == _key(message))
        if before == message:
            return []
        if message.reply_id and _total(message) > _total(before):
            self._grown.append(accounting(message))  # it was still streaming when it was written
        gained = _gained(before, message)
        if gained is None:
            return None
        news: list[Message] = []
        for part in gained:
            rest = self._news(part)
            if rest is None:
                return None
            news += rest
        return news


def joined(loose: Loose, moments: Iterable[Moment], replies: Iterable[Reply]) -> Loose:
    """What belongs to no round, with more of it."""
    by_id = {reply.id: reply for reply in loose.replies}
    for reply in replies:
        by_id[reply.id] = better_reply(reply, by_id.get(reply.id))
    return Loose(write_clock([*read_clock(loose.clock), *moments]), tuple(by_id.values()))


def _total(message: Message) -> int:
    return accounting(message).usage.total


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
