"""Makes the digest of a session, in one pass of its rounds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

import msgspec

from minutebook.derive.activity import commits_of, pull_requests_of
from minutebook.derive.calls import line_change, path_of
from minutebook.derive.clock import read_clock
from minutebook.derive.replies import accounting, reply_key
from minutebook.derive.times import millis
from minutebook.derive.usage.digest import (
    AGENT,
    BARE,
    BATCH,
    DAMAGED,
    DEARER,
    ENDED,
    FAST,
    PROGRESS,
    THIN,
    VERSION,
    Call,
    Digest,
    Row,
    better,
)
from minutebook.derive.usage.times import spans_of
from minutebook.model import Billing, Loose, Message, Reply, Round, SessionInfo, ToolCall

_MOST = 10**12  # tokens; a reply with more is damaged
_LONGEST_PATH = 1_000


class Digesting:
    """Makes a digest of rounds as they pass; then of subagents, then of what is loose."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._nameless = 0
        self._models: dict[str, int] = {}
        self._tools: dict[str, int] = {}
        self._paths: dict[str, int] = {}
        self._branches: dict[str, int] = {}
        self._rows: dict[str, list[Row]] = {}
        self._calls: list[tuple[str, int, bool, int, int, int]] = []
        self._commits: dict[tuple[str, str], None] = {}
        self._pulls: dict[tuple[str, str], None] = {}
        self._moments: list[tuple[int, str, int]] = []
        self._callers: dict[str, int] = {}
        self._starts: list[tuple[int, int]] = []
        self._rounds: dict[int, int] = {}
        self._replied = 0
        self._thin: set[int] = set()

    def add(self, round: Round) -> None:
        """A round of the session itself."""
        number = round.number
        branch = self._branches.setdefault(round.branch or "", len(self._branches))
        if not self._rounds or self._rounds[next(reversed(self._rounds))] != branch:
            self._rounds[number] = branch
        self._moments += [(at, made_by, number) for at, made_by in read_clock(round.clock)]
        start = millis(round.started)
        if start and (not self._starts or start > self._starts[-1][0]):
            self._starts.append((start, number))
        marks = 0
        if not round.clock and start:  # the first release kept no clocks, and no billing
            self._thin.add(number)
            marks = THIN
        for reply in round.progress:
            self._see(reply, number, AGENT | PROGRESS)
        for message in round.messages:
            if message.role == "assistant":
                self._add_message(message, number, marks)

    def add_agent(self, call_id: str | None, rounds: Iterable[Round]) -> None:
        """A subagent of the session, and the call that started it."""
        caller = self._callers.get(call_id or "", 0)
        for round in rounds:
            place = caller or self._round_at(millis(round.started))
            for reply in round.progress:
                self._see(reply, place, AGENT | PROGRESS)
            marks = AGENT | (THIN if place in self._thin else 0)
            for message in round.replies:
                self._add_message(message, place, marks)

    def add_loose(self, loose: Loose) -> None:
        """What belongs to no round."""
        self._moments += [(at, made_by, 0) for at, made_by in read_clock(loose.clock)]
        for reply in loose.replies:
            known = self._rows.get(reply.id)
            marks = known[0].marks & (AGENT | PROGRESS) if known else AGENT | PROGRESS
            self._see(reply, known[0].round if known else self._round_at(millis(reply.at)), marks)

    def digest(self, stamp: str, info: SessionInfo, *, told: bool = False) -> Digest:
        """What was found; `told` keeps what the transcript says of itself."""
        rows = [_believed(seen) for seen in self._rows.values()]
        place = {row.id: at for at, row in enumerate(rows)}
        spans, first, last = spans_of(self._moments)
        return Digest(
            VERSION,
            stamp,
            list(self._models),
            list(self._tools),
            list(self._paths),
            list(self._branches),
            rows,
            [Call(place[call[0]], *call[1:]) for call in self._calls],
            [(place[id], hash) for id, hash in self._commits],
            [(place[id], url) for id, url in self._pulls],
            spans,
            first,
            last,
            self._replied,
            self._rounds,
            info.cost.usd if info.cost is not None else None,
            info if told else None,
        )

    # -- one message

    def _add_message(self, message: Message, number: int, marks: int) -> None:
        id = reply_key(message.reply_id, message.id) or self._own_name()
        calls = [block for block in message.blocks if isinstance(block, ToolCall)]
        if message.usage is not None:
            self._see(msgspec.structs.replace(accounting(message), id=id), number, marks)
        elif calls and id not in self._rows:
            at = millis(message.at)
            model = self._models.setdefault(message.model or "unknown", len(self._models))
            self._rows[id] = [Row(id, at, model, number, marks | BARE)]
        for call in calls:
            self._add_call(id, call, number)

    def _add_call(self, id: str, call: ToolCall, number: int) -> None:
        self._callers.setdefault(call.id, number)
        tool = self._tools.setdefault(call.name, len(self._tools))
        failed = call.result is not None and call.result.error
        file, added, removed = -1, 0, 0
        if call.kind in ("edit", "write"):
            if path := path_of(call):
                file = self._paths.setdefault(path[:_LONGEST_PATH], len(self._paths))
            if not failed:
                added, removed = line_change(call)
        elif call.kind == "run":
            self._commits.update(dict.fromkeys((id, commit.hash) for commit in commits_of(call)))
            self._pulls.update(dict.fromkeys((id, url) for url in pull_requests_of(call)))
        self._calls.append((id, tool, failed, file, added, removed))

    def _see(self, reply: Reply, number: int, marks: int) -> None:
        at = millis(reply.at)
        billing = reply.billing or _NO_BILLING
        usage = reply.usage
        marks |= _billing_marks(billing)
        if reply.stop is not None:
            marks |= ENDED
        counts = (
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write - usage.cache_write_1h,
            usage.cache_write_1h,
        )
        if min(counts) < 0 or max(counts) > _MOST:
            marks |= DAMAGED
            counts = tuple(n if 0 <= n <= _MOST else 0 for n in counts)  # type: ignore[assignment]
        if reply.at and not at:
            marks |= DAMAGED
        self._replied = max(self._replied, at)
        row = Row(
            reply.id,
            at,
            self._models.setdefault(reply.model or "unknown", len(self._models)),
            number,
            marks,
            *counts,
            billing.server_tools.get("web_search_requests", 0),
            billing.cost_usd or 0.0,
        )
        self._rows.setdefault(reply.id, []).append(row)

    def _own_name(self) -> str:
        """For a reply without an id: it is the same as no other, least of all in other sessions."""
        self._nameless += 1
        return f"line:{self._session_id}/{self._nameless}"

    def _round_at(self, at: int) -> int:
        """The round that ran at a moment."""
        place = bisect_right(self._starts, (at, 1 << 60)) - 1
        return self._starts[max(0, place)][1] if self._starts else 0


_NO_BILLING = Billing()


def _believed(seen: list[Row]) -> Row:
    """The one row of a reply; how it ended is known from any of them."""
    best, marks = seen[0], 0
    for row in seen:
        marks |= row.marks & ENDED
        if row is not best and (best.marks & BARE or better(row, best)):
            best = row
    return msgspec.structs.replace(best, marks=best.marks | marks) if marks else best


def _billing_marks(billing: Billing) -> int:
    marks = 0
    if billing.speed == "fast":
        marks |= FAST
    if billing.tier == "batch":
        marks |= BATCH
    elif billing.tier == "priority":
        marks |= DEARER
    if billing.geo == "us":
        marks |= DEARER
    return marks | (THIN if billing.thin else 0)
