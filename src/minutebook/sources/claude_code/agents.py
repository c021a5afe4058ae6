"""Subagents: which call spawned which transcript (FMT-15)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from minutebook.model import Subagent
from minutebook.sources.claude_code.conversation import Conversation, Links
from minutebook.sources.claude_code.locate import WARMUP, AgentFile, first_prompt
from minutebook.sources.claude_code.records import Record


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
    """Subagents whose records stand inside the main file (up to 2.0.0)."""

    def __init__(
        self, begin: Callable[[], Conversation], adopt: Callable[[str, str], None]
    ) -> None:
        self._begin = begin
        self._adopt = adopt
        self._chain_of: dict[str, str] = {}
        self._chains: dict[str, Conversation] = {}
        self._prompts: dict[str, str] = {}

    @property
    def any(self) -> bool:
        return bool(self._chains)

    @property
    def count(self) -> int:
        return sum(prompt != WARMUP for prompt in self._prompts.values())

    def add(self, record: Record[Any], length: int) -> None:
        chain = self._chain(record)
        conversation = self._chains[chain]
        if record.type == "assistant":
            conversation.replied(record)
            return
        message, real = conversation.heard(record)
        if message is not None:
            conversation.add(message, real, record)

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
        return chain

    def subagents(self, calls: dict[str, str]) -> Iterator[Subagent]:
        """`calls` gives the call id by subagent."""
        for chain, conversation in self._chains.items():
            conversation.assembler.finish()
            yield Subagent(
                id=chain,
                call_id=calls.get(chain),
                helper=self._prompts[chain] == WARMUP,
                rounds=tuple(conversation.assembler.done),
            )


def _text(record: Record[Any]) -> str:
    message = record.message
    content = message if message is None or isinstance(message, str) else message.content
    if isinstance(content, str):
        return content
    return "\n".join(
        block if isinstance(block, str) else block.text or "" for block in content or []
    )
