"""JSON for programs: versioned, documented in docs/json.md, never a different shape silently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

VERSION = 1


def json_document(**fields: Any) -> bytes:
    """One object with a version in front, as bytes to write to a file."""
    return msgspec.json.format(encoded(fields), indent=2)


def encoded(fields: dict[str, Any]) -> bytes:
    """The same on one line."""
    return msgspec.json.encode({"version": VERSION, **fields}, enc_hook=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value).encode("utf-8", "replace").decode()
    raise TypeError(f"{type(value).__name__} has no JSON form")
