"""What was expensive, and why: long prompts, lost caches, failures."""

from __future__ import annotations

from collections.abc import Iterable

from minutebook.derive.prices import PICO
from minutebook.derive.usage.figures import Costly, Expensive
from minutebook.derive.usage.tally import Flow

_LONG = 200_000
_WORTH_CACHING = 20_000  # tokens; what is shorter costs little either way
_MOST = 5


class _Round:
    def __init__(self) -> None:
        self.cost = self.replies = self.largest = self.rewritten = self.errors = 0


def expensive(flows: Iterable[Flow], calls: int, errors: int) -> Expensive:
    """The rounds that cost most, and what made things expensive on the whole."""
    rounds: dict[tuple[str, int], _Round] = {}
    before: dict[str, Flow] = {}
    longs = long_cost = rewrites = rewritten = extra = 0
    for flow in sorted(flows, key=lambda flow: flow.at):
        found = rounds.setdefault((flow.session, flow.round), _Round())
        found.cost += flow.cost
        found.replies += 1
        found.errors += flow.errors
        found.largest = max(found.largest, flow.prompt)
        if flow.prompt > _LONG:
            longs += 1
            long_cost += flow.cost
        if flow.agent:
            continue  # several may run at once: which follows which is not recorded
        last = before.get(flow.session)
        before[flow.session] = flow
        again = _rewritten(last, flow) if last is not None else 0
        if again:
            rewrites += 1
            rewritten += again
            found.rewritten += again
            if flow.rates is not None:
                extra += again * (flow.rates.cache_write_5m - flow.rates.cache_read)
    dearest = sorted(rounds.items(), key=lambda item: (-item[1].cost, item[0]))[:_MOST]
    return Expensive(
        rounds=[
            Costly(
                session_id=session_id,
                round=number,
                usd=found.cost / PICO,
                replies=found.replies,
                largest_prompt=found.largest,
                rewritten=found.rewritten,
                errors=found.errors,
            )
            for (session_id, number), found in dearest
            if found.cost
        ],
        long_prompts=longs,
        long_usd=long_cost / PICO,
        rewrites=rewrites,
        rewritten=rewritten,
        rewritten_usd=extra / PICO,
        calls=calls,
        errors=errors,
    )


def _rewritten(last: Flow, flow: Flow) -> int:
    """Tokens written to the cache again: most of what the last prompt had was not read from it."""
    half = last.prompt // 2
    if last.prompt < _WORTH_CACHING or flow.read > half or flow.written < half:
        return 0
    return min(flow.written, last.prompt - flow.read)
