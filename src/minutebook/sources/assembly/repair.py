"""Lines that need help before they are records (FMT-03, FMT-04)."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Union, get_args, get_origin

import msgspec

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


def verbatim(data: bytes | str) -> Any:
    """A JSON value as it stands in a file, but for halves of characters, which nobody could write
    down again. Raises what `json.loads` does: ValueError, RecursionError."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    value = json.loads(text)
    return _without_surrogates(value)[0] if "\\u" in text else value


def _without_surrogates(value: Any) -> tuple[Any, bool]:
    text = json.dumps(value, ensure_ascii=False)
    if not _LONE_SURROGATE.search(text):
        return value, False
    return json.loads(_LONE_SURROGATE.sub("\ufffd", text)), True


def coerce(value: Any, kind: Any) -> Any:
    """`value` as `kind`, with every field that does not fit left at its default (FMT-04)."""
    if kind is msgspec.Raw:
        return msgspec.Raw(json.dumps(value).encode())
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
        for field in _fields(kind):
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


_fields = lru_cache(maxsize=256)(msgspec.structs.fields)  # it evaluates annotations each time


def _or_empty(item: Any, kind: Any) -> Any:
    if item is not None:
        return item
    kinds = get_args(kind) or (kind,)
    struct = next((k for k in kinds if isinstance(k, type) and issubclass(k, msgspec.Struct)), None)
    if struct is None:
        return "" if str in kinds else None
    return struct()


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
