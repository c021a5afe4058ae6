"""Compare a source with its inscription, for agents that cannot be exported to (OPS-14).

The source is read again by its adapter, and compared fact by fact with the document: what was
said, thought, called, answered and used. Facts are kept as digests, so that a session of any size
can be compared.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator

import msgspec

from minutebook.model import Document, Image, Message, Round, StrayResult, Text, Thinking, ToolCall
from minutebook.sources.base import FactReport

MATTERS = (
    "user text",
    "assistant text",
    "thinking",
    "tool call",
    "tool result",
    "picture",
    "usage",
)
_EXAMPLES = 3
_LONGEST = 200


class Facts:
    """Facts of rounds, by their names; each with the beginning of a text that tells it."""

    def __init__(self, rounds: Iterable[Round]) -> None:
        self.counts: dict[str, Counter[bytes]] = {name: Counter() for name in MATTERS}
        self.texts: dict[bytes, str] = {}
        for round in rounds:
            for message in round.messages:
                self._message(message)

    def _message(self, message: Message) -> None:
        for block in message.blocks:
            if isinstance(block, Text):
                self._add(f"{message.role} text", block.text)
            elif isinstance(block, Thinking):
                self._add("thinking", f"{block.text}{block.signature or ''}")
            elif isinstance(block, Image | Document):
                self._add("picture", f"{block.media_type} {block.url or ''} {block.data}")
            elif isinstance(block, StrayResult):
                self._add("tool result", f"{block.call_id} {_written(block.result)}")
            elif isinstance(block, ToolCall):
                self._add("tool call", f"{block.id} {block.name} {_written(block.input)}")
                if block.result is not None:
                    self._add("tool result", f"{block.id} {_written(block.result)}")
        if message.usage is not None:
            self._add("usage", f"{message.reply_id} {message.model} {_written(message.usage)}")

    def _add(self, name: str, text: str) -> None:
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self.counts[name][digest] += 1
        self.texts.setdefault(digest, text[:_LONGEST])


def _written(value: object) -> str:
    return msgspec.json.encode(value, order="deterministic").decode("utf-8", "replace")


def compare(source: Iterable[Round], inscribed: Iterable[Round]) -> list[FactReport]:
    """Both directions, fact by fact."""
    before, after = Facts(source), Facts(inscribed)
    reports = []
    for name in MATTERS:
        lost = before.counts[name] - after.counts[name]
        added = after.counts[name] - before.counts[name]
        reports.append(
            FactReport(
                name,
                before.counts[name].total() - lost.total(),
                lost.total(),
                added.total(),
                [before.texts[digest] for digest in list(lost)[:_EXAMPLES]],
                [after.texts[digest] for digest in list(added)[:_EXAMPLES]],
            )
        )
    return reports


def without_last(rounds: Iterable[Round], count: int) -> Iterator[Round]:
    """Rounds but for the last few, which are not inscribed yet."""
    held: deque[Round] = deque()
    for round in rounds:
        held.append(round)
        if len(held) > count:
            yield held.popleft()
