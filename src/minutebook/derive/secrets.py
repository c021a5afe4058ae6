"""Secrets in a text, and a text without them: the one place that masks what goes out.

Four readers look for them: for keys of well-known formats, for values given to a name, for what
a command's flag takes, and for passwords named in sentences.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from minutebook.derive.plain import clean
from minutebook.derive.secret_assignments import assignment_hints, kind_of
from minutebook.derive.secret_flags import flag_hints
from minutebook.derive.secret_keys import beginning, key_hints
from minutebook.derive.secret_prose import prose_hints
from minutebook.derive.secret_scan import LAST, Candidate, Scanner
from minutebook.derive.secret_values import telling

_DEEPEST = 50
"""Levels of a value that are gone into: each takes frames of the stack, which is a thousand."""
TOO_DEEP = "(nested too deeply to be shown)"


class Secret(msgspec.Struct, frozen=True):
    """Where a secret stands in a text, and what it is."""

    start: int
    end: int
    kind: str


def find_secrets(text: str) -> list[Secret]:
    """The secrets of a text, in its order; where two meet, one that covers both."""
    found = _scanner().candidates(text)
    if found:
        found = sorted((*found, *_again(text, found)))
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


_MOST_AGAIN = 16
"""Passwords of one text that are looked for in all of it."""


def _again(text: str, found: list[Candidate]) -> Iterator[Candidate]:
    """A password stands in other places of its text, too, where nothing says what it is."""
    known = dict.fromkeys(text[start:end] for start, _, end, kind in found if kind == "password")
    for value in islice(filter(telling, known), _MOST_AGAIN):
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            if not (_goes_on(text[at - 1 : at]) or _goes_on(text[end : end + 1])):
                yield at, LAST + 1, end, "password"
            at = text.find(value, end)


def _goes_on(sign: str) -> bool:
    return sign.isalnum() or sign in ("_", "-")


@cache
def _scanner() -> Scanner:
    return Scanner((*key_hints(), *assignment_hints(), *flag_hints(), *prose_hints()))


@cache
def mask_rules() -> str:
    """The rules as one word: another one where any of the code that they are has changed."""
    rules = hashlib.blake2b(digest_size=8)
    folder = Path(__file__).parent
    for path in sorted((*folder.glob("secret*.py"), folder / "plain.py")):
        with suppress(OSError):  # installed without its sources: nothing can be said of them
            rules.update(path.read_bytes())
    return rules.hexdigest()


def digest(secret: str) -> str:
    """A name for a secret that does not tell it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def mask(text: str, put: Callable[[str, Secret], str] | None = None) -> str:
    """A text with something else in place of each secret: by default its well-known beginning.

    Masking again changes nothing.
    """
    if put:
        return _without(text, put)
    for _ in range(_ROUNDS):
        hidden = _without(text, stand_in)
        if hidden == text:
            break
        text = hidden
    return text


# What is glued to a secret may come out only when that is masked: twice is nearly always enough.
_ROUNDS = 8


def _without(text: str, put: Callable[[str, Secret], str]) -> str:
    parts, at = [], 0
    for secret in find_secrets(text):
        parts += [text[at : secret.start], put(text[secret.start : secret.end], secret)]
        at = secret.end
    return "".join((*parts, text[at:])) if at else text


def stand_in(secret: str, where: Secret) -> str:
    """What everybody may see of a secret: its well-known beginning, and its kind."""
    prefix = beginning(secret, where.kind)
    return f"{prefix}{'…' if prefix else ''}•••• ({where.kind})"


Put = Callable[[str, Secret], str]
"""What stands in place of a secret."""


def masked(
    value: Any, hide: Callable[[str], str] = mask, put: Put | None = None, room: int = _DEEPEST
) -> Any:
    """A plain value (of dicts, lists, texts) with every text in it cleaned, then masked.

    Cleaned first: an escape sequence in the middle of a key would hide it. The key of an entry
    counts: `{"password": "…"}` is masked though the value alone shows nothing; `put` says what
    stands for it. What is nested deeper than there is `room` for is shown as one text.
    """
    if isinstance(value, str):
        return hide(clean(value))
    if not isinstance(value, list | tuple | dict):
        return value
    if not room:
        return hide(clean(_as_text(value)))
    if isinstance(value, dict):
        return {
            hide(str(key)): _entry(key, item, value, hide, put, room - 1)
            for key, item in value.items()
        }
    return [masked(item, hide, put, room - 1) for item in value]


def _as_text(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except RecursionError:  # a transcript may hold what can be read in one place and not here
        return TOO_DEEP


def _entry(
    key: Any,
    item: Any,
    among: dict[Any, Any],
    hide: Callable[[str], str],
    put: Put | None,
    room: int,
) -> Any:
    if isinstance(item, str | int):
        # {"name": "DB_PASSWORD", "value": "…"}: Kubernetes and others write entries like this.
        name = among.get("name", among.get("key")) if key == "value" else key
        if isinstance(name, str) and (kind := kind_of(name, item)):
            secret = str(item)
            shown = (put or stand_in)(secret, Secret(0, len(secret), kind))
            return item if shown == secret else shown
    return masked(item, hide, put, room)
