"""Sessions for other people: the chosen blocks of the chosen rounds, masked.

Whatever the archive was opened with, nothing that is shared holds a secret, and what was
masked is counted (SHARE-03). Blocks are chosen before they are masked, so only what is in the
file is counted.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.masking import Hide, counting, hidden, hidden_round, hidden_subagent
from minutebook.archive.session import OpenSession
from minutebook.derive.messages import COMPACTION, INTERRUPTION, TASK
from minutebook.derive.plain import one_line
from minutebook.errors import NotFound
from minutebook.model import (
    Attachment,
    Block,
    Document,
    Image,
    Message,
    Notice,
    Round,
    StrayResult,
    Subagent,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.visit import BlockVisitor
from minutebook.record.media import pictures_of
from minutebook.record.recover import MISSING

BLOCKS = ("user", "assistant", "thinking", "calls", "results")
"""The kinds of blocks that can be chosen."""
_ASKED = 90  # characters
_TELLING = frozenset({COMPACTION, INTERRUPTION, TASK, MISSING})


class SharedSession(msgspec.Struct, frozen=True, kw_only=True):
    """Rounds of a session, ready to be given away."""

    record: SessionRecord
    short: str
    """The start of its id."""
    rounds: tuple[Round, ...]
    whole: bool
    """Whether these are all its rounds."""
    subagents: tuple[Subagent, ...] = ()
    """Those that the rounds called."""
    pictures: dict[str, bytes] = {}
    """Pictures and documents by their names: `file` of a block ends with it."""

    def picture(self, file: str) -> bytes | None:
        """What is in the file that a block names."""
        return self.pictures.get(file.rsplit("/", 1)[-1])

    @property
    def engagements(self) -> tuple[Engagement, ...]:
        """Those that the rounds belong to, in their order."""
        return self.record.engagements


def shared_session(
    archive: Archive,
    session_id: str,
    numbers: Sequence[int] | None,
    only: Collection[str],
    masked: Counter[str],
) -> SharedSession:
    """Rounds of a session (all without `numbers`) with the blocks of these kinds; what was
    masked in them is counted."""
    by, session = counting(masked), archive.open(session_id)
    every = range(1, session.count + 1)
    wanted = tuple(numbers) if numbers is not None else tuple(every)
    rounds = tuple(
        hidden_round(chosen_blocks(session.stored(number), only), by) for number in wanted
    )
    subagents = tuple(_subagents(session, rounds, only, by))
    everything = (*rounds, *(round for agent in subagents for round in agent.rounds))
    return SharedSession(
        record=hidden(_told(archive.stored_record(session_id), wanted, session.count), by),
        short=archive.short(session_id),
        rounds=rounds,
        whole=wanted == tuple(every),
        subagents=subagents,
        pictures=_pictures(session, everything),
    )


def _told(record: SessionRecord, numbers: Sequence[int], count: int) -> SessionRecord:
    """What of a record goes along with these rounds: the engagements they belong to that nobody
    hid, and no notes. A summary tells of all its session, so it goes with nothing less."""
    engagements = tuple(
        msgspec.structs.replace(engagement, note="")
        for engagement in record.engagements
        if not engagement.hidden and any(engagement.covers(number) for number in numbers)
    )
    all_of_it = len(set(numbers)) == count and not any(e.hidden for e in record.engagements)
    return msgspec.structs.replace(
        record,
        engagements=engagements,
        session_summary=record.told_summary if all_of_it else "",
        note="",
    )


def _subagents(
    session: OpenSession, rounds: Sequence[Round], only: Collection[str], by: Hide
) -> Iterator[Subagent]:
    called = {call.agent for round in rounds for call in round.calls if call.agent}
    for facts in session.subagents():
        if facts.id not in called or "calls" not in only:
            continue
        with suppress(NotFound):  # its transcript is gone
            agent = session.stored_subagent(facts.id)
            chosen = tuple(chosen_blocks(round, only) for round in agent.rounds)
            yield hidden_subagent(msgspec.structs.replace(agent, rounds=chosen), by)


def _pictures(session: OpenSession, rounds: Sequence[Round]) -> dict[str, bytes]:
    names = dict.fromkeys(name for round in rounds for name in pictures_of(round))
    found = ((name, session.picture(name)) for name in names)
    return {name: content for name, content in found if content is not None}


def asked_of(round: Round) -> str:
    """What a round is called in a list of contents: the beginning of its prompt."""
    words = one_line(round.prompt.said if round.prompt is not None else "")
    short = words if len(words) <= _ASKED else words[:_ASKED].rstrip() + "…"
    return short or f"Round {round.number}"


def as_data(media_type: str, content: bytes) -> str:
    """A picture as an address that holds it."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


# -- choosing


def chosen_blocks(round: Round, only: Collection[str]) -> Round:
    """A round with the blocks of these kinds; its messages stay, so that it can be dated."""
    prompt = round.prompt
    messages = tuple(_message(m, only, typed=m is prompt) for m in round.messages)
    return msgspec.structs.replace(
        round,
        messages=tuple(m for m in messages if m.blocks) or messages[:1],
        clock="",
        progress=(),
    )


def _message(message: Message, only: Collection[str], *, typed: bool) -> Message:
    keep = _Keep(only)
    kept = (keep.visit(block, typed=typed) for block in message.blocks)
    blocks = tuple(block for block in kept if block is not None)
    return msgspec.structs.replace(message, blocks=blocks, billing=None)


class _Keep(BlockVisitor[Block | None]):
    """A block as far as it is chosen."""

    def __init__(self, only: Collection[str]) -> None:
        self._only = only

    def _if(self, kind: str, block: Block) -> Block | None:
        return block if kind in self._only else None

    def text(self, block: Text, typed: bool) -> Block | None:
        return self._if("user" if typed else "assistant", block)

    def picture(self, block: Image | Document, typed: bool) -> Block | None:
        return self._if("user" if typed else "assistant", block)

    def thinking(self, block: Thinking) -> Block | None:
        return self._if("thinking", msgspec.structs.replace(block, signature=None))

    def call(self, block: ToolCall) -> Block | None:
        if "results" in self._only:
            stray = StrayResult(block.id, block.result) if block.result is not None else None
            return block if "calls" in self._only else stray
        if "calls" not in self._only or block.result is None:
            return self._if("calls", block)
        return msgspec.structs.replace(block, result=_without_words(block.result))

    def stray(self, block: StrayResult) -> Block | None:
        return self._if("results", block)

    def notice(self, block: Notice) -> Block | None:
        return block if block.kind in _TELLING else self._if("results", block)

    def attachment(self, block: Attachment) -> Block | None:
        return self._if("results", block)

    def unknown(self, block: Unknown) -> Block | None:
        return self._if("results", block)


def _without_words(result: ToolResult) -> ToolResult:
    """How a call ended and what it changed, without what it answered."""
    return msgspec.structs.replace(result, content="", spilled=None)
