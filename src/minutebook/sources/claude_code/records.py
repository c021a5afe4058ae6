"""Records as Claude Code writes them, decoding only what is needed.

Two depths share one set of types: a *skim* decodes `SkimBlock` (text and tool names;
tool bytes are skipped by the decoder), a *full* read decodes `FullBlock`. Foreign
dicts stop here: what leaves this module is typed, whatever the line looked like.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

import msgspec

from minutebook.model import Message

M = TypeVar("M")
S = TypeVar("S", bound=msgspec.Struct)


class SkimBlock(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None


class FullBlock(SkimBlock):
    thinking: str | None = None
    signature: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None
    data: str | None = None
    source: dict[str, Any] | None = None
    title: str | None = None


class UsageFields(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class OriginFields(msgspec.Struct, gc=False):
    kind: str | None = None


class ForkFields(msgspec.Struct, gc=False):
    sessionId: str | None = None


class SkimMessage(msgspec.Struct, gc=False):
    model: str | None = None
    id: str | None = None
    content: str | list[SkimBlock | str] | None = None
    tool_use: list[SkimBlock] | None = None
    """FMT-08: calls beside the content, in hand-made and very old files."""


class FullMessage(msgspec.Struct, gc=False):
    model: str | None = None
    id: str | None = None
    content: str | list[FullBlock | str] | None = None
    stop_reason: str | None = None
    usage: UsageFields | None = None
    tool_use: list[FullBlock] | None = None


class Surgery(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a transcript comes from that was cut, joined or shortened (OPS-17)."""

    kind: str
    """``full-after``, ``engagement``, ``compress-engagement``, ``merge``, ``split``."""
    parents: tuple[str, ...] = ()
    what: str | None = None
    """The moment or the engagement."""
    parent_session: str | None = None
    """Of a part: the session that was split."""
    part: str | None = None
    references: tuple[str, ...] = ()
    """Rounds that are not here but referred to, ``<session>#<round>``."""


class Origin(msgspec.Struct, omit_defaults=True):
    """What an exported transcript says of the session it was made from."""

    source: str | None = None
    title: str | None = None
    custom_title: str | None = None
    rename: str | None = None
    signature: str | None = None
    cwd: str | None = None
    branch: str | None = None
    version: str | None = None
    surgery: Surgery | None = None


class RoundStart(msgspec.Struct, omit_defaults=True):
    cwd: str | None = None
    branch: str | None = None
    prompted: bool = False
    """Its prompt follows, behind other messages."""


class Carried(msgspec.Struct, gc=False):
    """Our own field: a message Claude's schema could not hold as it was.

    Where it is present and empty, the record is only there for Claude.
    """

    message: Message | None = None
    origin: Origin | None = None
    round: RoundStart | None = None
    """A round begins here, with something else than a prompt."""


class Record(msgspec.Struct, Generic[M], gc=False):
    """A line of the conversation. The fields stand in the order in which versions up to
    2.1.72 write them: the decoder looks for the next key behind the last one it met."""

    parentUuid: str | None = None
    isSidechain: bool | None = None
    cwd: str | None = None
    sessionId: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    slug: str | None = None
    type: str = ""
    message: M | str | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    origin: OriginFields | str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    entrypoint: str | None = None
    forkedFrom: ForkFields | str | None = None
    parentSessionId: str | None = None
    minutebook: Carried | None = None


class AttachmentFields(msgspec.Struct, gc=False):
    type: str = ""
    prompt: str | list[FullBlock | str] | None = None
    commandMode: str | None = None
    isMeta: bool | None = None
    origin: OriginFields | str | None = None


class OtherRecord(msgspec.Struct, gc=False):
    """Any line beside the conversation, and the legacy kinds of FMT-07."""

    type: str = ""
    uuid: str | None = None
    timestamp: str | None = None
    isSidechain: bool | None = None
    cwd: str | None = None
    gitBranch: str | None = None
    parentSessionId: str | None = None
    # system
    subtype: str | None = None
    content: str | list[Any] | None = None
    durationMs: float | None = None
    # attachment
    attachment: AttachmentFields | None = None
    # queue-operation
    operation: str | None = None
    # titles and links
    customTitle: str | None = None
    agentName: str | None = None
    aiTitle: str | None = None
    summary: str | None = None
    leafUuid: str | None = None
    prNumber: int | None = None
    prUrl: str | None = None
    prRepository: str | None = None
    # our own
    minutebook: Carried | None = None
    # legacy tool_use / tool_result
    id: str | None = None
    name: str | None = None
    tool: str | None = None
    tool_use_id: str | None = None
    input: Any = None
    output: Any = None
    is_error: bool | None = None


class ResultExtras(msgspec.Struct, gc=False):
    """The few fields of ``toolUseResult`` that say more than the tool_result beside it."""

    agentId: str | None = None
    agent_id: str | None = None
    persistedOutputPath: str | None = None


class _ResultRecord(msgspec.Struct, gc=False):
    toolUseResult: ResultExtras | None = None


SkimRecord = Record[SkimMessage]
FullRecord = Record[FullMessage]

decode_skim = msgspec.json.Decoder(SkimRecord).decode
decode_full = msgspec.json.Decoder(FullRecord).decode
decode_other = msgspec.json.Decoder(OtherRecord).decode
_decode_extras = msgspec.json.Decoder(_ResultRecord).decode

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decode_extras(line: memoryview) -> ResultExtras:
    """``toolUseResult`` of a line that has one; empty where it is a string or a list."""
    try:
        return _decode_extras(line).toolUseResult or ResultExtras()
    except DECODE_ERRORS:
        return ResultExtras()


# ------------------------------------------------------------ lines that need help

_WHITE = re.compile(r"[ \t\r\n]*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Unreadable(ValueError):
    """A line that holds no record; the message says why."""


def rescue(line: bytes) -> Iterator[tuple[dict[str, Any], str]]:
    """Objects of a line the fast decoder refused, and what kind of help each needed.

    Glued records are taken apart, lone surrogates become U+FFFD; `coerce` then makes
    records of them. Raises `Unreadable` where nothing can be had.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8") from None
    if not text.strip():
        raise Unreadable("blank line")
    for number, value in enumerate(_values(text)):
        if not isinstance(value, dict):
            raise Unreadable(f"a JSON {type(value).__name__} where an object should be")
        clean, surrogates = _without_surrogates(value)
        repair = "glued records" if number else "lone surrogate" if surrogates else "odd field"
        yield clean, repair


def _values(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    position = _WHITE.match(text, 0).end()  # type: ignore[union-attr]  # `*` always matches
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except RecursionError:
            raise Unreadable("nested too deeply") from None
        except ValueError:
            raise Unreadable("half-written or broken JSON") from None
        yield value
        position = _WHITE.match(text, position).end()  # type: ignore[union-attr]


def _without_surrogates(value: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    text = json.dumps(value, ensure_ascii=False)
    if not _LONE_SURROGATE.search(text):
        return value, False
    return json.loads(_LONE_SURROGATE.sub("\ufffd", text)), True


def coerce(value: Any, kind: Any) -> Any:
    """`value` as `kind`, with every field that does not fit left at its default (FMT-04)."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _coerce_union(value, get_args(kind))
    if origin is list:
        inner = get_args(kind)[0]
        items = value if isinstance(value, list) else []
        # An item that does not fit leaves an empty one, so that positions stay what they are.
        return [_or_empty(coerce(item, inner), inner) for item in items]
    struct = origin or kind
    if isinstance(struct, type) and issubclass(struct, msgspec.Struct):
        if not isinstance(value, dict):
            return None
        fields = {}
        for field in msgspec.structs.fields(kind):
            if (given := value.get(field.encode_name)) is not None:
                fitted = coerce(given, field.type)
                if fitted is not None:
                    fields[field.name] = fitted
        try:
            return struct(**fields)
        except TypeError:  # one of our own values, with something missing
            return None
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        return None


def _or_empty(item: Any, kind: Any) -> Any:
    if item is not None:
        return item
    kinds = get_args(kind) or (kind,)
    struct = next((k for k in kinds if isinstance(k, type) and issubclass(k, msgspec.Struct)), None)
    return struct() if struct is not None else None


def _coerce_union(value: Any, kinds: tuple[Any, ...]) -> Any:
    for kind in kinds:
        if kind is type(None):
            continue
        expected = get_origin(kind) or kind
        if expected is str:
            fits = isinstance(value, str)
        elif expected is list:
            fits = isinstance(value, list)
        elif isinstance(expected, type) and issubclass(expected, msgspec.Struct):
            fits = isinstance(value, dict)
        else:
            fits = True
        if fits and (fitted := coerce(value, kind)) is not None:
            return fitted
    return None
