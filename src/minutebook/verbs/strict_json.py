"""JSON a person wrote: what would be lost or guessed is refused, with the reason."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from minutebook.errors import BadArgument


def strict_json(content: bytes) -> Any:
    """A JSON value; comments, doubled names and numbers that are none are refused."""
    try:
        return json.loads(content, object_pairs_hook=_unique, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise BadArgument(str(error) or "it is nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"'{name}' is in it twice")
        found[name] = value
    return found


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")
