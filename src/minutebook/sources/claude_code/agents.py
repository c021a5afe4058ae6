"""Subagents: which call spawned which transcript (FMT-15)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import SEEK_END
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, Any
from weakref import finalize

import msgspec

from minutebook.model import Round, Subagent
from minutebook.sources.claude_code.conversation import Conversation, Links
from minutebook.sources.claude_code.locate import WARMUP, AgentFile, first_prompt
from minutebook.sources.claude_code.records import Record

_MOST_HELD = 16_000_000  # bytes
_SILENT = 1_000  # records of other subagents, after which one is taken to be done
_PARENTS = 20_000  # records that another one may still follow


def links_of(agents: list[AgentFile]) -> Links:
    """Agent id by call id where the file's own notes tell, else by the prompt it was given."""
    links = Links({}, {})
    for agent in agents:
        if agent.call_id:
            links.by_call[agent.call_id] = agent.id
        elif not agent.helper and (prompt := first_prompt(agent.path)):
            links.by_prompt.setdefault(prompt, []).append(agent.id)
    return links


class Sidechains:
    """Subagents whose records stand inside the main file (up to 2.0.0).

    They are handed out when the file has ended, so what they said has to be kept. Past a few
    megabytes, those that have fallen silent are kept in a file (FMT-22).
    """

    def __init__(
        self, begin: Callable[[], Conversation], adopt: Callable[[str, str], None]
    ) -> None:
        self._begin = begin
        self._adopt = adopt
        self._chain_of: dict[str, str] = {}
        self._chains: dict[str, Conversation] = {}
        self._prompts: dict[str, str] = {}
        self._last: dict[str, int] = {}  # by chain, which of all records was its last
        self._records = 0
        self._held = 0  # bytes of records whose rounds are in memory
        self._shelf = Shelf()

    @property
    def any(self) -> bool:
        return bool(self._chains)

    @property
    def count(self) -> int:
        return sum(prompt != WARMUP for prompt in self._prompts.values())

    def add(self, record: Record[Any], length: int) -> None:
        """The next record, and the bytes of its line."""
        chain = self._chain(record)
        conversation = self._chains[chain]
        self._records += 1
        self._last[chain] = self._records
        if record.type == "assistant":
            conversation.replied(record)
        else:
            message, real = conversation.heard(record)
            if message is not None:
                conversation.add(message, real, record)
        self._held += length
        if self._held > _MOST_HELD:
            self._set_aside()

    def _set_aside(self) -> None:
        for chain, conversation in self._chains.items():
            assembler = conversation.assembler
            if self._records - self._last[chain] > _SILENT:
                assembler.finish()
            self._shelf.put(chain, assembler.done)
            assembler.done.clear()
        self._held = 0

    def _chain(self, record: Record[Any]) -> str:
        uuid = record.uuid or ""
        chain = self._chain_of.get(record.parentUuid or "")
        if chain is None:
            chain = uuid or f"sidechain-{len(self._chains) + 1}"
            self._chains[chain] = self._begin()
            self._prompts[chain] = prompt = _text(record)
            if prompt and prompt != WARMUP:
                self._adopt(prompt, chain)
        if uuid:
            self._chain_of[uuid] = chain
            if len(self._chain_of) > 2 * _PARENTS:
                self._chain_of = dict(islice(self._chain_of.items(), _PARENTS, None))
        return chain

    def subagents(self, calls: dict[str, str]) -> Iterator[Subagent]:
        """`calls` gives the call id by subagent."""
        for chain, conversation in self._chains.items():
            conversation.assembler.finish()
            yield Subagent(
                id=chain,
                call_id=calls.get(chain),
                helper=self._prompts[chain] == WARMUP,
                rounds=(*self._shelf.get(chain), *conversation.assembler.done),
            )


class Shelf:
    """Rounds in a file without a name, by whose they are."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._places: dict[str, list[tuple[int, int]]] = {}

    def put(self, name: str, rounds: list[Round]) -> None:
        if not rounds:
            return
        if self._file is None:
            self._file = TemporaryFile(prefix="minutebook-")  # noqa: SIM115 - lives as long as we
            finalize(self, self._file.close)
        encoded = msgspec.json.encode(rounds)
        self._places.setdefault(name, []).append((self._file.seek(0, SEEK_END), len(encoded)))
        self._file.write(encoded)

    def get(self, name: str) -> Iterator[Round]:
        for place, length in self._places.get(name, ()):
            assert self._file is not None
            self._file.seek(place)
            yield from msgspec.json.decode(self._file.read(length), type=list[Round])


def _text(record: Record[Any]) -> str:
    message = record.message
    content = message if message is None or isinstance(message, str) else message.content
    if isinstance(content, str):
        return content
    return "\n".join(
        block if isinstance(block, str) else block.text or "" for block in content or []
    )
