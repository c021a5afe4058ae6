"""The MCP servers that a person's Claude Code knows of, by name."""

from __future__ import annotations

from pathlib import Path

import msgspec

_MOST = 64 << 20


class _Settings(msgspec.Struct):
    mcpServers: dict[str, object] = {}


def mcp_servers(root: Path) -> frozenset[str]:
    """Names in ``.claude.json``, which lies in the configuration folder that was named, else
    beside the default one."""
    found: set[str] = set()
    for path in (root / ".claude.json", root.parent / ".claude.json"):
        try:
            if path.stat().st_size <= _MOST:
                found |= msgspec.json.decode(path.read_bytes(), type=_Settings).mcpServers.keys()
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            continue
    return frozenset(found)
