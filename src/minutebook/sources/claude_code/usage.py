"""What a reply cost in tokens, and which of its lines says so (USE-01).

Claude Code writes a reply as several lines, each with a `usage`: the early ones hold a
placeholder. The line with the largest total is believed, of equal ones the earliest.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any

import msgspec

from minutebook.model import Billing, Usage
from minutebook.sources.assembly.opened import OpenMessage

_MOST_TOKENS = 10**12  # a reply with more than this is damage, not usage
_MOST_USD = 10.0**9
_NO_BILLING = Billing()
_Tokens = Annotated[int, msgspec.Meta(ge=0, le=_MOST_TOKENS)]
"""What is anything else counts as 0: a line whose fields do not fit is mended (`repair`)."""


class CacheFields(msgspec.Struct, gc=False):
    ephemeral_1h_input_tokens: _Tokens | None = None


class UsageFields(msgspec.Struct, gc=False):
    """``message.usage``"""

    input_tokens: _Tokens | None = None
    cache_creation_input_tokens: _Tokens | None = None
    cache_read_input_tokens: _Tokens | None = None
    output_tokens: _Tokens | None = None
    server_tool_use: msgspec.Raw = msgspec.Raw()
    service_tier: str | None = None
    cache_creation: CacheFields | None = None
    inference_geo: str | None = None
    speed: str | None = None


def usage_of(fields: UsageFields) -> Usage:
    write = fields.cache_creation_input_tokens or 0
    split = fields.cache_creation
    hour = split.ephemeral_1h_input_tokens or 0 if split is not None else 0
    return Usage(
        fields.input_tokens or 0,
        fields.output_tokens or 0,
        fields.cache_read_input_tokens or 0,
        write,
        hour if hour < write else write,  # noqa: FURB136 - a call less for every reply
    )


def billing_of(fields: UsageFields, at: str | None = None, cost: Any = None) -> Billing | None:
    """What the price depends on beside the tokens; None where nothing was recorded."""
    tools = bytes(fields.server_tool_use)
    common = _common(fields.speed, fields.service_tier, fields.inference_geo, tools)
    if at is None and cost is None:
        return common
    usd = float(cost) if type(cost) in (int, float) and 0 <= cost < _MOST_USD else None
    if at is None and usd is None:
        return common
    known = common or _NO_BILLING
    return Billing(at, None, known.speed, known.tier, known.geo, known.server_tools, usd)


@lru_cache(maxsize=64)
def _common(speed: str | None, tier: str | None, geo: str | None, tools: bytes) -> Billing | None:
    """Nearly all replies of a session have the same: one value serves them all."""
    billing = Billing(None, None, speed, tier, geo, _requests(tools))
    return None if billing == _NO_BILLING else billing


def _requests(tools: bytes) -> dict[str, int]:
    """How often each of the provider's own tools was used; not those that were not."""
    try:
        given = msgspec.json.decode(tools) if tools else None
    except (msgspec.DecodeError, RecursionError):
        return {}
    if not isinstance(given, dict):
        return {}
    return {name: n for name, n in given.items() if type(n) is int and 0 < n <= _MOST_TOKENS}


def is_better(fields: UsageFields, at: str | None, known: Usage, known_at: str | None) -> bool:
    """Whether a line is believed rather than one met before: the same line, mostly.

    It is the rule of `derive.replies`, written out: this is asked of every line.
    """
    more = (
        (fields.output_tokens or 0)
        - known.output
        + (fields.input_tokens or 0)
        - known.input
        + (fields.cache_read_input_tokens or 0)
        - known.cache_read
        + (fields.cache_creation_input_tokens or 0)
        - known.cache_write
    )
    return more > 0 or (more == 0 and (at or "~") < (known_at or "~"))


def bill(
    reply: OpenMessage, fields: UsageFields, at: str | None, model: str | None, cost: Any
) -> None:
    """A line's usage: believed where it is better than what other lines said."""
    if reply.usage is not None:
        known_at = reply.billing.at if reply.billing is not None else None
        if reply.settled or not is_better(fields, at, reply.usage, known_at or reply.at):
            return
    reply.usage = usage_of(fields)
    reply.billing = billing_of(fields, None if at == reply.at else at, cost)
    reply.model = model or reply.model


def settle(reply: OpenMessage, fields: UsageFields | None, billing: Billing) -> None:
    """What an export says the usage is."""
    reply.usage = None if fields is None else usage_of(fields)
    reply.billing = None if billing == Billing() else billing
    reply.settled = True
