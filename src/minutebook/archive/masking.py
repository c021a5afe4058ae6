"""The one place where secrets are taken out of what leaves the archive (ARC-06).

Values come in as they are kept and go out with every text cleaned and masked. The caller
chooses what replaces a secret: by default its kind, on a page a mark that becomes a button,
with ``--secrets`` the secret itself.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from minutebook.derive.plain import clean
from minutebook.model import (
    Attachment,
    Block,
    Document,
    Image,
    Message,
    Notice,
    ResultPart,
    Round,
    StrayResult,
    Subagent,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from minutebook.model.engagement import SessionRecord

if TYPE_CHECKING:
    # Its patterns take a while to compile: they are loaded when something is shown.
    from minutebook.derive.secrets import Put, Secret

T = TypeVar("T", bound=msgspec.Struct)

# A mark is made of characters of the last private plane, so no renderer takes it apart: the
# digest of the secret, then its kind.
_EDGE = "\U0010fffd"
_PRIVATE = re.compile("[\U00100000-\U0010ffff]")
MARK = re.compile(f"{_EDGE}([0-9a-f]{{16}}):([^{_EDGE}]*){_EDGE}")
# A control character in JSON, or one of a mark: such texts are looked at one by one.
_UNSAFE = re.compile(r"\\[bfru]|[\U00100000-\U0010ffff]")
_MOST_PASSES = 8
HALF_MARK = re.compile(f"{_EDGE}[^{_EDGE}]*$")


@dataclass(frozen=True)
class Hide:
    """What is done to every text on its way out: `put` says what stands for a secret."""

    put: Put | None
    """None for the kind of it; such a text is never taken for a mark."""

    def __call__(self, text: str) -> str:
        text = clean(text)
        if self.put is _shown:
            return text
        from minutebook.derive.secrets import mask

        # Characters of a mark that stand in a text are not one.
        return mask(text if self.put is None else _PRIVATE.sub("\ufffd", text), self.put)

    def value(self, value: Any) -> Any:
        """The same for plain data, where the name of a field may give a secret away."""
        from minutebook.derive.secrets import masked

        return masked(value, self, self.put)


def _shown(secret: str, _where: Secret) -> str:
    return secret


def _marked(secret: str, where: Secret) -> str:
    from minutebook.derive.secrets import digest, stand_in

    # What is well known of a key stands before its mark, as it does everywhere.
    known = stand_in(secret, where).split("••••")[0]
    return f"{known}{_EDGE}{digest(secret)}:{where.kind}{_EDGE}"


reveal = Hide(_shown)
"""For ``--secrets``: control characters are removed, secrets are shown."""
mark = Hide(_marked)
"""Each secret replaced by a mark that names it without telling it."""
hide = Hide(None)
"""Each secret replaced by what kind it is."""


class _Counting(Hide):
    """Hides as `hide` does, and counts what it hid by kind."""

    def __call__(self, text: str) -> str:
        for _ in range(_MOST_PASSES):  # what is glued to a secret may come out only then
            before, text = text, super().__call__(text)
            if before == text:
                break
        return text


def counting(counts: Counter[str]) -> Hide:
    """`hide`, with each secret it hid counted under its kind."""
    from minutebook.derive.secrets import stand_in

    def put(secret: str, where: Secret) -> str:
        shown = stand_in(secret, where)
        counts[where.kind] += shown != secret
        return shown

    return _Counting(put)


def hidden_text(text: str | None, by: Hide) -> str | None:
    return by(text) if text else text


def hidden_round(round: Round, by: Hide) -> Round:
    """A round without secrets in any of its texts."""
    return msgspec.structs.replace(
        round,
        messages=tuple(_message(message, by) for message in round.messages),
        cwd=hidden_text(round.cwd, by),
        branch=hidden_text(round.branch, by),
    )


def hidden_subagent(agent: Subagent, by: Hide) -> Subagent:
    return msgspec.structs.replace(
        agent,
        kind=hidden_text(agent.kind, by),
        description=hidden_text(agent.description, by),
        rounds=tuple(hidden_round(round, by) for round in agent.rounds),
    )


def hidden(value: T, by: Hide) -> T:
    """Any other value of ours, text by text; the same value where there is nothing to hide."""
    from minutebook.derive.secrets import find_secrets

    told = msgspec.json.encode(value).decode().replace("\\n", "\n")
    if not _UNSAFE.search(told) and clean(told) == told and not find_secrets(told):
        return value  # almost always: one look at all its texts together
    plain = msgspec.to_builtins(value)
    safe = by.value(plain)
    return value if safe == plain else msgspec.convert(safe, type(value))


class HiddenRecords:
    """The records of an archive as they may be shown; those that stay as they were are masked
    once."""

    def __init__(self, by: Hide) -> None:
        self._by = by
        self._from: dict[str, SessionRecord] | None = None
        self._found: dict[str, SessionRecord] = {}
        self._safe: dict[str, SessionRecord] = {}

    def of(self, found: dict[str, SessionRecord]) -> dict[str, SessionRecord]:
        """These, masked; of the same dictionary they are the same."""
        if found is not self._from:
            before, safe = self._found, self._safe
            self._found = dict(found.items())
            self._safe = {
                id: safe[id]
                if id in safe and before.get(id) == record
                else hidden(record, self._by)
                for id, record in self._found.items()
            }
            self._from = found
        return dict(self._safe)


def _message(message: Message, by: Hide) -> Message:
    blocks = tuple(_block(block, by) for block in message.blocks)
    return msgspec.structs.replace(message, blocks=blocks)


def _block(block: Block, by: Hide) -> Block:
    if isinstance(block, Text):
        return Text(by(block.text), hidden_text(block.said, by))
    if isinstance(block, ToolCall):
        result = _result(block.result, by) if block.result is not None else None
        return msgspec.structs.replace(
            block, name=by(block.name), input=by.value(block.input), result=result
        )
    if isinstance(block, StrayResult):
        return StrayResult(block.call_id, _result(block.result, by))
    if isinstance(block, Thinking):
        return msgspec.structs.replace(block, text=by(block.text))
    if isinstance(block, Notice):
        return Notice(block.kind, by(block.text))
    if isinstance(block, Attachment | Unknown):
        return type(block)(by(block.kind), by.value(block.data))
    return _picture(block, by)


def _picture(block: Image | Document, by: Hide) -> Image | Document:
    if isinstance(block, Document):
        return msgspec.structs.replace(
            block, url=hidden_text(block.url, by), title=hidden_text(block.title, by)
        )
    return msgspec.structs.replace(block, url=hidden_text(block.url, by))


def _result(result: ToolResult, by: Hide) -> ToolResult:
    content: str | tuple[ResultPart, ...]
    if isinstance(result.content, str):
        content = by(result.content)
    else:
        content = tuple(_part(part, by) for part in result.content)
    patch = tuple(
        msgspec.structs.replace(hunk, lines=tuple(by("\n".join(hunk.lines)).split("\n")))
        for hunk in result.patch
    )
    return msgspec.structs.replace(result, content=content, patch=patch)


def _part(part: ResultPart, by: Hide) -> ResultPart:
    if isinstance(part, Text):
        return Text(by(part.text))
    if isinstance(part, Unknown):
        return Unknown(by(part.kind), by.value(part.data))
    return _picture(part, by)


def secrets_of(round: Round) -> dict[str, str]:
    """The secrets of a round by the digests their marks have."""
    from minutebook.derive.secrets import digest

    found: dict[str, str] = {}

    def note(secret: str, where: Secret) -> str:
        found[digest(secret)] = secret
        return _marked(secret, where)

    hidden_round(round, Hide(note))
    return found


# -- marks as words, for everything that cannot hold a button

_CUT_OFF = re.compile(f"{_EDGE}(?:[0-9a-f]{{0,16}}|[0-9a-f]{{16}}:[^{_EDGE}]*?)( …)?$")
_CUT_SHORT = re.compile(f"^(… )?[^{_EDGE}]{{0,60}}{_EDGE}")


def unmarked(text: str) -> str:
    """A text with ``•••• (kind)`` for each mark; half a mark, left by a cut, is ``••••``."""
    if _EDGE not in text:
        return text
    text = MARK.sub(lambda found: f"•••• ({found[2]})", text)
    if _EDGE in text:
        text = _CUT_OFF.sub(r"••••\1", text)
        text = _CUT_SHORT.sub(r"\1••••", text).replace(_EDGE, "••••")
    return text


def unmarked_value(value: Any) -> Any:
    """A plain value (of dicts, lists, texts) with words for the marks in all its texts."""
    if isinstance(value, str):
        return unmarked(value)
    if isinstance(value, list | tuple):
        return [unmarked_value(item) for item in value]
    if isinstance(value, dict):
        return {unmarked(str(key)): unmarked_value(item) for key, item in value.items()}
    return value
