"""What pi's tools do, in neutral words (AGT-03)."""

from __future__ import annotations

from minutebook.model import ToolKind

_KINDS: dict[str, ToolKind] = {
    "bash": "run",
    "read": "read",
    "edit": "edit",
    "write": "write",
    "grep": "search",
    "find": "search",
    "ls": "read",
}


def tool_kind(name: str) -> ToolKind:
    """What a tool does; ``other`` for those of extensions, which may do anything."""
    return _KINDS.get(name, "other")
