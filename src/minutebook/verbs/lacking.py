"""Integrations that were set up earlier and whose extra is not installed (any more)."""

from __future__ import annotations

import msgspec

from minutebook.archive import Archive
from minutebook.archive.semantic import chosen
from minutebook.extras import install_command, missing
from minutebook.sources.base import ServerAware
from minutebook.sources.registry import SOURCES

_SERVER = "minutebook"


class Lack(msgspec.Struct, frozen=True):
    """What does not work, and the one command that mends it."""

    what: str
    extra: str
    command: str


def lacking(archive: Archive) -> list[Lack]:
    """What a person set up and this installation cannot do."""
    found = []
    if missing("mcp"):
        for source in SOURCES.values():
            if not isinstance(source, ServerAware):
                continue
            if _SERVER in source.mcp_servers(source.default_root()):
                found.append(_lack(f"{source.title} is told to start `minutebook mcp`", "mcp"))
    if missing("semantic") and archive.root.is_dir() and chosen(archive.layout).kind == "onnx":
        found.append(_lack("this archive is searched with a sentence transformer", "semantic"))
    return found


def _lack(what: str, extra: str) -> Lack:
    return Lack(what, extra, install_command(extra))
