"""Adds what the first release left out, from transcripts that still exist.

What was written keeps its messages and numbers; a message that reads the same in the
transcript is taken from there, with its billing, patches and kinds. What cannot be found any
more is marked as thin, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import msgspec

from minutebook.archive.names import transcript_file
from minutebook.derive.clock import Moment, read_clock, write_clock
from minutebook.model import Billing, Block, Loose, Message, Reply, Round, Subagent, Text, ToolCall
from minutebook.model.blocks import StrayResult, ToolResult
from minutebook.record.facts import SessionFacts
from minutebook.record.media import MediaStore, without_pictures
from minutebook.record.merge import joined
from minutebook.record.recover import StoredRounds
from minutebook.sources.base import Reading, Transcript
from minutebook.sources.library import Library, open_file, open_transcript
from minutebook.sources.registry import SOURCES


class Enriched:
    """The rounds of an old session, as full as they can be had. Iterate once."""

    def __init__(self, library: Library, facts: SessionFacts, stored: StoredRounds) -> None:
        self._stored, self._old_facts = stored, facts
        self._transcript = _transcript(library, facts)
        self._media = MediaStore()
        self._reading: Reading | None = None
        self._loose = Loose()
        self.places: dict[int, tuple[int, int]] = {}
        """Where the transcript numbers rounds differently: its number → first and last here."""

    def __iter__(self) -> Iterator[Round]:
        if self._transcript is None:
            yield from map(self._thin, self._stored)
            return
        yield from self._paired() if self._is_in_step() else self._by_message()

    def _read(self) -> Iterator[Round]:
        assert self._transcript is not None
        self._reading = open_transcript(self._transcript)
        return (without_pictures(round, self._media) for round in self._reading.rounds())

    def _is_in_step(self) -> bool:
        """Whether the transcript's rounds are those that were written, one by one."""
        living = self._read()
        for old in self._stored:
            new = next(living, None)
            if new is None or [m.id for m in old.messages] != [m.id for m in new.messages]:
                return False
        return True

    def _paired(self) -> Iterator[Round]:
        living = self._read()
        for old in self._stored:
            new = next(living)
            messages = tuple(
                fuller(before, now) for before, now in zip(old.messages, new.messages, strict=True)
            )
            yield msgspec.structs.replace(new, number=old.number, messages=messages)
        for _ in living:
            pass  # what has come since is appended as always
        if self._reading is not None:
            self._loose = self._reading.loose

    def _by_message(self) -> Iterator[Round]:
        """A round went on after it was closed, or the transcript was rewritten."""
        found: dict[str, Message] = {}
        first_of: dict[str, list[int]] = {}
        sources: dict[int, Round] = {}
        for round in self._read():
            sources[round.number] = msgspec.structs.replace(round, messages=())
            for message in round.messages:
                if message.id is not None:
                    found[message.id] = message
                    first_of.setdefault(message.id, []).append(round.number)
        moments: list[Moment] = []
        replies: list[Reply] = []
        taken: set[int] = set()
        for old in map(self._kinds, self._stored):
            messages: list[Message] = []
            beside: list[Reply] = []
            clock: list[Moment] = []
            for message in old.messages:
                now = found.get(message.id or "")
                messages.append(fuller(message, now))
                for number in first_of.get(message.id or "", ()):
                    first, _ = self.places.get(number, (old.number, old.number))
                    self.places[number] = (first, old.number)
                    if number not in taken:
                        taken.add(number)
                        clock += read_clock(sources[number].clock)
                        beside += sources[number].progress
            yield msgspec.structs.replace(
                old,
                messages=tuple(messages),
                clock=write_clock(clock),
                progress=tuple(beside),
            )
        for number, round in sources.items():
            if number not in taken and self._is_old(number):
                moments += read_clock(round.clock)
                replies += round.progress
        self._loose = joined(Loose(), moments, replies)

    def _is_old(self, number: int) -> bool:
        """Whether a round of the transcript lies before the last that was written."""
        return number < max(self.places, default=0)

    def _thin(self, round: Round) -> Round:
        messages = tuple(fuller(message, None) for message in self._kinds(round).messages)
        return msgspec.structs.replace(round, messages=messages)

    def _kinds(self, round: Round) -> Round:
        """A round whose calls say what kind they are."""
        source = SOURCES.get(self._old_facts.info.source)
        if source is None:
            return round
        messages = []
        for message in round.messages:
            blocks = tuple(
                msgspec.structs.replace(block, kind=source.tool_kind(block.name))
                if isinstance(block, ToolCall) and block.kind == "other"
                else block
                for block in message.blocks
            )
            messages.append(msgspec.structs.replace(message, blocks=blocks))
        return msgspec.structs.replace(round, messages=tuple(messages))

    @property
    def facts(self) -> SessionFacts:
        """What is known of the session now; complete once the rounds were iterated."""
        known = self._old_facts
        if self._reading is None or self._transcript is None:
            return known
        info = self._reading.info()
        info = msgspec.structs.replace(info, rounds=known.written.rounds)
        return msgspec.structs.replace(
            known, info=info, source=self._transcript.location, loose=self._loose
        )

    def subagents(self) -> dict[str, Subagent]:
        """Subagents as the transcript has them."""
        if self._reading is None:
            return {}
        return {agent.id: agent for agent in self._reading.subagents()}


def _transcript(library: Library, facts: SessionFacts) -> Transcript | None:
    if facts.source and (file := transcript_file(facts.source)) is not None:
        return open_file(*file)
    found = (t for t in library.transcripts if t.session_id == facts.info.id)
    return next(found, None)


def fuller(old: Message, now: Message | None) -> Message:
    """The transcript's message, where it says what was written; else the written one, with
    each block that reads the same taken from the transcript."""
    if now is not None and _bare(now) == _bare(old):
        return now
    if now is not None:
        pairs = zip_longest(old.blocks, now.blocks[: len(old.blocks)])
        blocks = tuple(
            after if after is not None and _bare_block(after) == _bare_block(before) else before
            for before, after in pairs
        )
        old = msgspec.structs.replace(old, blocks=blocks)
    if old.role == "assistant" and (old.usage is not None or old.reply_id):
        return msgspec.structs.replace(old, billing=Billing(thin=True))
    return old


def _bare(message: Message) -> Message:
    """A message reduced to what the first release kept of one."""
    usage = message.usage
    return msgspec.structs.replace(
        message,
        blocks=tuple(_bare_block(block) for block in message.blocks),
        usage=msgspec.structs.replace(usage, cache_write_1h=0) if usage is not None else None,
        billing=None,
    )


def _bare_block(block: Block) -> Block:
    if isinstance(block, Text):
        return Text(block.text)
    if isinstance(block, ToolCall):
        result = _bare_result(block.result) if block.result is not None else None
        return msgspec.structs.replace(block, kind="other", result=result)
    if isinstance(block, StrayResult):
        return StrayResult(block.call_id, _bare_result(block.result))
    return block


def _bare_result(result: ToolResult) -> ToolResult:
    return ToolResult(result.content, result.error, result.at, result.spilled)
