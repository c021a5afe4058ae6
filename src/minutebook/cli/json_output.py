"""``--json``: versioned, documented in docs/json.md, and never a different shape silently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

VERSION = 1


def print_json(*, on_one_line: bool = False, **fields: Any) -> None:
    """One JSON object with a version in front; on a line of its own where more will follow."""
    click.echo(_encoded(fields) if on_one_line else json_document(**fields))


def json_document(**fields: Any) -> bytes:
    """The same, as bytes to write to a file."""
    return msgspec.json.format(_encoded(fields), indent=2)


def _encoded(fields: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"version": VERSION, **fields}, enc_hook=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value).encode("utf-8", "replace").decode()
    raise TypeError(f"{type(value).__name__} has no JSON form")
