"""Secrets in a text, and a text without them: the one place that masks what goes out.

Four readers look for them: for keys of well-known formats, for values given to a name, for what
a command's flag takes, and for passwords named in sentences.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from minutebook.derive.plain import clean
from minutebook.derive.secret_assignments import assigned, kind_of
from minutebook.derive.secret_flags import flagged
from minutebook.derive.secret_keys import beginning, known
from minutebook.derive.secret_prose import told


class Secret(msgspec.Struct, frozen=True):
    """Where a secret stands in a text, and what it is."""

    start: int
    end: int
    kind: str


def find_secrets(text: str) -> list[Secret]:
    """The secrets of a text, in its order; where two meet, one that covers both."""
    found = sorted(_candidates(text))
    secrets: list[Secret] = []
    ranks: list[int] = []
    for start, rank, end, kind in found:
        if secrets and start < secrets[-1].end:
            last = secrets[-1]
            shown = kind if rank < ranks[-1] else last.kind
            secrets[-1] = Secret(last.start, max(end, last.end), shown)
            ranks[-1] = min(rank, ranks[-1])
        else:
            secrets.append(Secret(start, end, kind))
            ranks.append(rank)
    return secrets


_LAST = 1_000  # a known format says more than the name it is given to


def _candidates(text: str) -> Iterator[tuple[int, int, int, str]]:
    yield from known(text)
    for read in (assigned, flagged, told):
        for start, end, kind in read(text):
            yield start, _LAST, end, kind


def digest(secret: str) -> str:
    """A name for a secret that does not tell it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def mask(text: str, put: Callable[[str, Secret], str] | None = None) -> str:
    """A text with something else in place of each secret: by default its well-known beginning."""
    put = put or _masked
    parts, at = [], 0
    for secret in find_secrets(text):
        parts += [text[at : secret.start], put(text[secret.start : secret.end], secret)]
        at = secret.end
    return "".join((*parts, text[at:])) if at else text


def _masked(secret: str, where: Secret) -> str:
    prefix = beginning(secret, where.kind)
    return f"{prefix}{'…' if prefix else ''}•••• ({where.kind})"


def masked(value: Any, hide: Callable[[str], str] = mask) -> Any:
    """A plain value (of dicts, lists, texts) with every text in it cleaned, then masked.

    Cleaned first: an escape sequence in the middle of a key would hide it. The key of an entry
    counts: `{"password": "…"}` is masked though the value alone shows nothing. `hide` is `str`
    where secrets may be shown.
    """
    if isinstance(value, str):
        return hide(clean(value))
    if isinstance(value, list | tuple):
        return [masked(item, hide) for item in value]
    if isinstance(value, dict):
        return {hide(str(key)): _entry(key, item, value, hide) for key, item in value.items()}
    return value


def _entry(key: Any, item: Any, among: dict[Any, Any], hide: Callable[[str], str]) -> Any:
    if isinstance(item, str | int) and hide is not str:
        # {"name": "DB_PASSWORD", "value": "…"}: Kubernetes and others write entries like this.
        name = among.get("name", among.get("key")) if key == "value" else key
        if isinstance(name, str) and (kind := kind_of(name, item)):
            return _masked("", Secret(0, 0, kind))
    return masked(item, hide)
