"""``--json``: versioned, documented in docs/json.md, and never a different shape silently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

VERSION = 1


def print_json(*, on_one_line: bool = False, **fields: Any) -> None:
    """One JSON object with a version in front; on a line of its own where more will follow."""
    document = {"version": VERSION, **fields}
    encoded = msgspec.json.encode(document, enc_hook=_plain)
    click.echo(encoded if on_one_line else msgspec.json.format(encoded, indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value).encode("utf-8", "replace").decode()
    raise TypeError(f"{type(value).__name__} has no JSON form")
