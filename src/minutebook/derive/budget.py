"""Context budget: how full the model's window was, round by round (FUT-04).

What is in the window is counted by the provider: the input of a call, read from the cache,
written to it or neither. What it consisted of is estimated from what the transcript holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import msgspec

from minutebook.derive.messages import COMPACTION
from minutebook.derive.tokens import tokens
from minutebook.model import (
    Attachment,
    Block,
    Compaction,
    Message,
    Notice,
    Round,
    Text,
    Thinking,
    ToolCall,
)
from minutebook.model.blocks import StrayResult

NEAR = 80.0
"""Percent of the window from which on a round is near capacity."""
_AUTOMATIC = 0.7  # an agent that compacts by itself does so beyond this share of its window

Windows = Callable[[str], tuple[int, ...]]
"""The windows a model can have, its usual one first; none where nobody knows."""
Evidence = Literal["recorded", "model", "usage", "compaction", "usual"]
"""How a limit is known: the agent wrote it down; the model has this one only; more than the
smaller one was used; a recorded compaction; it is what the model usually has."""


class Limit(msgspec.Struct, frozen=True):
    """The window of a model in one session, in tokens."""

    tokens: int
    evidence: Evidence


class Filling(msgspec.Struct, frozen=True):
    """What fills a window, in estimated tokens."""

    prompts: int = 0
    replies: int = 0
    thinking: int = 0
    calls: int = 0
    results: int = 0
    context: int = 0
    """Attachments, notices and summaries that the agent put there."""

    def __add__(self, other: Filling) -> Filling:
        return Filling(*(a + b for a, b in zip(_parts(self), _parts(other), strict=True)))

    @property
    def total(self) -> int:
        return sum(_parts(self))

    def scaled(self, share: float) -> Filling:
        return Filling(*(int(part * share) for part in _parts(self)))


class Contents(msgspec.Struct, frozen=True):
    """What a window held at its fullest."""

    round: int
    tokens: int
    """As the provider counted."""
    filled: Filling
    """By estimate; never more than was counted."""
    rest: int
    """Of the count, what the transcript does not hold: the system prompt, definitions of tools,
    instructions."""


class RoundBudget(msgspec.Struct, frozen=True):
    """A round's window."""

    number: int
    at: str | None
    model: str | None
    tokens: int | None
    """In the window at the last call: input + cache read + cache write; None: not recorded."""
    fullest: int | None
    """The most of all calls of the round, and of what a compaction in it recorded."""
    limit: int | None
    percent: float | None
    """`tokens` of the limit."""
    peak: float | None
    """`fullest` of the limit."""
    near: bool
    """Whether the peak is near capacity."""
    compactions: tuple[Compaction, ...]
    added: Filling
    """What the round added, by estimate."""


class Budget(msgspec.Struct, frozen=True):
    """A session's rounds, and what they come to."""

    rounds: tuple[RoundBudget, ...]
    limits: dict[str, Limit]
    """By model; a model without one is not among them."""
    recorded: int
    """Rounds whose tokens were recorded."""
    near: int
    """Rounds near capacity."""
    compactions: int
    peak: float | None
    """The highest percentage of all rounds."""
    peak_round: int | None
    contents: Contents | None


class _Seen(msgspec.Struct, frozen=True):
    number: int
    at: str | None
    model: str | None
    last: int | None
    fullest: int | None
    compactions: tuple[Compaction, ...]
    recorded: int | None = None


class Meter:
    """Reads the window of each round as it passes; the limits are known after the last."""

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._model: str | None = None

    def noting(self, rounds: Iterable[Round]) -> Iterator[Round]:
        """Rounds as they come, each noted."""
        for round in rounds:
            self.note(round)
            yield round

    def note(self, round: Round) -> None:
        calls = [(window, m.model) for m in round.replies if (window := window_of(m))]
        last, model = calls[-1] if calls else (None, None)
        self._model = model = model or self._model
        before = [c.tokens_before for c in round.compactions if c.tokens_before]
        fullest = max([*(window for window, _ in calls), *before], default=None)
        written = [m.billing.window for m in round.replies if m.billing and m.billing.window]
        recorded = written[-1] if written else None
        self._seen.append(
            _Seen(round.number, round.started, model, last, fullest, round.compactions, recorded)
        )

    def limits(self, windows: Windows) -> dict[str, Limit]:
        """The limit of each model, with what says so."""
        models = {seen.model for seen in self._seen if seen.model}
        found = {model: self._limit(model, windows(model)) for model in sorted(models)}
        return {model: limit for model, limit in found.items() if limit is not None}

    def _limit(self, model: str, windows: tuple[int, ...]) -> Limit | None:
        own = [seen for seen in self._seen if seen.model == model]
        if recorded := [seen.recorded for seen in own if seen.recorded]:
            return Limit(recorded[-1], "recorded")
        used = max((seen.fullest or 0 for seen in own), default=0)
        fitting = [window for window in windows if window >= used]
        if not fitting:
            return None
        if len(windows) == 1:
            return Limit(windows[0], "model")
        if len(fitting) < len(windows):  # a smaller one would not have held it
            called = max((seen.last or 0 for seen in own), default=0)
            return Limit(min(fitting), "usage" if called > min(windows) else "compaction")
        automatic = [
            compaction.tokens_before or 0
            for seen in own
            for compaction in seen.compactions
            if compaction.trigger == "auto"
        ]
        if any(before >= _AUTOMATIC * min(fitting) for before in automatic):
            return Limit(min(fitting), "compaction")
        return Limit(fitting[0], "usual")

    def tenths(self, windows: Windows) -> dict[int, int]:
        """The peak of each round whose tokens and limit are known, in tenths of a percent."""
        limits = self.limits(windows)
        return {
            seen.number: _tenths(seen.fullest, limits[seen.model].tokens)
            for seen in self._seen
            if seen.fullest and seen.model in limits
        }

    def rounds(self, limits: dict[str, Limit], added: dict[int, Filling]) -> list[RoundBudget]:
        return [_round(seen, limits, added.get(seen.number, Filling())) for seen in self._seen]


def window_of(reply: Message) -> int | None:
    """Tokens in the window at a call: input + cache read + cache write; None: not recorded."""
    whole = reply.billing.usage if reply.billing is not None else None
    usage = whole or reply.usage
    if usage is None or (reply.model or "").startswith("<"):
        return None
    return usage.input + usage.cache_read + usage.cache_write or None


def budget(rounds: Iterable[Round], windows: Windows) -> Budget:
    """How full the window was in each round of a session."""
    meter = Meter()
    added: dict[int, Filling] = {}
    held: dict[int, Filling] = {}
    inside = Filling()
    for round in meter.noting(rounds):
        most = inside
        added[round.number] = Filling()
        asked = len(round.asked)
        for at, block in enumerate(round.blocks):
            part = filling(block, typed=at < asked)
            if isinstance(block, Notice) and block.kind == COMPACTION:
                inside = Filling()
            inside += part
            added[round.number] += part
            most = max(most, inside, key=lambda filled: filled.total)
        held[round.number] = most
    limits = meter.limits(windows)
    told = meter.rounds(limits, added)
    known = [item for item in told if item.peak is not None]
    top = max(known, key=lambda item: item.peak or 0.0, default=None)
    full = top or max(told, key=lambda item: item.fullest or 0, default=None)
    return Budget(
        rounds=tuple(told),
        limits=limits,
        recorded=sum(item.tokens is not None for item in told),
        near=sum(item.near for item in told),
        compactions=sum(len(item.compactions) for item in told),
        peak=top.peak if top else None,
        peak_round=top.number if top else None,
        contents=_contents(full.number, full.fullest, held[full.number])
        if full is not None and full.fullest
        else None,
    )


def filling(block: Block, *, typed: bool = False) -> Filling:
    """What a block takes of the window, by estimate; pictures and files are not estimated."""
    match block:
        case Text():
            size = tokens(block.text)
            return Filling(prompts=size) if typed else Filling(replies=size)
        case Thinking():
            return Filling(thinking=tokens(block.text))
        case ToolCall():
            given = tokens(_plain(block.input)) if block.input else 0
            result = tokens(block.result.text) if block.result is not None else 0
            return Filling(calls=given, results=result)
        case StrayResult():
            return Filling(results=tokens(block.result.text))
        case Notice():
            return Filling(context=tokens(block.text))
        case Attachment():
            return Filling(context=tokens(_plain(block.data)))
        case _:
            return Filling()


def _plain(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _parts(filling: Filling) -> tuple[int, ...]:
    return msgspec.structs.astuple(filling)


def _contents(number: int, counted: int, held: Filling) -> Contents:
    if held.total > counted:
        held = held.scaled(counted / held.total)
    return Contents(number, counted, held, counted - held.total)


def _round(seen: _Seen, limits: dict[str, Limit], added: Filling) -> RoundBudget:
    limit = limits[seen.model].tokens if seen.model in limits else None
    peak = _tenths(seen.fullest, limit) / 10 if seen.fullest and limit else None
    return RoundBudget(
        number=seen.number,
        at=seen.at,
        model=seen.model,
        tokens=seen.last,
        fullest=seen.fullest,
        limit=limit,
        percent=_tenths(seen.last, limit) / 10 if seen.last and limit else None,
        peak=peak,
        near=peak is not None and peak >= NEAR,
        compactions=seen.compactions,
        added=added,
    )


def _tenths(count: int, limit: int) -> int:
    return round(1000 * count / limit)
